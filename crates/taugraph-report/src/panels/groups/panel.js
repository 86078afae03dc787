// Clusters or labels, and their least certain points. Adds the group to a point's details.

panels.groups = ({ title, groups, certainty }) => {
  const grouping = categories[0];
  const columns = [[grouping.name, (group) => group.name], ["rows", (group) => grouped(group.size)]];
  const mostly = ({ label }) => (label ? `${label.name} (${Math.round(100 * label.share)} %)` : "–");
  if (certainty) columns.push([certainty.name, (group) => short(group.mean)]);
  if (groups.some((group) => group.label !== null)) columns.push(["mostly", mostly]);
  const rows = groups.map((group) => columns.map(([, of]) => of(group)));
  const parts = [make("div", { class: "scroll" }, table(columns.map(([name]) => name), rows, isAfterFirst))];
  if (certainty) {
    const least = certainty.least.map(({ point, value }) => [pointButton(point), classOf(grouping, point), short(value)]);
    parts.push(make("h3", {}, `Points with the lowest ${certainty.name}${data.points.isSample ? ", in the sample" : ""}`));
    parts.push(make("div", { class: "scroll" }, table(["point", grouping.name, certainty.name], least, (column) => column === 2)));
  }
  const saysOf = (group) => {
    const says = [`${grouped(group.size)} rows`];
    if (certainty && group.mean !== null) says.push(`mean ${certainty.name} ${short(group.mean)}`);
    if (group.label) says.push(`mostly ${mostly(group)}`);
    for (const column of group.columns) {
      says.push(`${column.name} ${short(column.mean)} (${data.points.isSample ? "the sample" : "all rows"}: ${short(column.all)})`);
    }
    return text(says.join("; "));
  };
  aboutPoint.push((i) => {
    if (grouping.of[i] === NONE) return [];
    const group = groups[grouping.of[i]];
    return [make("h3", {}, text(`${grouping.name} ${group.name}`)), make("p", {}, saysOf(group))];
  });
  return panel(title, ...parts);
};
