// What the site's scripts use of CodeMirror. The bundle makes it the global `CodeMirror`.
export { Compartment, EditorSelection, EditorState, Prec } from "@codemirror/state";
export { Decoration, EditorView, MatchDecorator, ViewPlugin, drawSelection, highlightActiveLine, highlightActiveLineGutter,
  keymap, lineNumbers } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentLess, indentMore, isolateHistory } from "@codemirror/commands";
export { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
export { cpp } from "@codemirror/lang-cpp";
export { python } from "@codemirror/lang-python";
export { classHighlighter } from "@lezer/highlight";
