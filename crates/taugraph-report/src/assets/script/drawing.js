// The scene is drawn once into a picture larger than the map, part by part over several frames; panning only moves that picture.

const canvas = byId("map");
const context = canvas.getContext("2d");
const BORDER = 0.3;
const size = { width: 0, height: 0, ratio: 1 };
let scene = null;
let job = null;
let isFrameAsked = false;

const scaleOf = (view) => 0.92 * Math.min(size.width, size.height) * view.zoom;
const toScreen = (x, y, view = state.view) => {
  const k = scaleOf(view);
  return [size.width / 2 + (x - view.x) * k, size.height / 2 - (y - view.y) * k];
};
const fromScreen = (left, top) => {
  const k = scaleOf(state.view);
  return [state.view.x + (left - size.width / 2) / k, state.view.y - (top - size.height / 2) / k];
};
const radius = () => (n < 500 ? 4.5 : n < 3000 ? 3.2 : n < 10000 ? 2.4 : 1.8);

function resize() {
  const frame = canvas.parentElement.getBoundingClientRect();
  size.width = Math.max(frame.width, 50);
  size.height = Math.max(frame.height, 50);
  size.ratio = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = Math.round(size.width * size.ratio);
  canvas.height = Math.round(size.height * size.ratio);
  redraw();
}

/** Draws the scene anew; what was being drawn is dropped. */
function redraw() {
  const width = Math.round(size.width * (1 + 2 * BORDER));
  const height = Math.round(size.height * (1 + 2 * BORDER));
  const picture = document.createElement("canvas");
  picture.width = Math.round(width * size.ratio);
  picture.height = Math.round(height * size.ratio);
  const brush = picture.getContext("2d");
  brush.scale(size.ratio, size.ratio);
  brush.translate(size.width * BORDER, size.height * BORDER);
  job = { picture, brush, view: { ...state.view }, steps: drawingSteps(brush, { ...state.view }) };
  ask();
}

/** The drawing, in steps that leave time for other things. */
function* drawingSteps(brush, view) {
  const xy = positions();
  const edgeColor = themed("--edge");
  if (state.showEdges) {
    const perStroke = 1500;
    brush.lineWidth = n > 5000 ? 0.5 : 0.8;
    // Very many edges would hide the points.
    const faint = Math.max(Math.min(Math.sqrt(15000 / edges.targets.length), 1), 0.25);
    let inPath = 0;
    let shade = -1;
    const finish = () => {
      brush.strokeStyle = `rgba(${edgeColor}, ${faint * (0.1 + 0.6 * (shade / 8))})`;
      brush.stroke();
      brush.beginPath();
      inPath = 0;
    };
    brush.beginPath();
    for (const edge of edges.order) {
      const [i, j] = [edges.sources[edge], edges.targets[edge]];
      if (!isPresent(edge) || isHidden(i) || isHidden(j)) continue;
      const own = Math.round((8 * edges.probabilities[edge]) / 255);
      if (own !== shade || inPath >= perStroke) {
        if (inPath > 0) finish();
        if (own !== shade || inPath === 0) yield;
        shade = own;
      }
      const from = toScreen(xy[2 * i], xy[2 * i + 1], view);
      const to = toScreen(xy[2 * j], xy[2 * j + 1], view);
      brush.moveTo(from[0], from[1]);
      brush.lineTo(to[0], to[1]);
      inPath++;
    }
    if (inPath > 0) finish();
  }
  yield;
  const r = radius();
  const byStyle = painted.palette.map(() => []);
  for (let i = 0; i < n; i++) if (!isHidden(i)) byStyle[painted.style[i]].push(i);
  for (const [style, points] of byStyle.entries()) {
    brush.fillStyle = painted.palette[style];
    for (let first = 0; first < points.length; first += 2000) {
      brush.beginPath();
      for (const i of points.slice(first, first + 2000)) {
        const [left, top] = toScreen(xy[2 * i], xy[2 * i + 1], view);
        if (n > 6000) brush.rect(left - r * 0.9, top - r * 0.9, 1.8 * r, 1.8 * r);
        else {
          brush.moveTo(left + r, top);
          brush.arc(left, top, r, 0, 2 * Math.PI);
        }
      }
      brush.fill();
      yield;
    }
  }
}

function ask() {
  if (!isFrameAsked) {
    isFrameAsked = true;
    requestAnimationFrame(frame);
  }
}

function frame() {
  isFrameAsked = false;
  if (job) {
    const until = performance.now() + 8;
    let step = { done: false };
    while (!step.done && performance.now() < until) step = job.steps.next();
    if (step.done) {
      scene = { picture: job.picture, view: job.view };
      job = null;
      canvas.dataset.drawn = String(Number(canvas.dataset.drawn || 0) + 1);
    } else ask();
  }
  show();
}

/** The picture where the view has moved to, and on top what changes with every move of the mouse. */
function show() {
  context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  if (scene) {
    const zoom = state.view.zoom / scene.view.zoom;
    const [left, top] = toScreen(scene.view.x, scene.view.y);
    const width = size.width * (1 + 2 * BORDER) * zoom;
    const height = size.height * (1 + 2 * BORDER) * zoom;
    context.drawImage(scene.picture, left - width / 2, top - height / 2, width, height);
  }
  const ring = themed("--ring");
  const xy = positions();
  if (state.selected.size > 0) {
    context.strokeStyle = ring;
    context.lineWidth = 1;
    context.beginPath();
    for (const i of state.selected) {
      if (isHidden(i)) continue;
      const [left, top] = toScreen(xy[2 * i], xy[2 * i + 1]);
      context.moveTo(left + radius() + 1.5, top);
      context.arc(left, top, radius() + 1.5, 0, 2 * Math.PI);
    }
    context.stroke();
  }
  if (state.active >= 0) {
    const at = toScreen(xy[2 * state.active], xy[2 * state.active + 1]);
    context.strokeStyle = "#d55e00";
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [other] of neighborsOf(state.active)) {
      const to = toScreen(xy[2 * other], xy[2 * other + 1]);
      context.moveTo(...at);
      context.lineTo(...to);
    }
    context.stroke();
    context.strokeStyle = ring;
    context.lineWidth = 2.5;
    context.beginPath();
    context.arc(...at, radius() + 4, 0, 2 * Math.PI);
    context.stroke();
  }
  if (state.lasso) {
    context.strokeStyle = ring;
    context.setLineDash([5, 4]);
    context.lineWidth = 1.5;
    context.beginPath();
    state.lasso.forEach(([left, top], place) => (place ? context.lineTo(left, top) : context.moveTo(left, top)));
    context.stroke();
    context.setLineDash([]);
  }
}
