// Facts and warnings, the panels, and the first drawing.

byId("facts").append(...data.facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, text(value)))));
byId("warnings").append(...data.warnings.map((warning) => make("li", {}, text(warning))));
for (const [name, draw] of Object.entries(panels)) {
  if (!(name in data.panels)) continue;
  const element = draw(data.panels[name]);
  element.id = `panel-${name}`;
  byId(element.className === "panel" ? "panels" : "run-parts").append(element);
}
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
    // Immediately: printing does not wait.
    for (let step = job.steps.next(); !step.done; step = job.steps.next());
    frame();
  };
  window.addEventListener("beforeprint", printing(true));
  window.addEventListener("afterprint", printing(false));
}
