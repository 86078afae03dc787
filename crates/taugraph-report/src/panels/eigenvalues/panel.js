// Eigenvalues as stems, and a line in the gap that determines the number of clusters.

panels.eigenvalues = ({ values, gaps, clusters, suggested }) => {
  const most = Math.max(...values, Number.MIN_VALUE);
  const { chart, x, y } = axes("Smallest eigenvalues of the Laplacian, ascending", [0.5, values.length + 0.5], [0, most], "index of the eigenvalue", few(0, most, 4), values.map((_, place) => place + 1).filter((mark) => values.length <= 16 || mark % 5 === 0));
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
  else says.push("The number was given; no eigenvalues beyond it were computed.");
  return panel("Eigenvalues", make("p", {}, says.join(" ")), chart);
};
