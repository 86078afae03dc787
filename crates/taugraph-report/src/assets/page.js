"use strict";
// The report: everything that is shown comes from the JSON in the page, and all text of it is set as text.
(() => {
  document.documentElement.classList.add("scripted");
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const NONE = 65535;
  // Eight that colour-blind people can tell apart (after Okabe and Ito), the same lighter, and a third time away from the ground.
  const EIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a7f00", "#5e3c99"];
  const LIGHTER = ["#80b8d8", "#f2cf80", "#80ceb9", "#e6bcd3", "#eaae80", "#aadaf4", "#c4bf80", "#ae9ecc"];
  const DARKEST = ["#003f62", "#7e5700", "#00573f", "#70435c", "#753400", "#2f6380", "#4c4600", "#342154"];
  const PALEST = ["#c7e0ee", "#faeac7", "#c7eae0", "#f4e2ec", "#f6dcc7", "#daeefa", "#e5e3c7", "#dcd4e9"];
  // High values stand out from the ground: dark on light, light on dark.
  const RAMPS = {
    light: [[253, 231, 37], [94, 201, 98], [33, 145, 140], [59, 82, 139], [68, 1, 84]],
    dark: [[124, 88, 196], [88, 130, 196], [52, 170, 160], [122, 209, 81], [253, 231, 37]],
  };
  const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
  // Paper is light, whatever the screen is.
  let isPrinting = false;
  const isDark = () => darkScheme.matches && !isPrinting;
  const palette = () => [...EIGHT, ...LIGHTER, ...(isDark() ? PALEST : DARKEST)];
  const PAPER = { "--edge": "60, 70, 82", "--absent": "#b3bac2", "--ring": "#111111" };
  const themed = (name) => (isPrinting ? PAPER[name] : getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  const RAMP_STEPS = 32;

  // ---- small things --------------------------------------------------------------------------------------------------------

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
  const short = (number) => {
    if (number === null || number === undefined || Number.isNaN(number)) return "–";
    const size = Math.abs(number);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return number.toExponential(2);
    return String(Number(number.toPrecision(4)));
  };
  const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };
  const array = (packed) => new ARRAYS[packed.type](bytesOf(packed.base64).buffer);

  // ---- the points ----------------------------------------------------------------------------------------------------------

  const n = data.points.shown;
  const rowNumbers = array(data.points.rows);
  // Equal rows are one node: the first of them that is shown has the edges.
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
    // Unlikely ones first: likely ones lie on top.
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

  // ---- colours -------------------------------------------------------------------------------------------------------------

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
  /** For each point the number of its colour; and the colours. */
  function paint() {
    const chosen = coloring();
    const absent = themed("--absent");
    const style = new Uint16Array(n);
    if (chosen.kind === "category" || chosen.kind === "component") {
      const of = chosen.kind === "category" ? chosen.of : components();
      const shownAlone = 7; // Of components, the small ones share a colour.
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

  // ---- drawing -------------------------------------------------------------------------------------------------------------
  // The scene is drawn once into a picture larger than the map, a little in each frame; moving the map only moves that picture.

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

  // ---- one point -----------------------------------------------------------------------------------------------------------

  /** Neighbours at the chosen quantile, likeliest first, as [point, probability]. */
  const neighborsOf = (i) =>
    edges.of[nodeOf[i]]
      .filter(isPresent)
      .map((edge) => [edges.sources[edge] === nodeOf[i] ? edges.targets[edge] : edges.sources[edge], edges.probabilities[edge] / 255])
      .sort((a, b) => b[1] - a[1]);
  const nameOf = (i) => (data.points.ids ? `${data.points.ids[i]}` : `row ${grouped(rowNumbers[i])}`);
  const pointButton = (i) => make("button", { type: "button", class: "link", onclick: () => lookAt(i, true) }, text(nameOf(i)));

  function describe(i) {
    const detail = byId("detail");
    const rows = [];
    for (const category of categories) {
      rows.push([category.name, category.of[i] === NONE ? "none" : category.classes[category.of[i]]]);
    }
    for (const column of numbers) rows.push([column.name, short(column.values[i])]);
    const near = neighborsOf(i);
    const parts = [
      make("h3", {}, text(nameOf(i)), data.points.ids ? ` (row ${grouped(rowNumbers[i])})` : ""),
      table(null, rows),
      nodeOf[i] === i ? null : make("p", {}, "Equal to ", pointButton(nodeOf[i]), ", and one node with it."),
      make("h3", {}, counted(near.length, "neighbour"), data.points.isSample ? " in the sample" : ""),
      make("p", {}, ...near.slice(0, 12).flatMap(([other, p], place) => [place ? ", " : "", pointButton(other), ` (${p.toFixed(2)})`])),
    ];
    const grouping = categories[0];
    const group = grouping && grouping.of[i] !== NONE ? data.groups.find((known) => known.index === grouping.of[i]) : null;
    if (group) {
      parts.push(make("h3", {}, text(`${grouping.name} ${group.name}`)));
      parts.push(make("p", {}, groupSays(group)));
    }
    detail.replaceChildren(...parts.filter((part) => part !== null));
  }
  const groupSays = (group) => {
    const says = [`${grouped(group.size)} rows`];
    if (group.stability !== null) says.push(`mean stability ${short(group.stability)}`);
    if (group.margin !== null) says.push(`mean margin ${short(group.margin)}`);
    if (group.label) says.push(`mostly ${group.label.name} (${Math.round(100 * group.label.share)} %)`);
    for (const column of group.columns) {
      says.push(`${column.name} ${short(column.mean)} (${data.points.isSample ? "the sample" : "all rows"}: ${short(column.all)})`);
    }
    return text(says.join("; "));
  };

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

  // The points of each small square of the plane, to find those under the mouse.
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

  // ---- selection -----------------------------------------------------------------------------------------------------------

  const isInside = (x, y, polygon) => {
    let inside = false;
    for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
      const [[x1, y1], [x2, y2]] = [polygon[a], polygon[b]];
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
    }
    return inside;
  };
  function select(points, keepOthers) {
    if (!keepOthers) state.selected.clear();
    for (const i of points) state.selected.add(i);
    sayselected();
  }
  function sayselected() {
    const count = state.selected.size;
    byId("selected").textContent = count === 0 ? "No points selected." : `${grouped(count)} of ${grouped(n)} points selected.`;
    byId("download").disabled = byId("clear").disabled = count === 0;
    ask();
  }
  function csv() {
    const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const header = ["row"];
    if (data.points.ids) header.push("id");
    header.push(...categories.map((category) => category.name), ...numbers.map((column) => column.name));
    const line = (i) => {
      const cells = [String(rowNumbers[i])];
      if (data.points.ids) cells.push(data.points.ids[i]);
      for (const category of categories) cells.push(category.of[i] === NONE ? "" : category.classes[category.of[i]]);
      for (const { values } of numbers) cells.push(values[i] === values[i] ? String(values[i]) : "");
      return cells.map(quote).join(",");
    };
    return [header.map(quote).join(","), ...[...state.selected].sort((a, b) => a - b).map(line)].join("\r\n") + "\r\n";
  }
  byId("download").addEventListener("click", () => {
    const link = make("a", { download: "selection.csv" });
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  byId("clear").addEventListener("click", () => select([], false));

  // ---- mouse, fingers, keys ------------------------------------------------------------------------------------------------

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
  let travelled = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (fingers.size === 0) travelled = 0;
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
    travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
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
      // Who has moved the map did not mean a point.
      const found = travelled > 8 ? -1 : pointAt(...now, event.pointerType === "touch" ? 24 : 14);
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
    const group = grouping ? `, ${grouping.name} ${grouping.of[best] === NONE ? "none" : grouping.classes[grouping.of[best]]}` : "";
    byId("spoken").textContent = `${nameOf(best)}${group}, ${counted(neighborsOf(best).length, "neighbour")}`;
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

  // ---- controls ------------------------------------------------------------------------------------------------------------

  const repaint = () => {
    painted = paint();
    legend();
    redraw();
  };
  function options(select, names, onchange) {
    names.forEach((name, index) => select.append(make("option", { value: index }, name)));
    select.addEventListener("change", () => onchange(Number(select.value)));
  }
  function legend() {
    const box = byId("legend");
    const chosen = coloring();
    if (chosen.kind === "number") {
      const [low, high] = rangeOf(chosen.values);
      const bar = make("div", { class: "ramp", role: "img", "aria-label": `from ${short(low)} to ${short(high)}` });
      box.replaceChildren(make("p", {}, text(chosen.name)), bar, make("div", { class: "ends" }, make("span", {}, short(low)), make("span", {}, short(high))));
      return;
    }
    if (chosen.kind !== "category") {
      const says = chosen.kind === "component" ? "The seven largest components have colours, the others are grey." : "";
      box.replaceChildren(make("p", { class: "say" }, says));
      return;
    }
    const counts = new Map();
    for (const of of chosen.of) counts.set(of, (counts.get(of) || 0) + 1);
    const entry = (index, name) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = index === NONE ? "var(--absent)" : classColor(index);
      const toggle = make("button", { type: "button", class: "toggle", "aria-pressed": String(!state.hidden.has(index)) }, swatch, text(name), ` (${grouped(counts.get(index) || 0)})`);
      toggle.addEventListener("click", () => {
        if (!state.hidden.delete(index)) state.hidden.add(index);
        toggle.setAttribute("aria-pressed", String(!state.hidden.has(index)));
        redraw();
      });
      const members = () => Array.from(chosen.of.keys()).filter((i) => chosen.of[i] === index);
      const pick = make("button", { type: "button", class: "pick", "aria-label": `Select ${chosen.name} ${name}`, onclick: () => select(members(), false) }, "select");
      return make("div", { class: "entry" }, toggle, pick);
    };
    const MOST = 200;
    const entries = chosen.classes.slice(0, MOST).map((name, index) => entry(index, name));
    if (chosen.classes.length > palette().length) {
      const more = chosen.classes.length > MOST ? ` The first ${MOST} of ${grouped(chosen.classes.length)} are listed.` : "";
      entries.unshift(make("p", { class: "say" }, `Colours repeat after ${palette().length}.${more}`));
    }
    if (counts.has(NONE)) entries.push(entry(NONE, "none"));
    box.replaceChildren(make("p", {}, text(chosen.name)), ...entries);
  }
  function sayTau() {
    const at = data.decay[state.tau];
    const says = at ? `τ = ${at.tau}: ${counted(at.edges, "edge")}, ${counted(at.components, "component")}, the largest of ${grouped(at.largest)}` : "";
    byId("tau-says").textContent = says;
    byId("tau").setAttribute("aria-valuetext", says || "no quantiles");
    document.querySelectorAll("[data-tau]").forEach((dot) => dot.classList.toggle("now", Number(dot.dataset.tau) === state.tau));
  }
  options(byId("layout"), layouts.map((layout) => layout.name), (index) => {
    state.layout = index;
    makeGrid();
    saySample();
    redraw();
  });
  options(byId("color"), colorings.map((known) => known.name), (index) => {
    state.coloring = index;
    state.hidden.clear();
    repaint();
  });
  byId("show-edges").addEventListener("change", (event) => {
    state.showEdges = event.target.checked;
    redraw();
  });
  byId("tau").max = String(Math.max(data.decay.length - 1, 0));
  byId("tau-row").hidden = data.decay.length === 0;
  byId("tau").addEventListener("input", (event) => {
    state.tau = Number(event.target.value);
    sayTau();
    if (coloring().kind === "component") painted = paint();
    if (state.active >= 0) describe(state.active);
    redraw();
  });
  function saySample() {
    const says = [data.points.note, data.edges.note, layouts[state.layout].note].filter(Boolean);
    byId("sample").textContent = says.join(" ");
  }

  // ---- panels --------------------------------------------------------------------------------------------------------------

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
  const EDGE = { left: 58, right: 12, top: 12, bottom: 34 };
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
  if (data.comparison.length > 0) {
    const rows = data.comparison.map((row) => [row.graph, short(row.agreement), ...(data.scoreName ? [short(row.score)] : [])]);
    const header = ["graph", "agreement with this result", ...(data.scoreName ? [data.scoreName] : [])];
    panel("With and without the quantiles", make("p", { class: "say" }, data.comparisonNote), make("div", { class: "scroll" }, table(header, rows, isAfterFirst)));
  }
  if (data.preparation.length > 0) {
    panel("What was done to the input", make("ul", {}, ...data.preparation.map((says) => make("li", {}, text(says)))));
  }

  // ---- the rest ------------------------------------------------------------------------------------------------------------

  byId("facts").append(...data.facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, text(value)))));
  byId("warnings").append(...data.warnings.map((warning) => make("li", {}, text(warning))));
  byId("stages").append(...table(["stage", "seconds", "MB, most so far"], data.stages.map(([name, seconds, bytes]) => [name, seconds.toFixed(2), bytes === null ? "–" : grouped(Math.round(bytes / 1e6))]), isAfterFirst).children);
  byId("settings").textContent = JSON.stringify(data.settings, null, 2);
  byId("map-section").hidden = n === 0 || layouts.length === 0;
  if (layouts.length > 0) {
    makeGrid();
    legend();
    saySample();
    sayTau();
    resize();
    new ResizeObserver(resize).observe(canvas.parentElement);
    darkScheme.addEventListener("change", repaint);
    const printing = (is) => () => {
      isPrinting = is;
      repaint();
      // At once: a printer waits for nothing.
      for (let step = job.steps.next(); !step.done; step = job.steps.next());
      frame();
    };
    window.addEventListener("beforeprint", printing(true));
    window.addEventListener("afterprint", printing(false));
  }
})();
