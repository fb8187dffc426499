// Opens the details of a board's row below it. Without this script the same link loads the page with the row open.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-details]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const row = link.closest("tr");
  const below = row.nextElementSibling;
  if (below?.matches(".details")) {
    below.remove();
    link.setAttribute("aria-expanded", "false");
    return;
  }
  const answer = await fetch(link.dataset.details).catch(() => null);
  if (!answer?.ok) {
    window.location.assign(link.href);
    return;
  }
  row.insertAdjacentHTML("afterend", await answer.text());
  row.nextElementSibling.cells[0].colSpan = row.cells.length;
  link.setAttribute("aria-expanded", "true");
});

// While submissions are being graded the ranking comes anew, unless somebody is at work in it.
const REFRESH_MS = 5000;
const isInUse = (ranking) =>
  ranking.contains(document.activeElement) ||
  ranking.querySelector(":checked, tr.details") !== null ||
  (!document.getSelection().isCollapsed && ranking.contains(document.getSelection().anchorNode));
async function refresh() {
  const ranking = document.querySelector("#ranking[data-live]");
  if (!ranking) return;
  if (!document.hidden && !isInUse(ranking)) {
    const answer = await fetch(window.location.href).catch(() => null);
    if (answer?.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#ranking");
      if (fresh && !isInUse(ranking)) {
        const across = ranking.querySelector(".scroll")?.scrollLeft ?? 0;
        ranking.replaceWith(fresh);
        fresh.querySelector(".scroll")?.scrollTo(across, 0);
      }
    }
  }
  window.setTimeout(refresh, REFRESH_MS);
}
window.setTimeout(refresh, REFRESH_MS);
