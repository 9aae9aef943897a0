// The divergence explorer: a slider along a path of distributions Q, and eight divergences of Q from R. Python sends all
// numbers on a grid of places along each path; here they are only looked up.

const PAGE = 20; // PageUp moves t by twenty places, a tenth of a path of 200

const probability = (p) => (p === 0 ? "0" : p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`); // as percent() in Python
const shortest = (x, digits) => (x === 0 ? "0" : number(x, digits)); // "0" only for what is equal
const tText = (t) => `t = ${t.toFixed(3)}`;

function neverSaid(data, q, reversed) { // the outcomes that one of the two never says and the other one does
  const names = data.names.filter((_, y) => (reversed ? q[y] === 0 && data.r[y] > 0 : data.r[y] === 0 && q[y] > 0));
  return `${reversed ? "Q" : "R"} never says ${names.map((name) => `“${name}”`).join(", ")}`;
}

// ---- what is on the page
function controls(data) {
  const id = newId();
  const ui = {
    ...slideBar(id, "t (along the path)", { min: 0 }, ["◀ stop", "Previous stop of the path"], ["stop ▶", "Next stop of the path"]),
    path: select({ id: id + "-p" }, data.paths.map(({ name }) => [name, name])),
    order: select({ "aria-label": "order of Rényi's divergence" }, data.orders),
    printed: { path: make("b", { class: "anx-printed" }), order: span("printed") },
    text: make("div", { class: "anx-text", dir: "auto" }),
    bars: div("chart"),
  };
  ui.tools = div("tools", labelled("path", ui.path), ui.printed.path, ui.text);
  return ui;
}

function barsOf(data, holder) { // {show(q)}: the filled bars, their numbers, and the words for those who do not see them
  const svg = parsed(data.bars);
  holder.append(svg);
  const bars = [...svg.querySelectorAll(".bxq_marks path")], texts = [...svg.querySelectorAll(".bxqtext_marks text")];
  const places = bars.map((bar) => bar.getAttribute("d").match(/M0,([-\d.e]+)h[-\d.e]+v([-\d.e]+)/));
  const show = (q) => {
    q.forEach((p, y) => {
      const [, top, high] = places[y], wide = p * data.bars.one;
      bars[y].setAttribute("d", `M0,${top}h${wide}v${high}h${-wide}Z`);
      texts[y].textContent = `Q ${probability(p)}`;
    });
    const words = q.map((p, y) => `${data.names[y]} R ${probability(data.r[y])}, Q ${probability(p)}`);
    svg.setAttribute("aria-label", `Probabilities of the outcomes: ${words.join("; ")}.`);
  };
  return { show };
}

function panel(data, key) { // {element, choose(k), show(t, value)}
  const drawn = data.panels[key], element = div("chart", parsed(drawn));
  const point = element.querySelector(".bxpoint_marks path");
  const lines = data.paths.map((_, k) => [...element.querySelectorAll(`.bxpath${k}_marks path`)]);
  const choose = (chosen) => lines.forEach((own, k) =>
    own.forEach((line) => line.setAttribute("stroke-width", k === chosen ? 4.5 : 1.5)));
  const show = (t, value) => movePoint(point, drawn.box, t, value === null ? drawn.infinite : value);
  return { element, choose, show };
}

function table(data, order) { // {element, rows: [{kind, panels: key -> panel, value, note, bar}]}
  const rows = Object.keys(data.labels).map((kind) => {
    const keys = kind === "renyi" ? data.orders.map((_, k) => `renyi ${k}`) : [kind];
    const panels = Object.fromEntries(keys.map((key) => [key, panel(data, key)]));
    const value = span("number"), note = div("note");
    const bar = div("fill");
    const head = make("th", { scope: "row" }, data.labels[kind], ...(kind === "renyi" ? [" ", ...order] : []),
      div("note", data.units[kind]));
    const element = make("tr", {}, head, make("td", { class: "anx-trace" }, ...keys.map((key) => panels[key].element)),
      make("td", {}, value, note, make("div", { class: "anx-track", "aria-hidden": "true" }, bar)));
    return { kind, panels, value, note, bar, element };
  });
  const head = heads("divergence", "along the paths", "here");
  const legend = data.paths.map(({ name }, k) => make("span", { class: "anx-entry" },
    make("span", { class: `anx-swatch anx-swatch${k}`, "aria-hidden": "true" }), name));
  const caption = make("caption", {}, "Thick: the chosen path. Each divergence has one scale for all paths and starts at 0 (Q is R). " +
    "Infinite values are drawn at ∞. The bar under a value is its share of the largest value on its path.");
  const element = tableOf(caption, head, rows.map((row) => row.element));
  return { element: make("div", {}, div("legend", ...legend), element), rows };
}

function render({ model, el }) {
  const data = model.get("data"), ui = controls(data), grid = table(data, [ui.order, ui.printed.order]);
  const key = div("note anx-key", "Outlined: R, what native writers say. Filled: Q, what the system says.");
  const main = div("main", div("left", key, ui.bars), div("table", grid.element));
  const root = rootOf(data, "dv", "divergence explorer", ui.bar, ui.tools, main);
  el.append(root);
  const bars = barsOf(data, ui.bars);

  const chosen = () => Math.max(0, data.paths.findIndex(({ name }) => name === model.get("path")));
  const path = () => data.paths[chosen()];
  const last = () => path().q.length - 1;
  const place = () => clamp(Math.floor(model.get("t") * last() + 0.5), 0, last());
  const order = () => Math.max(0, data.orders.findIndex(([value]) => value === model.get("order")));
  const keyOf = (kind) => (kind === "renyi" ? `renyi ${order()}` : kind);

  function why(kind, q) {
    if (kind === "renyi" && data.orders[order()][0] < 1) return "no outcome in common"; // "inf" < 1 is false
    return neverSaid(data, q, kind === "kl_reversed");
  }

  // ---- what a t changes: the bars, every value and the marks
  function paint() {
    const here = path(), i = place(), t = i / last(), q = here.q[i];
    bars.show(q);
    const said = grid.rows.map((row) => {
      const key = keyOf(row.kind), value = here.values[key][i], most = here.largest[key], digits = data.digits[key];
      const infinite = value === null, text = infinite ? "∞" : shortest(value, digits);
      const endless = here.values[key].includes(null); // the path has no largest value, so nothing has a share of it
      const share = infinite ? 1 : most > 0 && !endless ? clamp(value / most, 0, 1) : 0;
      row.panels[key].show(t, value);
      row.value.textContent = text;
      row.note.textContent = infinite ? why(row.kind, q) : endless ? ""
        : most > 0 ? `${Math.round(100 * share)} % of ${number(most, digits)}` : "0 everywhere on this path";
      row.bar.style.width = `${100 * share}%`;
      row.bar.classList.toggle("anx-infinite", infinite);
      const name = data.labels[row.kind] + (row.kind === "renyi" ? ` of order ${data.orders[order()][1]}` : "");
      return `${name} ${infinite ? "infinite" : text}`;
    });
    ui.value.textContent = tText(t);
    ui.slider.value = i;
    ui.slider.setAttribute("aria-valuetext", `${tText(t)} · ${said.join(" · ")}`);
    root.dataset.t = t;
    off(ui.before, i === 0);
    off(ui.after, i === last());
  }

  function layPath() {
    const k = chosen();
    ui.path.value = path().name;
    ui.text.textContent = path().text;
    ui.printed.path.textContent = path().name;
    ui.slider.max = last();
    root.dataset.path = path().name;
    for (const row of grid.rows) for (const own of Object.values(row.panels)) own.choose(k);
    paint();
  }

  function layOrder() {
    ui.order.value = data.orders[order()][0];
    const { panels } = grid.rows.find((row) => row.kind === "renyi");
    for (const [key, own] of Object.entries(panels)) own.element.hidden = key !== keyOf("renyi");
    ui.printed.order.textContent = `of order ${data.orders[order()][1]}`;
    root.dataset.order = ui.order.value;
    paint();
  }

  // ---- where the hand goes
  const goTo = (i) => put(model, "t", clamp(i, 0, last()) / last());
  function jump(direction) { // to the neighbouring stop
    const i = place(), stops = path().stops;
    const to = direction > 0 ? stops.find((stop) => stop > i) : stops.findLast((stop) => stop < i);
    if (to !== undefined) goTo(to);
  }

  drive(ui, sliderKeys(PAGE, Infinity), (by) => goTo(place() + by), goTo, jump);
  ui.path.addEventListener("change", () => put(model, "path", ui.path.value));
  ui.order.addEventListener("change", () => put(model, "order", data.orders[ui.order.selectedIndex][0]));
  keepKeys(root);

  const end = follow(model, [["change:t", paint], ["change:path", layPath], ["change:order", layOrder]]);
  layPath();
  layOrder();
  return end;
}
