// What the β explorer shows of one translation: the words that came and went, what its label means, and in the view of
// one sentence the plane with all candidates of this source.

const PLOT = { width: 400, height: 300, left: 46, right: 14, top: 30, bottom: 42 };

// ---- words

function piecesOf(old, text, edits) { // ["same", "gone" or "came", words] in reading order, as Python's `pieces`
  const parts = [];
  let at = 0;
  const add = (kind, part) => { if (part) parts.push([kind, part]); };
  for (let i = 0; i < edits.length; i += 4) {
    const [low, high, from, to] = edits.slice(i, i + 4);
    add("same", text.slice(at, from));
    add("gone", old.slice(low, high));
    add("came", text.slice(from, to));
    at = to;
  }
  add("same", text.slice(at));
  return parts;
}

function layWords(box, row, k) { // the translation at place k of a row's chain, against that at β = 0
  const [at, base, edits] = row.pairs[row.at[k]], text = row.texts[at];
  if (!edits) { // new almost throughout
    box.replaceChildren(text);
    return;
  }
  const parts = piecesOf(row.texts[base], text, edits);
  box.replaceChildren(...parts.map(([kind, part], i) => {
    if (kind === "same") return part;
    if (kind === "came") return make("ins", {}, part);
    const gone = make("del", {}, part); // with a space that belongs to neither text
    return i < parts.length - 1 ? span("gone", gone, " ") : span("gone", " ", gone);
  }));
}

function rewritten(row, k) { // the text at β = 0 where marks would say less than the two texts, else ""
  const [, base, edits] = row.pairs[row.at[k]];
  return edits ? "" : row.texts[base];
}

// ---- labels

const labelOf = (tag, meanings) => // its meaning is a tooltip here, and in the list below for all
  (meanings[tag] ? make("span", { class: "anx-whole anx-tag", title: meanings[tag] }, tag) : whole(tag));

function legendOf(meanings) {
  const sorted = Object.entries(meanings).sort(([a], [b]) => (a < b ? -1 : 1));
  const terms = sorted.map(([tag, text]) => make("div", {}, make("dt", {}, tag), make("dd", {}, text)));
  return make("details", { class: "anx-legend" }, make("summary", QUIET, "What the labels mean"), make("dl", {}, ...terms));
}

// ---- the choices along β

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

function ranksOf(changing) { // the slider's steps: 0 is β = 0, each next one the β of a change, the last one β = ∞
  const ticks = [...new Set(changing)].sort((a, b) => a - b), last = ticks.length + 1;
  const betaAt = (i) => (i <= 0 ? 0 : i >= last ? Infinity : ticks[i - 1]);
  const starts = [0, ...ticks], changes = (beta) => winner(starts, beta);

  function positionOf(beta) { // of any β: between two steps, where nothing changes there
    if (beta === 0 || beta === Infinity) return beta && last;
    const k = changes(beta), from = betaAt(k), to = betaAt(k + 1);
    if (k && from === beta) return k;
    const share = to === Infinity ? beta / (beta + (from || 1)) : from ? Math.log(beta / from) / Math.log(to / from) : beta / to;
    return k + clamp(share, 0.05, 0.95);
  }

  return { last, betaAt, changes, positionOf };
}

function betaSlider(model, ui) { // a slideBar over β: {beta(), steps(β of changes, share of a page), paint(what it says)}
  const beta = () => (model.get("beta") === "inf" ? Infinity : +model.get("beta")), keys = {};
  const putBeta = (b) => put(model, "beta", b === Infinity ? "inf" : b);
  let ranks = ranksOf([]);
  drive(ui, keys, (steps) => putBeta(ranks.betaAt(stepped(ranks.positionOf(beta()), steps, 0, ranks.last))),
    (place) => putBeta(ranks.betaAt(Math.round(place))));
  function steps(changing, share = 0) {
    ranks = ranksOf(changing);
    Object.assign(keys, sliderKeys(Math.max(1, Math.round(ranks.last * share)), ranks.last));
    return ranks;
  }
  function paint(said) {
    const b = beta(), at = ranks.positionOf(b);
    ui.slider.max = ranks.last;
    ui.slider.step = Number.isInteger(at) ? 1 : "any"; // between two changes, where another control may set it
    ui.slider.value = at;
    ui.slider.setAttribute("aria-valuetext", betaText(b) + said);
    ui.value.textContent = betaText(b);
    off(ui.before, at <= 0);
    off(ui.after, at >= ranks.last);
  }
  return { beta, steps, paint };
}

// ---- the plane of one source

function spread(chosen, all) { // from and to of an axis: what some β chooses, and what lies not far from it
  const low = Math.min(...chosen), high = Math.max(...chosen), far = 0.6 * (high - low) || 0.25 * (Math.max(...all) - Math.min(...all));
  const from = Math.max(Math.min(...all), low - far), to = Math.min(Math.max(...all), high + far), margin = 0.07 * (to - from) || 1;
  return [from - margin, to + margin];
}

function ticksBetween(low, high) { // three to six round numbers
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((f) => power * f >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
  return [ticks, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))];
}

function readable(dots, see) { // [circle, text] pairs: see(index) where one is pointed at or tapped; arrow keys walk among them
  const order = dots.map((_, i) => i).sort((i, j) => dots[i][0].getAttribute("cx") - dots[j][0].getAttribute("cx"));
  const step = (from, by) => dots[order[clamp(order.indexOf(from) + by, 0, order.length - 1)]][0].focus();
  dots.forEach(([dot, text], i) => {
    set(dot, { tabindex: i === order[0] ? 0 : -1, role: "img", "aria-label": text });
    for (const event of ["pointerenter", "click", "focus"]) dot.addEventListener(event, () => see(i));
    onKeys(dot, { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }, (by) => step(i, by));
  });
}

function planeOf() {
  const { width, height, left, right, top, bottom } = PLOT, w = width - left - right, h = height - top - bottom;
  const clip = newId(), inside = drawing("g", { transform: `translate(${left},${top})` });
  const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, class: "anx-plane" },
    drawing("clipPath", { id: clip }, drawing("rect", { width: w, height: h })), inside);
  const value = drawing("line", { class: "anx-worth", "clip-path": `url(#${clip})` }), hull = drawing("polyline", { class: "anx-hull" });
  const point = drawing("circle", { class: "anx-point", r: 9 });
  const mine = drawing("circle", { class: "anx-mine", r: 8 }), name = drawing("text");
  const put = (mark, [cx, cy]) => set(mark, { cx, cy });
  let place, corners;

  // row: with its chain and its clouds; axes: what is said at both; box: ends of the axes; see(i): a candidate is looked at
  function lay(row, axes, labels, { box, see, texts } = {}) {
    const [x0, x1, y0, y1] = box || [...spread(row.naturalness, row.clouds[1]), ...spread(row.accuracy, row.clouds[0])];
    const at = (n, a) => [((n - x0) / (x1 - x0)) * w, h - ((a - y0) / (y1 - y0)) * h];
    const text = (said, x, y, more = {}) => drawing("text", { x, y, ...more }, said);
    const [xs, xDigits] = ticksBetween(x0, x1), [ys, yDigits] = ticksBetween(y0, y1);
    const lines = [
      ...xs.map((x) => [at(x, y0)[0], number(x, xDigits)]).flatMap(([x, said]) => [
        drawing("line", { class: "anx-grid", x1: x, x2: x, y2: h }), text(said, x, h + 17, { "text-anchor": "middle" })]),
      ...ys.map((y) => [at(x0, y)[1], number(y, yDigits)]).flatMap(([y, said]) => [
        drawing("line", { class: "anx-grid", y1: y, y2: y, x2: w }), text(said, -6, y + 4.5, { "text-anchor": "end" })]),
      text(axes[0], -left + 4, -12, { class: "anx-axis anx-accurate" }),
      text(axes[1], w, h + 36, { "text-anchor": "end", class: "anx-axis anx-natural" }),
    ];
    const all = row.clouds[0].map((a, i) => [row.clouds[1][i], a, i]);
    const near = all.filter(([n, a]) => n >= x0 && n <= x1 && a >= y0 && a <= y1);
    const dots = near.map(([n, a, i]) => [drawing("circle", { class: "anx-dot", r: 5 }), at(n, a), i]);
    for (const [dot, spot] of dots) put(dot, spot);
    corners = row.accuracy.map((a, i) => at(row.naturalness[i], a));
    const marks = corners.map(([cx, cy]) => drawing("circle", { class: "anx-corner", cx, cy, r: 5 }));
    const over = see ? dots.map(([, [cx, cy], i]) => [drawing("circle", { class: "anx-over", cx, cy, r: 10 }), texts[i]]) : [];
    readable(over, (i) => see(dots[i][2]));
    inside.replaceChildren(...lines, ...dots.map(([dot]) => dot), value, hull, ...marks, point, ...over.map(([dot]) => dot), mine, name);
    place = { at, sx: w / (x1 - x0), sy: h / (y1 - y0) };
    svg.setAttribute("role", see ? "group" : "img");
    svg.setAttribute("aria-label", `The ${all.length} candidates of this sentence: ${labels[0]} against ${labels[1]}; ` +
      `${corners.length} of them are chosen`);
    return all.length - near.length; // so many lie far off
  }

  // the chosen point; what has the same value, a line that falls by β for each unit to the right, where there is a β; own:
  // {a, n} of what is typed
  function paint(k, { beta = null, own = null } = {}) {
    const [x, y] = corners[k];
    const slope = beta === Infinity ? [0, 1] : [place.sx, beta * place.sy], length = Math.hypot(...slope);
    const [dx, dy] = slope.map((d) => (d / length) * (w + h));
    for (const [name, at] of Object.entries({ x1: x - dx, y1: y - dy, x2: x + dx, y2: y + dy })) value.setAttribute(name, at.toFixed(2));
    value.style.display = beta === null ? "none" : "";
    hull.setAttribute("points", corners.map((p) => p.join(",")).join(" "));
    put(point, [x, y]);
    for (const part of [mine, name]) part.style.display = own ? "" : "none";
    if (!own) return;
    const [far, high] = place.at(own.n, own.a), spot = [clamp(far, 0, w), clamp(high, 0, h)], right = spot[0] > w - 118;
    put(mine, spot);
    name.textContent = mine.classList.toggle("anx-outside", far !== spot[0] || high !== spot[1]) ? "yours, outside" : "yours";
    set(name, { x: spot[0] + (right ? -13 : 13), y: clamp(spot[1], 12, h - 12) + 5, "text-anchor": right ? "end" : "start" });
  }

  return { svg, lay, paint };
}
