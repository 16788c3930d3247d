"use strict";
(() => {
  const root = document.documentElement;
  const find = (name) => document.getElementById(name);
  find("theme").addEventListener("click", () => {
    const dark = getComputedStyle(root).getPropertyValue("--paper").trim() !== "#ffffff";
    root.dataset.theme = dark ? "light" : "dark";
  });
  const body = document.querySelector("#atlas tbody");
  const rows = [...body.rows];
  const show = () => {
    const words = find("search").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const place = find("place").value, step = find("step").value, word = find("word").value;
    let count = 0;
    for (const row of rows) {
      const name = row.cells[0].dataset.key.toLowerCase();
      const wanted = (!words.length || words.some((each) => name.includes(each))) && (!place || row.dataset.place === place) &&
        (step === "*" || row.dataset.step === step) && (!word || row.dataset.word === word);
      row.hidden = !wanted;
      count += wanted;
    }
    find("count").textContent = `${count} of ${rows.length}`;
  };
  for (const name of ["search", "place", "step", "word"]) find(name).addEventListener("input", show);
  const heads = [...document.querySelectorAll("#atlas thead th")];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const each of heads) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const numeric = head.classList.contains("n");
    const key = (row) => row.cells[column].dataset.key;
    const order = (one, two) => {
      const first = key(one), second = key(two);
      if (first === "" || second === "") return (first === "") - (second === "");
      return (numeric ? Number(first) - Number(second) : first.localeCompare(second)) * (down ? -1 : 1);
    };
    body.append(...rows.sort(order));
  }));
  show();
})();
