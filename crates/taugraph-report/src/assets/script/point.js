// One point: its details, and which one is under the mouse.

/** Neighbors at the chosen quantile, likeliest first, as [point, probability]. */
const neighborsOf = (i) =>
  edges.of[nodeOf[i]]
    .filter(isPresent)
    .map((edge) => [edges.sources[edge] === nodeOf[i] ? edges.targets[edge] : edges.sources[edge], edges.probabilities[edge] / 255])
    .sort((a, b) => b[1] - a[1]);
const nameOf = (i) => (data.points.ids ? `${data.points.ids[i]}` : `row ${grouped(rowNumbers[i])}`);
const pointButton = (i) => make("button", { type: "button", class: "link", onclick: () => lookAt(i, true) }, text(nameOf(i)));

/** What panels have to say of a point: functions from its number to elements. */
const aboutPoint = [];

function describe(i) {
  const detail = byId("detail");
  const rows = [];
  for (const category of categories) rows.push([category.name, classOf(category, i)]);
  for (const column of numbers) rows.push([column.name, short(column.values[i])]);
  const near = neighborsOf(i);
  const parts = [
    make("h3", {}, text(nameOf(i)), data.points.ids ? ` (row ${grouped(rowNumbers[i])})` : ""),
    table(null, rows),
    nodeOf[i] === i ? null : make("p", {}, "Equal to ", pointButton(nodeOf[i]), ", whose node it shares."),
    make("h3", {}, counted(near.length, "neighbor"), data.points.isSample ? " in the sample" : ""),
    make("p", {}, ...near.slice(0, 12).flatMap(([other, p], place) => [place ? ", " : "", pointButton(other), ` (${p.toFixed(2)})`])),
    ...aboutPoint.flatMap((says) => says(i)),
  ];
  detail.replaceChildren(...parts.filter((part) => part !== null));
}

function lookAt(i, bringIntoView) {
  state.active = i;
  if (bringIntoView) {
    const [left, top] = toScreen(positions()[2 * i], positions()[2 * i + 1]);
    if (left < 0 || top < 0 || left > size.width || top > size.height) {
      [state.view.x, state.view.y] = [positions()[2 * i], positions()[2 * i + 1]];
      redraw();
    }
    canvas.scrollIntoView({ block: "nearest" });
  }
  describe(i);
  ask();
}

// The points in each small square of the plane, to find those under the mouse.
const CELLS = 64;
let grid = null;
function makeGrid() {
  grid = Array.from({ length: CELLS * CELLS }, () => []);
  const xy = positions();
  for (let i = 0; i < n; i++) grid[cell(xy[2 * i]) + CELLS * cell(xy[2 * i + 1])].push(i);
}
const cell = (value) => Math.min(Math.max(Math.floor(value * CELLS), 0), CELLS - 1);
function pointAt(left, top, reach) {
  const k = scaleOf(state.view);
  const [x, y] = fromScreen(left, top);
  const around = reach / k;
  let [best, least] = [-1, around * around];
  for (let row = cell(y - around); row <= cell(y + around); row++) {
    for (let column = cell(x - around); column <= cell(x + around); column++) {
      for (const i of grid[column + CELLS * row]) {
        const away = (positions()[2 * i] - x) ** 2 + (positions()[2 * i + 1] - y) ** 2;
        if (away <= least && !isHidden(i)) [best, least] = [i, away];
      }
    }
  }
  return best;
}
