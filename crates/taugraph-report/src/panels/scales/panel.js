// Local scales: two overlaid histograms, and the points whose scale changed most.

panels.scales = ({ range: [low, high], first, robust, moved }) => {
  const most = Math.max(...first, ...robust, 1);
  const { chart, x, y } = axes("Distribution of the local scales, first and robust", [low, high], [0, most], "local scale (orange: first, blue: robust)", fewWhole(most), few(low, high, 4));
  for (const [name, bins] of [["bar-first", first], ["bar-robust", robust]]) {
    const width = (WIDTH - EDGE.left - EDGE.right) / bins.length;
    bins.forEach((count, bin) => chart.append(makeSvg("rect", { class: name, x: x(low + ((high - low) * bin) / bins.length), width: width - 1, y: y(count), height: y(0) - y(count) })));
  }
  const rows = moved.map((at) => [pointButton(at.point), short(at.first), short(at.robust), `× ${short(at.robust / at.first)}`]);
  const list = moved.length > 0 ? [make("h3", {}, "Points whose scale changed most"), make("div", { class: "scroll" }, table(["point", "first", "robust", "change"], rows, isAfterFirst))] : [make("p", {}, "No scale changed.")];
  return panel("Local scales", ofSample(), chart, ...list);
};
