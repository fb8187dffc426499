// The editor of a problem's page: CodeMirror on every field of code, and a draft of each language kept in this browser.
const form = document.querySelector("form[data-drafts]");
const MODES = { py: "text/x-python", c: "text/x-c++src", cc: "text/x-c++src", cpp: "text/x-c++src", cu: "text/x-c++src",
  cuh: "text/x-c++src", h: "text/x-c++src", hpp: "text/x-c++src" };
const SAVE_AFTER_MS = 400;

const modeOf = (path) => MODES[path.split(".").pop()] || "text/plain";

// Drafts by language. In a browser without storage they last as long as the page.
class Drafts {
  constructor(name) {
    this.prefix = `podium-draft/${name}`;
    this.unsaved = new Map();
  }

  read(key) {
    const own = this.unsaved.get(key);
    if (own) return own;
    try { return JSON.parse(localStorage.getItem(`${this.prefix}/${key}`)); } catch { return null; }
  }

  // Whether the browser keeps it.
  write(key, value) {
    try {
      localStorage.setItem(`${this.prefix}/${key}`, JSON.stringify(value));
      this.unsaved.delete(key);
      return true;
    } catch {
      this.unsaved.set(key, value);
      return false;
    }
  }

  forget(key) {
    this.unsaved.delete(key);
    try { localStorage.removeItem(`${this.prefix}/${key}`); } catch { /* there is none */ }
  }
}

class Editor {
  constructor() {
    this.drafts = new Drafts(form.dataset.drafts);
    this.paths = [...form.querySelectorAll("input[name^=path-]")];
    this.links = [...document.querySelectorAll("a[data-language]")];
    this.note = form.querySelector("[data-draft-note]");
    this.starters = {};
    for (const one of form.querySelectorAll("template[data-starter]")) {
      const file = { path: one.dataset.path, content: one.content.textContent };
      (this.starters[one.dataset.starter] ??= []).push(file);
    }
    this.open = new Map(); // language -> its documents, which keep what undo needs
    this.areas = [...form.querySelectorAll("textarea.code")].map((area, at) => this.edited(area, at));
    form.querySelector("[data-editor-notes]").hidden = false;
    this.begin();
    this.listen();
  }

  get language() { return form.elements.language.value; }

  get files() {
    return this.areas.map((area, at) => ({ path: this.paths[at].value, content: area.getValue() }));
  }

  get isStarter() { return JSON.stringify(this.files) === JSON.stringify(this.starters[this.language]); }

  edited(area, at) {
    const label = form.querySelector(`label[for="${area.id}"]`);
    const made = CodeMirror.fromTextArea(area, {
      lineNumbers: true,
      indentUnit: 4,
      theme: "podium",
      mode: modeOf(this.paths[at].value),
      screenReaderLabel: label.textContent.trim(),
      extraKeys: { Tab: indent, "Shift-Tab": "indentLess", Esc: leaveByTab },
    });
    made.getInputField().setAttribute("aria-describedby", "editor-keys");
    label.addEventListener("click", () => made.focus());
    this.paths[at].addEventListener("input", () => made.setOption("mode", modeOf(this.paths[at].value)));
    return made;
  }

  begin() {
    if ("keepTyped" in form.dataset) {
      this.save();
      return;
    }
    const asked = new URLSearchParams(location.search).get("language");
    const last = this.drafts.read("language");
    if (!asked && last !== this.language && last in this.starters) this.choose(last);
    else this.load(this.language);
  }

  listen() {
    let waiting = null;
    const save = () => {
      clearTimeout(waiting);
      this.save();
    };
    const saveSoon = () => {
      clearTimeout(waiting);
      waiting = setTimeout(save, SAVE_AFTER_MS);
    };
    for (const area of this.areas) {
      area.on("change", () => {
        area.save();
        saveSoon();
      });
    }
    for (const path of this.paths) path.addEventListener("input", saveSoon);
    for (const link of this.links) link.addEventListener("click", (event) => this.follow(event, link, save));
    window.addEventListener("pagehide", save);
    form.querySelector("[data-start-anew]").addEventListener("click", () => this.startAnew());
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      form.querySelector("[data-run]").click();
    });
  }

  follow(event, link, save) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    save();
    this.choose(link.dataset.language);
    this.drafts.write("language", this.language);
    const address = new URL(location);
    address.searchParams.set("language", this.language);
    history.replaceState(history.state, "", address);
  }

  choose(language) {
    this.open.set(this.language, this.areas.map((area) => area.getDoc()));
    form.elements.language.value = language;
    for (const link of this.links) {
      if (link.dataset.language === language) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    this.load(language);
  }

  // Show the language's draft, else its starter code.
  load(language) {
    const draft = this.drafts.read(language);
    const isWhole = draft?.files.length === this.areas.length;
    this.show(isWhole ? draft.files : this.starters[language], this.open.get(language));
    this.say(isWhole ? `Your draft of ${new Date(draft.at).toLocaleString()}.` : "");
  }

  show(files, documents) {
    this.areas.forEach((area, at) => {
      this.paths[at].value = files[at].path;
      form.querySelector(`[data-path-of="${at}"]`).textContent = files[at].path;
      const mode = modeOf(files[at].path);
      if (documents) area.swapDoc(documents[at]);
      else if (area.getValue() !== files[at].content) area.swapDoc(CodeMirror.Doc(files[at].content, mode));
      area.setOption("mode", mode);
      area.save();
    });
  }

  save() {
    if (this.isStarter) {
      this.drafts.forget(this.language);
      this.say("");
    } else if (JSON.stringify(this.drafts.read(this.language)?.files) !== JSON.stringify(this.files)) {
      const isKept = this.drafts.write(this.language, { files: this.files, at: Date.now() });
      this.say(isKept ? "Draft kept in this browser." : "This browser has no room for the draft: it is lost with this page.");
    }
  }

  startAnew() {
    const question = "Replace what you typed by the starter code?";
    if (this.isStarter || !window.confirm(question)) return;
    this.starters[this.language].forEach((file, at) => {
      this.paths[at].value = file.path;
      this.areas[at].setValue(file.content); // and not a new document: undo brings back what was typed
    });
    this.save();
    this.areas[0].focus();
  }

  say(words) { if (this.note.textContent !== words) this.note.textContent = words; }
}

function indent(area) {
  if (area.somethingSelected()) area.execCommand("indentMore");
  else area.execCommand("insertSoftTab");
}

// Tab indents, so that the keyboard needs another way out: after Escape, Tab moves on until something is typed.
const LEAVING = { name: "leaving", Tab: false, "Shift-Tab": false };

function leaveByTab(area) {
  const stay = () => {
    area.removeKeyMap("leaving");
    area.off("blur", stay);
    area.off("change", stay);
  };
  area.removeKeyMap("leaving");
  area.addKeyMap(LEAVING);
  area.on("blur", stay);
  area.on("change", stay);
}

if (form && window.CodeMirror) new Editor();
