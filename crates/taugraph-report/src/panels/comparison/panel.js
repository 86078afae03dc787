// With and without the quantiles: a row for each graph.

panels.comparison = ({ rows, note, scoreName }) => {
  const cells = rows.map((row) => [row.graph, short(row.agreement), ...(scoreName ? [short(row.score)] : [])]);
  const header = ["graph", "agreement with this result", ...(scoreName ? [scoreName] : [])];
  const compared = rows.length > 0 ? make("div", { class: "scroll" }, table(header, cells, isAfterFirst)) : null;
  return panel("With and without the quantiles", make("p", { class: "say" }, note), compared);
};
