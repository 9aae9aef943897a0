// Write your own translation: two judges at every key, the plane of this source's candidates, and the sentences that were
// kept. Python ships scored candidates, references and the critic's table; chrf.js and critic.js score as Python does.

const STEPS = 12; // positions of the slider from one change of the oracle's choice to the next
const WIDE = 480, HIGH = 350, EDGE = { left: 50, right: 14, top: 12, bottom: 50 }; // the picture, in its own units
const FULL = 0.4; // nats of one word that give it the full colour
const WAIT = 400, PAUSE = 1500; // milliseconds until typing is saved, and until it is said aloud
const NAMED = 12; // sentences that all have a name in the picture; of more those with room have one
const KEEP = "Keep this sentence";
const MINE = "yours"; // how the picture calls what is typed

// ---- the oracle of one source, and what beats it
const worth = (a, n, beta) => (beta === Infinity ? n : a + beta * n);

function oracleAt(one, beta) { // the candidate that the oracle takes; at β = 0 the first
  let v = 0;
  while (beta > 0 && v + 1 < one.beta.length && one.beta[v + 1] <= beta) v += 1;
  return one.chain[v];
}

function endsOf(one, v) { // the β between which the oracle's choice v stays, the last one to ten times its start
  const from = one.beta[v], to = one.beta[v + 1];
  return [from, to === undefined ? 10 * (from || 1) : to];
}

function ownBeta(one, place) { // of a position of the slider
  const v = Math.floor(place / STEPS), share = (place % STEPS) / STEPS;
  if (v >= one.beta.length) return Infinity;
  const [from, to] = endsOf(one, v);
  return v ? from * (to / from) ** share : to * share;
}

function ownPlace(one, beta) { // the reverse
  if (beta === Infinity) return STEPS * one.beta.length;
  let v = one.beta.length - 1;
  while (v && one.beta[v] > beta) v -= 1;
  const [from, to] = endsOf(one, v);
  return STEPS * v + STEPS * clamp(v ? Math.log(beta / from) / Math.log(to / from) : beta / to, 0, 0.999);
}

function winsBetween(one, a, n) { // [from, to] of the β at which a point beats all candidates, null where there is none
  let low = 0, high = Infinity;
  for (const k of one.chain) {
    const lost = one.accuracy[k] - a, gained = n - one.naturalness[k];
    if (gained > 0) low = Math.max(low, lost / gained);
    else if (gained < 0) high = Math.min(high, lost / gained);
    else if (lost >= 0) return null;
  }
  return high - low > 1e-9 * (1 + low) ? [low, high] : null;
}

function nearest(one, a, n) { // [β, points short] where a point comes closest to the oracle
  const short = one.beta.map((b, v) => worth(one.accuracy[one.chain[v]], one.naturalness[one.chain[v]], b) - worth(a, n, b));
  const v = short.indexOf(Math.min(...short));
  return [one.beta[v], Math.max(0, short[v])];
}

function stringOver(points) { // of [n, a] points those on a string that is stretched over them, from the highest to the right
  const sorted = points.slice().sort((p, q) => p[0] - q[0] || p[1] - q[1]), hull = [];
  for (const p of sorted) {
    while (hull.length) {
      const q = hull[hull.length - 1], o = hull[hull.length - 2];
      if (q[1] > p[1] && !(o && (q[0] - o[0]) * (p[1] - o[1]) >= (q[1] - o[1]) * (p[0] - o[0]))) break;
      hull.pop();
    }
    hull.push(p);
  }
  return hull;
}

// ---- the words for it
const points = (x) => `${number(x, 1)}\u00a0point${number(x, 1) === "1.0" ? "" : "s"}`;
const nats = (x) => `${number(x, 2)}\u00a0nats`;
const shortBeta = (b) => betaText(b).replace("β = ", "");

function oddsSaid(score) { // a critic's score in a sentence
  const chance = Math.round(100 / (1 + Math.exp(-score))), told = clamp(chance, 1, 99);
  if (Math.abs(score) < 0.1) return "as much like an original as like a translation";
  const how = Math.abs(score) > 1 ? "clearly more" : "more";
  return `reads ${how} like ${score < 0 ? "a translation" : "an original"} (chance of an original: ${told}\u00a0%)`;
}

function unfit(text, critic, language, fewest) { // why the critic cannot judge this text, in a word and in a sentence; null where nothing speaks against it
  const [words, known] = knownWords(text, critic);
  if (words < fewest) return { mark: "too short to judge", said: `${words || "No"} word${words === 1 ? "" : "s"}: here the critic is asked from ${fewest} words on.` };
  if (words < language.words || known >= language.least * words) return null;
  return { mark: `is this ${language.name}?`, said: `Is this ${language.name}? ${known || "None"} of its ${words} words ${known > 1 ? "are" : "is"} among the ${critic.words.size} ` +
    "frequent ones that the critic knows. What it says of another language means nothing." };
}

function worthSaid(one, own, beta) { // against the oracle at this β
  const k = oracleAt(one, beta), gap = worth(own.a, own.n, beta) - worth(one.accuracy[k], one.naturalness[k], beta);
  const size = beta === Infinity ? nats : points;
  if (Math.abs(gap) < (beta === Infinity ? 0.005 : 0.05)) return "Yours is worth as much.";
  return `Yours is worth ${size(Math.abs(gap))} ${gap < 0 ? "less" : "more"}.`;
}

function beatenSaid(one, own) { // whether it lies above the string
  const span = winsBetween(one, own.a, own.n), among = `None of the ${one.texts.length} candidates beats yours`;
  if (!span) {
    const [beta, short] = nearest(one, own.a, own.n);
    return short < 0.05 ? "It lies on the string." : `It lies below the string, and comes closest at ${betaText(beta)}: ${points(short)} short.`;
  }
  const [low, high] = span;
  if (low === 0 && high === Infinity) return `${among}, whatever β is.`;
  if (high === Infinity) return `${among} at β above ${shortBeta(low)}.`;
  return low === 0 ? `${among} at β below ${shortBeta(high)}.` : `${among} at β from ${shortBeta(low)} to ${shortBeta(high)}.`;
}

function pullsSaid(shares) { // the words that pull most, to either side
  const list = (some) => some.slice(0, 3).map((one) => `“${one.token}” ${one.nats > 0 ? "+" : ""}${number(one.nats, 2)}`).join(", ");
  const sorted = shares.filter((one) => Math.abs(one.nats) >= 0.02).sort((p, q) => p.nats - q.nats);
  const down = sorted.filter((one) => one.nats < 0), up = sorted.filter((one) => one.nats > 0).reverse();
  return [down.length && `Sounds translated: ${list(down)}.`, up.length && `Sounds original: ${list(up)}.`].filter(Boolean).join(" ");
}

// ---- the picture
function scaleOf(box) { // pixels of a naturalness and an accuracy, kept inside the frame; whether that was needed
  const [x0, x1, y0, y1] = box, right = WIDE - EDGE.right, floor = HIGH - EDGE.bottom;
  const x = (n) => EDGE.left + ((n - x0) / (x1 - x0)) * (right - EDGE.left), y = (a) => floor - ((a - y0) / (y1 - y0)) * (floor - EDGE.top);
  const at = (n, a) => [clamp(x(n), EDGE.left, right), clamp(y(a), EDGE.top, floor)];
  return { x, y, at, right, floor, inside: (n, a) => n >= x0 && n <= x1 && a >= y0 && a <= y1 };
}

function ticksOf(from, to, about) { // round numbers between two
  const rough = (to - from) / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough), found = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) found.push([k * step, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))]);
  return found;
}

function grown(box, rows, down) { // a frame that has room for these points as well; down: also for those below and to the left
  const [x0, x1, y0, y1] = box, w = (x1 - x0) / 25, h = (y1 - y0) / 25, ns = rows.map((row) => row.n), as = rows.map((row) => row.a);
  const [left, low] = down ? [Math.min(x0, ...ns.map((n) => n - w)), Math.min(y0, ...as.map((a) => a - h))] : [x0, y0];
  return [left, Math.max(x1, ...ns.map((n) => n + w)), low, Math.min(104, Math.max(y1, ...as.map((a) => a + h)))];
}

function axesOf(box, scale) {
  const group = drawing("g", { class: "anx-axes" }), text = (words, x, y, anchor, more = {}) =>
    drawing("text", { x, y, "text-anchor": anchor, ...more }, words);
  for (const [n, digits] of ticksOf(box[0], box[1], 5))
    group.append(drawing("line", { x1: scale.x(n), x2: scale.x(n), y1: EDGE.top, y2: scale.floor }), text(number(n, digits), scale.x(n), scale.floor + 18, "middle"));
  for (const [a, digits] of ticksOf(box[2], box[3], 5))
    group.append(drawing("line", { x1: EDGE.left, x2: scale.right, y1: scale.y(a), y2: scale.y(a) }), text(number(a, digits), EDGE.left - 7, scale.y(a) + 5, "end"));
  const middle = (EDGE.top + scale.floor) / 2;
  group.append(text("critic, nats: more natural →", (EDGE.left + scale.right) / 2, HIGH - 8, "middle"),
    text("chrF: more accurate →", 14, middle, "middle", { transform: `rotate(-90 14 ${middle})` }));
  return group;
}

function namesOf(labels, dots) { // texts beside their points, where they hide least; what finds no place stays out
  const group = drawing("g", { class: "anx-names" }), taken = [];
  const boxes = dots.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]);
  const hit = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  for (const { text, x, y, must } of labels) {
    const w = 7.6 * text.length, places = [[x + 9, y - 6, 0], [x - 9 - w, y + 16, 0], [x + 9, y + 16, 0], [x - 9 - w, y - 6, 0], [x - w / 2, y - 11, 0], [x - w / 2, y + 21, 0]];
    let best = null, least = must ? Infinity : 3;
    for (const [left, base] of places) {
      const box = [left, base - 12, left + w, base + 4];
      if (box[0] < EDGE.left || box[2] > WIDE || box[1] < 0 || box[3] > HIGH - EDGE.bottom) continue;
      const cost = 10 * taken.filter((other) => hit(box, other)).length + boxes.filter((other) => hit(box, other)).length;
      if (cost < least) { least = cost; best = [left, base, box]; }
    }
    if (!best) continue;
    taken.push(best[2]);
    group.append(drawing("text", { x: best[0], y: best[1] }, text));
  }
  return group;
}

const pathOf = (some) => (some.length ? "M" + some.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L") : "");

function planeOf(one, tries, box) { // what stays while somebody types; and a function that draws the rest
  const scale = scaleOf(box), at = one.texts.map((_, k) => scale.at(one.naturalness[k], one.accuracy[k])), mark = new Set(one.chain);
  const sweep = drawing("path", { class: "anx-sweep" }), lifted = drawing("path", { class: "anx-lifted" });
  const gap = drawing("path", { class: "anx-gap" }), mine = drawing("path", { class: "anx-mine" });
  const name = drawing("text", { class: "anx-mine-name" }), ring = drawing("circle", { class: "anx-ring", r: 9 }), seen = drawing("circle", { class: "anx-seen", r: 9 });
  const string = drawing("path", { class: "anx-string", d: pathOf(one.chain.map((k) => at[k])) });
  const dots = at.map(([x, y], k) => drawing("circle", { cx: x, cy: y, r: 4.5, class: mark.has(k) ? "anx-dot anx-on" : "anx-dot" }));
  const others = [...one.also.map(([who, , a, n]) => ({ text: who, a, n, kind: "anx-also" })), ...tries.map((t, k) => ({ text: `${k + 1}`, a: t.a, n: t.n, kind: "anx-try" }))];
  const squares = others.map(({ a, n, kind }) => { const [x, y] = scale.at(n, a); return drawing("path", { class: kind, d: `M${x},${y - 6}l6,6l-6,6l-6,-6z` }); });
  const places = others.map(({ a, n }) => scale.at(n, a));
  const names = namesOf([...others.map(({ text }, k) => ({ text, x: places[k][0], y: places[k][1], must: others.length <= NAMED })),
    ...one.chain.map((k) => ({ text: one.tags[k], x: at[k][0], y: at[k][1] }))], [...at, ...places]);
  const svg = drawing("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" }, axesOf(box, scale), sweep, gap, string, lifted, ...dots, ...squares, ring, seen, names, mine, name);

  function draw(beta, own) {
    const k = oracleAt(one, beta), a = one.accuracy[k], n = one.naturalness[k];
    const line = (x) => a + beta * (n - x), [x0, x1, y0, y1] = box, from = beta === Infinity ? n : Math.max(x0, n - (y1 - a) / (beta || 1e-9));
    const to = beta === Infinity ? n : Math.min(x1, n + (a - y0) / (beta || 1e-9));
    sweep.setAttribute("d", beta === Infinity ? pathOf([[scale.x(n), EDGE.top], [scale.x(n), scale.floor]])
      : pathOf([from, to].map((x) => [scale.x(x), scale.y(line(x))])));
    ring.setAttribute("cx", at[k][0]);
    ring.setAttribute("cy", at[k][1]);
    for (const part of [lifted, gap, mine, name]) part.style.display = own ? "" : "none";
    if (!own) return;
    const [x, y] = scale.at(own.n, own.a), within = scale.inside(own.n, own.a);
    mine.setAttribute("d", `M${x - 8},${y}a8,8 0 1 0 16,0a8,8 0 1 0 -16,0`);
    mine.classList.toggle("anx-outside", !within);
    const left = x > WIDE - 90;
    name.textContent = within ? MINE : `${MINE}, beyond this edge`;
    for (const [key, value] of [["x", left ? x - 12 : x + 12], ["y", clamp(y + 5, 16, scale.floor - 4)], ["text-anchor", left ? "end" : "start"]]) name.setAttribute(key, value);
    const target = beta === Infinity ? null : line(own.n);
    gap.setAttribute("d", within && target !== null ? pathOf([[x, y], [x, clamp(scale.y(target), EDGE.top, scale.floor)]]) : "");
    const over = winsBetween(one, own.a, own.n) && within;
    lifted.setAttribute("d", over ? pathOf(stringOver([...one.chain.map((j) => [one.naturalness[j], one.accuracy[j]]), [own.n, own.a]]).map(([p, q]) => scale.at(p, q))) : "");
  }

  function look(k) { // the candidate that somebody looks at, null for none
    seen.style.display = k === null ? "none" : "";
    if (k !== null) { seen.setAttribute("cx", at[k][0]); seen.setAttribute("cy", at[k][1]); }
  }

  function candidateAt(event) { // the nearest one, null where none is near
    const frame = svg.getBoundingClientRect(), unit = WIDE / frame.width, x = (event.clientX - frame.left) * unit, y = (event.clientY - frame.top) * unit;
    const far = at.map(([px, py]) => Math.hypot(px - x, py - y)), k = far.indexOf(Math.min(...far));
    return far[k] <= 18 * Math.max(1, unit) ? k : null;
  }
  look(null);
  return { svg, draw, look, candidateAt, box };
}

// ---- what is on the page
function controls(data) {
  const id = newId();
  const ui = {
    ...slideBar(id, "β (naturalness weight)", { min: 0 },
      ["◀", "Previous change: the next smaller β at which the oracle takes another candidate"],
      ["▶", "Next change: the next larger β at which the oracle takes another candidate"]),
    back: button("‹", "Previous source"), forth: button("›", "Next source"), where: span("where"),
    source: make("p", { class: "anx-source", dir: "auto", ...langOf(data, 0) }), gloss: div("gloss"),
    area: make("textarea", { id: id + "-t", rows: 3, dir: "auto", spellcheck: "true", autocomplete: "off", ...langOf(data, 1), ...QUIET }),
    words: make("div", { class: "anx-words", dir: "auto", ...langOf(data, 1) }),
    scores: div("scores"), pulls: div("note anx-pulls"),
    keep: make("button", { type: "button", class: "anx-keep", ...QUIET }, KEEP),
    instead: make("button", { type: "button", ...QUIET }, "keep both"),
    open: make("button", { type: "button", "aria-expanded": "false", ...QUIET }, "show the reference"),
    told: span("note", "The first sentence that you keep shows the reference."), refs: div("refs"), verdict: div("verdict"), chart: div("chart"),
    look: select({ id: id + "-l" }, []), looked: div("looked"),
    lines: div("note", "Blue: the string over the candidates. Grey: all that is worth as much as the oracle's choice at this β. Dashed: the string that yours lifts. Dotted: how far yours is from being worth as much as that choice."),
    said: make("div", { class: "anx-hidden", role: "status" }),
    body: make("tbody"), name: make("input", { type: "text", id: id + "-name", maxlength: 40, autocomplete: "off", spellcheck: "false", ...QUIET }),
    save: make("button", { type: "button", class: "anx-save", ...QUIET }, "Save my sentences"),
    status: make("div", { class: "anx-status", role: "status" }),
  };
  ui.legend = div("note", make("span", { class: "anx-key anx-down" }, "sounds translated"), " ", make("span", { class: "anx-key anx-up" }, "sounds original"),
    " ", make("span", { class: "anx-hit" }, "in a reference"), " (four letters or more)");
  ui.foot = div("foot anx-tools", labelled("pseudonym", ui.name, ui.save), span("note", "No real name is needed."));
  return ui;
}

function ownCsv(data, who, rows) { // what classroom/sentences.py writes and reads
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = rows.map((row) => [who, data.task, row.segment, cell(guarded(row.text)), row.a.toFixed(4), row.n.toFixed(4), data.version].join(","));
  return [data.columns.join(","), ...lines].join("\n") + "\n";
}

function memoryOf(key) { // what the browser keeps of this page's task; where it may keep nothing, nothing is kept
  return {
    read() { try { return Object(JSON.parse(localStorage.getItem(key))); } catch { return {}; } },
    write(value) { try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* private windows */ } },
  };
}

function colouredWords(text, judged, references) { // the text, each word coloured by its share, pieces of a reference underlined
  const composed = text.normalize("NFC"), hits = matchedPlaces(composed, references), found = [];
  const pieces = (from, to) => { // cut where an underline begins or ends
    const cut = [];
    for (let i = from; i < to;) {
      let j = i + 1;
      while (j < to && hits[j] === hits[i]) j += 1;
      cut.push(hits[i] ? make("span", { class: "anx-hit" }, composed.slice(i, j)) : composed.slice(i, j));
      i = j;
    }
    return cut;
  };
  let done = 0;
  for (const { from, to, nats: share } of judged.shares) {
    if (from < done) continue;
    found.push(...pieces(done, from));
    const strength = Math.min(1, Math.abs(share) / FULL), word = make("span", { class: share < 0 ? "anx-down" : "anx-up", title: `${share > 0 ? "+" : ""}${number(share, 2)} nats` }, ...pieces(from, to));
    word.style.setProperty("--w", strength < 0.05 ? 0 : strength.toFixed(2));
    found.push(word);
    done = to;
  }
  return [...found, ...pieces(done, composed.length)];
}

function render({ model, el }) {
  const data = model.get("data"), ui = controls(data), critic = criticOf(data.critic), memory = memoryOf(`anx-own ${data.task}`);
  const references = new Map(data.segments.map((one) => [one.id, one.refs.map(chrfReference)]));
  const fewest = new Map(data.segments.map((one) => [one.id, Math.min(data.language.words, ...one.refs.map((text) => knownWords(text, critic)[0]))])); // a heading may be short
  const named = new RegExp(data.name.pattern, "u"), opened = new Set(), drafts = new Map(), edited = new Map();
  const left = div("write", div("tools", span("pair", ui.back, ui.where, ui.forth)), ui.source, ui.gloss,
    make("label", { for: ui.area.id, class: "anx-ask" }, "Your translation"), ui.area, ui.words, ui.scores, ui.verdict, ui.pulls, ui.legend,
    div("tools", ui.keep, ui.instead, ui.open, ui.told), ui.refs);
  const right = div("see", ui.bar, ui.chart, ui.lines, div("tools", labelled("look at", ui.look)), ui.looked);
  const list = tableOf(make("caption", {}, "Worth at this β, the best first; the oracle's choice stands among them. A number is the point of a kept sentence in the picture."),
    heads("", "Sentence", "chrF", "Critic", "Worth"), []);
  list.tBodies[0].replaceWith(ui.body);
  const kept = div("kept-list", list);
  const root = rootOf(data, "own", "write your own translation", div("two", left, right), kept, ui.foot, ui.status, ui.said);
  el.append(root);
  let one = data.segments[0], listed = [], saving, saying;
  let plane, grew = null; // the picture; its frame as it was before it grew
  let own = null, fair = null; // what is typed, with its scores; the same where the critic can judge it

  const beta = () => { const b = model.get("beta"); return b === "inf" ? Infinity : +b; };
  const scored = (text, id = one.id) => { const judged = explainedText(critic, text); return { judged, a: chrfOf(text, references.get(id)), n: judged.score, text, segment: id, unfit: unfit(text, critic, data.language, fewest.get(id)) }; };
  const beyond = (box) => Boolean(fair) && (fair.a > box[3] || fair.n > box[1]); // what is typed, above a frame or to its right
  const all = () => model.get("kept").map(([segment, text]) => scored(text, segment)).filter((row) => row.n !== null);
  const here = () => all().filter((row) => row.segment === one.id);

  // ---- what a key changes
  function paintText() {
    const text = ui.area.value, now = scored(text);
    own = now.n === null ? null : now;
    fair = own && !own.unfit ? own : null;
    ui.words.replaceChildren(...colouredWords(text, now.unfit ? { shares: [] } : now.judged, references.get(one.id)));
    ui.scores.replaceChildren(make("b", {}, "chrF ", own ? number(now.a, 1) : "–"), " of 100 · ", make("b", {}, "critic ", fair ? nats(now.n) : "–"),
      fair ? `: ${oddsSaid(now.n)}.` : own ? `. ${own.unfit.said}` : text.trim() ? ". There is no word in this text: a number or a sign has no critic." : ". Type a translation: both judges read along.");
    ui.pulls.textContent = fair ? `${pullsSaid(now.judged.shares)} Every text starts at ${nats(critic.intercept)}.` : "";
    for (const part of [ui.words, ui.legend]) part.hidden = !text.trim();
    off(ui.keep, !own);
    if ((fair && now.judged.shares.length > 4 && beyond(plane.box)) || (grew && !beyond(grew))) layPlane(); // it won the frame too
    paintBeta();
  }

  // ---- what a β changes
  function paintBeta() {
    const b = beta(), k = oracleAt(one, b), text = betaText(b);
    plane.draw(b, fair);
    ui.slider.max = STEPS * one.beta.length;
    ui.slider.value = Math.round(ownPlace(one, b));
    ui.value.textContent = text;
    const taken = `At ${text} the oracle takes: `, said = fair ? `${worthSaid(one, fair, b)} ${beatenSaid(one, fair)}` : "";
    ui.verdict.replaceChildren(taken, make("b", {}, one.tags[k]), ". ", said);
    ui.verdict.classList.toggle("anx-won", Boolean(fair && winsBetween(one, fair.a, fair.n)));
    ui.slider.setAttribute("aria-valuetext", `${text}: the oracle takes ${one.tags[k]}`);
    plane.svg.setAttribute("aria-label", `${one.texts.length} candidates by chrF and by the critic, and the string over them: ` +
      `${one.chain.map((j) => one.tags[j]).join(", ")}.${fair ? ` Yours: chrF ${number(fair.a, 1)}, critic ${nats(fair.n)}.` : own ? ` ${own.unfit.said}` : ""}`);
    root.dataset.beta = b;
    off(ui.before, b === 0);
    off(ui.after, b === Infinity);
    paintList();
  }

  function paintList() { // kept sentences and those of a class, with the oracle's choice, by their worth
    const b = beta(), state = [b, one, model.get("kept"), revealed()];
    if (state.every((part, i) => part === listed[i])) return; // a key changes none of it
    listed = state;
    const k = oracleAt(one, b), size = b === Infinity ? (x) => number(x, 2) : (x) => number(x, 1);
    const rows = [...here().map((row, i) => ({ ...row, who: `${i + 1}`, mine: true })), ...one.also.map(([who, text, a, n]) => ({ who, text, a, n, unfit: unfit(text, critic, data.language, fewest.get(one.id)) }))];
    kept.hidden = !rows.length;
    ui.foot.hidden = !model.get("kept").length;
    if (!rows.length) return;
    rows.push({ who: `oracle: ${one.tags[k]}`, text: revealed() ? one.texts[k] : "(after your first sentence)", a: one.accuracy[k], n: one.naturalness[k], oracle: true });
    rows.sort((p, q) => Boolean(p.unfit) - Boolean(q.unfit) || worth(q.a, q.n, b) - worth(p.a, p.n, b)); // unjudged ones last
    ui.body.replaceChildren(...rows.map((row) => {
      const text = make("td", { dir: "auto", ...langOf(data, 1) }, row.text), cell = (words) => make("td", { class: "anx-number" }, words);
      if (row.unfit) text.append(" ", make("span", { class: "anx-note", lang: "en", title: row.unfit.said }, `(${row.unfit.mark})`));
      if (row.mine) text.append(" ", span("whole", editButton(row), " ", dropButton(row)));
      return make("tr", row.oracle ? { class: "anx-oracle" } : {}, make("th", { scope: "row" }, row.who), text, cell(number(row.a, 1)), cell(number(row.n, 2)), cell(row.unfit ? "–" : size(worth(row.a, row.n, b))));
    }));
  }

  const keptAt = (id, text) => model.get("kept").findIndex(([segment, other]) => segment === id && other === text);

  function dropButton(row) {
    const drop = button("✕", `Delete sentence ${row.who}`);
    drop.addEventListener("click", () => {
      const list = model.get("kept").slice();
      list.splice(keptAt(row.segment, row.text), 1);
      putKept(list);
      ui.status.textContent = "Deleted. The numbers count what is left.";
      ui.area.focus();
    });
    return drop;
  }

  function editButton(row) { // back into the field; keeping it again replaces it
    const again = button("edit", `Edit sentence ${row.who}`);
    again.addEventListener("click", () => {
      edited.set(row.segment, row.text);
      ui.area.value = row.text;
      put(model, "text", row.text);
      layKeep();
      paintText();
      remember();
      ui.status.textContent = `Sentence ${row.who} is in the field. Keep it again, and the new wording takes its place.`;
      ui.area.focus();
    });
    return again;
  }

  function placeOfEdited() { // among the kept sentences, -1 where none of this source is being edited
    return edited.has(one.id) ? keptAt(one.id, edited.get(one.id)) : -1;
  }

  function layKeep() { // what the button will do
    const at = placeOfEdited(), nth = model.get("kept").slice(0, at).filter(([segment]) => segment === one.id).length + 1;
    ui.keep.textContent = at < 0 ? KEEP : `Replace sentence ${nth}`;
    ui.keep.title = `${ui.keep.textContent} (Ctrl and Enter)`;
    ui.instead.hidden = at < 0;
  }

  // ---- what another source, or another kept sentence, changes
  const revealed = () => opened.has(one.id) || here().length > 0;

  function layRefs() {
    const open = revealed();
    ui.open.setAttribute("aria-expanded", open);
    ui.open.hidden = ui.told.hidden = open;
    ui.refs.replaceChildren(...(open ? one.refs.map((text, k) => make("p", { dir: "auto", ...langOf(data, 1) }, make("b", { lang: "en" }, one.refs.length > 1 ? `Reference ${k + 1}: ` : "Reference: "), text)) : []));
  }

  function layPlane() {
    const tries = here(), usual = grown(one.box, tries, true);
    grew = fair && fair.segment === one.id && fair.judged.shares.length > 4 && beyond(usual) ? usual : null;
    plane = planeOf(one, tries, grew ? grown(usual, [fair], false) : usual);
    ui.chart.replaceChildren(plane.svg);
    plane.svg.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") lookAt(plane.candidateAt(event) ?? chosen()); });
    plane.svg.addEventListener("pointerleave", () => lookAt(chosen()));
    plane.svg.addEventListener("click", (event) => { const k = plane.candidateAt(event); ui.look.value = k ?? ""; lookAt(k); });
    lookAt(chosen());
  }

  const chosen = () => (ui.look.value === "" ? null : +ui.look.value);

  function lookAt(k) {
    plane.look(k);
    if (k === null) { ui.looked.textContent = "Point at a candidate, tap it, or choose it from the list."; return; }
    ui.looked.replaceChildren(make("b", {}, one.tags[k]), ` chrF ${number(one.accuracy[k], 1)}, critic ${nats(one.naturalness[k])}. `,
      revealed() ? make("span", { dir: "auto", ...langOf(data, 1) }, one.texts[k]) : "Its text is shown with the reference, after your first sentence.");
  }

  function laySegment() {
    one = data.segments.find((s) => s.id === model.get("segment")) || data.segments[0];
    const at = data.segments.indexOf(one);
    ui.where.textContent = `source ${at + 1} of ${data.segments.length}`;
    off(ui.back, at === 0);
    off(ui.forth, at === data.segments.length - 1);
    for (const part of [ui.back, ui.forth, ui.where]) part.hidden = data.segments.length < 2;
    ui.source.textContent = one.src;
    ui.gloss.replaceChildren(...(one.gloss ? [glossOf(one.gloss)] : []));
    ui.look.replaceChildren(make("option", { value: "" }, "–"), ...one.tags.map((tag, k) => make("option", { value: k }, tag)));
    layKept();
  }

  function layKept() { layRefs(); layPlane(); layKeep(); paintText(); }

  function turn(by) {
    const next = data.segments[data.segments.indexOf(one) + by];
    if (!next) return;
    drafts.set(one.id, ui.area.value);
    ui.area.value = drafts.get(next.id) || "";
    model.set("text", ui.area.value);
    put(model, "segment", next.id);
    remember();
  }

  // ---- what is kept
  function remember() {
    clearTimeout(saving);
    drafts.set(one.id, ui.area.value);
    memory.write({ who: ui.name.value.trim(), kept: model.get("kept"), drafts: [...drafts] });
  }

  function recall() { // what this browser kept, unless the kernel has something newer
    const found = memory.read(), known = new Set(data.segments.map((s) => s.id));
    const pairs = (some) => (Array.isArray(some) ? some.filter((pair) => known.has(pair?.[0]) && typeof pair[1] === "string") : []);
    for (const [id, text] of pairs(found.drafts)) drafts.set(id, text);
    if (typeof found.who === "string" && !model.get("who")) model.set("who", found.who);
    const list = pairs(found.kept).filter(([, text]) => text.trim());
    if (list.length && !model.get("kept").length) model.set("kept", list);
    if (drafts.get(model.get("segment")) && !model.get("text")) model.set("text", drafts.get(model.get("segment")));
    model.save_changes();
    ui.area.value = model.get("text");
    ui.name.value = model.get("who");
  }

  function putKept(list) { put(model, "kept", list); remember(); }

  function keep() {
    const text = ui.area.value.trim().replace(/\s+/gu, " "), list = model.get("kept");
    if (!own) return;
    const at = placeOfEdited(), said = ui.keep.textContent, there = keptAt(one.id, text);
    if (there >= 0 && there !== at) { ui.status.textContent = "This sentence is kept already."; return; }
    edited.delete(one.id);
    if (there >= 0) { layKeep(); ui.status.textContent = "Nothing was changed."; return; }
    putKept(at < 0 ? [...list, [one.id, text]] : list.map((pair, k) => (k === at ? [one.id, text] : pair)));
    ui.status.textContent = at < 0 ? `Kept as sentence ${here().length} of this source. Can you beat it?` : `${said.replace("Replace s", "S")} is replaced.`;
  }

  function save() {
    const who = ui.name.value.trim(), fine = named.test(who), rows = all();
    ui.name.setAttribute("aria-invalid", !fine);
    ui.status.classList.toggle("anx-wrong", !fine);
    if (!fine) { ui.status.textContent = who ? data.name.bad : data.name.none; ui.name.focus(); return; }
    put(model, "who", who);
    remember();
    const file = `sentences_${data.task}_${who.replace(/[^\p{L}\p{M}\p{N}_-]+/gu, "_")}.csv`;
    download(file, ownCsv(data, who, rows));
    ui.status.textContent = `Saved ${rows.length} sentence${rows.length === 1 ? "" : "s"} as a download: ${file}. Hand that file in.`;
  }

  // ---- where the hand goes
  function typed() {
    paintText();
    put(model, "text", ui.area.value);
    clearTimeout(saving);
    clearTimeout(saying);
    saving = setTimeout(remember, WAIT);
    saying = setTimeout(() => { ui.said.textContent = `${ui.scores.textContent} ${ui.verdict.textContent}`; }, PAUSE);
  }

  function putBeta(b) { put(model, "beta", b === Infinity ? "inf" : b); }

  function change(by) { // the β of the neighbouring change
    const b = beta(), later = one.beta.filter((start) => start > b), earlier = one.beta.filter((start) => start < b);
    putBeta(by > 0 ? later[0] ?? Infinity : earlier[earlier.length - 1] ?? 0);
  }

  ui.area.addEventListener("input", typed);
  ui.area.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.ctrlKey) { event.preventDefault(); event.stopPropagation(); keep(); } });
  ui.slider.addEventListener("input", () => putBeta(ownBeta(one, +ui.slider.value)));
  ui.before.addEventListener("click", () => change(-1));
  ui.after.addEventListener("click", () => change(1));
  ui.back.addEventListener("click", () => turn(-1));
  ui.forth.addEventListener("click", () => turn(1));
  ui.keep.addEventListener("click", keep);
  ui.instead.addEventListener("click", () => { edited.delete(one.id); layKeep(); keep(); });
  ui.open.addEventListener("click", () => { opened.add(one.id); layRefs(); lookAt(chosen()); paintList(); ui.area.focus(); });
  ui.look.addEventListener("change", () => lookAt(chosen()));
  ui.name.addEventListener("input", () => { put(model, "who", ui.name.value.trim()); remember(); });
  ui.name.addEventListener("keydown", (event) => { if (event.key === "Enter") save(); });
  ui.save.addEventListener("click", save);
  keepKeys(root);
  window.addEventListener("pagehide", remember);

  const onText = () => { // from the kernel; what somebody types here is newer
    if (document.activeElement === ui.area || ui.area.value === model.get("text")) return;
    ui.area.value = model.get("text");
    paintText();
  };
  const onWho = () => { if (document.activeElement !== ui.name) ui.name.value = model.get("who"); };
  recall();
  const end = follow(model, [["change:text", onText], ["change:segment", laySegment], ["change:beta", paintBeta], ["change:kept", layKept], ["change:who", onWho]]);
  laySegment();
  return () => { end(); remember(); window.removeEventListener("pagehide", remember); };
}
