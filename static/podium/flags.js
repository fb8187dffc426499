// Keys of the queue of flags: j and k move, x chooses, u and d go to the form. No key decides anything.
const rows = [...document.querySelectorAll("[data-row] [data-open]")];

function step(by) {
  const link = document.querySelector(by > 0 ? 'a[rel="next"]' : 'a[rel="prev"]');
  if (link) return link.click();
  if (!rows.length) return undefined;
  const here = rows.findIndex((one) => one.closest("[data-row]").contains(document.activeElement));
  const next = here < 0 ? 0 : Math.min(Math.max(here + by, 0), rows.length - 1);
  rows[next].focus();
  return rows[next].scrollIntoView({ block: "nearest" });
}

function choose(ruling) {
  const form = document.querySelector("[data-ruling]");
  if (!form) return;
  form.querySelector(`[value="${ruling}"]`).checked = true;
  form.querySelector("textarea").focus();
}

function tick() {
  const row = document.activeElement.closest("[data-row]");
  const box = row && row.querySelector('[name="flag"]');
  if (box) box.checked = !box.checked;
}

const keys = { j: () => step(1), k: () => step(-1), x: tick, u: () => choose("uphold"), d: () => choose("dismiss") };
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("textarea, select, input:not([type=checkbox], [type=radio])");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});

for (const all of document.querySelectorAll("[data-all]")) {
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of document.querySelectorAll('[data-flags] [name="flag"]')) box.checked = all.checked;
  });
}
