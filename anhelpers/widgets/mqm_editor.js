// The MQM editor: weights and categories to change, and the systems on the plane, which move at once. Python sends how
// many errors of each kind every system has per segment; here they are multiplied by the weights and added up.

const TENTHS = 10, PAGE = 10; // a slider moves by a tenth of a point, PageUp by a whole one
const SIDES = ["accuracy", "fluency", "neither"]; // what a category can count for
const MARGIN = 1.1; // room beyond the worst penalty, as in charts/tradeoff.py
const FONT = 16, HIGH = 20, MARK = 9, GAPS = [14, 30, 50]; // pixels of the picture: letters, a label, half a mark, to its label
const PLACES = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]]; // of a label around its mark

const broken = (name) => name.split("/").flatMap((part, k) => (k ? ["/", make("wbr"), part] : [part])); // lines may end at a slash
const root2 = (v) => Math.sign(v) * Math.sqrt(Math.abs(v)); // the axes are of square roots
const rounded = (v) => Math.round(v * 1e9) / 1e9, short = (v) => String(+v.toPrecision(4));
const unbroken = (text) => text.replaceAll(" = ", "\u00a0=\u00a0"); // within a line

// ---- the arithmetic, and what is said of it
function penalties(data, weights, categories) { // per system: penalty, accuracy, fluency
  const cost = data.severities.map((name) => weights[name]);
  const side = data.categories.map((name) => 1 + SIDES.indexOf(categories[name]));
  return data.counts.map((row) => {
    const sums = [0, 0, 0, 0];
    row.forEach((count, p) => {
      const [c, w] = data.pairs[p], points = count * cost[w];
      sums[0] += points;
      sums[side[c]] += points;
    });
    return sums.slice(0, 3);
  });
}

function categoryPoints(data, weights) { // what each category costs per segment, the mean over the systems
  const points = data.categories.map(() => 0);
  data.pairs.forEach(([c, w], p) => {
    const mean = data.counts.reduce((sum, row) => sum + row[p], 0) / data.counts.length;
    points[c] += mean * weights[data.severities[w]];
  });
  return points;
}

function frontierOf(values) { // no other is at least as good on both axes and better on one
  const at = values.map(([, a, f]) => [rounded(a), rounded(f)]);
  return at.map(([a, f]) => !at.some(([b, g]) => b <= a && g <= f && (b < a || g < f)));
}

const pearsonOf = (values) => pearson(...[1, 2].map((k) => values.map((v) => rounded(v[k]))));

function together(start, now) {
  const n = now.length, r = pearsonOf(now), was = number(pearsonOf(start), 2);
  const before = number(r, 2) === was ? "" : `; at the start r = ${was === "NaN" ? "nan" : was}`;
  if (Number.isNaN(r)) return `no correlation, because all ${n} systems are equal on one axis${before}`;
  const half = n > 3 ? 1.959963984540054 / Math.sqrt(n - 3) : NaN;
  const [low, high] = [-half, half].map((d) => Math.tanh(Math.atanh(r) + d));
  const word = low > 0 ? "together" : high < 0 ? "against each other" : "undecided";
  const ends = Number.isNaN(low) ? "" : ` (95\u00a0% ${number(low, 2)} to ${number(high, 2)})`;
  return `${word}, Pearson r = ${number(r, 2)}${ends}, n = ${n} systems${before}`;
}

function toldOf(names, start, now) { // heading -> sentence
  const [before, best] = [start, now].map((values) => { const on = frontierOf(values); return names.filter((_, i) => on[i]).join(", "); });
  return { "over all systems": together(start, now), "on the frontier": best + (best === before ? "" : ` (at the start ${before})`) };
}

function zoomOf(worst, low) { // 1, 2, 5, 10 … times as far must an axis from low to 0 reach
  for (let step = 0; ; step++) {
    const factor = [1, 2, 5][step % 3] * 10 ** Math.floor(step / 3);
    if (worst <= (-low / MARGIN) * factor * (1 + 1e-9)) return factor;
  }
}

// ---- labels beside marks that move: the best placed first, those without room hidden
function placed(at, widths, order, last, { size: [w, h], high, zero }) { // per system {x, y, anchor, far} of its text, or null
  const marks = [...at, zero].map(([x, y]) => [x - MARK, y - MARK, x + MARK, y + MARK]), boxes = [], found = at.map(() => null);
  const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const around = GAPS.flatMap((gap) => PLACES.map(([dx, dy]) => [dx, dy, dx && dy ? 0.7 * gap : gap, gap > GAPS[0]]));
  for (const i of order) {
    for (const k of [last[i], ...around.keys()]) { // where it was, if it may stay
      const [dx, dy, reach, far] = around[k], x = at[i][0] + dx * reach, y = at[i][1] + dy * (reach + 0.3 * high);
      const left = x - (widths[i] * (1 - dx)) / 2, box = [left, y - high / 2, left + widths[i], y + high / 2];
      if (box[0] < -8 || box[2] > w + 8 || box[1] < -8 || box[3] > h + 8) continue;
      if (boxes.some((other) => meet(other, box)) || marks.some((mark, j) => j !== i && meet(mark, box))) continue;
      boxes.push(box);
      last[i] = far ? 0 : k;
      found[i] = { x, y, anchor: dx > 0 ? "start" : dx < 0 ? "end" : "middle", far };
      break;
    }
  }
  return found;
}

// ---- one translation to mark by hand; neighbouring words with one pen are one error
const INKS = { accuracy: "#1f6fb2", fluency: "#d9622b", neither: "#888" };
const PENS = ["accuracy", "fluency"].flatMap((side) => ["Major", "Minor"].map((severity) => ({ side, severity })));
const inkOf = (side, severity) => `5px ${severity === "Minor" ? "dotted" : "solid"} ${INKS[side]}`;
const underline = (element, side, severity) => {
  element.style.borderBottom = side ? inkOf(side, severity) : "2px solid var(--line)";
  element.style.marginBottom = side ? "0" : "3px";
};

function marking({ source, gloss, words, raters }, weights, categories) { // {element, compare, paint}
  const id = newId(), pens = words.map(() => null), mine = make("output", { class: "anx-readout" }), theirs = div("raters");
  let pen = PENS[0];
  const compare = button("Compare with the raters", "Compare with the raters: show their marks");
  const choices = PENS.map((one, k) => {
    const radio = make("input", { type: "radio", name: id, id: id + k, ...QUIET }), name = make("label", { for: id + k }, `${one.side}, ${one.severity.toLowerCase()}`);
    radio.checked = !k;
    radio.addEventListener("change", () => { pen = one; });
    underline(name, one.side, one.severity);
    return span("pair", radio, name);
  });
  const buttons = words.map((word, i) => {
    const one = make("button", { type: "button", ...QUIET }, word);
    one.style.cssText = "border-color:transparent;padding:.1em .2em;font-size:1.25em";
    one.addEventListener("click", () => { pens[i] = pens[i] === pen ? null : pen; paint(); });
    return one;
  });
  const summed = (errors) => ["accuracy", "fluency"].map((side) => errors.reduce((sum, e) => sum + (e.side === side ? e.points : 0), 0));
  const said = (errors) => { const [a, f] = summed(errors); return `accuracy ${short(a)} + fluency ${short(f)} = ${short(a + f)} MQM points`; };

  function paint() {
    const errors = pens.filter((one, i) => one && one !== pens[i - 1]).map((one) => ({ ...one, points: weights()[one.severity] ?? 0 }));
    buttons.forEach((one, i) => { underline(one, pens[i] && pens[i].side, pens[i] && pens[i].severity); one.setAttribute("aria-pressed", !!pens[i]); });
    mine.textContent = `Your errors (${errors.length}): ${said(errors)}`;
    theirs.replaceChildren(...Object.entries(raters).map(([rater, marks]) => {
      const found = marks.map(([category, severity, name, text, from, to]) =>
        ({ side: categories()[category], severity, points: weights()[name], category, text, from, to }));
      const line = words.flatMap((word, i) => {
        const on = found.find((e) => i >= e.from && i < e.to), one = make("span", {}, word);
        if (on) one.style.borderBottom = inkOf(on.side, on.severity);
        return [one, " "];
      });
      const list = found.map((e) => make("li", {}, `“${e.text}”${e.from < 0 ? " (in the source)" : ""}: ${e.category}, ${e.severity.toLowerCase()}, ${short(e.points)}`));
      return div("rater", make("b", {}, `${rater}: ${said(found)}`), make("div", {}, ...line), make("ul", {}, ...list));
    }));
  }

  const note = "Choose a kind of error, then tap its words. Neighbouring words are one error.";
  const element = div("mark", div("note", note), make("p", {}, source), ...(gloss ? [glossOf(gloss)] : []),
    make("div", { role: "group", "aria-label": "words of the translation" }, ...buttons), div("tools", ...choices), mine, div("tools", compare), theirs);
  return { element, compare, theirs, paint };
}

// ---- what is on the page
function controls(data) {
  const id = newId();
  const weights = data.severities.map((name, k) => {
    const own = `${id}-w${k}`, max = Math.round(data.tops[k] * TENTHS);
    const slider = make("input", { type: "range", min: 0, max, step: 1, id: own, ...QUIET });
    const value = make("output", { class: "anx-points", for: own, "aria-live": "off" });
    return { name, max, slider, value, label: make("label", { for: own }, ...broken(name)) };
  });
  const rows = data.categories.map((name, c) => {
    const note = div("note"), points = make("td"), shown = span("printed");
    const side = select({ "aria-label": `${name} counts for`, "aria-describedby": id + "-told" }, SIDES.map((one) => [one, one]));
    const row = make("tr", {}, make("th", { scope: "row" }, ...broken(name), note), make("td", {}, String(data.marks[c])),
      points, make("td", {}, side, shown));
    return { name, note, points, select: side, shown, row };
  });
  const ui = {
    weights, rows,
    reset: button("↺ reset", `Reset to scheme ${data.names[0]} and weights ${data.names[1]}`),
    told: make("div", { class: "anx-told", id: id + "-told" }),
    chart: div("chart"),
    zoom: div("note anx-zoom"),
  };
  const caption = make("caption", {}, "Marks: how many errors the raters marked. Points: their cost per segment, averaged over the systems.");
  ui.table = tableOf(caption, heads("category", "marks", "points", "counts for"), rows.map((one) => one.row));
  ui.box = make("div", { class: "anx-box", tabindex: 0, role: "region", "aria-label": "what each category counts for" }, ui.table);
  ui.costs = make("div", { class: "anx-weights", role: "group", "aria-label": "what an error costs, in MQM points" },
    ...weights.flatMap((one) => [one.label, one.value, one.slider]));
  return ui;
}

function ticksOf(svg, axis) { // a function that writes the numbers of an axis anew, a factor larger
  const group = svg.querySelector(`.role-axis[aria-label^="${axis}"]`);
  const texts = [...group.querySelectorAll(".role-axis-label text")].map((text) => [text, text.textContent]);
  return (factor) => {
    const values = texts.map(([, plain]) => +(+plain.replace("\u2212", "-") * factor).toPrecision(6));
    const digits = Math.max(...values.map((v) => (String(v).split(".")[1] || "").length));
    texts.forEach(([text, plain], i) => { text.textContent = factor === 1 ? plain : number(values[i], digits); });
  };
}

function render({ model, el }) {
  const data = model.get("data"), ui = controls(data), names = data.systems;
  const left = div("left", ui.chart, ui.zoom, ui.told); // no control moves when the words do
  const main = div("main", left, div("right", ui.costs, div("tools", ui.reset), ui.box));
  const weights = () => model.get("weights"), categories = () => model.get("categories");
  const mark = data.example && marking(data.example, weights, categories);
  const root = rootOf(data, "mqm", "MQM editor", ...(mark ? [mark.element] : []), main);
  el.append(root);
  ui.chart.append(parsed(data));
  const svg = ui.chart.querySelector("svg"), [x0, x1, y0, y1, w, h] = data.box;
  const all = (layer, tag) => [...svg.querySelectorAll(`.${layer}_marks ${tag}`)];
  const layers = { system: all("bxsystem", "path"), ring: all("bxring", "path"), start: all("bxstart", "path"),
    trace: all("bxtrace", "line"), leader: all("bxleader", "line"), halo: all("bxhalo", "text"), label: all("bxlabel", "text") };
  const rewrite = [ticksOf(svg, "X-axis"), ticksOf(svg, "Y-axis")];
  const titles = layers.system.map((mark) => { const title = drawing("title"); mark.append(title); return title; });
  const start = penalties(data, data.start.weights, data.start.categories), last = names.map(() => 0);
  const see = (element, is) => element.setAttribute("visibility", is ? "visible" : "hidden");
  const to = (element, [x, y]) => element.setAttribute("transform", `translate(${x},${y})`);
  const draw = (line, from, end) => set(line, { transform: `translate(${from})`, x2: end[0] - from[0], y2: end[1] - from[1] });

  // ---- what a change moves: marks, numbers and words
  function move(now) {
    const worst = (k) => Math.max(...now.map((v) => v[k]), ...start.map((v) => v[k]));
    const zoom = [zoomOf(worst(2), x0), zoomOf(worst(1), y0)];
    const share = (v, low, high) => (root2(v) - root2(low)) / (root2(high) - root2(low));
    const place = ([, a, f]) => [share(-f / zoom[0], x0, x1) * w, h - share(-a / zoom[1], y0, y1) * h];
    const at = now.map(place), from = start.map(place), best = frontierOf(now);
    const moved = now.map((v, i) => [1, 2].some((k) => rounded(v[k]) !== rounded(start[i][k])));
    zoom.forEach((factor, k) => rewrite[k](factor));
    names.forEach((name, i) => {
      for (const layer of [layers.system, layers.ring]) to(layer[i], at[i]);
      to(layers.start[i], from[i]);
      draw(layers.trace[i], from[i], at[i]);
      for (const layer of [layers.start, layers.trace]) see(layer[i], moved[i]);
      see(layers.ring[i], best[i]);
      titles[i].textContent = `${name}: accuracy ${number(now[i][1], 3)}, fluency ${number(now[i][2], 3)}`;
    });
    const first = (i) => (best[i] ? 2 : 0) + (moved[i] ? 1 : 0);
    const order = names.map((_, i) => i).sort((i, j) => first(j) - first(i) || i - j);
    const scale = parseFloat(getComputedStyle(layers.label[0]).fontSize) / FONT || 1, widths = data.widths.map((one) => one * scale);
    placed(at, widths, order, last, { size: [w, h], high: HIGH * scale, zero: place([0, 0, 0]) }).forEach((spot, i) => {
      see(layers.leader[i], spot !== null && spot.far);
      if (spot !== null && spot.far) draw(layers.leader[i], at[i], [spot.x, spot.y]);
      for (const text of [layers.halo[i], layers.label[i]]) {
        see(text, spot !== null);
        if (spot === null) continue;
        to(text, [spot.x, spot.y + 5 * scale]);
        text.setAttribute("text-anchor", spot.anchor);
      }
    });
    const said = zoom.map((factor, k) => (factor === 1 ? "" : `${["fluency", "accuracy"][k]} ×${factor}`)).filter(Boolean);
    ui.zoom.textContent = said.length ? `The axes now extend farther: ${said.join(" and ")}.` : "";
    root.dataset.zoom = zoom.join(" ");
    svg.setAttribute("aria-label", "penalties on accuracy and fluency: " + now.map((v, i) => {
      const was = moved[i] ? `; at the start ${short(start[i][1])}, ${short(start[i][2])}` : "";
      return `${names[i]} (${short(v[1])}, ${short(v[2])}${was})`;
    }).join(", "));
  }

  function write(words) {
    ui.told.replaceChildren(...Object.entries(words).map(([head, text]) => make("div", {}, make("b", {}, head + ": "), unbroken(text))));
    const points = categoryPoints(data, weights());
    ui.rows.forEach((one, c) => {
      const side = categories()[one.name], was = data.start.categories[one.name];
      one.select.value = side;
      one.shown.textContent = side;
      one.points.textContent = number(points[c], 3);
      one.note.textContent = side === was ? "" : `was ${was}`;
      one.row.classList.toggle("anx-changed", side !== was);
    });
  }

  function paint() {
    const now = penalties(data, weights(), categories()), words = toldOf(names, start, now);
    let same = ui.rows.every((one) => categories()[one.name] === data.start.categories[one.name]);
    for (const one of ui.weights) {
      const value = weights()[one.name], was = data.start.weights[one.name];
      one.slider.value = Math.round(value * TENTHS);
      one.value.textContent = value === was ? short(value) : `${short(value)}, was ${short(was)}`;
      one.slider.setAttribute("aria-valuetext", `${short(value)} points · ${words["over all systems"]}`);
      same = same && value === was;
    }
    move(now);
    if (mark) mark.paint();
    write(words);
    off(ui.reset, same);
    root.dataset.weights = data.severities.map((name) => weights()[name]).join(" ");
  }

  // ---- where the hand goes
  const cost = (one, tenths) => put(model, "weights", { ...weights(), [one.name]: clamp(tenths, 0, one.max) / TENTHS });
  for (const one of ui.weights) {
    onKeys(one.slider, sliderKeys(PAGE, one.max), (by) => cost(one, Math.round(weights()[one.name] * TENTHS) + by));
    one.slider.addEventListener("input", () => cost(one, +one.slider.value));
  }
  for (const one of ui.rows)
    one.select.addEventListener("change", () => put(model, "categories", { ...categories(), [one.name]: one.select.value }));
  ui.reset.addEventListener("click", () => {
    put(model, "weights", { ...data.start.weights });
    put(model, "categories", { ...data.start.categories });
  });
  keepKeys(root);
  if (mark) {
    main.hidden = mark.theirs.hidden = true;
    mark.compare.addEventListener("click", () => {
      mark.theirs.hidden = false;
      mark.compare.hidden = true;
    });
  }

  const end = follow(model, [["change:weights", paint], ["change:categories", paint]]);
  paint();
  requestAnimationFrame(paint); // once the letters have a size
  return end;
}
