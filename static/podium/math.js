// Sets a statement's formulas as MathML, which browsers draw and screen readers read. KaTeX is loaded only where there
// is a formula. What cannot be set stays as its TeX source.
const source = document.currentScript.dataset.katexUrl;
const MOST_CHARACTERS = 10000;
const OPTIONS = {
  output: "mathml", trust: false, strict: "ignore", throwOnError: true, maxSize: 20, maxExpand: 200, errorColor: "currentColor",
};

function setFormula(element) {
  const text = element.textContent;
  if (text.length > MOST_CHARACTERS) return;
  const place = document.createElement("span");
  try {
    katex.render(text.slice(2, -2), place, { ...OPTIONS, displayMode: element.classList.contains("display") });
  } catch {
    return;
  }
  place.className = element.className;
  element.replaceWith(place);
}

function setFormulas(root) {
  for (const element of root.querySelectorAll("code.math")) setFormula(element);
}

function loaded(then) {
  if (window.katex) return then();
  const script = document.createElement("script");
  script.src = source;
  script.addEventListener("load", then);
  document.head.append(script);
}

function look(root) {
  if (root.querySelector("code.math")) loaded(() => setFormulas(root));
}

look(document);
document.addEventListener("htmx:afterSwap", (event) => look(event.target)); // a draft's preview
