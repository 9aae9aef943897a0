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

function placeOf(starts, beta) { // how far along a curve: the share of its changes that are made
  return starts.length > 1 ? winner(starts, beta) / (starts.length - 1) : 0;
}

function betaOf(starts, place) { // a β at that place: in the middle, on the slider's scale, of those that choose alike
  if (starts.length < 2) return 1;
  const v = Math.round(place * (starts.length - 1)), from = starts[v], to = starts[v + 1];
  if (to === undefined) return from * 1.1;
  return v ? Math.sqrt(from * to) : to / 2;
}

function controls() {
  const id = newId();
  const ui = {
    ...slideBar(id, "β (naturalness weight)", { min: 0, max: LAST },
      ["◀ change", "Previous change: the next smaller β at which a translation on this page changes"],
      ["change ▶", "Next change: the next larger β at which a translation on this page changes"]),
    readout: div("readout"),
    accuracy: select({ id: id + "-a" }, []),
    naturalness: select({ id: id + "-n" }, []),
    said: make("b", { role: "status" }), // stands there empty: what is shown late is not read out
    place: make("div", { class: "anx-kept", role: "status" }),
    domain: select({ id: id + "-d" }, []),
    order: select({ id: id + "-o" }, [["document", "document order"], ["changes", "most changes first"]]),
    back: button("‹", "Previous page of rows"),
    forth: button("›", "Next page of rows"),
    where: span("where"),
    chart: div("chart"),
    body: make("tbody"),
  };
  ui.domainBox = labelled("domain", ui.domain);
  ui.pages = span("pair", ui.back, ui.where, ui.forth);
  ui.judges = div("tools anx-judges", make("b", {}, "Who is the judge?"),
    labelled("accuracy by", ui.accuracy), labelled("naturalness by", ui.naturalness), ui.said);
  ui.rows = labelled("rows", ui.order);
  ui.tools = div("tools", ui.domainBox, ui.rows, ui.pages);
  return ui;
}

function table(body, caption) {
  const head = heads("Source", "Reference", "Chosen translation");
  const cols = make("colgroup", {}, make("col"), make("col"), make("col", { class: "anx-wide" }));
  return make("table", {}, caption, cols, make("thead", {}, head), body);
}

function render({ model, el }) {
  const data = model.get("data");
  const ui = controls();
  const caption = make("caption");
  const main = div("main", div("left", ui.chart, ui.readout, ui.place));
  const root = rootOf(data, "beta", "β explorer", ui.judges, ui.bar, ui.tools, main);
  if (data.show) main.append(div("table", table(ui.body, caption)));
  else root.classList.add("anx-alone");
  el.append(root);

  const beta = () => { const b = model.get("beta"); return b === "inf" ? Infinity : +b; };
  const charts = new Map(); // a chart is parsed once
  const pairs = data.judged.map((one) => one.judges);
  let judge, choice, point, all = [], rows = [], order = [], shown = [];
  let before = null, kept = null, switching = false; // the choices before the judge changed; the β that a hand chose
  let open = false; // the glosses

  const textAt = (row, k) => row.marked[row.at[k]][0]; // place among the row's texts

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
    movePoint(point, judge.box, n, a);
    const text = betaText(b);
    const means = scores(a, n).join(" · ");
    ui.slider.value = Math.round(positionOf(b));
    ui.slider.setAttribute("aria-valuetext", `${text} · ${means}`);
    ui.value.textContent = text;
    ui.readout.textContent = `${means} (means over ${choice.count} segments). ` +
      (data.show ? `Of the ${shown.length} rows here, ${marked} differ from β\u00a0=\u00a00.` : "");
    root.dataset.beta = b;
    off(ui.before, jump(-1) === null);
    off(ui.after, jump(1) === null);
  }

  const scores = (a, n) => [a, n].map((x, i) => `${judge.names[i]} ${number(x, judge.digits[i])}`);

  function fill(one, k, flash) {
    const { row, cell, text, note } = one;
    one.k = k;
    text.textContent = "";
    const [at, ...ends] = row.marked[row.at[k]], tag = row.tags[at], [a, n] = scores(row.accuracy[k], row.naturalness[k]);
    [...ends, undefined].forEach((end, i) => { // in turn shared with the choice at β = 0, and not
      const part = row.texts[at].slice(i ? ends[i - 1] : 0, end);
      if (part) text.append(i % 2 ? make("mark", {}, part) : part);
    });
    note.replaceChildren(...(tag ? [whole(tag), " · "] : []), whole(a), " · ", whole(n));
    layMoved(one);
    cell.classList.remove("anx-a", "anx-b");
    if (flash) cell.classList.add((one.flip = !one.flip) ? "anx-a" : "anx-b"); // two names, so that it starts anew
  }

  // ---- what another judge changes
  const moved = (row) => before !== null && before.get(row.id) !== textAt(row, winner(row.beta, beta()));

  function layMoved({ row, cell, was }) {
    const is = moved(row), at = is && before.get(row.id);
    cell.classList.toggle("anx-moved", is);
    was.hidden = !is;
    if (is) was.replaceChildren(make("b", {}, "moved"), " from: ",
      make("span", { dir: "auto", ...langOf(data, 1) }, row.texts[at]), row.tags[at] ? ` (${row.tags[at]})` : "");
  }

  function layJudge() { // the pair that was asked for, or the first with this accuracy
    const accuracy = model.get("accuracy"), naturalness = model.get("naturalness");
    const beside = data.judged.filter((one) => one.judges[0] === accuracy);
    const next = beside.find((one) => one.judges[1] === naturalness) || beside[0] || data.judged[0];
    if (next === judge) return;
    if (judge) before = new Map(all.map((row) => [row.id, textAt(row, winner(row.beta, +root.dataset.beta))]));
    judge = next;
    all = data.rows.map((row, i) => ({ ...row, ...judge.chains[i] }));
    caption.textContent = `Marked words differ from the choice at β = 0 (${judge.names[0]} alone).`;
    ui.accuracy.value = judge.judges[0];
    ui.naturalness.replaceChildren(...data.judged.filter((one) => one.judges[0] === judge.judges[0])
      .map((one) => make("option", { value: one.judges[1] }, one.labels[1])));
    ui.naturalness.value = judge.judges[1];
    layDomain();
    sayMoved();
  }

  function sayMoved(from) { // from: the β before the switch, where the page set another one
    ui.said.textContent = before && rows.length ? `${rows.filter(moved).length} of ${rows.length} choices changed` : "";
    const number = (b) => betaText(b).replace("β = ", ""), share = Math.round(100 * placeOf(choice.beta, beta()));
    ui.place.textContent = from === undefined || from === beta() ? "" : "β is in points of accuracy per unit of " +
      `naturalness, and another judge has other units. So it keeps its place along the curve (${share}\u00a0% of the ` +
      `changes made) and goes from ${number(from)} to ${number(beta())}.`;
  }

  function putJudge(accuracy, naturalness) { // by hand: β keeps its place along the curve, or its end
    const from = beta(), old = judge, place = placeOf(choice.beta, from);
    if (!kept || kept.now !== from) kept = { beta: from, judge: old, place };
    switching = true;
    model.set("accuracy", accuracy);
    model.set("naturalness", naturalness || judge.judges[1]);
    if (from > 0 && from < Infinity) model.set("beta", judge === kept.judge ? kept.beta : betaOf(choice.beta, kept.place));
    kept.now = beta();
    switching = false;
    model.save_changes();
    for (const one of shown) layMoved(one);
    sayMoved(from);
  }

  function onBeta() {
    if (!switching) before = null;
    paint(true);
    if (switching) return;
    for (const one of shown) layMoved(one);
    sayMoved();
  }

  // ---- what a page, an order or a domain changes
  function newRow(row) {
    const text = make("div", { dir: "auto", ...langOf(data, 1) }), note = div("note");
    const was = div("note anx-was");
    const cell = make("td", { class: "anx-chosen", "data-label": "Chosen" }, text, note, was);
    const id = span("note", whole(row.domain ? `#${row.id} · ${row.domain}` : `#${row.id}`));
    const source = make("td", { "data-label": "Source" }, make("span", { dir: "auto", ...langOf(data, 0) }, row.src), " ", id);
    if (row.gloss) source.append(glossed(row.gloss));
    const reference = make("td", { "data-label": "Reference" }, make("div", { dir: "auto", ...langOf(data, 1) }, row.ref));
    ui.body.append(make("tr", { "data-segment": row.id }, source, reference, cell));
    return { row, cell, text, note, was, k: -1, flip: false };
  }

  function glossed(text) { // where one is opened, all are, on every page: who needs one needs them all
    const box = glossOf(text);
    box.open = open;
    box.addEventListener("toggle", () => ui.body.querySelectorAll("details").forEach((one) => { one.open = open = box.open; }));
    return box;
  }

  function layPage() {
    const pages = data.show ? Math.max(1, Math.ceil(order.length / data.show)) : 1;
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
    choice = judge.choices.find((c) => c.name === name) || judge.choices[0];
    ui.domain.value = choice.name;
    if (!charts.has(choice)) charts.set(choice, parsed(choice));
    ui.chart.replaceChildren(charts.get(choice));
    point = ui.chart.querySelector(".bxpoint_marks path");
    rows = choice === judge.choices[0] ? all : all.filter((row) => row.domain === choice.name);
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

  ui.accuracy.addEventListener("change", () => putJudge(ui.accuracy.value));
  ui.naturalness.addEventListener("change", () => putJudge(judge.judges[0], ui.naturalness.value));

  for (const [i, one] of data.judged.entries())
    if (pairs.findIndex((pair) => pair[0] === one.judges[0]) === i)
      ui.accuracy.append(make("option", { value: one.judges[0] }, one.labels[0]));
  const domains = data.judged[0].choices;
  for (const one of domains) ui.domain.append(make("option", { value: one.name }, `${one.name} (${one.count})`));
  ui.judges.hidden = pairs.length < 2;
  ui.domainBox.hidden = domains.length < 2;
  ui.rows.hidden = ui.before.hidden = ui.after.hidden = !data.show;
  const onDomain = () => { kept = null; layDomain(); sayMoved(); };
  const end = follow(model, [["change:beta", onBeta], ["change:page", layPage], ["change:order", layOrder],
    ["change:domain", onDomain], ["change:accuracy", layJudge], ["change:naturalness", layJudge]]);
  layJudge();
  return end;
}
