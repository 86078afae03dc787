// Losses of the quantile models, one curve for each; the table has where each ended.

panels.training = ({ models, crossing_rate: crossing }) => {
  const points = models.flatMap((model) => model.losses);
  const last = Math.max(...points.map(([at]) => at), 2);
  const losses = points.map(([, loss]) => loss);
  const [least, most] = [Math.min(...losses, 0), Math.max(...losses, Number.MIN_VALUE)];
  const { chart, x, y } = axes("Loss of each quantile model", [1, last], [least, most], "epoch", few(least, most, 4), fewWhole(last).map((mark) => Math.max(mark, 1)));
  models.forEach((model, place) => {
    const shade = models.length > 1 ? 0.25 + (0.75 * place) / (models.length - 1) : 1;
    chart.append(makeSvg("polyline", { class: "curve", "stroke-opacity": shade, points: model.losses.map(([at, loss]) => `${x(at)},${y(loss)}`).join(" ") }));
  });
  const ends = { converged: "the loss stopped falling", completed: "all steps were done", "iteration-limit": "the limit was reached", "no-descent": "no step lowered the loss" };
  const rows = models.map((model) => [model.name, ends[model.stop] || model.stop, grouped(model.iterations), short(model.losses[model.losses.length - 1][1], 4)]);
  const says = [models.length > 1 ? "One model for each quantile; the darker the curve, the higher τ." : "One model for all quantiles."];
  if (crossing !== null) says.push(`Before they were put in order, the quantiles crossed on ${short(100 * crossing, 3)} % of the edges.`);
  return panel(
    "Training",
    make("p", { class: "say" }, says.join(" ")),
    chart,
    make("div", { class: "scroll" }, table(["model", "ended because", "epochs", "last loss"], rows, (column) => column > 1)),
  );
};
