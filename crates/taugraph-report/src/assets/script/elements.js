// The data of the page, and functions that create elements. All text from the data is inserted as text.

document.documentElement.classList.add("scripted");
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const NONE = 65535;

/** An element with attributes and children; strings become text. */
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
};
const makeSvg = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
};
const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
};
/** Text of the data in its own direction. */
const text = (value) => make("bdi", {}, String(value));
const grouped = (number) => Number(number).toLocaleString("en-US");
const counted = (number, what) => `${grouped(number)} ${what}${number === 1 ? "" : "s"}`;
const short = (number, digits = 4) => {
  if (number === null || number === undefined || Number.isNaN(number)) return "–";
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return number.toExponential(2);
  return String(Number(number.toPrecision(digits)));
};
const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };
const array = (packed) => new ARRAYS[packed.type](bytesOf(packed.base64).buffer);
