// The β explorer: a slider that steps from change to change, one sentence beside its plane or a table beside the curve.
// Python sends every breakpoint once; here a β is only looked up.

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
    ...slideBar(id, "β (naturalness weight)", { min: 0 },
      ["◀", "Previous change: the next smaller β at which a displayed choice changes"],
      ["▶", "Next change: the next larger β at which a displayed choice changes"]),
    rank: span("rank"),
    views: [["one", "one sentence"], ["table", "all sentences"]].map(([view, text]) =>
      make("button", { type: "button", value: view, ...QUIET }, text)),
    sentence: select({ id: id + "-s", class: "anx-pick" }, []),
    earlier: button("‹", "Previous sentence"),
    later: button("›", "Next sentence"),
    readout: div("readout"),
    accuracy: select({ id: id + "-a" }, []),
    naturalness: select({ id: id + "-n" }, []),
    said: make("b", { role: "status" }), // stands there empty: what is shown late is not read out
    domain: select({ id: id + "-d" }, []),
    order: select({ id: id + "-o" }, [["document", "document order"], ["changes", "most changes first"]]),
    back: button("‹", "Previous page of rows"),
    forth: button("›", "Next page of rows"),
    where: span("where"),
    chart: div("chart"),
    body: make("tbody"),
  };
  ui.value.after(ui.rank);
  ui.view = make("span", { class: "anx-pair anx-views", role: "group", "aria-label": "View" }, ...ui.views);
  ui.picker = span("pair", make("label", { for: ui.sentence.id, class: "anx-unseen" }, "sentence"), ui.earlier, ui.sentence, ui.later);
  ui.domainBox = labelled("domain", ui.domain);
  ui.pages = span("pair", ui.back, ui.where, ui.forth);
  ui.judges = div("tools anx-judges", make("b", {}, "Who is the judge?"),
    labelled("accuracy by", ui.accuracy), labelled("naturalness by", ui.naturalness), ui.said);
  ui.rows = labelled("rows", ui.order);
  ui.tools = div("tools", ui.view, ui.picker, ui.domainBox, ui.rows, ui.pages);
  return ui;
}

function render({ model, el }) {
  const data = model.get("data");
  const ui = controls();
  const caption = make("caption"), plane = planeOf();
  const left = div("left", ui.chart, ui.readout), texts = div("texts");
  const cols = make("colgroup", {}, make("col"), make("col"), make("col", { class: "anx-third" }));
  const head = make("thead", {}, heads("Source", "Reference", "Chosen translation"));
  const grid = div("table", make("table", {}, caption, cols, head, ui.body));
  const main = div("main", ...(data.show ? [texts, left, grid] : [left]));
  const root = rootOf(data, "beta", "β explorer", ui.judges, ui.tools, ui.bar, main);
  if (Object.keys(data.meanings).length) root.append(legendOf(data.meanings));
  el.append(root);

  const { beta, steps, paint: paintSlider } = betaSlider(model, ui);
  const charts = new Map(); // a chart is parsed once
  const pairs = data.judged.map((one) => one.judges), domains = data.judged[0].choices;
  let judge, choice, point, all = [], rows = [], order = [], shown = [];
  let before = null, switching = false; // the choices before the judge changed
  let open = false; // the glosses
  let ranks, pages = 1;
  const alone = () => data.show > 0 && model.get("view") === "one"; // one sentence

  const textAt = (row, k) => row.pairs[row.at[k]][0]; // place among the row's texts

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
    const means = scores(a, n).join(" · ");
    ui.readout.textContent = `${means} (means over ${choice.count} segments). ` +
      (data.show ? `Of the ${shown.length} rows here, ${marked} ${marked === 1 ? "differs" : "differ"} from β\u00a0=\u00a00.` : "");
    if (alone() && shown.length) paintOne(shown[0], b);
    laySlider(b, alone() && shown.length ? sayOne(shown[0]) : means);
    root.dataset.beta = b;
  }

  function laySlider(b, said) {
    const n = ranks.last - 1;
    paintSlider(` · ${said}`);
    const where = data.show && !alone() ? " in these rows" : "";
    ui.rank.textContent = (n ? `${Math.min(ranks.changes(b), n)} of ${n} change${n > 1 ? "s" : ""}` : "no change") + where;
  }

  function paintOne({ row, k, head, far }, b) {
    plane.paint(k, { beta: b });
    head.textContent = `The oracle's choice at ${betaText(b)}`;
    ui.readout.textContent = `Each dot is a candidate for this sentence${far ? ` (${far} of them outside the plot)` : ""}. Points on the ` +
      `dashed line have the same value at this β, and no candidate is ${b === Infinity ? "to the right of" : "above"} it. ` +
      (row.beta.length > 1 ? "" : "One candidate is best at every β.");
  }

  const sayOne = ({ row, k }) => [row.tags[textAt(row, k)], row.texts[textAt(row, k)]].filter(Boolean).join(" · ");

  const scores = (a, n) => [a, n].map((x, i) => `${judge.names[i]} ${number(x, judge.digits[i])}`);

  function traded(row, k) { // what naturalness cost so far
    const by = [row.accuracy[0] - row.accuracy[k], row.naturalness[k] - row.naturalness[0]];
    const [paid, gained] = by.map((x, i) => number(x, judge.digits[i]));
    return k ? [` · since β = 0: lost ${paid}, gained ${gained}`] : [];
  }

  function fill(one, k, flash) {
    const { row, cell, text, old, note } = one;
    one.k = k;
    layWords(text, row, k);
    const before = rewritten(row, k), tag = row.tags[textAt(row, k)];
    old.hidden = !before;
    old.lastChild.textContent = before;
    const [a, n] = scores(row.accuracy[k], row.naturalness[k]);
    const meaning = one.meaning && data.meanings[tag] ? [": " + data.meanings[tag]] : [];
    if (one.meaning) one.meaning.replaceChildren(...(tag ? [make("b", {}, tag), ...meaning] : []));
    note.replaceChildren(...(tag && !one.meaning ? [labelOf(tag, data.meanings), " · "] : []), whole(a), " · ", whole(n),
      ...(one.meaning ? traded(row, k) : []));
    if (flash && !matchMedia("(prefers-reduced-motion: reduce)").matches) cell.animate([{ background: "var(--flash)" }, {}], 600);
  }

  // ---- what another judge changes
  function layJudge() { // the pair that was asked for, or the first with this accuracy
    const accuracy = model.get("accuracy"), naturalness = model.get("naturalness");
    const beside = data.judged.filter((one) => one.judges[0] === accuracy);
    const next = beside.find((one) => one.judges[1] === naturalness) || beside[0] || data.judged[0];
    if (next === judge) return;
    if (judge) before = new Map(all.map((row) => [row.id, textAt(row, winner(row.beta, +root.dataset.beta))]));
    judge = next;
    all = data.rows.map((row, i) => ({ ...row, ...judge.chains[i], clouds: judge.clouds.map((c) => data.clouds[c][i]), dots: data.dots[i] }));
    caption.textContent = `Against the choice at β = 0 (${judge.names[0]} alone): words struck through are gone, underlined ones are new. Where most words changed, both texts are shown.`;
    ui.accuracy.value = judge.judges[0];
    ui.naturalness.replaceChildren(...data.judged.filter((one) => one.judges[0] === judge.judges[0])
      .map((one) => make("option", { value: one.judges[1] }, one.labels[1])));
    ui.naturalness.value = judge.judges[1];
    layDomain();
    sayMoved();
  }

  function sayMoved() {
    const moved = rows.filter((row) => before && before.get(row.id) !== textAt(row, winner(row.beta, beta())));
    ui.said.textContent = before && rows.length ? `${moved.length} of ${rows.length} choices changed` : "";
    for (const { row, cell } of shown) cell.classList.toggle("anx-moved", moved.includes(row));
  }

  function putJudge(accuracy, naturalness) { // by hand: β, whose unit changes, keeps its place along the curve, or its end
    const from = beta(), place = placeOf(choice.beta, from);
    switching = true;
    model.set("accuracy", accuracy);
    model.set("naturalness", naturalness || judge.judges[1]);
    if (from > 0 && from < Infinity) model.set("beta", betaOf(choice.beta, place));
    switching = false;
    model.save_changes();
    sayMoved();
  }

  function onBeta() {
    if (!switching) before = null;
    paint(true);
    sayMoved();
  }

  // ---- what a page, an order or a domain changes
  const inTarget = (tag, more = {}) => make(tag, { dir: "auto", ...langOf(data, 1), ...more });

  function partsOf(row) { // what a row of the table and the sheet of one sentence have in common
    const text = inTarget("div", { class: "anx-text" }), note = div("note");
    const old = div("old", make("b", {}, "at β = 0: "), inTarget("span"));
    const id = span("note", whole(row.domain ? `#${row.id} · ${row.domain}` : `#${row.id}`));
    const source = make("span", { dir: "auto", ...langOf(data, 0) }, row.src), reference = inTarget("div");
    reference.textContent = row.ref;
    return { row, text, old, note, id, source, reference, gloss: row.gloss ? [glossed(row.gloss)] : [], k: -1 };
  }

  function newRow(row) {
    const one = partsOf(row);
    const cell = make("td", { class: "anx-chosen", "data-label": "Chosen" }, one.old, one.text, one.note);
    const source = make("td", { "data-label": "Source" }, one.source, " ", one.id, ...one.gloss);
    const reference = make("td", { "data-label": "Reference" }, one.reference);
    ui.body.append(make("tr", { "data-segment": row.id }, source, reference, cell));
    return { ...one, cell };
  }

  function newSheet(row) { // one sentence in large letters, beside its plane
    const one = partsOf(row), head = div("head"), meaning = div("meaning");
    const cell = div("chosen", head, one.old, one.text, meaning, one.note);
    cell.dataset.segment = row.id;
    texts.replaceChildren(div("part", div("head", "Source ", one.id), one.source, ...one.gloss), cell,
      ...(row.ref ? [div("part", div("head", "Reference"), one.reference)] : []));
    const axes = [`↑ accuracy (${judge.labels[0]})`, `naturalness (${judge.labels[1]}) →`];
    const see = (i) => ui.readout.replaceChildren(make("span", { dir: "auto", ...langOf(data, 1) }, row.dots[i]));
    const far = plane.lay(row, axes, judge.labels, row.dots ? { see, texts: row.dots } : {});
    return { ...one, cell, head, meaning, far };
  }

  function glossed(text) { // where one is opened, all are, on every page: who needs one needs them all
    const box = glossOf(text);
    box.open = open;
    box.addEventListener("toggle", () => main.querySelectorAll("details").forEach((one) => { one.open = open = box.open; }));
    return box;
  }

  function laySentence() { // the one that was asked for, or the first that is there
    const found = order.findIndex((row) => row.id === model.get("sentence")), at = Math.max(0, found);
    shown = order.slice(at, at + 1).map(newSheet);
    ui.sentence.replaceChildren(...order.map((row) => make("option", { value: row.id }, `#${row.id}  ${row.src}`)));
    if (order.length) ui.sentence.value = order[at].id;
    off(ui.earlier, at === 0);
    off(ui.later, at >= order.length - 1);
  }

  function layRows() {
    pages = data.show ? Math.max(1, Math.ceil(order.length / data.show)) : 1;
    const page = clamp(Math.round(model.get("page")) || 1, 1, pages);
    const from = (page - 1) * data.show;
    ui.body.textContent = "";
    shown = order.slice(from, from + data.show).map(newRow);
    ui.where.textContent = order.length ? `${from + 1}–${from + shown.length} of ${order.length}` : "no rows";
    ui.pages.hidden = pages === 1;
    off(ui.back, page === 1);
    off(ui.forth, page === pages);
  }

  function layPage() {
    const one = alone();
    root.classList.toggle("anx-sheet", one);
    for (const button of ui.views) button.setAttribute("aria-pressed", button.value === (one ? "one" : "table"));
    ui.picker.hidden = texts.hidden = !one;
    grid.hidden = one;
    ui.domainBox.hidden = one || domains.length < 2;
    ui.rows.hidden = one || !data.show;
    ui.pages.hidden = one;
    if (one) laySentence();
    else layRows();
    ui.chart.replaceChildren(one && shown.length ? plane.svg : charts.get(choice));
    ranks = steps(data.show ? shown.flatMap(({ row }) => row.beta.slice(1)) : choice.beta.slice(1), 0.1);
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
    point = charts.get(choice).querySelector(".bxpoint_marks path");
    rows = choice === judge.choices[0] ? all : all.filter((row) => row.domain === choice.name);
    layOrder();
  }

  // ---- where the hand goes
  for (const button of ui.views) button.addEventListener("click", () => put(model, "view", button.value));
  backAndForth(ui.earlier, ui.later, (by) => {
    const next = order[order.findIndex((row) => row === shown[0]?.row) + by];
    if (next) put(model, "sentence", next.id);
  });
  ui.sentence.addEventListener("change", () => put(model, "sentence", +ui.sentence.value));
  backAndForth(ui.back, ui.forth, (by) => put(model, "page", clamp((Math.round(model.get("page")) || 1) + by, 1, pages)));
  ui.domain.addEventListener("change", () => { model.set("page", 1); put(model, "domain", ui.domain.value); });
  ui.order.addEventListener("change", () => { model.set("page", 1); put(model, "order", ui.order.value); });
  keepKeys(root);

  ui.accuracy.addEventListener("change", () => putJudge(ui.accuracy.value));
  ui.naturalness.addEventListener("change", () => putJudge(judge.judges[0], ui.naturalness.value));

  for (const [i, one] of data.judged.entries())
    if (pairs.findIndex((pair) => pair[0] === one.judges[0]) === i)
      ui.accuracy.append(make("option", { value: one.judges[0] }, one.labels[0]));
  for (const one of domains) ui.domain.append(make("option", { value: one.name }, `${one.name} (${one.count})`));
  ui.judges.hidden = pairs.length < 2;
  ui.view.hidden = !data.show;
  const onDomain = () => { layDomain(); sayMoved(); };
  const end = follow(model, [["change:beta", onBeta], ["change:page", layPage], ["change:view", layPage],
    ["change:sentence", layPage], ["change:order", layOrder],
    ["change:domain", onDomain], ["change:accuracy", layJudge], ["change:naturalness", layJudge]]);
  layJudge();
  return end;
}
