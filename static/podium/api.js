// Swagger UI has dark colours of its own under the class dark-mode of the page; the site's theme sets it.
(() => {
  const root = document.documentElement;
  const apply = () => root.classList.toggle("dark-mode", root.dataset.theme === "dark");
  document.addEventListener("podium:theme", apply);
  apply();
})();
