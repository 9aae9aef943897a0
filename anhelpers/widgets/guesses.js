// A guess that the page remembers, and the guess beside what was computed. Both keep guesses in the browser, under the
// page's name, and tell each other by an event of the document: without a kernel, and with one in the same way.

const CHANGED = "anx-guesses"; // the event
const MOST = 40; // signs of a number that somebody types

// ---- what the browser keeps: page -> {name: {guess, compared}}
const pageOf = (data) => data.page || document.title.replace(/ - (JupyterLab|Jupyter.*)$/, "").replace(/\.ipynb$/, "");
const without = (window.anxGuesses ??= {}); // where a browser keeps nothing: guesses as long as the page is open

function kept(page) {
  try { return JSON.parse(localStorage.getItem(CHANGED + ":" + page)) || {}; } catch { return without[page] || {}; }
}

function keep(page, name, entry) { // {guess, compared}; null forgets it
  const all = kept(page);
  if (entry) all[name] = entry;
  else delete all[name];
  without[page] = all;
  try { localStorage.setItem(CHANGED + ":" + page, JSON.stringify(all)); } catch { /* a browser that keeps nothing */ }
  document.dispatchEvent(new CustomEvent(CHANGED, { detail: { page, name } }));
}

function entryOf(model) { // what is known of a widget's guess, and how to change it
  const data = model.get("data"), page = pageOf(data);
  const fits = (guess) => !data.choices || (data.choices.length ? data.choices.includes(guess) : typeof guess === "number");
  const read = () => { // not what an older version of the question was answered with
    const { guess, compared } = kept(page)[data.name] || {};
    return { guess: guess === undefined || !fits(guess) ? null : guess, compared: !!compared };
  };
  const write = (change) => keep(page, data.name, { ...read(), ...change });
  return { data, page, read, write, forget: () => keep(page, data.name, null) };
}

function csvOf(page) { // every guess of the page
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = Object.entries(kept(page)).filter(([, { guess }]) => guess !== null);
  return ["page,name,guess", ...rows.map(([name, { guess }]) => [page, name, String(guess)].map((text) => quoted(guarded(text))).join(","))].join("\n") + "\n";
}

const saveAll = (page) => download(`guesses_${page.replace(/[^\p{L}\p{M}\p{N}_-]+/gu, "_")}.csv`, csvOf(page));
const withUnit = (text, unit) => (unit ? `${text} ${/^\u2212?1$/.test(text) ? unit.replace(/^(\w+)s\b/, "$1") : unit}` : text);
const guessText = (guess, unit) => (typeof guess === "number" ? withUnit(String(guess).replace("-", "\u2212"), unit) : guess);

function quiet(text, label) {
  const made = button(text, label);
  made.classList.add("anx-quiet");
  return made;
}

function live(model, entry, paint) { // the browser, the other widget and Python: whoever changes it, all show it
  const name = entry.data.name, stored = entry.read().guess;
  if (stored === null && model.get("value") !== null) entry.write({ guess: model.get("value") });
  const hear = (event) => { if (event.detail.page === entry.page && event.detail.name === name) take(); };
  const take = () => { if (model.get("value") !== entry.read().guess) put(model, "value", entry.read().guess); paint(); };
  const told = () => { if (model.get("value") !== entry.read().guess) entry.write({ guess: model.get("value") }); };
  document.addEventListener(CHANGED, hear);
  const end = follow(model, [["change:value", told]]);
  take();
  return () => { document.removeEventListener(CHANGED, hear); end(); };
}

// ---- the input
function inputOf(data, id) { // {element, show(guess, closed), read() -> a guess, null, or undefined where it is no number}
  if (!data.choices.length) {
    const field = make("input", { type: "text", inputmode: "decimal", maxlength: MOST, autocomplete: "off", "aria-labelledby": id, ...QUIET });
    const done = button("Guess", "Remember this guess");
    const read = () => {
      const text = field.value.trim().replace("\u2212", "-").replace(/^([^.,]*),([^,]*)$/, "$1.$2");
      return text === "" ? null : isFinite(text) ? +text : undefined;
    };
    const show = (guess, closed) => {
      if (guess !== null || document.activeElement !== field) field.value = guess === null ? "" : String(guess).replace("-", "\u2212");
      field.disabled = closed;
      done.hidden = closed;
    };
    return { element: div("options", field, ...(data.unit ? [data.unit] : []), done), show, read };
  }
  const radios = data.choices.map((value) => make("input", { type: "radio", name: id + "-choice", value, ...QUIET }));
  const element = make("div", { class: "anx-options", role: "radiogroup", "aria-labelledby": id },
    ...radios.map((radio) => make("label", {}, radio, make("span", { dir: "auto" }, radio.value))));
  const read = () => radios.find((radio) => radio.checked)?.value ?? null;
  const show = (guess, closed) => radios.forEach((radio) => { radio.checked = radio.value === guess; radio.disabled = closed; });
  return { element, show, read };
}

function renderGuess(model, el) {
  const entry = entryOf(model), { data } = entry, id = newId(), input = inputOf(data, id);
  const status = make("span", { class: "anx-note", role: "status" });
  const save = quiet("Save my guesses", "Save all guesses of this page as a file"), forget = quiet("Forget it", "Forget this guess");
  const root = make("div", { class: "anx anx-gs", role: "group", "aria-labelledby": id },
    make("div", { class: "anx-question", id, dir: "auto" }, data.question), input.element, div("after", status, save, forget));
  el.append(root);

  function paint() {
    const { guess, compared } = entry.read(), none = guess === null;
    input.show(guess, compared && !none);
    status.textContent = none ? "Your guess stays in this browser." : `${compared ? "Compared, so it stays" : "Remembered"}: ${guessText(guess, data.unit)}.`;
    save.hidden = forget.hidden = none;
    root.dataset.guess = none ? "" : guess;
  }

  input.element.addEventListener("change", () => {
    const guess = input.read();
    if (guess === undefined) status.textContent = "Write a number, such as 2.5.";
    else entry.write({ guess });
  });
  save.addEventListener("click", () => saveAll(entry.page));
  forget.addEventListener("click", entry.forget);
  keepKeys(root);
  return live(model, entry, paint);
}

// ---- the guess and the answers
function countsOf(one, guess) { // everybody's answers as bars
  const most = Math.max(...one.counts.map(([, n]) => n)), total = one.counts.reduce((sum, [, n]) => sum + n, 0);
  const rows = one.counts.map(([text, n]) => {
    const mine = guess !== null && guessText(guess, "") === text;
    const bar = make("span", { class: "anx-count", style: `--w: ${(100 * n) / most}%` }, String(n));
    return make("tr", mine ? { class: "anx-mine" } : {}, make("th", { scope: "row", dir: "auto" }, text + (mine ? " (you)" : "")), make("td", {}, bar));
  });
  return make("table", {}, make("caption", {}, `${one.who}: ${total} guesses`), make("tbody", {}, ...rows));
}

function renderGuessed(model, el) {
  const entry = entryOf(model), { data } = entry;
  const said = div("said"), counts = make("div"), answers = div("answers", said, counts);
  const compare = button("Compare", "Compare with what was computed, without a guess");
  const waiting = div("options", compare, span("note", "Not guessed yet."));
  const save = quiet("Save my guesses", "Save all guesses of this page as a file");
  const root = make("div", { class: "anx anx-gs", role: "group", "aria-label": "guess and answer" }, waiting, answers, div("after", save));
  el.append(root);
  said.dir = "auto";

  function paint() {
    const { guess, compared } = entry.read(), none = guess === null;
    const texts = data.answers.filter(({ text }) => text).map(({ who, text, number }) =>
      `${who}: ${number === null ? text : withUnit(text, data.unit)}`);
    said.textContent = [none ? "You did not guess" : `You guessed ${guessText(guess, data.unit)}`, ...texts].join("; ") + ".";
    counts.replaceChildren(...data.answers.filter((one) => one.counts.length).map((one) => countsOf(one, guess)));
    answers.hidden = none && !compared;
    waiting.hidden = !answers.hidden;
    save.hidden = none;
    root.dataset.guess = none ? "" : guess;
    if (!none && !compared) seen.observe(said);
  }

  function close() { // from now on the guess stays
    seen.disconnect();
    if (!entry.read().compared) entry.write({ compared: true });
  }

  const seen = new IntersectionObserver((entries) => { if (entries.some((one) => one.isIntersecting)) close(); }, { threshold: 1 });
  compare.addEventListener("click", () => { close(); answers.tabIndex = -1; answers.focus(); });
  keepKeys(root);
  const end = live(model, entry, paint);
  return () => { seen.disconnect(); end(); };
}

function render({ model, el }) {
  return (model.get("data").answers ? renderGuessed : renderGuess)(model, el);
}
