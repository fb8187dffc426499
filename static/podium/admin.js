// The administration: what scripts of the framework leave without a name or out of the keyboard's reach.
addEventListener("load", () => {
  const named = (element) => element.closest(".form-row")?.querySelector("label")?.textContent.trim().replace(/:$/, "") || "Value";
  document.querySelectorAll(".inline-group td :is(input, select, textarea):not([type=hidden])").forEach((field) => {
    const cell = field.closest("td");
    const title = cell.closest("table").tHead?.rows[0].cells[cell.cellIndex]?.textContent.trim();
    if (title) field.setAttribute("aria-label", title.replace(/\?$/, ""));
  });
  document.querySelectorAll(".inline-group th.original:empty").forEach((title) => { title.textContent = "Row"; });
  document.querySelectorAll(".readonly").forEach((value) => {
    if (value.scrollHeight <= value.clientHeight) return;
    value.tabIndex = 0;
    value.setAttribute("role", "region");
    value.setAttribute("aria-label", named(value));
  });
});

// The framework's search fields are named by their value alone, so an empty one has no name. The framework makes them when
// its jQuery is ready, which on a busy machine can be after the page has loaded.
window.addEventListener("load", () => {
  const whenMade = window.django?.jQuery ?? ((work) => work());
  whenMade(() => {
    for (const select of document.querySelectorAll("select.admin-autocomplete")) {
      const label = select.labels[0]?.innerText.trim();
      const shown = select.nextElementSibling?.querySelectorAll(".select2-selection, .select2-selection__rendered") ?? [];
      if (label) shown.forEach((part) => part.setAttribute("aria-label", label));
    }
  });
});
