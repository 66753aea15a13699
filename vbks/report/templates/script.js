"use strict";
for (const svg of document.querySelectorAll("svg[data-hover]")) {
  const places = JSON.parse(svg.dataset.hover);
  const pointer = svg.querySelector(".pointer");
  const readout = svg.closest("figure").querySelector(".readout");
  const hide = () => { pointer.setAttribute("visibility", "hidden"); readout.textContent = ""; };
  const show = (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    let best = places[0];
    for (const place of places) if (Math.abs(place[0] - x) < Math.abs(best[0] - x)) best = place;
    pointer.setAttribute("x1", best[0]);
    pointer.setAttribute("x2", best[0]);
    pointer.setAttribute("visibility", "visible");
    readout.textContent = best[1];
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", hide);
}

const valueOf = (row, column) => {
  const cell = row.cells[column];
  const text = (cell.querySelector("code") ?? cell).textContent.trim();
  const number = Number(text);
  return text === "" ? null : Number.isNaN(number) ? text : number;
};
const compare = (a, b) => typeof a === "number" && typeof b === "number"
  ? a - b : String(a).localeCompare(String(b));
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const first = head.classList.contains("number") ? -1 : 1;
      const sign = before === null ? first : before === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
      rows.sort(([a], [b]) => a === null ? 1 : b === null ? -1 : sign * compare(a, b));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
for (const input of document.querySelectorAll("input[data-filter]")) {
  const rows = document.getElementById(input.dataset.filter).tBodies[0].rows;
  input.closest("[hidden]").hidden = false;
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
