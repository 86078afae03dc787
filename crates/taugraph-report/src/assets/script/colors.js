// The color of each point.

// Eight colors that color-blind people can tell apart (after Okabe and Ito), the same lighter, and a third set with more contrast to the background.
const EIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a7f00", "#5e3c99"];
const LIGHTER = ["#80b8d8", "#f2cf80", "#80ceb9", "#e6bcd3", "#eaae80", "#aadaf4", "#c4bf80", "#ae9ecc"];
const DARKEST = ["#003f62", "#7e5700", "#00573f", "#70435c", "#753400", "#2f6380", "#4c4600", "#342154"];
const PALEST = ["#c7e0ee", "#faeac7", "#c7eae0", "#f4e2ec", "#f6dcc7", "#daeefa", "#e5e3c7", "#dcd4e9"];
// High values stand out from the background: dark on light, light on dark.
const RAMPS = {
  light: [[253, 231, 37], [94, 201, 98], [33, 145, 140], [59, 82, 139], [68, 1, 84]],
  dark: [[124, 88, 196], [88, 130, 196], [52, 170, 160], [122, 209, 81], [253, 231, 37]],
};
const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
// Paper is light, whatever the screen theme.
let isPrinting = false;
const isDark = () => darkScheme.matches && !isPrinting;
const palette = () => [...EIGHT, ...LIGHTER, ...(isDark() ? PALEST : DARKEST)];
const PAPER = { "--edge": "60, 70, 82", "--absent": "#b3bac2", "--ring": "#111111" };
const themed = (name) => (isPrinting ? PAPER[name] : getComputedStyle(document.documentElement).getPropertyValue(name).trim());
const RAMP_STEPS = 32;

const ramp = (share) => {
  const stops = isDark() ? RAMPS.dark : RAMPS.light;
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(place), stops.length - 2);
  const mix = stops[below].map((from, channel) => Math.round(from + (place - below) * (stops[below + 1][channel] - from)));
  return `rgb(${mix.join(", ")})`;
};
const classColor = (index) => palette()[index % palette().length];
const rangeOf = (values) => {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) if (value === value) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return [low, high];
};
/** Components of the points at the chosen quantile, the largest first. */
function components() {
  const parent = Int32Array.from({ length: n }, (_, i) => i);
  const root = (i) => {
    while (parent[i] !== i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (let edge = 0; edge < edges.targets.length; edge++) {
    if (isPresent(edge)) parent[root(edges.sources[edge])] = root(edges.targets[edge]);
  }
  for (let i = 0; i < n; i++) parent[root(i)] = root(nodeOf[i]);
  const sizes = new Map();
  for (let i = 0; i < n; i++) sizes.set(root(i), (sizes.get(root(i)) || 0) + 1);
  const names = new Map([...sizes].sort((a, b) => b[1] - a[1]).map(([name], place) => [name, place]));
  return Uint16Array.from({ length: n }, (_, i) => names.get(root(i)));
}
/** For each point the number of its color; and the colors. */
function paint() {
  const chosen = coloring();
  const absent = themed("--absent");
  const style = new Uint16Array(n);
  if (chosen.kind === "category" || chosen.kind === "component") {
    const of = chosen.kind === "category" ? chosen.of : components();
    const shownAlone = 7; // Small components share a color.
    const colors = palette();
    for (let i = 0; i < n; i++) {
      const isRest = of[i] === NONE || (chosen.kind === "component" && of[i] >= shownAlone);
      style[i] = isRest ? colors.length : of[i] % colors.length;
    }
    return { style, palette: [...colors, absent], of };
  }
  if (chosen.kind === "number") {
    const [low, high] = rangeOf(chosen.values);
    const colors = Array.from({ length: RAMP_STEPS }, (_, step) => ramp(step / (RAMP_STEPS - 1)));
    colors.push(absent);
    for (let i = 0; i < n; i++) {
      const value = chosen.values[i];
      const share = high > low ? (value - low) / (high - low) : 0.5;
      style[i] = value === value ? Math.round(share * (RAMP_STEPS - 1)) : RAMP_STEPS;
    }
    return { style, palette: colors, of: null };
  }
  return { style, palette: [absent], of: null };
}
let painted = paint();
const isHidden = (i) => coloring().kind === "category" && state.hidden.has(painted.of[i]);
