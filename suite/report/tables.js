// Tables that are sorted by a click on a heading: ascending, descending, as they came.
const tables = (() => {
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

  /** What a cell is sorted by: its first number; "> n" and "never" are later than all numbers. */
  function sortKey(cell) {
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    const text = cell.textContent.trim().replace(/\u2212/g, "-");
    const number = text.replace(/,(?=\d{3})/g, "").match(/^[>≥~≤<]?\s*(-?[\d.]+(e[-+]?\d+)?)/i);
    if (number) return /^[>≥]/.test(text) ? Number.MAX_VALUE : Number(number[1]);
    if (/^(never|no run|more than|∞)/.test(text)) return Infinity;
    return text.toLowerCase();
  }

  function compare(a, b) {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function arrange(table, column, direction) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    rows.forEach((row, place) => (row.dataset.place ??= place));
    rows.sort((a, b) => a.dataset.place - b.dataset.place);
    if (direction !== "none") {
      const sign = direction === "ascending" ? 1 : -1;
      rows.sort((a, b) => sign * compare(sortKey(a.cells[column]), sortKey(b.cells[column])));
    }
    body.append(...rows);
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      head.setAttribute("aria-sort", place === column ? direction : "none");
    });
  }

  function order(table) {
    const heads = [...table.tHead.rows[0].cells];
    const directions = heads.map((head) => head.getAttribute("aria-sort") ?? "none");
    const column = directions.findIndex((direction) => direction !== "none");
    return column < 0 ? null : { column, direction: directions[column] };
  }

  /** Sort again after the cells have changed. */
  function refresh(table) {
    const current = order(table);
    if (current) arrange(table, current.column, current.direction);
  }

  function makeSortable(table, changed) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        arrange(table, column, NEXT[head.getAttribute("aria-sort")]);
        changed();
      });
    });
  }

  return { makeSortable, arrange, order, refresh };
})();
