// The correction explorer: a slider over α, p-values against three thresholds, and what each rule calls significant.
// Python sends every p-value once, with Holm's adjusted one; here they are only compared with α and α/m.

const PAGE = 10; // PageUp moves α by ten steps
const MOVED = ["bxholm", "bxholmlabel", "bxalpha", "bxalphalabel", "bxbonferroni", "bxbonferronilabel"];
const THRESHOLDS = { // how each rule is printed, with its threshold
  uncorrected: (alpha) => `p < ${short(alpha)}`,
  Holm: () => "p left of its step, and all above it too",
  Bonferroni: (alpha, m) => `p < ${short(alpha)}/${m} = ${+(alpha / m).toPrecision(2)}`,
};

const short = (alpha) => String(+alpha.toPrecision(4));
const levelOf = (p, adjusted, alpha, m) => (p < alpha / m ? 0 : adjusted < alpha ? 1 : p < alpha ? 2 : 3);
const levelsAt = (data, alpha) =>
  data.methods.map((method) => method.p.map((p, k) => levelOf(p, method.p_holm[k], alpha, method.m)));

function stepsOf([least, most]) { // the slider's positions: whole numbers of steps of size `least`
  const each = Math.round(1 / least), last = Math.round(most * each);
  return { last, alphaAt: (k) => clamp(k, 1, last) / each, positionOf: (alpha) => alpha * each };
}

// ---- what is on the page
function controls(last) {
  const id = newId();
  return {
    ...slideBar(id, "α (false alarms allowed)", { min: 1, max: last },
      ["◀ change", "Previous change: the next smaller α with other decisions"],
      ["change ▶", "Next change: the next larger α with other decisions"]),
    readout: div("readout"),
    expected: div("expected"),
    chart: div("chart"),
  };
}

function table(data) { // {element, cells: rule -> a cell per method, notes: rule -> its note}
  const cells = {}, notes = {};
  const rows = Object.keys(data.rules).map((rule) => {
    cells[rule] = data.methods.map(() => make("td"));
    notes[rule] = div("note");
    return make("tr", {}, make("th", { scope: "row" }, rule, notes[rule]), ...cells[rule]);
  });
  const head = heads("significant", ...data.methods.map((method) => method.name));
  return { element: tableOf(make("caption", {}, data.note), head, rows), cells, notes };
}

function render({ model, el }) {
  const data = model.get("data"), steps = stepsOf(data.ends), ui = controls(steps.last), grid = table(data);
  const main = div("main", div("left", ui.chart), div("table", grid.element));
  const root = rootOf(data, "co", "correction explorer", ui.bar, ui.readout, ui.expected, main);
  el.append(root);
  ui.chart.append(parsed(data));
  const legend = [...ui.chart.querySelectorAll(".role-legend-symbol path")]; // how each level looks
  const [low, high, width] = data.span; // of p, as powers of ten, and in pixels
  const alpha = () => model.get("alpha");
  const together = (found) => found.flat().join("");

  // ---- what an α changes: the thresholds, the marks and the words
  function paint() {
    const a = alpha(), found = levelsAt(data, a), total = found.flat().length;
    const upTo = (level) => found.flat().filter((k) => k <= level).length;
    const by = ((Math.log10(a) - Math.log10(data.start)) / (high - low)) * width;
    data.methods.forEach((method, i) => {
      for (const name of MOVED) ui.chart.querySelector(`.${name}${i}_marks`).setAttribute("transform", `translate(${by},0)`);
      [...ui.chart.querySelectorAll(`.bxp${i}_marks path`)].forEach((mark, k) => {
        for (const name of ["d", "fill"]) mark.setAttribute(name, legend[found[i][k]].getAttribute(name));
      });
      for (const [rule, level] of Object.entries(data.rules)) {
        const names = method.features.filter((_, k) => found[i][k] <= level);
        const text = `${names.length} of ${method.m}${names.length ? ": " + names.join(", ") : ""}`;
        if (grid.cells[rule][i].textContent !== text) grid.cells[rule][i].textContent = text;
      }
    });
    for (const rule of Object.keys(data.rules))
      grid.notes[rule].textContent = [...new Set(data.methods.map((method) => THRESHOLDS[rule](a, method.m)))].join(", ");
    const said = `${upTo(2)} of ${total} p-values are below ${short(a)}: Bonferroni leaves ${upTo(0)}, Holm ${upTo(1)}`;
    const counts = data.methods.map((method) => `${+(method.m * a).toPrecision(3)} for ${method.name}`).join(", ");
    ui.value.textContent = `α = ${short(a)}`;
    ui.readout.textContent = said;
    ui.expected.textContent = `False alarms expected without a correction if nothing is related: ${counts}. ` +
      `With Bonferroni or Holm, even one is made with probability at most ${short(a)} per method.`;
    ui.slider.value = Math.round(steps.positionOf(a));
    ui.slider.setAttribute("aria-valuetext", `α = ${short(a)} · ${said}`);
    root.dataset.alpha = a;
    off(ui.before, change(-1) === null);
    off(ui.after, change(1) === null);
  }

  // ---- where the hand goes
  function change(direction) { // the nearest position at which some decision is another one
    const now = together(levelsAt(data, alpha()));
    for (let k = stepped(steps.positionOf(alpha()), direction, 1, steps.last); k >= 1 && k <= steps.last; k += direction)
      if (together(levelsAt(data, steps.alphaAt(k))) !== now) return k;
    return null;
  }

  const goTo = (position) => put(model, "alpha", steps.alphaAt(position));
  const jump = (direction) => { const k = change(direction); if (k !== null) goTo(k); };
  onKeys(ui.slider, sliderKeys(PAGE, steps.last), (by) => goTo(stepped(steps.positionOf(alpha()), by, 1, steps.last)));
  ui.slider.addEventListener("input", () => goTo(+ui.slider.value));
  ui.before.addEventListener("click", () => jump(-1));
  ui.after.addEventListener("click", () => jump(1));
  keepKeys(root);

  const end = follow(model, [["change:alpha", paint]]);
  paint();
  return end;
}
