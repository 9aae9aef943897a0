// The β explorer: a slider, the moving point and the table. Python sends every breakpoint once; here a β is only looked up.
// One module for three hosts: anywidget, a fragment in a notebook's output, a standalone page (the last two with fakeModel).

const FIRST_DECADE = -4, STEPS_PER_DECADE = 50, LAST = 402; // positions 1..401 are 1e-4..1e4; 0 is β = 0, LAST is β = ∞
const PAGE_STEPS = 40; // 0.8 decade

const betaAt = (k) => (k <= 0 ? 0 : k >= LAST ? Infinity : 10 ** (FIRST_DECADE + (k - 1) / STEPS_PER_DECADE));
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

function positionOf(beta) { // of any β, between the steps as well
  if (beta === 0) return 0;
  return beta === Infinity ? LAST : clamp(1 + STEPS_PER_DECADE * (Math.log10(beta) - FIRST_DECADE), 1, LAST - 1);
}

function stepped(beta, steps) { // the position `steps` away; an off-grid β first moves onto the grid
  const at = positionOf(beta), near = Math.round(at);
  const from = Math.abs(at - near) < 1e-6 ? near : steps > 0 ? Math.floor(at) : Math.ceil(at);
  return clamp(from + steps, 0, LAST);
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

const number = (x, digits) => x.toFixed(digits).replace("-", "\u2212");
const whole = (text) => make("span", { class: "anx-whole" }, text); // never broken across lines
function betaText(beta) {
  if (beta === 0) return "β = 0";
  if (beta === Infinity) return "β = ∞";
  return "β = " + (beta >= 100 ? Math.round(beta) : beta.toPrecision(3));
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function fakeModel(state) { // what render() needs of an anywidget model, without a kernel
  const listeners = {};
  return {
    get: (key) => state[key],
    set(key, value) {
      if (state[key] === value) return;
      state[key] = value;
      (listeners["change:" + key] || []).slice().forEach((f) => f());
    },
    on: (event, f) => (listeners[event] = listeners[event] || []).push(f),
    off: (event, f) => (listeners[event] = (listeners[event] || []).filter((g) => g !== f)),
    save_changes() {},
  };
}

let made = 0; // so that labels and controls of two explorers in one page find each other

function controls() {
  const id = "anx-" + ++made + "-" + Math.random().toString(36).slice(2, 8);
  const quiet = { "data-lm-suppress-shortcuts": "true" }; // JupyterLab: keys pressed here are not commands
  const slider = make("input", { type: "range", min: 0, max: LAST, step: 1, id, ...quiet });
  const value = make("output", { class: "anx-value", for: id, "aria-live": "off" });
  const button = (text, label) => make("button", { type: "button", "aria-label": label, title: label, ...quiet }, text);
  const ui = {
    slider, value,
    readout: make("div", { class: "anx-readout" }),
    before: button("◀ change", "Previous change: the next smaller β at which a translation on this page changes"),
    after: button("change ▶", "Next change: the next larger β at which a translation on this page changes"),
    domain: make("select", { id: id + "-d", ...quiet }),
    order: make("select", { id: id + "-o", ...quiet }),
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
  const root = make("div", { class: "anx", role: "group", "aria-label": data.title || "β explorer" });
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
    const [x0, x1, y0, y1, w, h] = data.box;
    point.setAttribute("transform", `translate(${((n - x0) / (x1 - x0)) * w},${h - ((a - y0) / (y1 - y0)) * h})`);
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
    const text = make("div", { dir: "auto", ...lang(1) }), note = make("div", { class: "anx-note" });
    const cell = make("td", { class: "anx-chosen", "data-label": "Chosen" }, text, note);
    const id = make("span", { class: "anx-note" }, whole(row.domain ? `#${row.id} · ${row.domain}` : `#${row.id}`));
    const source = make("td", { "data-label": "Source" }, make("span", { dir: "auto", ...lang(0) }, row.src), " ", id);
    const reference = make("td", { "data-label": "Reference" }, make("div", { dir: "auto", ...lang(1) }, row.ref));
    ui.body.append(make("tr", { "data-segment": row.id }, source, reference, cell));
    return { row, cell, text, note, k: -1, flip: false };
  }
  const lang = (i) => (data.langs[i] ? { lang: data.langs[i] } : {});

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

  function parsed(one) { // drawn by Altair from our own numbers; texts in it are escaped there
    const holder = make("div");
    holder.innerHTML = one.svg;
    const svg = holder.querySelector("svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", one.alt);
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    return svg;
  }

  // ---- where the hand goes
  function off(button, is) { button.setAttribute("aria-disabled", is); } // keeps the keyboard focus, unlike `disabled`

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

  function put(key, value) { // saved at once: the echo of an older value would undo one that was set and not yet saved
    model.set(key, value);
    model.save_changes();
  }
  function putBeta(b) { put("beta", b === Infinity ? "inf" : b); }

  const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: PAGE_STEPS, PageDown: -PAGE_STEPS,
    Home: -LAST, End: LAST };
  ui.slider.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    putBeta(betaAt(stepped(beta(), KEYS[event.key])));
  });
  ui.slider.addEventListener("input", () => putBeta(betaAt(+ui.slider.value)));
  for (const [button, direction] of [[ui.before, -1], [ui.after, 1]])
    button.addEventListener("click", () => { const b = jump(direction); if (b !== null) putBeta(b); });
  for (const [button, step] of [[ui.back, -1], [ui.forth, 1]])
    button.addEventListener("click", () => {
      if (button.getAttribute("aria-disabled") === "true") return;
      put("page", (Math.round(model.get("page")) || 1) + step);
    });
  ui.domain.addEventListener("change", () => { model.set("page", 1); put("domain", ui.domain.value); });
  ui.order.addEventListener("change", () => { model.set("page", 1); put("order", ui.order.value); });
  root.addEventListener("keydown", (event) => { // JupyterLab would take arrows, and "d d" deletes the cell
    if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Escape" || event.key === "Tab") return;
    event.stopPropagation();
  });

  for (const one of data.choices) ui.domain.append(make("option", { value: one.name }, `${one.name} (${one.count})`));
  ui.domainBox.hidden = data.choices.length < 2;
  const onBeta = () => paint(true);
  const events = [["change:beta", onBeta], ["change:page", layPage], ["change:order", layOrder], ["change:domain", layDomain]];
  for (const [event, f] of events) model.on(event, f);
  layDomain();
  return () => { for (const [event, f] of events) model.off(event, f); };
}

export default { render };
