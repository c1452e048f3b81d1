"use strict";
document.documentElement.classList.add("js");
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const descending = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
    const numeric = "metric" in head.dataset;
    for (const body of table.tBodies) {
      const rows = [...body.rows];
      rows.sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        if (!numeric) return (descending ? -1 : 1) * x.localeCompare(y);
        if ((x === "") !== (y === "")) return x === "" ? 1 : -1;
        return (descending ? -1 : 1) * (x - y);
      });
      body.append(...rows);
    }
  }));
}
for (const command of document.querySelectorAll("pre.command")) {
  const text = command.textContent;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command);
    }
  });
  command.append(button);
}
