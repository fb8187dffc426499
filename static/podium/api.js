// Swagger UI has dark colours of its own under the class dark-mode of the page; the site's theme sets it.
(() => {
  const root = document.documentElement;
  const apply = () => root.classList.toggle("dark-mode", root.dataset.theme === "dark");
  document.addEventListener("podium:theme", apply);
  apply();
  // It draws a main part of its own, within the page's.
  const create = document.createElement.bind(document);
  document.createElement = (name, options) => create(name === "main" ? "section" : name, options);
  // It draws examples that scroll and cannot be reached by keyboard, and links within buttons that do the same.
  const mend = () => {
    for (const link of document.querySelectorAll("#swagger-ui button a[href]")) link.removeAttribute("href");
    for (const example of document.querySelectorAll("#swagger-ui pre:not([tabindex])")) example.tabIndex = 0;
  };
  new MutationObserver(mend).observe(document.getElementById("swagger-ui"), { childList: true, subtree: true });
})();
