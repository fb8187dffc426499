// CodeMirror on a textarea. The textarea keeps the text, so that its form is sent as it would be without scripts.
const CODE_C = new Set(["c", "cc", "cpp", "cu", "cuh", "cxx", "h", "hpp"]);
const CODE_CUDA_WORDS = /\b(?:__(?:global|device|host|shared|constant|managed|restrict|launch_bounds|forceinline|noinline|grid_constant)__|dim3|(?:thread|block)Idx|(?:block|grid)Dim|warpSize|__sync(?:threads|warp)\w*|__threadfence\w*|__shfl\w*|__ballot_sync|u?(?:char|short|int|long)[1-4]|(?:float|double)[1-4])\b/g;
const CODE_NO_WORDS = /Comment|String|CharLiteral/;

// Words of CUDA that C++ does not have, outside comments and strings.
function cudaWords() {
  const { Decoration, MatchDecorator, ViewPlugin, syntaxTree } = CodeMirror;
  const mark = Decoration.mark({ class: "tok-cuda" });
  const matcher = new MatchDecorator({
    regexp: CODE_CUDA_WORDS,
    decorate: (add, from, to, _, view) => {
      if (!CODE_NO_WORDS.test(syntaxTree(view.state).resolveInner(from, 1).name)) add(from, to, mark);
    },
  });
  return ViewPlugin.define((view) => ({
    words: matcher.createDeco(view),
    update(change) {
      const isParsed = syntaxTree(change.startState) !== syntaxTree(change.state);
      this.words = isParsed ? matcher.createDeco(change.view) : matcher.updateDeco(change, this.words);
    },
  }), { decorations: (plugin) => plugin.words });
}

function languageOf(path) {
  const ending = path.split(".").pop().toLowerCase();
  if (ending === "py") return CodeMirror.python();
  return CODE_C.has(ending) ? [CodeMirror.cpp(), cudaWords()] : [];
}

// An editor before its textarea, which it hides. `keys` come before the usual ones; `changed` is called after each change.
class CodeEditor {
  constructor(area, { path, label, describedBy = "", keys = [], changed = () => {} }) {
    this.area = area;
    this.language = new CodeMirror.Compartment();
    this.path = path;
    this.parts = [
      CodeMirror.keymap.of([...keys, ...CodeMirror.historyKeymap, ...CodeMirror.searchKeymap, ...CodeMirror.defaultKeymap]),
      CodeMirror.lineNumbers(), CodeMirror.history(), CodeMirror.indentOnInput(), CodeMirror.bracketMatching(),
      CodeMirror.highlightActiveLine(), CodeMirror.highlightActiveLineGutter(), CodeMirror.highlightSelectionMatches(),
      CodeMirror.indentUnit.of("    "), CodeMirror.EditorState.tabSize.of(4),
      CodeMirror.syntaxHighlighting(CodeMirror.classHighlighter),
      CodeMirror.EditorView.contentAttributes.of({
        "aria-label": label, tabindex: "0", spellcheck: "false", autocorrect: "off", autocapitalize: "off",
        ...(describedBy && { "aria-describedby": describedBy }),
      }),
      CodeMirror.EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        area.value = this.text;
        changed(this);
      }),
    ];
    this.frame = document.createElement("div");
    this.frame.className = "code-editor";
    area.before(this.frame);
    this.view = new CodeMirror.EditorView({ state: this.stateOf(area.value), parent: this.frame });
    area.hidden = true;
  }

  get text() { return this.view.state.doc.toString(); }

  stateOf(text) {
    return CodeMirror.EditorState.create({ doc: text, extensions: [this.parts, this.language.of(languageOf(this.path))] });
  }

  // Another text, which can be undone.
  replace(text) {
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      annotations: CodeMirror.isolateHistory.of("full"),
    });
  }

  // Another document with a history of its own: the text, or the `state` that it had here before.
  open(path, text, state) {
    this.path = path;
    this.view.setState(state || this.stateOf(text));
    this.area.value = this.text;
  }

  rename(path) {
    this.path = path;
    this.view.dispatch({ effects: this.language.reconfigure(languageOf(path)) });
  }

  focus() { this.view.focus(); }

  // Select a line, counted from 1, and show it.
  goTo(number) {
    const { from, to } = this.view.state.doc.line(Math.min(Math.max(number, 1), this.view.state.doc.lines));
    this.view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
    this.focus();
  }

  destroy() {
    this.view.destroy();
    this.frame.remove();
    this.area.hidden = false;
  }
}
