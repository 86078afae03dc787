// How many groups and how sure, in words; buttons that walk through the layers; what each cluster is.

panels.answer = ({ clusters, sentence, method, choice, layers, explanations }) => {
  const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);
  const parts = [make("p", { class: "answer" }, text(sentence ? `${capital(sentence)}.` : `${capital(counted(clusters, "group"))}, as requested.`))];
  const by = method === "spectral" ? "the eigenvectors of the graph" : "merging micro-communities";
  const why = choice
    ? ` Agglomeration cuts ${short(choice.ratio)} times as much weight as the eigenvectors; the modularities are ${short(choice.modularities[0])} and ${short(choice.modularities[1])}.`
    : "";
  if (clusters > 1) parts.push(make("p", {}, text(`Found by ${by}.${why}`)));
  if (layers.length > 1) {
    const show = (name) => {
      state.coloring = colorings.findIndex((known) => known.name === name);
      byId("color").value = String(state.coloring);
      state.hidden.clear();
      repaint();
    };
    const button = (layer) =>
      make("button", { type: "button", onclick: () => show(layerName(layer.clusters)), title: `${layer.evidence} evidence: the weakest boundary resists with ${short(layer.resistance)}` }, text(layer.clusters));
    parts.push(make("p", { id: "layers" }, "Coarser and finer, each nested in the one before: ", ...layers.flatMap((layer) => [button(layer), " "]), "groups."));
  }
  if (explanations.length > 1) {
    const difference = ({ name, mean, outside }) => `${name} ${short(mean)} (others ${short(outside)})`;
    const condition = ({ name, above, threshold }) => `${name} ${above ? ">" : "≤"} ${short(threshold)}`;
    const rule = (found) =>
      found ? `${found.conditions.map(condition).join(" and ")}: ${Math.round(100 * found.precision)} % right, ${Math.round(100 * found.recall)} % of it` : "–";
    const about = (one, cluster) => [
      make("h3", {}, text(`${categories[0].classes[cluster]}: ${counted(one.size, "row")}${data.points.isSample ? " in the sample" : ""}`)),
      make("p", {}, text(one.columns.slice(0, 3).map(difference).join("; "))),
      make("p", { class: "say" }, text(`Rule: ${rule(one.rule)}.`)),
      one.typical.length > 0 ? make("p", { class: "say" }, "Typical: ", ...one.typical.flatMap((point, place) => [place ? ", " : "", pointButton(point)])) : null,
    ];
    parts.push(make("div", { class: "scroll" }, ...explanations.flatMap(about).filter(Boolean)));
  }
  return panel("How many groups", ...parts);
};
const layerName = (count) => `layer of ${count}`;
