// The theme: the system's unless a visitor chose otherwise; set before the first paint, remembered in this browser.
(() => {
  const root = document.documentElement;
  const stored = () => {
    try { return localStorage.getItem("podium-theme"); } catch { return null; }
  };
  const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const apply = (theme) => {
    root.dataset.theme = theme;
    document.dispatchEvent(new CustomEvent("podium:theme", { detail: theme }));
  };
  apply(stored() || system());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      const next = root.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("podium-theme", next); } catch { /* a browser without storage just forgets */ }
      apply(next);
    });
  });
})();
