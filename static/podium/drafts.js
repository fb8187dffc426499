// The editor of a problem: CodeMirror on a file's content once it is opened, and a question before typed text is left.
const form = document.querySelector("form.draft-form");
let isChanged = false;

function begin(details) {
  const area = details.querySelector("textarea.code");
  if (!details.open || !area || area.dataset.begun || !window.CodeMirror) return;
  area.dataset.begun = "1";
  const path = details.querySelector("[data-path]");
  const label = details.querySelector(`label[for="${area.id}"]`);
  const editor = new CodeEditor(area, {
    path: path.value, label: label.textContent.trim(), changed: () => { isChanged = true; },
  });
  label.addEventListener("click", () => editor.focus());
  path.addEventListener("input", () => editor.rename(path.value));
}

if (form) {
  for (const details of form.querySelectorAll("details")) {
    begin(details);
    details.addEventListener("toggle", () => begin(details));
  }
  form.addEventListener("input", () => { isChanged = true; });
  form.addEventListener("submit", () => { isChanged = false; });
  window.addEventListener("beforeunload", (event) => { if (isChanged) event.preventDefault(); });
  const statement = form.querySelector("#id_prompt");
  // htmx has no event of what was typed before it was there, or what a browser kept when the page was loaded again
  document.addEventListener("htmx:load", () => {
    if (!statement || statement.value === statement.defaultValue) return;
    isChanged = true;
    htmx.trigger(statement, "typed-before");
  }, { once: true });
}
