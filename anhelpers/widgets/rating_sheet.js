// The rating sheet: candidates in blind order, two ratings each, by keyboard or mouse; saved by the kernel or by the page.
// Nothing is kept in the browser. classroom/files.py writes the very same file.

const PATIENCE = 4000; // milliseconds that a kernel may take to save

const capital = (word) => word[0].toUpperCase() + word.slice(1);

function rowsOf(data) { // one per rating: which segment, candidate and criterion, and where it stands on the page
  return data.segments.flatMap((segment, page) => segment.candidates.flatMap((candidate, line) =>
    data.criteria.map(([criterion], column) => ({ segment: segment.id, candidate, criterion, page, line, column }))));
}

function csvOf(data, rows, rater, ratings, seconds) {
  const lines = rows.map((row, k) => [rater, data.sheet, row.segment, row.candidate, row.criterion, ratings[k] ?? "",
    seconds[k] === null ? "" : seconds[k].toFixed(1), data.version].join(","));
  return [data.columns.join(","), ...lines].join("\n") + "\n";
}

function readBack(text, data, rows) { // {rater, ratings, seconds} of a file that was saved, or {problem}
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/).filter((line) => line.trim() && !/^sep=/i.test(line));
  const split = (line) => line.split(/[,;\t]/).map((cell) => cell.replace(/^"(.*)"$/, "$1").trim());
  const at = Object.fromEntries(split(lines[0] || "").map((name, i) => [name.toLowerCase(), i]));
  if (data.columns.slice(0, 6).some((name) => !(name in at))) return { problem: "This is no file of ratings." };
  const cells = lines.slice(1).map(split), raters = [...new Set(cells.map((row) => row[at.rater]))];
  if (cells.some((row) => row[at.sheet] !== data.sheet)) return { problem: "These ratings are of another sheet." };
  if (raters.length !== 1) return { problem: "This file has not the ratings of one rater." };
  const key = (segment, candidate, criterion) => `${segment} ${candidate} ${criterion}`;
  const found = new Map(cells.map((row) => [key(row[at.segment], row[at.candidate], row[at.criterion]), row]));
  const of = (name) => rows.map((row) => {
    const cell = found.get(key(row.segment, row.candidate, row.criterion))?.[at[name]];
    return cell && isFinite(cell) ? +cell : null;
  });
  const ratings = of("rating");
  if (ratings.some((r) => r !== null && !data.points.includes(r))) return { problem: "A rating is not 1 to 5." };
  return { rater: raters[0], ratings, seconds: of("seconds") };
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

function sectionOf(data, segment, page, first, id) { // one segment: source, reference, and a row per candidate
  const source = make("p", { class: "anx-source", dir: "auto", ...langOf(data, 0) }, segment.src);
  const section = make("section", { "aria-label": `Sentence ${page + 1} of ${data.segments.length}` },
    div("note", `Source, sentence ${page + 1}`), source);
  if (segment.gloss) section.append(glossOf(segment.gloss));
  if (segment.ref) {
    const ref = make("p", { dir: "auto", ...langOf(data, 1) }, segment.ref);
    const show = make("button", { type: "button", "aria-expanded": "false", ...QUIET }, "show a reference");
    ref.hidden = true;
    show.addEventListener("click", () => {
      ref.hidden = !ref.hidden;
      show.setAttribute("aria-expanded", !ref.hidden);
      show.textContent = ref.hidden ? "show a reference" : "hide the reference";
    });
    section.append(div("ref", show, ref));
  }
  const head = ["", "Translation", ...data.criteria.map(([name]) => capital(name))];
  const body = make("tbody", {}, ...segment.texts.map((text, line) => {
    const letter = String.fromCharCode(65 + line);
    const cells = data.criteria.map(([name], column) => make("td", { class: "anx-cell", "data-label": capital(name) },
      cellOf(data, first + line * data.criteria.length + column, `${capital(name)} of ${letter}`, id)));
    return make("tr", {}, make("th", { scope: "row" }, letter), make("td", { dir: "auto", ...langOf(data, 1) }, text), ...cells);
  }));
  const cols = make("colgroup", {}, make("col", { class: "anx-letter" }), make("col"), ...data.criteria.map(() => make("col", { class: "anx-five" })));
  section.append(make("table", {}, cols, make("thead", {}, heads(...head)), body));
  return section;
}

function controls(data, id) {
  const ui = {
    before: button("◀ previous", "Previous sentence (P)"),
    after: button("next ▶", "Next sentence (N)"),
    where: span("where"),
    count: make("progress", { max: 1, value: 0, "aria-label": "ratings given" }),
    value: make("output", { class: "anx-value", "aria-live": "off" }),
    name: make("input", { type: "text", id: id + "-name", maxlength: 40, autocomplete: "off", spellcheck: "false", ...QUIET }),
    save: make("button", { type: "button", class: "anx-save", ...QUIET }, "Save"),
    open: make("input", { type: "file", id: id + "-open", accept: ".csv,text/csv", ...QUIET }),
    status: make("div", { class: "anx-status", role: "status" }),
  };
  ui.openBox = span("pair anx-open", make("label", { for: ui.open.id }, "go on with a saved file:"), ui.open);
  ui.how = div("how", make("p", {}, data.how),
    ...data.criteria.map(([name, low, high]) => make("p", {}, make("b", {}, capital(name) + ":"), ` 1 = ${low}; 5 = ${high}.`)));
  ui.bar = div("bar anx-tools", span("pair", ui.before, ui.where, ui.after),
    span("pair", ui.count, ui.value));
  ui.foot = make("div", { class: "anx-foot" },
    div("pair", make("label", { for: ui.name.id }, "pseudonym"), ui.name, ui.save),
    span("note", "No real name is needed. Take one that nobody else has, and remember it."), ui.openBox);
  ui.paper = div("paper", `sheet ${data.sheet}`);
  return ui;
}

function render({ model, el }) {
  const data = model.get("data"), rows = rowsOf(data), id = newId(), ui = controls(data, id);
  const each = rows.length / data.segments.length; // ratings of one segment
  const sections = data.segments.map((segment, page) => sectionOf(data, segment, page, rows.findIndex((row) => row.page === page), id));
  const main = div("sheet", ui.bar, ...sections);
  const root = rootOf(data, "rs", "rating sheet", ui.how, main, ui.foot, ui.status, ui.paper);
  el.append(root);
  const radios = rows.map((_, k) => [...root.querySelectorAll(`input[data-row="${k}"]`)]);
  const place = () => clamp(model.get("place"), 0, sections.length - 1);
  const named = new RegExp(data.name.pattern, "u");
  const kernel = () => model.get("file") !== "";
  let since = performance.now(), unsaved = false;

  // ---- what the traits say
  function paint() {
    const ratings = model.get("ratings"), rated = ratings.filter((r) => r !== null).length, page = place();
    radios.forEach((group, k) => {
      group.forEach((radio) => { radio.checked = +radio.value === ratings[k]; });
      group[0].closest("td").classList.toggle("anx-done", ratings[k] !== null);
    });
    sections.forEach((section, k) => { section.hidden = k !== page; });
    const left = ratings.slice(page * each, (page + 1) * each).filter((r) => r === null).length;
    ui.where.textContent = `sentence ${page + 1} of ${sections.length}${left ? "" : " ✓"}`;
    ui.value.textContent = `${rated} of ${rows.length}`;
    ui.count.value = rated / rows.length;
    off(ui.before, page === 0);
    off(ui.after, page === sections.length - 1);
    if (document.activeElement !== ui.name) ui.name.value = model.get("rater");
    ui.openBox.hidden = kernel();
    root.dataset.rated = rated;
  }

  const say = (text, wrong) => { ui.status.textContent = text; ui.status.classList.toggle("anx-wrong", Boolean(wrong)); };

  // ---- ratings
  function rate(k, rating) {
    const now = performance.now(), ratings = model.get("ratings").slice(), seconds = model.get("seconds").slice();
    ratings[k] = rating;
    seconds[k] = rating === null ? null : Math.round((now - since) / 100) / 10;
    since = now;
    unsaved = true;
    model.set("seconds", seconds);
    put(model, "ratings", ratings);
    say("");
  }

  function focusOn(k) { // the radio button that is on, else the first: where Tab would go
    const group = radios[k];
    (group.find((radio) => radio.checked) || group[0]).focus();
  }

  function goOn(k) { // after a rating: the next cell, at the end of a sentence what leads on
    if (k + 1 < rows.length && rows[k + 1].page === rows[k].page) focusOn(k + 1);
    else if (k + 1 < rows.length) ui.after.focus();
    else if (named.test(ui.name.value.trim())) ui.save.focus();
    else ui.name.focus();
  }

  function turn(by) {
    const page = place() + by;
    if (page < 0 || page >= sections.length) return;
    put(model, "place", page);
    focusOn(page * each);
  }

  const here = () => { const k = root.querySelector("input[data-row]:focus")?.dataset.row; return k === undefined ? null : +k; };

  function move(lines, columns) {
    const k = here();
    if (k === null) return;
    const { line, column } = rows[k], n = data.criteria.length;
    const to = [clamp(line + lines, 0, each / n - 1), clamp(column + columns, 0, n - 1)];
    focusOn(place() * each + to[0] * n + to[1]);
  }

  // ---- files
  function saveHere(rater, why) {
    const file = `ratings_${data.sheet}_${rater.replace(/[^\p{L}\p{M}\p{N}_-]+/gu, "_")}.csv`;
    download(file, csvOf(data, rows, rater, model.get("ratings"), model.get("seconds")));
    unsaved = false;
    say(`${why}Saved ${root.dataset.rated} of ${rows.length} ratings as a download: ${file}. Hand that file in.`);
  }

  function save() {
    const rater = ui.name.value.trim();
    ui.name.setAttribute("aria-invalid", !named.test(rater));
    if (!named.test(rater)) {
      say(rater ? data.name.bad : data.name.none, true);
      ui.name.focus();
      return;
    }
    model.set("rater", rater);
    if (!kernel()) {
      model.save_changes();
      saveHere(rater, "");
      return;
    }
    const asked = model.get("asked") + 1;
    say("Saving …");
    put(model, "asked", asked);
    setTimeout(() => {
      if ((model.get("answer")[0] || 0) < asked) saveHere(rater, "The kernel is busy or gone. ");
    }, PATIENCE);
  }

  function answered() {
    const [asked, text] = model.get("answer");
    if (asked !== model.get("asked")) return;
    const fine = text.startsWith("Saved");
    if (fine) unsaved = false;
    say(text, !fine);
  }

  async function goOnWith(file) {
    const found = readBack(await file.text(), data, rows);
    ui.open.value = "";
    if (found.problem) { say(`${file.name}: ${found.problem}`, true); return; }
    for (const key of ["rater", "seconds"]) model.set(key, found[key]);
    put(model, "ratings", found.ratings);
    unsaved = false;
    paint();
    say(`Read ${file.name}: ${root.dataset.rated} of ${rows.length} ratings.`);
  }

  // ---- where the hand goes
  const KEYS = { Backspace: null, Delete: null };
  for (const point of data.points) KEYS[point] = point;
  onKeys(main, KEYS, (rating) => { const k = here(); if (k !== null) { rate(k, rating); if (rating !== null) goOn(k); } });
  onKeys(main, { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }, (by) => move(...by));
  onKeys(main, { n: 1, N: 1, PageDown: 1, p: -1, P: -1, PageUp: -1 }, turn);
  main.addEventListener("change", (event) => { if (event.target.dataset.row) rate(+event.target.dataset.row, +event.target.value); });
  ui.before.addEventListener("click", () => turn(-1));
  ui.after.addEventListener("click", () => turn(1));
  ui.name.addEventListener("input", () => put(model, "rater", ui.name.value.trim()));
  ui.name.addEventListener("keydown", (event) => { if (event.key === "Enter") save(); });
  ui.save.addEventListener("click", save);
  ui.open.addEventListener("change", () => { if (ui.open.files.length) goOnWith(ui.open.files[0]); });
  keepKeys(root);
  const guard = (event) => { if (unsaved && !kernel() && root.isConnected) event.preventDefault(); };
  window.addEventListener("beforeunload", guard);

  const painted = ["ratings", "place", "rater", "file"].map((key) => [`change:${key}`, paint]);
  const end = follow(model, [...painted, ["change:answer", answered]]);
  paint();
  return () => { end(); window.removeEventListener("beforeunload", guard); };
}
