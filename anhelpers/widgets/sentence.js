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

function labelOf(tag, meanings) { // its meaning is a tooltip here, and stands in the list below for all
  const label = whole(tag);
  if (meanings[tag]) {
    label.classList.add("anx-tag");
    label.title = meanings[tag];
  }
  return label;
}

function legendOf(meanings) {
  const box = make("details", { class: "anx-legend" }, make("summary", QUIET, "What the labels mean"));
  const list = make("dl");
  for (const [tag, text] of Object.entries(meanings).sort(([a], [b]) => (a < b ? -1 : 1)))
    list.append(make("div", {}, make("dt", {}, tag), make("dd", {}, text)));
  box.append(list);
  return box;
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

function planeOf() {
  const { width, height, left, right, top, bottom } = PLOT, w = width - left - right, h = height - top - bottom;
  const clip = newId(), inside = drawing("g", { transform: `translate(${left},${top})` });
  const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "anx-plane" },
    drawing("clipPath", { id: clip }, drawing("rect", { width: w, height: h })), inside);
  let place, value, point;

  function lay(row, names, labels) { // row: with its chain and its clouds
    const [x0, x1] = spread(row.naturalness, row.clouds[1]), [y0, y1] = spread(row.accuracy, row.clouds[0]);
    const at = (n, a) => [((n - x0) / (x1 - x0)) * w, h - ((a - y0) / (y1 - y0)) * h];
    const text = (said, x, y, more = {}) => drawing("text", { x, y, ...more }, said);
    const [xs, xDigits] = ticksBetween(x0, x1), [ys, yDigits] = ticksBetween(y0, y1);
    const lines = [
      ...xs.map((x) => [at(x, y0)[0], number(x, xDigits)]).flatMap(([x, said]) => [
        drawing("line", { class: "anx-grid", x1: x, x2: x, y2: h }), text(said, x, h + 17, { "text-anchor": "middle" })]),
      ...ys.map((y) => [at(x0, y)[1], number(y, yDigits)]).flatMap(([y, said]) => [
        drawing("line", { class: "anx-grid", y1: y, y2: y, x2: w }), text(said, -6, y + 4.5, { "text-anchor": "end" })]),
      text(`${names[0]} ↑ more accurate`, -left + 4, -12, { class: "anx-axis" }),
      text(`more natural → ${names[1]}`, w, h + 36, { "text-anchor": "end", class: "anx-axis" }),
    ];
    const all = row.clouds[0].map((a, i) => [row.clouds[1][i], a]);
    const near = all.filter(([n, a]) => n >= x0 && n <= x1 && a >= y0 && a <= y1);
    const cloud = near.map(([n, a]) => at(n, a)).map(([cx, cy]) => drawing("circle", { class: "anx-dot", cx, cy, r: 3.5 }));
    const corners = row.accuracy.map((a, i) => at(row.naturalness[i], a));
    const hull = drawing("polyline", { class: "anx-hull", points: corners.map((p) => p.join(",")).join(" ") });
    const dots = corners.map(([cx, cy]) => drawing("circle", { class: "anx-corner", cx, cy, r: 4 }));
    const first = drawing("circle", { class: "anx-first", cx: corners[0][0], cy: corners[0][1], r: 9 });
    value = drawing("line", { class: "anx-worth", "clip-path": `url(#${clip})` });
    point = drawing("circle", { class: "anx-point", r: 7.5 });
    inside.replaceChildren(...lines, ...cloud, value, hull, ...dots, first, point);
    place = { sx: w / (x1 - x0), sy: h / (y1 - y0), corners };
    svg.setAttribute("aria-label", `The ${row.clouds[0].length} candidates of this sentence: ${labels[0]} against ${labels[1]}; ` +
      `${corners.length} of them are chosen at some β`);
    return all.length - near.length; // so many lie far off
  }

  function paint(k, beta) { // the chosen point, and the line of what is worth the same: it falls by β for each unit to the right
    const [x, y] = place.corners[k];
    const slope = beta === Infinity ? [0, 1] : [place.sx, beta * place.sy], length = Math.hypot(...slope);
    const [dx, dy] = slope.map((d) => (d / length) * (w + h));
    for (const [name, at] of Object.entries({ x1: x - dx, y1: y - dy, x2: x + dx, y2: y + dy })) value.setAttribute(name, at.toFixed(2));
    point.setAttribute("cx", x);
    point.setAttribute("cy", y);
  }

  return { svg, lay, paint };
}
