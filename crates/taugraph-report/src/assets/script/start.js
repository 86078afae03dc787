// What is left to be said, and the first drawing.

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
