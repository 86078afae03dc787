// Building blocks of panels. Every `panel.js` adds to `panels` a function from its data to an element.

const panels = {};
/** An element of the grid below the map. */
const panel = (title, ...children) => make("div", { class: "panel" }, make("h2", {}, title), ...children);
/** An element below what is said of the run. */
const runPart = (...children) => make("div", { class: "run-part" }, ...children);

/** A table of cells that are text, numbers or elements. */
function table(header, rows, isNumber = () => false) {
  const kind = (column) => (isNumber(column) ? { class: "number" } : {});
  const body = rows.map((cells) =>
    make("tr", {}, ...cells.map((value, column) => make("td", kind(column), value instanceof Node ? value : text(value)))),
  );
  const head = header ? [make("thead", {}, make("tr", {}, ...header.map((name, column) => make("th", { scope: "col", ...kind(column) }, name))))] : [];
  return make("table", {}, ...head, make("tbody", {}, ...body));
}
const isAfterFirst = (column) => column > 0;
const ofSample = () => (data.points.isSample ? make("p", { class: "say" }, "Of the points in the sample.") : null);
const WIDTH = 420;
const HEIGHT = 190;
const EDGE = { left: 58, right: 26, top: 12, bottom: 34 };
/** Axes with a few marks; gives functions from numbers to places. */
function axes(label, [x0, x1], [y0, y1], xName, yMarks, xMarks) {
  const x = (value) => EDGE.left + ((value - x0) / (x1 - x0 || 1)) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - ((value - y0) / (y1 - y0 || 1)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const chart = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  for (const mark of yMarks) {
    chart.append(makeSvg("line", { class: "axis", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(mark), y2: y(mark) }));
    chart.append(makeSvg("text", { x: EDGE.left - 6, y: y(mark) + 4, "text-anchor": "end" }, Number.isInteger(mark) ? short(mark) : short(mark, 3)));
  }
  for (const mark of xMarks) chart.append(makeSvg("text", { x: x(mark), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" }, short(mark)));
  chart.append(makeSvg("text", { x: (EDGE.left + WIDTH - EDGE.right) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, xName));
  return { chart, x, y };
}
const few = (low, high, count) => [...new Set(Array.from({ length: count + 1 }, (_, place) => low + ((high - low) * place) / count))];
/** The same for counts, which are whole. */
const fewWhole = (most) => [...new Set(few(0, most, 4).map(Math.round))];
