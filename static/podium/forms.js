// Small comforts for forms: filters apply when a choice changes; buttons that destroy ask first; text copies itself.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-autosubmit]");
  const waits = event.target.closest("[data-apply]"); // several choices that one button applies
  if (form && !waits && event.target.matches("select, input[type=checkbox]")) form.requestSubmit();
});

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
  for (const field of event.target.querySelectorAll("form[data-autosubmit] [name]")) {
    if (!field.value) field.disabled = true; // keeps the URL to what was chosen
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-replaces]");
  const field = link && document.querySelector(`[name="${link.dataset.replaces}"]`);
  const isTyped = field && field.value !== field.defaultValue;
  if (isTyped && !window.confirm("The starter code of this language replaces what you typed.")) event.preventDefault();
});

window.addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("form[data-autosubmit] [name]:disabled")) field.disabled = false;
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(source.value || source.textContent);
  button.textContent = "Copied";
});

for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
