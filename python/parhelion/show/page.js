// Tables of class `sortable`: a click on a head sorts, a second one the other way round; words in the field above keep rows that hold them all.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], rows = [...body.rows];
  const value = (row, column) => {
    const cell = row.cells[column], told = cell?.dataset.value ?? cell?.textContent.trim() ?? "";
    const number = parseFloat(told.replace(/[\s×]/g, ""));
    return Number.isNaN(number) || /^[a-z_]/i.test(told) ? told : number;
  };
  // On narrow screens each row stands as a list (theme.css), whose labels are the heads.
  table.classList.add("stack");
  for (const row of rows) [...row.cells].forEach((cell, column) => (cell.dataset.label = table.tHead.rows[0].cells[column].textContent));
  const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const down = head.ariaSort === "ascending";
      for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
      head.ariaSort = down ? "descending" : "ascending";
      rows.sort((a, b) => (down ? -1 : 1) * compare(value(a, column), value(b, column)));
      body.append(...rows);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
  });
  if (rows.length < 8) continue;
  const field = document.createElement("input");
  Object.assign(field, { type: "search", placeholder: "keep rows with …", className: "filter", ariaLabel: "Keep rows with these words" });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
  (table.closest(".wide") ?? table).before(field);
}
