// The editor of a problem: CodeMirror on a file's content once it is opened, and a question before typed text is left.
const MODES = { py: "text/x-python", c: "text/x-c++src", cc: "text/x-c++src", cpp: "text/x-c++src", cu: "text/x-c++src",
  cuh: "text/x-c++src", h: "text/x-c++src", hpp: "text/x-c++src" };
const modeOf = (path) => MODES[path.split(".").pop()] || "text/plain";
const form = document.querySelector("form.draft-form");
let isChanged = false;

function begin(details) {
  const area = details.querySelector("textarea.code");
  if (!details.open || !area || area.dataset.begun || !window.CodeMirror) return;
  area.dataset.begun = "1";
  const path = details.querySelector("[data-path]");
  const label = details.querySelector(`label[for="${area.id}"]`);
  const editor = CodeMirror.fromTextArea(area, {
    lineNumbers: true, indentUnit: 4, theme: "podium", mode: modeOf(path.value), screenReaderLabel: label.textContent.trim(),
    extraKeys: { Tab: false, "Shift-Tab": false, "Ctrl-]": "indentMore", "Ctrl-[": "indentLess" },
  });
  label.addEventListener("click", () => editor.focus());
  path.addEventListener("input", () => editor.setOption("mode", modeOf(path.value)));
  editor.on("change", () => { editor.save(); isChanged = true; });
}

if (form) {
  for (const details of form.querySelectorAll("details")) {
    begin(details);
    details.addEventListener("toggle", () => begin(details));
  }
  form.addEventListener("input", () => { isChanged = true; });
  form.addEventListener("submit", () => { isChanged = false; });
  window.addEventListener("beforeunload", (event) => { if (isChanged) event.preventDefault(); });
}
