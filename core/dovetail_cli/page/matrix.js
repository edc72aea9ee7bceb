// Filters, the line at the bottom that says what the chosen place is, and the arrow keys.
"use strict";
document.body.classList.add("scripted");
const table = document.querySelector("table");
const form = document.querySelector("form");
const shown = document.querySelector("output");
const detail = document.querySelector("aside");
const columns = [...table.querySelectorAll("thead th[data-table]")].map((th) => th.dataset.table);
const lines = [...table.querySelectorAll("tbody tr:not(.package)")];
const places = (line) => [...line.querySelectorAll("td[title]")];

function fits(line, { name, home, state, among }) {
  if (name && !line.dataset.name.includes(name)) return false;
  if (home && line.parentElement.dataset.home !== home) return false;
  return !state || places(line).some((td, i) => td.className === state && (!among || among === columns[i]));
}

function filter() {
  const wanted = Object.fromEntries(new FormData(form));
  wanted.name = wanted.name.trim().toLowerCase();
  let n = 0;
  for (const line of lines) n += !(line.hidden = !fits(line, wanted));
  for (const body of table.tBodies) body.hidden = !body.querySelector("tr:not(.package):not([hidden])");
  shown.value = `${n} of ${lines.length} primitives`;
  const current = table.querySelector("td[tabindex='0']");
  if (!current || current.parentElement.hidden) choose(visible()[0] && places(visible()[0])[0]);
}

function visible() {
  return lines.filter((line) => !line.hidden);
}

function choose(td) {
  for (const old of table.querySelectorAll("td[tabindex='0']")) old.tabIndex = -1;
  if (td) td.tabIndex = 0;
}

function say(td) {
  const line = td.parentElement, name = line.dataset.name, column = columns[places(line).indexOf(td)];
  const lead = document.createElement("b"), command = document.createElement("code");
  lead.textContent = `${name} × ${column}: `;
  command.textContent = `dovetail explain ${name} ${column}`;
  const [what, ...more] = td.title.split("\n");
  detail.className = "";
  detail.replaceChildren(lead, what, document.createElement("br"));
  detail.append(more.length ? `${more.join("; ")}. ` : "", command);
}

table.addEventListener("focusin", ({ target }) => {
  if (target.matches("td[title]")) { choose(target); say(target); }
});

table.addEventListener("keydown", (event) => {
  const td = event.target.closest("td[title]");
  if (!td || event.ctrlKey || event.altKey || event.metaKey) return;
  const rows = visible(), y = rows.indexOf(td.parentElement), x = places(td.parentElement).indexOf(td);
  const last = columns.length - 1;
  const to = {
    ArrowUp: [x, y - 1], ArrowDown: [x, y + 1], ArrowLeft: [x - 1, y], ArrowRight: [x + 1, y],
    Home: [0, y], End: [last, y], PageUp: [x, Math.max(0, y - 15)],
    PageDown: [x, Math.min(rows.length - 1, y + 15)],
  }[event.key];
  if (!to) return;
  event.preventDefault();
  const next = rows[to[1]] && places(rows[to[1]])[to[0]];
  if (next) { next.focus({ preventScroll: true }); next.scrollIntoView({ block: "nearest", inline: "nearest" }); }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.matches("input, select")) { event.preventDefault(); form.elements.name.focus(); }
});

for (const td of table.querySelectorAll("td[title]")) td.tabIndex = -1;
form.addEventListener("input", filter);
form.addEventListener("reset", () => setTimeout(filter));
form.addEventListener("submit", (event) => event.preventDefault());
filter();
