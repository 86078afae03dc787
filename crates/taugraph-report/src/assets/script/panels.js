// The panels below the map, one after the other.

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
function panel(title, ...children) {
  byId("panels").append(make("div", { class: "panel" }, make("h2", {}, title), ...children));
}
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
    chart.append(makeSvg("text", { x: EDGE.left - 6, y: y(mark) + 4, "text-anchor": "end" }, short(mark)));
  }
  for (const mark of xMarks) chart.append(makeSvg("text", { x: x(mark), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" }, short(mark)));
  chart.append(makeSvg("text", { x: (EDGE.left + WIDTH - EDGE.right) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, xName));
  return { chart, x, y };
}
const few = (low, high, count) => [...new Set(Array.from({ length: count + 1 }, (_, place) => low + ((high - low) * place) / count))];
/** The same for counts, which are whole. */
const fewWhole = (most) => [...new Set(few(0, most, 4).map(Math.round))];

if (data.decay.length > 0) {
  const taus = data.decay.map((at) => at.tau);
  const most = Math.max(...data.decay.map((at) => at.edges), 1);
  const { chart, x, y } = axes("Edges present at each quantile", [taus[0], taus[taus.length - 1]], [0, most], "quantile τ", fewWhole(most), taus.length <= 12 ? taus : few(taus[0], taus[taus.length - 1], 4));
  chart.append(makeSvg("polyline", { class: "curve", points: data.decay.map((at) => `${x(at.tau)},${y(at.edges)}`).join(" ") }));
  data.decay.forEach((at, index) => chart.append(makeSvg("circle", { class: "dot", cx: x(at.tau), cy: y(at.edges), r: 4, "data-tau": index })));
  const rows = data.decay.map((at) => [short(at.tau), grouped(at.edges), grouped(at.components), grouped(at.largest)]);
  panel(
    "Decay of the edges",
    make("p", { class: "say" }, "An edge persists up to the quantile at which the similarities around it no longer support it. What dies early was noise."),
    chart,
    make("div", { class: "scroll" }, table(["τ", "edges", "components", "largest"], rows, () => true)),
  );
}
const first = numbers.find((column) => column.role === "first-scale");
const robust = numbers.find((column) => column.role === "scale");
if (first && robust) {
  const [low, high] = rangeOf([...first.values, ...robust.values]);
  const BINS = 30;
  const histogram = (values) => {
    const bins = new Array(BINS).fill(0);
    for (const value of values) bins[Math.min(Math.floor(((value - low) / (high - low || 1)) * BINS), BINS - 1)]++;
    return bins;
  };
  const [a, b] = [histogram(first.values), histogram(robust.values)];
  const most = Math.max(...a, ...b, 1);
  const { chart, x, y } = axes("Distribution of the local scales, first and robust", [low, high], [0, most], "local scale (orange: first, blue: robust)", fewWhole(most), few(low, high, 4));
  const width = (WIDTH - EDGE.left - EDGE.right) / BINS;
  for (const [name, bins] of [["bar-first", a], ["bar-robust", b]]) {
    bins.forEach((count, bin) => chart.append(makeSvg("rect", { class: name, x: x(low + ((high - low) * bin) / BINS), width: width - 1, y: y(count), height: y(0) - y(count) })));
  }
  const moved = data.moved.map((i) => [pointButton(i), short(first.values[i]), short(robust.values[i]), `× ${short(robust.values[i] / first.values[i])}`]);
  const list = moved.length > 0 ? [make("h3", {}, "Points whose scale moved most"), make("div", { class: "scroll" }, table(["point", "first", "robust", "change"], moved, isAfterFirst))] : [make("p", {}, "No scale was changed.")];
  panel("Local scales", ofSample(), chart, ...list);
}
if (data.eigen) {
  const { values, gaps, clusters, suggested } = data.eigen;
  const most = Math.max(...values, Number.MIN_VALUE);
  const { chart, x, y } = axes("Smallest eigenvalues of the Laplacian, ascending", [0.5, values.length + 0.5], [0, most], "number of the eigenvalue", few(0, most, 4), values.map((_, place) => place + 1).filter((mark) => values.length <= 16 || mark % 5 === 0));
  values.forEach((value, place) => {
    chart.append(makeSvg("line", { class: "stem", x1: x(place + 1), x2: x(place + 1), y1: y(0), y2: y(value) }));
    chart.append(makeSvg("circle", { class: "dot", cx: x(place + 1), cy: y(value), r: 3 }));
  });
  if (clusters < values.length) {
    chart.append(makeSvg("line", { class: "gap", x1: x(clusters + 0.5), x2: x(clusters + 0.5), y1: y(0), y2: y(most) }));
  }
  const says = [`${counted(clusters, "cluster")}.`];
  if (clusters < values.length && gaps[clusters - 1] !== undefined) says.push(`The gap after eigenvalue ${clusters} (orange line) is ${short(gaps[clusters - 1])} of 1.`);
  if (suggested !== null) says.push(suggested === clusters ? "The eigenvalues suggest the same number." : `The eigenvalues suggest ${suggested}.`);
  else says.push("The number was given; no eigenvalues beyond it were looked at.");
  panel("Eigenvalues", make("p", {}, says.join(" ")), chart);
}
if (data.groups.length > 0) {
  const has = (name) => data.groups.some((group) => group[name] !== null && group[name] !== undefined);
  const header = [categories[0].name, "rows"];
  const columns = [(group) => grouped(group.size)];
  if (has("stability")) { header.push("stability"); columns.push((group) => short(group.stability)); }
  if (has("margin")) { header.push("margin"); columns.push((group) => short(group.margin)); }
  if (has("label")) { header.push("mostly"); columns.push((group) => (group.label ? `${group.label.name} (${Math.round(100 * group.label.share)} %)` : "–")); }
  const rows = data.groups.map((group) => [group.name, ...columns.map((column) => column(group))]);
  const parts = [make("div", { class: "scroll" }, table(header, rows, isAfterFirst))];
  const unsure = numbers.find((column) => column.role === "stability") || numbers.find((column) => column.role === "margin");
  if (unsure) {
    const isSure = (i) => unsure.values[i] === unsure.values[i] && categories[0].of[i] !== NONE;
    const least = Array.from(unsure.values.keys()).filter(isSure).sort((a, b) => unsure.values[a] - unsure.values[b] || a - b).slice(0, 15);
    parts.push(make("h3", {}, `Points of the least ${unsure.name}${data.points.isSample ? ", in the sample" : ""}`));
    parts.push(make("div", { class: "scroll" }, table(["point", categories[0].name, unsure.name], least.map((i) => [pointButton(i), categories[0].of[i] === NONE ? "none" : categories[0].classes[categories[0].of[i]], short(unsure.values[i])]), (column) => column === 2)));
  }
  panel(data.groupsTitle, ...parts);
}
if (data.comparisonNote !== "") {
  const rows = data.comparison.map((row) => [row.graph, short(row.agreement), ...(data.scoreName ? [short(row.score)] : [])]);
  const header = ["graph", "agreement with this result", ...(data.scoreName ? [data.scoreName] : [])];
  const compared = rows.length > 0 ? make("div", { class: "scroll" }, table(header, rows, isAfterFirst)) : null;
  panel("With and without the quantiles", make("p", { class: "say" }, data.comparisonNote), compared);
}
if (data.preparation.length > 0) {
  panel("What was done to the input", make("ul", {}, ...data.preparation.map((says) => make("li", {}, text(says)))));
}
