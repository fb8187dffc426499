// Draws every figure that names its data; Plotly is fetched only when one comes near the screen.
const NARROW_PX = 560;
const NOTES_PX = 1000;
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

const PAPER = { text: "#1b1f24", grid: "#d9dde3", muted: "#59616c", page: "#ffffff" };

const pageColours = () => {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return { text: value("--pico-color"), muted: value("--pico-muted-color"), grid: value("--podium-line"), page: value("--pico-background-color") };
};

// Names often differ in their last words, so a long one is cut in its middle.
const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.ceil(most * 0.6))}…${text.slice(1 - Math.floor(most * 0.4))}` : text);

const pen = document.createElement("canvas").getContext("2d");

const widthPx = (text, sizePx) => {
  pen.font = `${sizePx}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
};

// A title wider than its axis is broken between words, measured in the page's font; Plotly makes room for the lines.
const broken = (title, mostPx, sizePx) => {
  const lines = [];
  for (const word of title.split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length && widthPx(longer, sizePx) <= mostPx) lines[lines.length - 1] = longer;
    else lines.push(widthPx(word, sizePx) <= mostPx ? word : cut(word, Math.floor((word.length * mostPx) / widthPx(word, sizePx))));
  }
  return lines.join("<br>");
};

const fitted = (axis, most, titlePx, sizePx) => ({
  ...(axis?.ticktext && { ticktext: axis.ticktext.map((text) => text.split("<br>").map((line) => cut(line, most)).join("<br>")) }),
  ...(axis?.title && { title: { ...axis.title, text: broken(axis.title.text, titlePx, sizePx), font: { size: sizePx } } }),
});

// The width of the widest figure in a cell: where one has no room in the smaller size, none is written.
const CELL_SIZES_PX = [12, 10];
const widestPx = (traces, sizePx) => 3 + Math.max(...traces.flatMap(({ text }) => text.flat().map((words) => widthPx(words, sizePx))));

const namesPx = (names, most) => 30 + Math.max(...names.map((name) => widthPx(cut(name, most), 12)));

// The colours of text, grid and the whiskers of bars come from the theme; names on an axis are cut to what a narrow page holds.
const themed = (spec, colours, width) => {
  const narrow = width < NARROW_PX;
  const titleSizePx = narrow ? 14 : 16;
  const axis = { gridcolor: colours.grid, linecolor: colours.grid, tickcolor: colours.grid };
  const whiskers = (bars) => (bars ? { ...bars, color: colours.text, thickness: 1.5, width: 4 } : undefined);
  const data = spec.data.map((trace) => {
    if (trace.type === "bar") return { ...trace, error_x: whiskers(trace.error_x), error_y: whiskers(trace.error_y) };
    if (trace.type !== "heatmap" || !trace.z[0]) return trace;
    const cellPx = (width - namesPx(spec.layout.yaxis.ticktext, narrow ? 16 : 36)) / trace.z[0].length;
    const sizePx = CELL_SIZES_PX.find((one) => widestPx(spec.data, one) <= cellPx);
    return sizePx ? { ...trace, textfont: { ...trace.textfont, size: sizePx } } : { ...trace, texttemplate: "" };
  });
  const layout = {
    ...spec.layout,
    autosize: true,
    showlegend: false,
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colours.muted, activecolor: colours.text },
    font: { family: "inherit", size: narrow ? 12 : 13, color: colours.text },
    xaxis: { ...spec.layout.xaxis, ...fitted(spec.layout.xaxis, narrow ? 14 : 28, width - (spec.layout.yaxis.ticktext ? 150 : 60), titleSizePx), ...axis },
    yaxis: { ...spec.layout.yaxis, ...fitted(spec.layout.yaxis, narrow ? 16 : 36, 280, titleSizePx), ...axis },
  };
  if (spec.layout.annotations) {
    // without room for names beside points, these stand below the drawing
    const named = (note) => ({ ...note, text: cut(note.text, 44), font: { color: colours.text }, bgcolor: colours.page });
    layout.annotations = spec.layout.annotations.filter((note) => !note.showarrow || width >= NOTES_PX).map(named);
  }
  // a finger that scrolls the page must not zoom the figure
  if (narrow) Object.assign(layout, { dragmode: false, margin: { ...spec.layout.margin, l: 45, r: 10, t: 20 } });
  return { data, layout };
};

const options = (width) => ({
  responsive: true,
  displaylogo: false,
  displayModeBar: width >= NARROW_PX,
  // spelled out, so that nothing is offered that would send the figure to another site
  modeBarButtons: [["zoom2d", "pan2d", "resetScale2d"]],
});

const svg = (name, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

const DASHES = { dash: "6 3", dot: "2 3", dashdot: "6 3 2 3", longdash: "10 4" };

const SHAPES = {
  diamond: "M14 0l6 6-6 6-6-6z", square: "M10 2h8v8h-8z", "triangle-up": "M14 1l5 9h-10z", "triangle-down": "M14 11l5-9h-10z",
  cross: "M12 1h4v3h3v4h-3v3h-4v-3h-3v-4h3z", x: "M10 0l4 4 4-4 2 2-4 4 4 4-2 2-4-4-4 4-2-2 4-4-4-4z",
  star: "M14 0l1.5 4.2H20l-3.6 2.7 1.3 4.3L14 8.6l-3.7 2.6 1.3-4.3L8 4.2h4.5z",
};

const swatch = (trace) => {
  const colour = [trace.line?.color, trace.marker?.color].find((one) => typeof one === "string") ?? "currentColor";
  const picture = svg("svg", { viewBox: "0 0 28 12", width: 28, height: 12, "aria-hidden": "true" });
  if (trace.type === "bar") {
    picture.append(svg("rect", { x: 6, y: 0, width: 16, height: 12, fill: colour, "fill-opacity": trace.marker?.opacity ?? 1 }));
    return picture;
  }
  if (!trace.mode || trace.mode.includes("lines")) {
    picture.append(svg("line", { x1: 0, y1: 6, x2: 28, y2: 6, stroke: colour, "stroke-width": 2, "stroke-dasharray": DASHES[trace.line?.dash] ?? "none" }));
  }
  if (!trace.mode || trace.mode.includes("markers")) {
    const shape = SHAPES[trace.marker?.symbol];
    picture.append(shape ? svg("path", { d: shape, fill: colour }) : svg("circle", { cx: 14, cy: 6, r: 4, fill: colour }));
  }
  return picture;
};

// A legend of the page, not of the drawing: it wraps, never lies on an axis, and each of its buttons hides or shows a line.
const addLegend = (place, spec, library) => {
  const named = spec.data.filter((trace) => trace.name && trace.showlegend !== false);
  if (!spec.layout.showlegend || !named.length) return;
  const list = document.createElement("ul");
  list.className = "legend";
  list.setAttribute("aria-label", "Legend: each button hides or shows its part of the chart");
  for (const trace of named) {
    const item = document.createElement("li");
    list.append(item);
    if (trace.meta === "key") {
      const entry = document.createElement("span");
      entry.append(swatch(trace), ` ${trace.name}`);
      item.append(entry);
      continue;
    }
    const group = spec.data.filter((one) => one === trace || (trace.legendgroup && one.legendgroup === trace.legendgroup));
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", trace.visible === "legendonly" ? "false" : "true");
    button.append(swatch(trace), ` ${trace.name}`);
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const one of group) one.visible = shown ? true : "legendonly";
      library.restyle(place, { visible: trace.visible }, group.map((one) => spec.data.indexOf(one)));
    });
    item.append(button);
  }
  place.before(list);
};

const save = (name, type, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

// As in the board's CSV, text that a spreadsheet would run as a formula gets a leading quote; a signed number stays one.
const csvCell = (cell) => {
  const text = cell.textContent.trim();
  const isFormula = /^[=+@-]/.test(text) && !/^[+-]?[\d.,]+%?$/.test(text);
  return `"${isFormula ? "'" : ""}${text.replaceAll('"', '""')}"`;
};

// Each row says of which board it is, so that a line copied out of the file keeps its source.
const asCsv = (table, facts) => {
  const source = Object.entries(facts);
  const lines = [...table.rows].map((row, n) => [
    ...[...row.cells].map(csvCell), ...source.map((pair) => `"${String(pair[n ? 1 : 0]).replaceAll('"', '""')}"`),
  ]);
  return lines.map((cells) => cells.join(",")).join("\r\n");
};

const factsOf = (place) => JSON.parse(place.dataset.chartFacts || "{}");

const sourceWords = ({ release, revision, track, metric, as_of: day }) => (
  [release && `${release}, revision ${revision}`, track, metric && `metric: ${metric}`, day && `as of ${day}`].filter(Boolean).join(" · ")
);

const fileName = (place) => {
  const { track, as_of: day } = factsOf(place);
  return [place.dataset.chartName, track, day].filter(Boolean).join("-");
};

// Pictures are for paper: dark on white, with title and legend, whatever the page looks like.
const savePicture = (library, place, spec, format) => {
  const title = place.closest("figure")?.querySelector("h2, h3")?.textContent ?? "";
  const { data, layout } = themed(spec, PAPER, 1100);
  const legend = { orientation: "v", x: 1.02, xanchor: "left", y: 1, yanchor: "top" };
  const paper = {
    ...layout, legend, showlegend: Boolean(spec.layout.showlegend), title: { text: title, subtitle: { text: sourceWords(factsOf(place)) } }, margin: { ...layout.margin, t: 90 },
    paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", font: { ...layout.font, family: "sans-serif" },
  };
  const size = { width: 1100, height: Math.max(600, spec.layout.height ?? 0) };
  library.downloadImage({ data, layout: { ...paper, ...size } }, { format, filename: fileName(place), ...size });
};

const addDownloads = (place, spec, library) => {
  const row = document.createElement("p");
  row.className = "downloads";
  row.append("Download: ");
  const add = (title, act) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = title;
    button.addEventListener("click", act);
    row.append(button, " ");
  };
  for (const format of ["png", "svg"]) add(format.toUpperCase(), () => savePicture(library, place, spec, format));
  const table = place.closest("figure")?.querySelector("table");
  if (table) add("CSV", () => save(`${fileName(place)}.csv`, "text/csv", asCsv(table, factsOf(place))));
  place.after(row);
};

const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// An error bar's picture is a little larger than its stroke.
const inset = (box) => ({ left: box.left + 2, right: box.right - 2, top: box.top + 2, bottom: box.bottom - 2 });

// What has no room for its name in the drawing is named below it.
const nameBelow = (place, hidden) => {
  place.parentElement.querySelector(".unnamed")?.remove();
  if (!hidden.length) return;
  const list = document.createElement("ul");
  list.className = "legend unnamed";
  list.setAttribute("aria-label", "Points without a name in the chart");
  for (const { name, colour, symbol } of hidden) {
    const item = document.createElement("li");
    item.append(swatch({ mode: "markers", marker: { color: colour, symbol } }), ` ${name}`);
    list.append(item);
  }
  place.after(list);
};

// The point of a name: both stand in the same order.
const pointOf = (label) => {
  const trace = label.closest(".trace");
  const points = trace?.querySelectorAll(".points path") ?? [];
  return points[[...(trace?.querySelectorAll(".textpoint") ?? [])].indexOf(label.closest(".textpoint"))] ?? points[0];
};

// The points whose names are notes on a wide page.
const noted = (spec) => {
  const names = new Set((spec.layout.annotations ?? []).map((note) => note.text));
  return spec.data.filter((trace) => names.has(trace.name)).map((trace) => ({ name: trace.name, colour: trace.marker.color, symbol: trace.marker.symbol }));
};

// Names that would lie on another name, a point or an error bar, or leave the figure, are left out of the drawing.
const thinLabels = (place, spec) => {
  const shown = [];
  const points = [...place.querySelectorAll(".points path")].map((one) => ({ point: one, box: one.getBoundingClientRect() }));
  const bars = [...place.querySelectorAll(".errorbar path")].map((one) => one.getBoundingClientRect());
  const hidden = place.clientWidth < NOTES_PX ? noted(spec) : [];
  const frame = place.querySelector(".nsewdrag")?.getBoundingClientRect();
  for (const label of place.querySelectorAll(".textpoint text")) {
    label.style.visibility = "";
    const box = label.getBoundingClientRect();
    const cut = frame && (box.left < frame.left || box.right > frame.right);
    const own = pointOf(label);
    const covers = shown.some((one) => meet(box, one)) || points.some((one) => one.point !== own && meet(inset(box), one.box));
    if (cut || covers || bars.some((one) => meet(inset(box), one))) {
      label.style.visibility = "hidden";
      if (own) hidden.push({ name: label.textContent, colour: own.style.fill || "currentColor" });
    } else shown.push(box);
  }
  nameBelow(place, hidden);
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
    if (spec.layout.height) place.style.minHeight = `${spec.layout.height}px`;
    const seen = () => themed(spec, pageColours(), place.clientWidth);
    const first = seen();
    await library.newPlot(place, first.data, first.layout, options(place.clientWidth));
    addLegend(place, spec, library);
    addDownloads(place, spec, library);
    thinLabels(place, spec);
    place.on("plotly_afterplot", () => thinLabels(place, spec));
    place.dataset.drawn = "yes";
    document.addEventListener("podium:theme", () => library.react(place, seen().data, seen().layout));
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
