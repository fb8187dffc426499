// Search while typing: a form with `data-searches` shows what it finds in the element of that id, without a new page.
// Without this script its button does the same.
const WAIT_MS = 250;
let waiting = null;
let asked = 0;

function addressOf(form) {
  const address = new URL(form.action || window.location.href);
  address.search = "";
  address.hash = "";
  for (const [name, value] of new FormData(form)) if (value) address.searchParams.append(name, value);
  return address;
}

async function showFound(form) {
  const number = (asked += 1);
  const address = addressOf(form);
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok || number !== asked) return; // a later one is under way
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(form.dataset.searches);
  if (!fresh || number !== asked) return;
  document.getElementById(form.dataset.searches).replaceWith(fresh);
  history.replaceState(history.state, "", address);
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-searches]");
  if (!form || !event.target.matches("input[type=search]")) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => showFound(form), WAIT_MS);
});
