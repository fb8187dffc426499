// Draws every figure that names its data; Plotly is fetched only when one comes near the screen.
const figures = document.querySelectorAll("[data-chart-url]");
let plotly = null;

const loadPlotly = (url) => {
  plotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = url;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("the chart library did not load"));
    document.head.append(script);
  });
  return plotly;
};

const themed = (layout) => {
  const style = getComputedStyle(document.documentElement);
  const text = style.getPropertyValue("--pico-color").trim();
  const muted = style.getPropertyValue("--pico-muted-color").trim();
  const grid = style.getPropertyValue("--podium-line").trim();
  const axis = { gridcolor: grid, linecolor: grid, tickcolor: grid };
  return {
    ...layout,
    autosize: true,
    modebar: { bgcolor: "rgba(0,0,0,0)", color: muted, activecolor: text },
    font: { family: "inherit", size: 13, color: text },
    xaxis: { ...layout.xaxis, ...axis },
    yaxis: { ...layout.yaxis, ...axis },
  };
};

const options = (name) => ({
  responsive: true,
  displaylogo: false,
  displayModeBar: true,
  // spelled out, so that nothing is offered that would send the figure to another site
  modeBarButtons: [["zoom2d", "pan2d", "resetScale2d"], [download(name, "png"), download(name, "svg")]],
});

const download = (name, format) => ({
  name: `Download ${format.toUpperCase()}`,
  icon: { width: 1000, height: 1000, path: "M400 100h200v400h180L500 800 220 500h180zM150 850h700v80H150z" },
  click: (plot) => window.Plotly.downloadImage(plot, { format, filename: name, width: 1000, height: 600 }),
});

const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// Names that would lie on another name or point, or leave the figure, are left out: they stand on hover and in the table.
const thinLabels = (place) => {
  const shown = [];
  const points = [...place.querySelectorAll(".points path")].map((one) => ({ trace: one.closest(".trace"), box: one.getBoundingClientRect() }));
  const frame = place.querySelector(".nsewdrag")?.getBoundingClientRect();
  for (const label of place.querySelectorAll(".textpoint text")) {
    label.style.visibility = "";
    const box = label.getBoundingClientRect();
    const cut = frame && (box.left < frame.left || box.right > frame.right);
    const trace = label.closest(".trace");
    const covers = shown.some((one) => meet(box, one)) || points.some((one) => one.trace !== trace && meet(box, one.box));
    if (cut || covers) label.style.visibility = "hidden";
    else shown.push(box);
  }
};

const draw = async (place) => {
  try {
    const [library, response] = await Promise.all([loadPlotly(place.dataset.plotlyUrl), fetch(place.dataset.chartUrl)]);
    if (!response.ok) throw new Error(`the site answered ${response.status}`);
    const spec = await response.json();
    if (!spec.data.length) {
      place.textContent = "There is nothing to draw yet.";
      return;
    }
    place.textContent = "";
    await library.newPlot(place, spec.data, themed(spec.layout), options(place.dataset.chartName));
    thinLabels(place);
    place.on("plotly_afterplot", () => thinLabels(place));
    place.dataset.drawn = "yes";
    document.addEventListener("podium:theme", () => library.relayout(place, themed(spec.layout)));
  } catch (error) {
    place.textContent = `The chart cannot be drawn: ${error.message}. Its numbers are in the table below.`;
  }
};

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    watcher.unobserve(entry.target);
    draw(entry.target);
  }
}, { rootMargin: "200px" });

for (const place of figures) watcher.observe(place);
