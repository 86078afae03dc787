// Decay of the edges. The dot of the chosen quantile is marked by its `data-tau`.

panels.decay = (steps) => {
  const taus = steps.map((at) => at.tau);
  const [lowest, highest] = [taus[0], taus[taus.length - 1]];
  const most = Math.max(...steps.map((at) => at.edges), 1);
  const { chart, x, y } = axes("Edges present at each quantile", [lowest, highest], [0, most], "quantile τ", fewWhole(most), taus.length <= 12 ? taus : few(lowest, highest, 4));
  chart.append(makeSvg("polyline", { class: "curve", points: steps.map((at) => `${x(at.tau)},${y(at.edges)}`).join(" ") }));
  steps.forEach((at, index) => chart.append(makeSvg("circle", { class: "dot", cx: x(at.tau), cy: y(at.edges), r: 4, "data-tau": index })));
  const rows = steps.map((at) => [short(at.tau), grouped(at.edges), grouped(at.components), grouped(at.largest)]);
  return panel(
    "Decay of the edges",
    make("p", { class: "say" }, "An edge persists up to the quantile at which the similarities around it no longer support it. Edges that vanish early are noise."),
    chart,
    make("div", { class: "scroll" }, table(["τ", "edges", "components", "largest"], rows, () => true)),
  );
};
