// Points, edges and the current choices.

const n = data.points.shown;
const rowNumbers = array(data.points.rows);
// Equal rows share one node: the first one shown has the edges.
const nodeOf = array(data.points.nodes);
const layouts = data.layouts.map(({ name, note, xy }) => {
  const whole = array(xy);
  return { name, note, xy: Float32Array.from(whole, (value) => value / 65535) };
});
const categories = data.categories.map((category) => ({ ...category, of: array(category.of) }));
const numbers = data.numbers.map((column) => ({ ...column, values: array(column.values) }));
const colorings = [
  ...categories.map((category) => ({ kind: "category", ...category })),
  ...numbers.map((column) => ({ kind: "number", ...column })),
  { kind: "component", name: data.points.isSample ? "component at τ, in the sample" : "component at τ" },
  { kind: "plain", name: "none" },
].filter((coloring) => coloring.kind !== "component" || data.edges.taus.length > 0);
const edges = readEdges();

function readEdges() {
  const counts = array(data.edges.counts);
  const targets = array(data.edges.targets);
  const levels = array(data.edges.levels);
  const probabilities = array(data.edges.probabilities);
  const sources = new Uint32Array(targets.length);
  let edge = 0;
  for (let i = 0; i < counts.length; i++) for (let t = 0; t < counts[i]; t++) sources[edge++] = i;
  const of = Array.from({ length: n }, () => []);
  for (edge = 0; edge < targets.length; edge++) {
    of[sources[edge]].push(edge);
    of[targets[edge]].push(edge);
  }
  // Unlikely edges first, so that likely ones are on top.
  const order = Uint32Array.from(targets.keys()).sort((a, b) => probabilities[a] - probabilities[b]);
  return { sources, targets, levels, probabilities, of, order };
}

const state = {
  layout: 0, coloring: 0, tau: 0, showEdges: true, mode: "move", hidden: new Set(), selected: new Set(), active: -1, lasso: null,
  view: { x: 0.5, y: 0.5, zoom: 1 },
};
const coloring = () => colorings[state.coloring];
const positions = () => layouts[state.layout].xy;
/** Whether an edge is there at the chosen quantile; edges of a given graph always are. */
const isPresent = (edge) => data.edges.taus.length === 0 || edges.levels[edge] > state.tau;
/** The class of a point by its name. */
const classOf = (category, i) => (category.of[i] === NONE ? "none" : category.classes[category.of[i]]);
