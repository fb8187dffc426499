// The editor of a problem's page: CodeMirror on every file, a tab for each, and a draft that the site keeps.
const form = document.querySelector("form[data-draft-url]");
const SAVE_AFTER_MS = 800;
const NEW_FILE = "new-file";
const PLACES = /([\w./+-]+\.\w+)(?::(?=\d)|\()(\d+)\)?|File "([^"\n]+)", line (\d+)/g;

// A file's fields and its editor. `states` holds what undo needs of the languages that are not shown.
class OpenFile {
  constructor(row, changed) {
    this.row = row;
    this.path = row.querySelector("input[name^=path-]");
    this.area = row.querySelector("textarea.code");
    this.fault = row.querySelector(".fault");
    this.label = row.querySelector(`label[for="${this.area.id}"]`);
    this.editor = new CodeEditor(this.area, {
      path: this.path.value,
      label: this.label.textContent.trim(),
      describedBy: "editor-keys",
      keys: [
        { key: "Mod-Enter", run: () => { form.querySelector("[data-run]").click(); return true; } },
        { key: "Tab", run: insertTab, shift: CodeMirror.indentLess },
      ],
      changed,
    });
    this.label.addEventListener("click", () => this.editor.focus());
    this.path.addEventListener("input", () => {
      this.editor.rename(this.path.value);
      changed();
    });
  }

  get file() { return { path: this.path.value.trim(), content: this.area.value }; }

  // The number that its fields carry.
  get place() { return this.path.name.split("-")[1]; }

  show(file, state) {
    this.path.value = file.path;
    this.editor.open(file.path, file.content, state);
    this.complain("");
  }

  complain(words) {
    const said = words && words[0].toUpperCase() + words.slice(1) + ".";
    if (this.fault.textContent !== said) this.fault.textContent = said;
    if (words) this.path.setAttribute("aria-invalid", "true");
    else this.path.removeAttribute("aria-invalid");
  }

  remove() {
    this.editor.destroy();
    this.row.remove();
  }
}

// Four spaces up to the next stop, or the lines that are selected one step to the right.
function insertTab(view) {
  const { state } = view;
  if (state.selection.ranges.some((range) => !range.empty)) return CodeMirror.indentMore(view);
  const column = state.selection.main.head - state.doc.lineAt(state.selection.main.head).from;
  view.dispatch(state.update(state.replaceSelection(" ".repeat(4 - (column % 4))), { userEvent: "input" }));
  return true;
}

// One tab for each file, where a problem takes several.
class FileTabs {
  constructor(frame, editor) {
    this.frame = frame;
    this.editor = editor;
    this.bar = document.createElement("div");
    this.bar.className = "file-tabs";
    this.list = document.createElement("div");
    this.list.setAttribute("role", "tablist");
    this.list.setAttribute("aria-label", "Files");
    this.add = plainButton("Add a file", () => editor.add());
    this.drop = plainButton("Remove this file", () => editor.drop());
    this.bar.append(this.list, this.add, this.drop);
    frame.before(this.bar);
    this.list.addEventListener("keydown", (event) => this.move(event));
  }

  draw(files, chosen) {
    this.list.replaceChildren(...files.map((one, at) => this.tab(one, at, at === chosen)));
    files.forEach((one, at) => {
      one.row.hidden = at !== chosen;
      one.row.setAttribute("role", "tabpanel");
      one.row.setAttribute("aria-labelledby", `tab-${one.place}`);
    });
    this.add.disabled = files.length >= Number(this.frame.dataset.files);
    this.drop.disabled = files.length < 2;
  }

  tab(one, at, isChosen) {
    const tab = plainButton(one.path.value || "(no path)", () => this.editor.choose(at));
    one.row.id ||= `file-${one.place}`;
    tab.id = `tab-${one.place}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", String(isChosen));
    tab.setAttribute("aria-controls", one.row.id);
    tab.tabIndex = isChosen ? 0 : -1;
    tab.classList.toggle("faulty", Boolean(one.fault.textContent));
    return tab;
  }

  move(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const n = this.list.children.length;
    this.editor.choose((this.editor.chosen + steps[event.key] + n) % n);
    this.list.children[this.editor.chosen].focus();
  }
}

function plainButton(words, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  button.textContent = words;
  button.addEventListener("click", act);
  return button;
}

// Scroll a run that has just begun into view, unless its beginning is seen already. Where the statement stands beside
// the editor, a run is shown below the code: the code stays in view.
function showTrial(trial) {
  const { top } = trial.getBoundingClientRect();
  const isWide = window.matchMedia("(min-width: 1024px)").matches;
  if (top >= 0 && top < (isWide ? window.innerHeight - 96 : window.innerHeight / 2)) return;
  const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  trial.scrollIntoView({ behavior: isCalm ? "instant" : "smooth", block: isWide ? "nearest" : "start" });
}

function savedWords(moment) {
  return moment ? `Draft saved at ${moment.slice(11, 16)} UTC.` : "This is the starter code.";
}

function filesIn(name) {
  const found = {};
  for (const one of form.querySelectorAll(`template[data-${name}]`)) {
    (found[one.dataset[name]] ??= []).push({ path: one.dataset.path, content: one.content.textContent });
  }
  return found;
}

class Editor {
  constructor() {
    this.frame = form.querySelector(".files");
    this.links = [...document.querySelectorAll("a[data-language]")];
    this.note = form.querySelector("[data-draft-note]");
    this.starters = filesIn("starter");
    this.drafts = filesIn("draft");
    this.states = new Map(); // language → its files, with what undo needs
    this.notes = new Map(); // language → what the site said of its draft
    this.waiting = null;
    const rows = [...form.querySelectorAll("[data-file]")];
    this.blank = rows[0].cloneNode(true);
    this.files = rows.map((row) => new OpenFile(row, () => this.changed()));
    this.chosen = Math.max(0, this.files.findIndex((one) => one.fault.textContent));
    this.isLost = false; // whether something typed is neither kept nor sent
    this.tabs = "files" in this.frame.dataset ? new FileTabs(this.frame, this) : null;
    form.querySelector("[data-editor-notes]").hidden = false;
    this.kept = this.isTyped ? "" : this.asText;
    this.notes.set(this.language, this.note.textContent);
    this.draw();
    this.listen();
    if (this.isTyped) this.save();
  }

  // Whether the page shows what was just sent and refused.
  get isTyped() { return "isTyped" in form.dataset; }

  get language() { return form.elements.language.value; }

  get asText() { return JSON.stringify(this.files.map((one) => one.file)); }

  get isStarter() { return this.asText === JSON.stringify(this.starters[this.language]); }

  listen() {
    for (const link of this.links) link.addEventListener("click", (event) => this.follow(event, link));
    form.querySelector("[data-save]").addEventListener("click", (event) => {
      event.preventDefault();
      this.kept = "";
      this.save();
    });
    form.querySelector("[data-start-anew]").addEventListener("click", (event) => {
      event.preventDefault();
      this.startAnew();
    });
    form.addEventListener("htmx:afterSwap", (event) => {
      if (!event.target.closest("#trial")) return; // the state of the tracks
      this.linkLines();
      if (event.detail.requestConfig.elt.matches("[data-run]")) showTrial(event.target);
    });
    window.addEventListener("pagehide", () => this.save());
    form.addEventListener("submit", () => { this.isLost = false; });
    window.addEventListener("beforeunload", (event) => { if (this.isLost) event.preventDefault(); });
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target.closest(".cm-editor")) return;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        form.querySelector("[data-run]").click();
      }
    });
  }

  // What a compiler or Python says of a line in these files leads to the line.
  linkLines() {
    for (const log of form.querySelectorAll("#trial details pre code")) {
      const text = log.textContent;
      const parts = [];
      let end = 0;
      for (const found of text.matchAll(PLACES)) {
        const at = this.placeOf(found[1] || found[3]);
        if (at < 0) continue;
        const number = Number(found[2] || found[4]);
        parts.push(text.slice(end, found.index), plainButton(found[0], () => this.goTo(at, number)));
        end = found.index + found[0].length;
      }
      log.replaceChildren(...parts, text.slice(end));
    }
  }

  // Where a path that a log names stands among the files; -1 if it does not.
  placeOf(path) {
    return this.files.findIndex((one) => path === one.path.value || path.endsWith(`/${one.path.value}`));
  }

  goTo(at, number) {
    this.choose(at);
    this.files[at].editor.goTo(number);
  }

  changed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.save(), SAVE_AFTER_MS);
    this.drawTabs();
  }

  draw() {
    this.drawTabs();
    this.files[this.chosen]?.editor.view.requestMeasure();
  }

  drawTabs() { this.tabs?.draw(this.files, this.chosen); }

  choose(at) {
    this.chosen = at;
    this.draw();
  }

  // A file's fields with a number that no other file has.
  addRow(file) {
    const taken = new Set(this.files.map((one) => Number(one.place)));
    const place = [...Array(this.files.length + 1).keys()].find((n) => !taken.has(n));
    const row = this.blank.cloneNode(true);
    for (const one of row.querySelectorAll("[id], [for], [name], [aria-describedby]")) {
      for (const name of ["id", "for", "name", "aria-describedby"]) {
        if (one.hasAttribute(name)) one.setAttribute(name, one.getAttribute(name).replace(/-\d+$/, `-${place}`));
      }
    }
    row.querySelector("input[name^=path-]").value = file.path;
    row.querySelector("textarea.code").value = file.content;
    row.querySelector(".fault").textContent = "";
    this.frame.append(row);
    const made = new OpenFile(row, () => this.changed());
    this.files.push(made);
    return made;
  }

  add() {
    const ending = this.files[this.chosen].path.value.split(".").pop();
    const taken = new Set(this.files.map((one) => one.path.value));
    let name = `${NEW_FILE}.${ending}`;
    for (let n = 2; taken.has(name); n += 1) name = `${NEW_FILE}-${n}.${ending}`;
    const made = this.addRow({ path: name, content: "" });
    this.choose(this.files.length - 1);
    this.changed();
    made.path.focus();
    made.path.select();
  }

  drop() {
    const one = this.files[this.chosen];
    if (one.area.value.trim() && !window.confirm(`Remove ${one.path.value}? Its text is lost.`)) return;
    this.files.splice(this.chosen, 1);
    one.remove();
    this.choose(Math.max(0, this.chosen - 1));
    this.changed();
    this.tabs.list.children[this.chosen].focus();
  }

  follow(event, link) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.save();
    this.switchTo(link.dataset.language);
    const address = new URL(location);
    address.searchParams.set("language", this.language);
    history.replaceState(history.state, "", address);
  }

  switchTo(language) {
    this.drafts[this.language] = this.files.map((one) => one.file);
    this.states.set(this.language, this.files.map((one) => one.editor.view.state));
    form.elements.language.value = language;
    for (const link of this.links) {
      if (link.dataset.language === language) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    this.show(this.drafts[language] || this.starters[language], this.states.get(language));
    this.kept = this.asText;
    this.say(this.notes.get(language) || "");
  }

  // Put these files into the editors: as many as there are.
  show(files, states) {
    while (this.files.length > files.length) this.files.pop().remove();
    files.forEach((file, at) => {
      if (at < this.files.length) this.files[at].show(file, states?.[at]);
      else this.addRow(file);
    });
    this.choose(0);
  }

  // Keep the draft on the site, where something has changed. Its answer says which paths would be refused.
  async save() {
    clearTimeout(this.waiting);
    const text = this.asText;
    if (text === this.kept) return;
    this.kept = text;
    const language = this.language;
    try {
      const sent = new URLSearchParams(new FormData(form));
      const answer = await fetch(form.dataset.draftUrl, {
        method: "POST", body: sent, headers: { Accept: "application/json" }, keepalive: text.length < 50_000,
      });
      const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
      const said = isJson ? await answer.json() : { message: "Not saved: the site did not take it. Copy what you typed." };
      this.isLost = Boolean(said.message);
      this.notes.set(language, said.message || savedWords(said.saved_at));
      if (language !== this.language) return;
      this.say(this.notes.get(language));
      if (said.faults && text === this.asText) this.complain(said.faults);
    } catch {
      this.kept = "";
      this.isLost = true;
      this.say("Not saved: the site cannot be reached. It is tried again when you type on.");
    }
  }

  complain(faults) {
    for (const one of this.files) one.complain(faults[one.place] || "");
    this.drawTabs();
  }

  startAnew() {
    if (this.isStarter || !window.confirm("Replace what you typed by the starter code?")) return;
    const starter = this.starters[this.language];
    const sameFiles = starter.length === this.files.length;
    if (!sameFiles) this.show(starter);
    else {
      starter.forEach((file, at) => {
        this.files[at].path.value = file.path;
        this.files[at].editor.rename(file.path);
        this.files[at].editor.replace(file.content); // and not a new document: undo brings back what was typed
      });
    }
    this.save();
    this.choose(0);
    this.files[0].editor.focus();
  }

  say(words) { if (this.note.textContent !== words) this.note.textContent = words; }
}

if (form && window.CodeMirror) new Editor();
