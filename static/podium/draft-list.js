// A list of problems that are chosen from: ticks all of a page, counts what is chosen, and takes ticks to other pages.
const form = document.getElementById("chosen");

function boxes() {
  return [...form.querySelectorAll('[name="problem"]')];
}

function nTicked() {
  return boxes().filter((box) => box.checked).length + Number(count.dataset.chosen);
}

function show() {
  const n = all.checked ? Number(count.dataset.of) : nTicked();
  count.textContent = n ? `${n} chosen` : "";
  onPage.checked = boxes().every((box) => box.checked);
}

const all = form?.elements.all;
const count = form?.querySelector("[data-chosen]");
const onPage = form?.querySelector("[data-all]");

if (form) {
  onPage.hidden = false;
  onPage.addEventListener("change", () => {
    for (const box of boxes()) box.checked = onPage.checked;
    show();
  });
  form.addEventListener("change", show);
  for (const link of form.querySelectorAll("[data-turn]")) {
    link.addEventListener("click", (event) => {
      const isNewTab = event.ctrlKey || event.metaKey || event.shiftKey;
      if (isNewTab || !(nTicked() || all.checked)) return;
      event.preventDefault();
      form.action = link.href;
      form.submit();
    });
  }
  show();
}
