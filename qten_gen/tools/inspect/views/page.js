"use strict";

// The tree is complete without this script; it folds it, and moves the focus with the arrow keys.
(() => {
  const tree = document.querySelector('[role="tree"]');
  const items = () => [...tree.querySelectorAll('[role="treeitem"]')];
  const isShown = (item) => !item.parentElement.closest('[aria-expanded="false"]');
  const isFolded = (item) => item.getAttribute("aria-expanded") === "false";
  const canFold = (item) => item.hasAttribute("aria-expanded");
  const parentOf = (item) => item.parentElement.closest('[role="treeitem"]');
  const setFolded = (item, folded) => canFold(item) && item.setAttribute("aria-expanded", String(!folded));

  const focus = (item, among) => {
    if (!item) return;
    among.forEach((other) => other.setAttribute("tabindex", "-1"));
    item.setAttribute("tabindex", "0");
    item.focus();
    item.scrollIntoView({ block: "nearest" });
  };

  const reveal = (item) => {
    for (let above = parentOf(item); above; above = parentOf(above)) setFolded(above, false);
    focus(item, items());
  };

  const siblings = (item) => [...item.parentElement.children].filter(canFold);

  const keys = {
    ArrowDown: (item, shown, at) => focus(shown[at + 1], items()),
    ArrowUp: (item, shown, at) => focus(shown[at - 1], items()),
    Home: (item, shown) => focus(shown[0], items()),
    End: (item, shown) => focus(shown[shown.length - 1], items()),
    ArrowRight: (item) => {
      if (isFolded(item)) setFolded(item, false);
      else focus(item.querySelector('[role="treeitem"]'), items());
    },
    ArrowLeft: (item) => {
      if (canFold(item) && !isFolded(item)) setFolded(item, true);
      else focus(parentOf(item), items());
    },
    Enter: (item) => setFolded(item, !isFolded(item)),
    " ": (item) => setFolded(item, !isFolded(item)),
    "*": (item) => siblings(item).forEach((other) => setFolded(other, false)),
  };

  tree.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    const item = event.target.closest('[role="treeitem"]');
    if (!act || !item || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const shown = items().filter(isShown);
    act(item, shown, shown.indexOf(item));
  });

  tree.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    setFolded(row.parentElement, !isFolded(row.parentElement));
    focus(row.parentElement, items());
  });

  const map = document.querySelector(".map");
  const cells = map ? [...map.querySelectorAll(".cell")] : [];
  const choose = (cell) => reveal(document.getElementById(cell.dataset.item));

  if (map) {
    map.addEventListener("click", (event) => {
      const cell = event.target.closest(".cell");
      if (cell) choose(cell);
    });
    map.addEventListener("keydown", (event) => {
      const at = cells.indexOf(event.target);
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (at < 0) return;
      if (event.key in steps) focus(cells[at + steps[event.key]], cells);
      else if (event.key === "Home") focus(cells[0], cells);
      else if (event.key === "End") focus(cells[cells.length - 1], cells);
      else if (event.key === "Enter" || event.key === " ") choose(event.target);
      else return;
      event.preventDefault();
    });
  }

  document.querySelectorAll("button[data-fold]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => items().forEach((item) => setFolded(item, button.dataset.fold === "true")));
  });

  const level = (item) => Number(item.getAttribute("aria-level"));
  if (items().length > 60) items().forEach((item) => setFolded(item, level(item) > 2));
})();
