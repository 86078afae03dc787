// Mouse, touch and keyboard on the map.

const fingers = new Map();
let idle = 0;
/** Draws the scene anew once the view has come to rest. */
const settle = () => {
  clearTimeout(idle);
  idle = setTimeout(redraw, 120);
};
const place = (event) => {
  const frame = canvas.getBoundingClientRect();
  return [event.clientX - frame.left, event.clientY - frame.top];
};
function zoomBy(factor, left = size.width / 2, top = size.height / 2) {
  const [x, y] = fromScreen(left, top);
  state.view.zoom = Math.min(Math.max(state.view.zoom * factor, 0.5), 200);
  const [movedX, movedY] = fromScreen(left, top);
  state.view.x += x - movedX;
  state.view.y += y - movedY;
  ask();
  settle();
}
let traveled = 0;
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  if (fingers.size === 0) traveled = 0;
  fingers.set(event.pointerId, place(event));
  if (fingers.size === 1 && (state.mode === "lasso" || event.shiftKey)) state.lasso = [place(event)];
});
canvas.addEventListener("pointermove", (event) => {
  const now = place(event);
  const before = fingers.get(event.pointerId);
  if (!before) {
    const found = pointAt(...now, 14);
    if (found !== state.active && found >= 0) lookAt(found, false);
    return;
  }
  traveled += Math.hypot(now[0] - before[0], now[1] - before[1]);
  if (fingers.size === 2) {
    const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const distance = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]);
    state.lasso = null;
    zoomBy(distance(now) / Math.max(distance(before), 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  } else if (state.lasso) {
    state.lasso.push(now);
    ask();
  } else {
    const k = scaleOf(state.view);
    state.view.x -= (now[0] - before[0]) / k;
    state.view.y += (now[1] - before[1]) / k;
    ask();
    settle();
  }
  fingers.set(event.pointerId, now);
});
const lift = (event) => {
  const now = place(event);
  fingers.delete(event.pointerId);
  if (state.lasso) {
    const polygon = state.lasso;
    state.lasso = null;
    if (polygon.length > 2) {
      const inside = [];
      for (let i = 0; i < n; i++) {
        if (!isHidden(i) && isInside(...toScreen(positions()[2 * i], positions()[2 * i + 1]), polygon)) inside.push(i);
      }
      select(inside, event.shiftKey && state.mode === "lasso");
    }
    ask();
  } else {
    // A drag is not a click on a point.
    const found = traveled > 8 ? -1 : pointAt(...now, event.pointerType === "touch" ? 24 : 14);
    if (found >= 0) lookAt(found, false);
  }
};
canvas.addEventListener("pointerup", lift);
canvas.addEventListener("pointercancel", (event) => {
  fingers.delete(event.pointerId);
  state.lasso = null;
  ask();
});
canvas.addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * 0.0015), ...place(event));
  },
  { passive: false },
);
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
canvas.addEventListener("keydown", (event) => {
  const direction = ARROWS[event.key];
  if (direction) {
    event.preventDefault();
    step(direction);
  } else if (event.key === "Enter" && state.active >= 0) {
    if (!state.selected.delete(state.active)) state.selected.add(state.active);
    sayselected();
  } else if (event.key === "+" || event.key === "=") zoomBy(1.3);
  else if (event.key === "-") zoomBy(1 / 1.3);
});
/** To the nearest point in a direction. */
function step([dx, dy]) {
  const xy = positions();
  const from = state.active >= 0 ? [xy[2 * state.active], xy[2 * state.active + 1]] : [state.view.x, state.view.y];
  let [best, least] = [-1, Infinity];
  for (let i = 0; i < n; i++) {
    if (i === state.active || isHidden(i)) continue;
    const [x, y] = [xy[2 * i] - from[0], xy[2 * i + 1] - from[1]];
    const [along, across] = [x * dx + y * dy, Math.abs(x * dy) + Math.abs(y * dx)];
    if ((state.active < 0 || (along > 0 && along >= across)) && along * along + 4 * across * across < least) {
      [best, least] = [i, along * along + 4 * across * across];
    }
  }
  if (best < 0) return;
  lookAt(best, true);
  const grouping = categories[0];
  const group = grouping ? `, ${grouping.name} ${classOf(grouping, best)}` : "";
  byId("spoken").textContent = `${nameOf(best)}${group}, ${counted(neighborsOf(best).length, "neighbor")}`;
}
const setMode = (mode) => {
  state.mode = mode;
  for (const name of ["move", "lasso"]) byId(`mode-${name}`).setAttribute("aria-pressed", String(name === mode));
  canvas.classList.toggle("lasso", mode === "lasso");
};
byId("mode-move").addEventListener("click", () => setMode("move"));
byId("mode-lasso").addEventListener("click", () => setMode("lasso"));
byId("zoom-in").addEventListener("click", () => zoomBy(1.5));
byId("zoom-out").addEventListener("click", () => zoomBy(1 / 1.5));
byId("zoom-reset").addEventListener("click", () => {
  state.view = { x: 0.5, y: 0.5, zoom: 1 };
  redraw();
});
