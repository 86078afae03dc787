// Selected points, and the table of them.

const isInside = (x, y, polygon) => {
  let inside = false;
  for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
    const [[x1, y1], [x2, y2]] = [polygon[a], polygon[b]];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
};
function select(points, keepOthers) {
  if (!keepOthers) state.selected.clear();
  for (const i of points) state.selected.add(i);
  sayselected();
}
function sayselected() {
  const count = state.selected.size;
  byId("selected").textContent = count === 0 ? "No points selected." : `${grouped(count)} of ${grouped(n)} points selected.`;
  byId("download").disabled = byId("clear").disabled = count === 0;
  ask();
}
function csv() {
  const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  // Spreadsheets would take such a text for a formula; after an apostrophe they do not.
  const text = (value) => (/^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value);
  const header = ["row"];
  if (data.points.ids) header.push("id");
  header.push(...categories.map((category) => text(category.name)), ...numbers.map((column) => text(column.name)));
  const line = (i) => {
    const cells = [String(rowNumbers[i])];
    if (data.points.ids) cells.push(text(data.points.ids[i]));
    for (const category of categories) cells.push(category.of[i] === NONE ? "" : text(category.classes[category.of[i]]));
    for (const { values } of numbers) cells.push(values[i] === values[i] ? String(values[i]) : "");
    return cells.map(quote).join(",");
  };
  return [header.map(quote).join(","), ...[...state.selected].sort((a, b) => a - b).map(line)].join("\r\n") + "\r\n";
}
byId("download").addEventListener("click", () => {
  const link = make("a", { download: "selection.csv" });
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});
byId("clear").addEventListener("click", () => select([], false));
