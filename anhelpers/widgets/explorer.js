// The β explorer: a slider, the moving point and the table. Python sends every breakpoint once; here a β is only looked up.

const FIRST_DECADE = -4, STEPS_PER_DECADE = 50, LAST = 402; // positions 1..401 are 1e-4..1e4; 0 is β = 0, LAST is β = ∞
const PAGE_STEPS = 40; // 0.8 decade

const betaAt = (k) => (k <= 0 ? 0 : k >= LAST ? Infinity : 10 ** (FIRST_DECADE + (k - 1) / STEPS_PER_DECADE));

function positionOf(beta) { // of any β, between the steps as well
  if (beta === 0) return 0;
  return beta === Infinity ? LAST : clamp(1 + STEPS_PER_DECADE * (Math.log10(beta) - FIRST_DECADE), 1, LAST - 1);
}

function winner(starts, beta) { // index of the last start <= β; at β = 0 always the first
  if (beta === 0) return 0;
  let low = 0, high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= beta) low = middle;
    else high = middle;
  }
  return low;
}

function controls() {
  const id = newId();
  const slider = make("input", { type: "range", min: 0, max: LAST, step: 1, id, ...QUIET });
  const value = make("output", { class: "anx-value", for: id, "aria-live": "off" });
  const ui = {
    slider, value,
    readout: make("div", { class: "anx-readout" }),
    before: button("◀ change", "Previous change: the next smaller β at which a translation on this page changes"),
    after: button("change ▶", "Next change: the next larger β at which a translation on this page changes"),
    domain: make("select", { id: id + "-d", ...QUIET }),
    order: make("select", { id: id + "-o", ...QUIET }),
    back: button("‹", "Previous page of rows"),
    forth: button("›", "Next page of rows"),
    where: make("span", { class: "anx-where" }),
    chart: make("div", { class: "anx-chart" }),
    body: make("tbody"),
  };
  ui.order.append(make("option", { value: "document" }, "document order"));
  ui.order.append(make("option", { value: "changes" }, "most changes first"));
  const label = make("label", { for: id }, "β (naturalness weight)");
  ui.title = make("div", { class: "anx-title" });
  ui.domainBox = make("span", { class: "anx-pair" }, make("label", { for: id + "-d" }, "domain"), ui.domain);
  ui.pages = make("span", { class: "anx-pair" }, ui.back, ui.where, ui.forth);
  ui.bar = make("div", { class: "anx-bar" },
    make("div", { class: "anx-slide" }, label, ui.before, slider, ui.after, value));
  ui.tools = make("div", { class: "anx-tools" }, ui.domainBox,
    make("span", { class: "anx-pair" }, make("label", { for: id + "-o" }, "rows"), ui.order), ui.pages);
  return ui;
}

function table(body, data) {
  const head = make("tr");
  for (const title of ["Source", "Reference", "Chosen translation"]) head.append(make("th", { scope: "col" }, title));
  const cols = make("colgroup", {}, make("col"), make("col"), make("col", { class: "anx-wide" }));
  const caption = make("caption", {}, `Marked words differ from the choice at β = 0 (${data.names[0]} alone).`);
  return make("table", {}, caption, cols, make("thead", {}, head), body);
}

function render({ model, el }) {
  const data = model.get("data");
  const ui = controls();
  const root = make("div", { class: "anx anx-beta", role: "group", "aria-label": data.title || "β explorer" });
  ui.title.textContent = data.title;
  ui.title.hidden = !data.title;
  root.append(ui.title, ui.bar, ui.tools, make("div", { class: "anx-main" },
    make("div", { class: "anx-left" }, ui.chart, ui.readout),
    make("div", { class: "anx-table" }, table(ui.body, data))));
  el.append(root);

  const beta = () => { const b = model.get("beta"); return b === "inf" ? Infinity : +b; };
  const charts = new Map(); // a chart is parsed once
  let choice, point, rows = [], order = [], shown = [];

  // ---- what a β changes: at most the cells of this page, the point and the numbers
  function paint(flash) {
    const b = beta();
    let marked = 0;
    for (const one of shown) {
      const k = winner(one.row.beta, b);
      if (k > 0) marked += 1;
      if (k !== one.k) fill(one, k, flash && one.k >= 0);
    }
    const v = winner(choice.beta, b), a = choice.accuracy[v], n = choice.naturalness[v];
    movePoint(point, data.box, n, a);
    const text = betaText(b);
    const means = `${data.names[0]} ${number(a, data.digits[0])} · ${data.names[1]} ${number(n, data.digits[1])}`;
    ui.slider.value = Math.round(positionOf(b));
    ui.slider.setAttribute("aria-valuetext", `${text} · ${means}`);
    ui.value.textContent = text;
    ui.readout.textContent = `${means} (means over ${choice.count} segments). ` +
      `Of the ${shown.length} rows here, ${marked} differ from β\u00a0=\u00a00.`;
    root.dataset.beta = b;
    off(ui.before, jump(-1) === null);
    off(ui.after, jump(1) === null);
  }

  function fill(one, k, flash) {
    const { row, cell, text, note } = one;
    one.k = k;
    text.textContent = "";
    row.parts[k].forEach((part, i) => {
      if (typeof part !== "string") part = row.parts[0][0].slice(part[0], part[0] + part[1]); // shared with the first
      if (part) text.append(i % 2 ? make("mark", {}, part) : part);
    });
    const tag = row.tag[k] ? [whole(row.tag[k]), " · "] : [];
    note.replaceChildren(...tag, whole(`${data.names[0]} ${number(row.accuracy[k], data.digits[0])}`), " · ",
      whole(`${data.names[1]} ${number(row.naturalness[k], data.digits[1])}`));
    cell.classList.remove("anx-a", "anx-b");
    if (flash) cell.classList.add((one.flip = !one.flip) ? "anx-a" : "anx-b"); // two names, so that it starts anew
  }

  // ---- what a page, an order or a domain changes
  function newRow(row) {
    const text = make("div", { dir: "auto", ...langOf(data, 1) }), note = make("div", { class: "anx-note" });
    const cell = make("td", { class: "anx-chosen", "data-label": "Chosen" }, text, note);
    const id = make("span", { class: "anx-note" }, whole(row.domain ? `#${row.id} · ${row.domain}` : `#${row.id}`));
    const source = make("td", { "data-label": "Source" }, make("span", { dir: "auto", ...langOf(data, 0) }, row.src), " ", id);
    const reference = make("td", { "data-label": "Reference" }, make("div", { dir: "auto", ...langOf(data, 1) }, row.ref));
    ui.body.append(make("tr", { "data-segment": row.id }, source, reference, cell));
    return { row, cell, text, note, k: -1, flip: false };
  }

  function layPage() {
    const pages = Math.max(1, Math.ceil(order.length / data.show));
    const page = clamp(Math.round(model.get("page")) || 1, 1, pages);
    const from = (page - 1) * data.show;
    ui.body.textContent = "";
    shown = order.slice(from, from + data.show).map(newRow);
    ui.where.textContent = order.length ? `${from + 1}–${from + shown.length} of ${order.length}` : "no rows";
    ui.pages.hidden = pages === 1;
    off(ui.back, page === 1);
    off(ui.forth, page === pages);
    paint(false);
  }

  function layOrder() {
    ui.order.value = model.get("order");
    order = rows.slice();
    if (ui.order.value === "changes") order.sort((p, q) => q.beta.length - p.beta.length); // stable
    layPage();
  }

  function layDomain() {
    const name = model.get("domain");
    choice = data.choices.find((c) => c.name === name) || data.choices[0];
    ui.domain.value = choice.name;
    if (!charts.has(choice.name)) charts.set(choice.name, parsed(choice));
    ui.chart.replaceChildren(charts.get(choice.name));
    point = ui.chart.querySelector(".bxpoint_marks path");
    rows = choice === data.choices[0] ? data.rows : data.rows.filter((row) => row.domain === choice.name);
    layOrder();
  }

  // ---- where the hand goes
  function jump(direction) { // the β of the neighbouring table, or null where there is none
    const b = beta();
    let best = null, here = 0; // here: where the present table begins
    for (const { row } of shown) {
      const k = winner(row.beta, b);
      here = Math.max(here, row.beta[k]);
      const next = row.beta[k + 1];
      if (direction > 0 && next !== undefined && (best === null || next < best)) best = next;
    }
    if (direction > 0) return b === Infinity ? null : best;
    for (const { row } of shown) { // the last start before `here`
      for (let k = 0; k < row.beta.length && row.beta[k] < here; k++) best = Math.max(best ?? 0, row.beta[k]);
    }
    return here > 0 ? best ?? 0 : null;
  }

  function putBeta(b) { put(model, "beta", b === Infinity ? "inf" : b); }

  onKeys(ui.slider, sliderKeys(PAGE_STEPS, LAST), (steps) => putBeta(betaAt(stepped(positionOf(beta()), steps, 0, LAST))));
  ui.slider.addEventListener("input", () => putBeta(betaAt(+ui.slider.value)));
  for (const [button, direction] of [[ui.before, -1], [ui.after, 1]])
    button.addEventListener("click", () => { const b = jump(direction); if (b !== null) putBeta(b); });
  for (const [button, step] of [[ui.back, -1], [ui.forth, 1]])
    button.addEventListener("click", () => {
      if (button.getAttribute("aria-disabled") === "true") return;
      put(model, "page", (Math.round(model.get("page")) || 1) + step);
    });
  ui.domain.addEventListener("change", () => { model.set("page", 1); put(model, "domain", ui.domain.value); });
  ui.order.addEventListener("change", () => { model.set("page", 1); put(model, "order", ui.order.value); });
  keepKeys(root);

  for (const one of data.choices) ui.domain.append(make("option", { value: one.name }, `${one.name} (${one.count})`));
  ui.domainBox.hidden = data.choices.length < 2;
  const onBeta = () => paint(true);
  const events = [["change:beta", onBeta], ["change:page", layPage], ["change:order", layOrder], ["change:domain", layDomain]];
  const end = follow(model, events);
  layDomain();
  return end;
}
