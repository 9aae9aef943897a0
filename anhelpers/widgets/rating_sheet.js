// The rating sheet: texts alone for fluency, then with their sources for accuracy, by keyboard or mouse. The page saves the
// file that classroom/ratings.py reads; until then the browser keeps the ratings.

const ANEW = "start over", REALLY = "really delete these ratings?";
const NAME = /^[^=+\-@'\s",;./\\][^",;/\\]{0,39}$/u; // a pseudonym that a CSV cell and a file name can hold

const capital = (word) => word[0].toUpperCase() + word.slice(1);

function rowsOf(data) { // one per rating, in the order of the file
  return data.segments.flatMap((segment, s) => segment.candidates.flatMap((candidate, at) =>
    data.criteria.map(([criterion]) => ({ segment: segment.id, candidate, criterion, s, at }))));
}

function pagesOf(data, rows) { // what is shown at a time; each row learns its page, its line there, and its turn
  const rest = data.criteria.map(([name]) => name).find((name) => name !== data.blind);
  const find = (s, at, criterion) => rows.findIndex((row) => row.s === s && row.at === at && row.criterion === criterion);
  const alone = data.alone.map((texts) => ({ criterion: data.blind, rows: texts.map(([s, at]) => find(s, at, data.blind)) }));
  const sourced = data.segments.map((segment, s) => ({ criterion: rest, segment, rows: segment.texts.map((_, at) => find(s, at, rest)) }));
  const pages = [...alone, ...sourced];
  let turn = 0;
  pages.forEach((page, p) => page.rows.forEach((k, line) => Object.assign(rows[k], { page: p, line, turn: ++turn })));
  return pages;
}

function csvOf(data, rows, rater, ratings, seconds) {
  const lines = rows.map((row, k) => [rater, data.sheet, row.segment, row.candidate, row.criterion, ratings[k] ?? "",
    seconds[k] === null ? "" : seconds[k].toFixed(1), data.version, row.turn].join(","));
  return [data.columns.join(","), ...lines].join("\n") + "\n";
}

// ---- what is on the page
function cellOf(data, k, label, id) { // five radio buttons, one stop of the Tab key
  const group = make("div", { class: "anx-rate", role: "radiogroup", "aria-label": label });
  for (const point of data.points) {
    const radio = make("input", { type: "radio", name: `${id}-${k}`, value: point, "data-row": k, "aria-label": point, ...QUIET });
    group.append(make("label", {}, radio, make("span", { "aria-hidden": "true" }, point)));
  }
  return group;
}

function sectionOf(data, page, rows, said, id) { // texts alone, or a source, its reference and its translations
  const section = make("section", { "aria-label": said }, div("note", said));
  if (page.segment) section.append(make("p", { class: "anx-source", dir: "auto", ...langOf(data, 0) }, page.segment.src));
  if (page.segment?.gloss) section.append(glossOf(page.segment.gloss));
  const body = make("tbody", {}, ...page.rows.map((k, line) => {
    const letter = page.segment ? String.fromCharCode(65 + line) : String(rows[k].turn), text = data.segments[rows[k].s].texts[rows[k].at];
    const label = `${capital(page.criterion)} of ${page.segment ? letter : "text " + letter}`;
    const cell = make("td", { class: "anx-cell", "data-label": capital(page.criterion) }, cellOf(data, k, label, id));
    return make("tr", {}, make("th", { scope: "row" }, letter), make("td", { dir: "auto", ...langOf(data, 1) }, text), cell);
  }));
  const cols = make("colgroup", {}, make("col", { class: "anx-letter" }), make("col"), make("col", { class: "anx-five" }));
  section.append(make("table", {}, cols, make("thead", {}, heads("", "Translation", capital(page.criterion))), body));
  return section;
}

function saidOf(data, pages) { // the line above each page
  const n = data.alone.flat().length, first = pages.length - data.segments.length;
  return pages.map((page, p) => {
    if (page.segment) return `Second pass, ${page.criterion}: source ${p - first + 1} of ${data.segments.length}`;
    const from = pages.slice(0, p).reduce((sum, one) => sum + one.rows.length, 1), to = from + page.rows.length - 1;
    return `First pass, ${page.criterion}: ${from === to ? `text ${from}` : `texts ${from} to ${to}`} of ${n}, without their sources`;
  });
}

function controls(data, id) {
  const ui = {
    before: button("◀ previous", "Previous page (P)"),
    after: button("next ▶", "Next page (N)"),
    where: span("where"),
    count: make("progress", { max: 1, value: 0, "aria-label": "ratings given" }),
    value: make("output", { class: "anx-value", "aria-live": "off" }),
    name: make("input", { type: "text", id: id + "-name", maxlength: 40, autocomplete: "off", spellcheck: "false", ...QUIET }),
    save: make("button", { type: "button", class: "anx-save", ...QUIET }, "Save"),
    anew: make("button", { type: "button", class: "anx-anew", ...QUIET }, ANEW),
    status: make("div", { class: "anx-status", role: "status" }),
  };
  ui.how = div("how", make("p", {}, data.how), ...(data.languages ? [make("p", {}, data.languages)] : []),
    ...data.criteria.map(([name, low, high]) =>
      make("p", { "data-of": name }, make("b", {}, capital(name) + ":"), ` 1 = ${low}; 5 = ${high}.`)));
  ui.bar = div("bar anx-tools", span("pair", ui.before, ui.where, ui.after),
    span("pair", ui.anew, ui.count, ui.value));
  ui.foot = make("div", { class: "anx-foot" },
    div("pair", make("label", { for: ui.name.id }, "pseudonym"), ui.name, ui.save),
    span("note", "No real name is needed. Choose one that nobody else has."));
  ui.paper = div("paper", `sheet ${data.sheet}`);
  return ui;
}

function render({ model, el }) {
  const data = model.get("data"), rows = rowsOf(data), pages = pagesOf(data, rows), id = newId(), ui = controls(data, id);
  const said = saidOf(data, pages), first = data.alone.length; // the first page with a source
  const sections = pages.map((page, p) => sectionOf(data, page, rows, said[p], id));
  const main = div("sheet", ui.bar, ...sections);
  const root = rootOf(data, "rs", "rating sheet", ui.how, main, ui.foot, ui.status, ui.paper);
  el.append(root);
  sections[first].classList.add("anx-second");
  const radios = rows.map((_, k) => [...root.querySelectorAll(`input[data-row="${k}"]`)]);
  const shown = () => model.get("sources_shown");
  const place = () => clamp(model.get("place"), shown() ? first : 0, pages.length - 1);
  const blanks = (list) => list.filter((k) => model.get("ratings")[k] === null).length;
  let since = performance.now(), unsaved = false, stored = false, warned = false;

  // ---- what the traits say
  function paint() {
    const ratings = model.get("ratings"), rated = ratings.filter((r) => r !== null).length, page = place();
    if (page >= first && !shown()) model.set("sources_shown", true);
    radios.forEach((group, k) => {
      group.forEach((radio) => {
        radio.checked = +radio.value === ratings[k];
        radio.disabled = shown() && rows[k].page < first;
      });
      group[0].closest("td").classList.toggle("anx-done", ratings[k] !== null);
    });
    sections.forEach((section, k) => { section.hidden = k !== page; });
    for (const line of ui.how.querySelectorAll("[data-of]")) line.hidden = line.dataset.of !== pages[page].criterion;
    const [n, of] = page < first ? [page + 1, first] : [page - first + 1, pages.length - first];
    ui.where.textContent = `${pages[page].criterion} ${n} of ${of}${blanks(pages[page].rows) ? "" : " ✓"}`;
    ui.value.textContent = `${rated} of ${rows.length}`;
    ui.count.value = rated / rows.length;
    off(ui.before, page === 0 || page === first);
    off(ui.after, page === pages.length - 1);
    ui.after.textContent = page === first - 1 ? "on to accuracy ▶" : "next ▶";
    if (document.activeElement !== ui.name) ui.name.value = model.get("rater");
    ui.foot.hidden = data.hand_in === false;
    ui.anew.hidden = !rated;
    root.dataset.rated = rated;
  }

  const say = (text, wrong) => { ui.status.textContent = text; ui.status.classList.toggle("anx-wrong", Boolean(wrong)); };

  // ---- ratings
  function yours() { // all ratings of a sheet without Save, in points from 0 to 100
    const ratings = model.get("ratings"), of = (s) => rows.flatMap((row, k) => (row.s === s ? `${row.criterion} ${25 * (ratings[k] - 1)}` : []));
    if (!ui.foot.hidden || ratings.includes(null)) return "";
    return `Your ratings in points: ${data.segments.map(({ texts }, s) => `“${texts[0].split(" ", 3).join(" ")} …” ${of(s).join(", ")}`).join("; ")}.`;
  }

  function rate(k, rating) {
    if (shown() && rows[k].page < first) return;
    const now = performance.now(), ratings = model.get("ratings").slice(), seconds = model.get("seconds").slice();
    ratings[k] = rating;
    seconds[k] = rating === null ? null : Math.round((now - since) / 100) / 10;
    since = now;
    unsaved = true;
    model.set("seconds", seconds);
    put(model, "ratings", ratings);
    keep();
    say(yours());
  }

  function focusOn(k) { // the radio button that is on, else the first: where Tab would go
    const group = radios[k];
    (group.find((radio) => radio.checked) || group[0]).focus();
  }

  function goOn(k) { // after a rating: the next text, at the end of a page what leads on
    const { page, line } = rows[k];
    if (line + 1 < pages[page].rows.length) focusOn(pages[page].rows[line + 1]);
    else if (page + 1 < pages.length) ui.after.focus();
    else if (ui.foot.hidden) focusOn(k);
    else if (NAME.test(ui.name.value.trim())) ui.save.focus();
    else ui.name.focus();
  }

  function turn(by) {
    const page = place() + by, left = blanks(pages.slice(0, first).flatMap((one) => one.rows));
    if (page < 0 || page >= pages.length) return;
    if (page < first && shown()) { say("You have seen the sources, so the fluency ratings are final."); return; }
    if (page === first && !shown() && left && !warned) {
      warned = true;
      say(`${left} fluency rating${left > 1 ? "s are" : " is"} blank. You cannot add fluency ratings after you see a source. Press again to continue.`);
      return;
    }
    if (page >= first) model.set("sources_shown", true);
    put(model, "place", page);
    keep();
    say(yours());
    focusOn(pages[page].rows[0]);
  }

  const here = () => { const k = root.querySelector("input[data-row]:focus")?.dataset.row; return k === undefined ? null : +k; };

  function move(by) {
    const k = here();
    if (k === null) return;
    const { rows: list } = pages[rows[k].page];
    focusOn(list[clamp(rows[k].line + by, 0, list.length - 1)]);
  }

  // ---- what the browser keeps, for a page that is loaded again
  const KEPT = `anhelpers rating sheet ${data.sheet}`, TRAITS = ["rater", "seconds", "ratings", "sources_shown", "place"];

  function keep() {
    try {
      localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(TRAITS.map((key) => [key, model.get(key)]))));
      stored = true;
    } catch { stored = false; } // without storage the page warns before it is left
  }

  function restore() {
    if (model.get("ratings").some((r) => r !== null)) return;
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(KEPT)); } catch { return; }
    if (kept?.ratings?.length !== rows.length || kept.ratings.every((r) => r === null)) return;
    for (const key of TRAITS) model.set(key, kept[key]);
    model.save_changes();
    stored = true;
    paint();
    say(`This browser saved ${root.dataset.rated} of ${rows.length} ratings${kept.rater ? ` of ${kept.rater}` : ""}: continue, or start over if they are not yours.`);
  }

  function anew() {
    if (ui.anew.textContent === ANEW) { ui.anew.textContent = REALLY; return; }
    ui.anew.textContent = ANEW;
    try { localStorage.removeItem(KEPT); } catch { /* nothing was kept */ }
    for (const key of ["ratings", "seconds"]) model.set(key, rows.map(() => null));
    for (const [key, value] of [["rater", ""], ["sources_shown", false]]) model.set(key, value);
    put(model, "place", 0);
    unsaved = warned = false;
    paint();
    say("");
  }

  function save() {
    const rater = ui.name.value.trim(), fits = NAME.test(rater);
    ui.name.setAttribute("aria-invalid", !fits);
    if (!fits) {
      say(rater ? "A pseudonym has at most 40 characters, none of \" , ; / \\, and starts with a letter or digit." : "Enter a pseudonym before you save.", true);
      ui.name.focus();
      return;
    }
    put(model, "rater", rater);
    const file = `ratings_${data.sheet}_${rater.replace(/[^\p{L}\p{M}\p{N}_-]+/gu, "_")}.csv`;
    download(file, csvOf(data, rows, rater, model.get("ratings"), model.get("seconds")));
    unsaved = false;
    say(`Saved ${root.dataset.rated} of ${rows.length} ratings as a download: ${file}. Hand in this file.`);
  }

  // ---- where the hand goes
  const KEYS = { Backspace: null, Delete: null, ...Object.fromEntries(data.points.map((point) => [point, point])) };
  onKeys(main, KEYS, (rating) => { const k = here(); if (k !== null) { rate(k, rating); if (rating !== null) goOn(k); } });
  onKeys(main, { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 }, move);
  onKeys(main, { n: 1, N: 1, PageDown: 1, p: -1, P: -1, PageUp: -1 }, turn);
  const wakes = new Set([...data.points.map(String), "n", "N", "p", "P"]);
  const wake = (event) => { // on a page of its own the keys need no click first
    if (event.target !== document.body || !wakes.has(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    const { rows: list } = pages[place()], ratings = model.get("ratings");
    focusOn(list.find((k) => ratings[k] === null) ?? list[0]);
    event.preventDefault();
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, bubbles: true }));
  };
  if (document.body.matches(".anx-page:not(.jp-Notebook)")) document.addEventListener("keydown", wake);
  main.addEventListener("change", (event) => { if (event.target.dataset.row) rate(+event.target.dataset.row, +event.target.value); });
  backAndForth(ui.before, ui.after, turn);
  ui.name.addEventListener("input", () => { put(model, "rater", ui.name.value.trim()); keep(); });
  ui.anew.addEventListener("click", anew);
  ui.anew.addEventListener("blur", () => { ui.anew.textContent = ANEW; });
  ui.name.addEventListener("keydown", (event) => { if (event.key === "Enter") save(); });
  ui.save.addEventListener("click", save);
  keepKeys(root);
  const guard = (event) => { if (unsaved && !stored && !ui.foot.hidden && root.isConnected) event.preventDefault(); };
  window.addEventListener("beforeunload", guard);

  const end = follow(model, ["ratings", "place", "rater", "sources_shown"].map((key) => [`change:${key}`, paint]));
  restore();
  paint();
  return () => { end(); window.removeEventListener("beforeunload", guard); document.removeEventListener("keydown", wake); };
}
