// The controls of the map, and its legend.

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
    const says = chosen.kind === "component" ? "The seven largest components have colors, the others are gray." : "";
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
  const MAX = 200;
  const entries = chosen.classes.slice(0, MAX).map((name, index) => entry(index, name));
  if (chosen.classes.length > palette().length) {
    const more = chosen.classes.length > MAX ? ` The first ${MAX} of ${grouped(chosen.classes.length)} are listed.` : "";
    entries.unshift(make("p", { class: "say" }, `Colors repeat after ${palette().length}.${more}`));
  }
  if (counts.has(NONE)) entries.push(entry(NONE, "none"));
  box.replaceChildren(make("p", {}, text(chosen.name)), ...entries);
}
function sayTau() {
  const at = data.steps[state.tau];
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
byId("tau").max = String(Math.max(data.steps.length - 1, 0));
byId("tau-row").hidden = data.steps.length === 0;
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
