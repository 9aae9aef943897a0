// The A(N) explorer: a slider over the exact curve and the translator that is best there. Python sends the vertices once;
// between two of them the best translator is their mixture, so N, A(N) and Q(y|x) are linear.

const LAST = 300, PAGE_STEPS = 30; // 301 positions; PageUp moves a tenth of the curve
const NIL = 5e-7; // Python rounds to six decimals

const betaNumber = (b) => (b < 100 && b >= 1e-4 ? String(+b.toPrecision(3)) : legible(b));
const percent = (q) => (q < NIL ? "·" : q < 5e-4 ? "<\u00a00.1\u00a0%" : `${(100 * q).toFixed(q > 1 - NIL ? 0 : 1)}\u00a0%`);

function signed(d) { // percentage points; a sign and an arrow beside the colour
  const points = Math.abs(100 * d) < 0.05 ? 0 : 100 * d;
  return points === 0 ? "0.0" : points > 0 ? `▲\u00a0+${points.toFixed(1)}` : `▼\u00a0${number(points, 1)}`;
}

// ---- the curve: where an N lies, and which N a β chooses
function curveOf(data) {
  const { naturalness: n, accuracy: a, beta } = data;
  const end = n.length - 1, width = n[end] - n[0];
  const place = (at) => { // [v, share]: the vertex at or before N, and how far on the way to the next one
    let v = 0;
    while (v < end && n[v + 1] <= at + 1e-9 * width) v += 1;
    const share = v < end ? (at - n[v]) / (n[v + 1] - n[v]) : 0;
    return [v, share > 1e-9 ? share : 0];
  };
  const vertexOf = (b) => { let v = 0; while (v < end && beta[v + 1] <= b) v += 1; return v; };
  const middle = (v) => (v === 0 ? 0 : v === end ? Infinity : Math.sqrt(beta[v] * beta[v + 1])); // a β of vertex v
  const low = Math.log(beta.find((b) => b > 0) || 1) - 0.5, high = Math.log(beta[end] || 1) + 0.5;
  const betaAt = (k) => (k <= 0 ? 0 : k >= LAST ? Infinity : Math.exp(low + ((high - low) * (k - 1)) / (LAST - 2)));
  const positionOf = (b) =>
    b === 0 ? 0 : b === Infinity ? LAST : clamp(1 + ((Math.log(b) - low) / (high - low)) * (LAST - 2), 1, LAST - 1);
  const natAt = (k) => (k >= LAST ? n[end] : n[0] + (width * clamp(k, 0, LAST)) / LAST);
  const positionOfNat = (at) => (width > 0 ? ((at - n[0]) / width) * LAST : 0);
  return { n, a, beta, end, place, vertexOf, middle, betaAt, positionOf, natAt, positionOfNat };
}

// ---- what is on the page
function controls(data) {
  const id = newId(), corner = data.exact ? "vertex" : "point";
  const ui = {
    ...slideBar(id, "", { min: 0, max: LAST },
      ["◀", `Previous ${corner}: towards the most accurate translator`],
      ["▶", `Next ${corner}: towards the most natural translator`]),
    scale: select({ id: id + "-s" }, [["naturalness", "naturalness: every translator on the curve"], ["beta", `β, its price: from ${corner} to ${corner}`]]),
    readout: div("readout"),
    chart: div("chart"),
  };
  ui.tools = div("tools", labelled("slider moves", ui.scale), ui.readout);
  return ui;
}

function table(data) { // {element, cells (X, C), marginal (C), difference (C)}
  const names = data.targets.map((name) => make("th", { scope: "col", dir: "auto", ...langOf(data, 1) }, name));
  if (data.others) names.push(make("th", { scope: "col", class: "anx-others" }, `others (${data.others})`));
  const head = heads("source", "share");
  head.append(...names);
  const row = (kind) => data.r.map(() => make("td", { class: kind }));
  const cells = data.sources.map(() => row("anx-q"));
  const body = data.sources.map((name, x) => make("tr", {},
    make("th", { scope: "row", dir: "auto", ...langOf(data, 0) }, name), make("td", { class: "anx-p" }, percent(data.p[x])), ...cells[x]));
  const marginal = row("anx-q"), reference = row("anx-q"), difference = row("anx-d");
  reference.forEach((cell, y) => show(cell, data.r[y]));
  const line = (name, some) => make("tr", {}, make("th", { scope: "row", colspan: 2 }, name), ...some);
  const foot = make("tfoot", {}, line("all together", marginal), line("native writers", reference),
    line("difference, points", difference));
  const caption = make("caption", {}, make("span", {}, "Each row: how often the best translator uses each sentence for this source; " +
    "bold: most often. Below: its sentences over all sources, and those of native writers."));
  const element = tableOf(caption, head, body);
  element.append(foot);
  return { element, cells, marginal, difference };
}

function show(cell, q, bold = false) {
  const text = percent(q);
  if (cell.textContent !== text) cell.textContent = text;
  cell.classList.toggle("anx-nil", q < NIL);
  cell.classList.toggle("anx-best", bold);
  cell.style.setProperty("--w", `${(100 * clamp(q, 0, 1)).toFixed(1)}%`);
  if (q < NIL) cell.setAttribute("aria-label", "0 %");
  else cell.removeAttribute("aria-label");
}

function render({ model, el }) {
  const data = model.get("data"), curve = curveOf(data), ui = controls(data), grid = table(data);
  const [aName, nName] = data.names;
  const translator = make("div", { class: "anx-table", tabindex: 0, role: "region", "aria-label": "the translator" }, grid.element);
  const root = rootOf(data, "an", "A(N) explorer", ui.bar, ui.tools, div("main", div("left", ui.chart), translator));
  el.append(root);
  ui.chart.append(parsed(data));
  if (!data.exact) ui.chart.append(make("div", { class: "anx-note" },
    `The true curve is at most ${betaNumber(data.gap)} above the drawn line.`));
  const point = ui.chart.querySelector(".bxpoint_marks path");

  const nat = () => model.get("naturalness");
  const byBeta = () => model.get("scale") === "beta";
  let weight = null; // the β of the slider, as long as it still stands for this N

  function weightHere() {
    const [v, share] = curve.place(nat());
    if (share > 0) return curve.beta[v + 1]; // all mixtures of an edge are best for its β
    const fits = weight !== null && curve.vertexOf(weight) === v;
    return fits ? weight : curve.middle(v);
  }

  function betaSaid(v, share) { // for which β this translator is best
    const about = data.exact ? "" : "about ";
    if (share > 0) return `β = ${about}${betaNumber(curve.beta[v + 1])}`;
    if (v === curve.end) return `β ≥ ${about}${betaNumber(curve.beta[v])}`;
    return `β from ${about}${betaNumber(curve.beta[v])} to ${betaNumber(curve.beta[v + 1])}`;
  }

  // ---- what an N changes: every number, the bars and the point
  function paint() {
    const at = nat(), [v, share] = curve.place(at), next = share > 0 ? v + 1 : v;
    const mixed = (from, to) => (1 - share) * from + share * to;
    const a = mixed(curve.a[v], curve.a[next]);
    const marginal = data.r.map(() => 0);
    grid.cells.forEach((cells, x) => {
      const q = cells.map((_, y) => mixed(data.q[v][x][y], data.q[next][x][y]));
      const best = Math.max(NIL, Math.max(...q.slice(0, data.targets.length)) - 1e-6);
      cells.forEach((cell, y) => {
        marginal[y] += data.p[x] * q[y];
        show(cell, q[y], y < data.targets.length && q[y] >= best);
      });
    });
    grid.marginal.forEach((cell, y) => show(cell, marginal[y]));
    grid.difference.forEach((cell, y) => {
      const text = signed(marginal[y] - data.r[y]);
      cell.textContent = text;
      cell.className = "anx-d" + (text[0] === "▲" ? " anx-up" : text[0] === "▼" ? " anx-down" : "");
    });
    movePoint(point, data.box, at, a);
    const b = weightHere(), nText = `${nName} = ${number(at, data.digits[1])}`;
    const text = byBeta() ? `β = ${betaNumber(b)}` : nText;
    const said = `${nText} · ${aName} = ${number(a, data.digits[0])}${byBeta() ? ` · ${betaSaid(v, share)}` : ""}`;
    ui.slider.value = Math.round(byBeta() ? curve.positionOf(b) : curve.positionOfNat(at));
    ui.slider.setAttribute("aria-valuetext", byBeta() ? `${text} · ${said}` : said);
    ui.value.textContent = text;
    ui.readout.textContent = said;
    root.dataset.naturalness = at;
    off(ui.before, v === 0 && share === 0);
    off(ui.after, v === curve.end);
  }

  function layScale() {
    ui.scale.value = model.get("scale");
    ui.label.textContent = byBeta() ? "β (price of naturalness)" : nName;
    paint();
  }

  // ---- where the hand goes
  function goTo(position) {
    if (!byBeta()) return put(model, "naturalness", curve.natAt(position));
    weight = curve.betaAt(position);
    const at = curve.n[curve.vertexOf(weight)];
    if (at === nat()) paint();
    else put(model, "naturalness", at);
  }

  function jump(direction) { // to the neighbouring vertex
    const [v, share] = curve.place(nat());
    const to = clamp(direction > 0 ? v + 1 : share > 0 ? v : v - 1, 0, curve.end);
    weight = null;
    put(model, "naturalness", curve.n[to]);
  }

  drive(ui, sliderKeys(PAGE_STEPS, LAST), (steps) =>
    goTo(stepped(byBeta() ? curve.positionOf(weightHere()) : curve.positionOfNat(nat()), steps, 0, LAST)), goTo, jump);
  ui.scale.addEventListener("change", () => put(model, "scale", ui.scale.value));
  keepKeys(root);

  const end = follow(model, [["change:naturalness", paint], ["change:scale", layScale]]);
  layScale();
  return end;
}
