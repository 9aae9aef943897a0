// Write your own translation: two judges at every key, the plane of this source's candidates, and the sentences that were
// kept. Python ships scored candidates, references and the critic's table; chrf.js and critic.js score as Python does.

const STEPS = 12; // positions of the slider from one change of the oracle's choice to the next
const WIDE = 480, HIGH = 350, EDGE = { left: 50, right: 14, top: 12, bottom: 50 }; // the picture, in its own units
const FULL = 0.4; // nats of one word that give it the full colour
const WAIT = 400, PAUSE = 1500; // milliseconds until typing is saved, and until it is announced
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
  if (!span) return "Yours is not above the line of the best candidates.";
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

function namesOf(labels, dots) { // texts beside their points, where they cover least; what finds no place is left out
  const group = drawing("g", { class: "anx-names" }), taken = dots.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]);
  const hit = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  for (const { text, x, y } of labels) {
    const w = 7.6 * text.length, places = [[x + 9, y - 6], [x - 9 - w, y + 16], [x + 9, y + 16], [x - 9 - w, y - 6], [x - w / 2, y - 11], [x - w / 2, y + 21]];
    const free = places.find(([left, base]) => left >= EDGE.left && left + w <= WIDE && base >= 12 && base + 4 <= HIGH - EDGE.bottom &&
      !taken.some((other) => hit([left, base - 12, left + w, base + 4], other)));
    if (!free) continue;
    taken.push([free[0], free[1] - 12, free[0] + w, free[1] + 4]);
    group.append(drawing("text", { x: free[0], y: free[1] }, text));
  }
  return group;
}

const pathOf = (some) => (some.length ? "M" + some.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L") : "");

function planeOf(one, tries) { // what stays while somebody types; and a function that draws the rest
  const { box } = one, scale = scaleOf(box), at = one.texts.map((_, k) => scale.at(one.naturalness[k], one.accuracy[k])), mark = new Set(one.chain);
  const sweep = drawing("path", { class: "anx-sweep" }), mine = drawing("circle", { class: "anx-mine", r: 8 });
  const name = drawing("text", { class: "anx-mine-name" }), ring = drawing("circle", { class: "anx-ring", r: 9 });
  const string = drawing("path", { class: "anx-string", d: pathOf(one.chain.map((k) => at[k])) });
  const dots = at.map(([x, y], k) => drawing("circle", { cx: x, cy: y, r: 4.5, class: mark.has(k) ? "anx-dot anx-on" : "anx-dot" },
    drawing("title", {}, `${one.tags[k]}: chrF ${number(one.accuracy[k], 1)}, critic ${nats(one.naturalness[k])}`)));
  const places = tries.map(({ a, n }) => scale.at(n, a));
  const squares = places.map(([x, y]) => drawing("path", { class: "anx-try", d: `M${x},${y - 6}l6,6l-6,6l-6,-6z` }));
  const names = namesOf([...places.map(([x, y], k) => ({ text: `${k + 1}`, x, y })), ...one.chain.map((k) => ({ text: one.tags[k], x: at[k][0], y: at[k][1] }))], [...at, ...places]);
  const svg = drawing("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" }, axesOf(box, scale), sweep, string, ...dots, ...squares, ring, names, mine, name);

  function draw(beta, own) {
    const k = oracleAt(one, beta), a = one.accuracy[k], n = one.naturalness[k], [x0, x1, y0, y1] = box;
    const from = Math.max(x0, n - (y1 - a) / (beta || 1e-9)), to = Math.min(x1, n + (a - y0) / (beta || 1e-9));
    sweep.setAttribute("d", beta === Infinity ? pathOf([[scale.x(n), EDGE.top], [scale.x(n), scale.floor]])
      : pathOf([from, to].map((x) => [scale.x(x), scale.y(a + beta * (n - x))])));
    ring.setAttribute("cx", at[k][0]);
    ring.setAttribute("cy", at[k][1]);
    for (const part of [mine, name]) part.style.display = own ? "" : "none";
    if (!own) return;
    const [x, y] = scale.at(own.n, own.a), within = scale.inside(own.n, own.a), left = x > WIDE - (within ? 90 : 200);
    mine.setAttribute("cx", x);
    mine.setAttribute("cy", y);
    mine.classList.toggle("anx-outside", !within);
    name.textContent = within ? MINE : `${MINE}, beyond this edge`;
    for (const [key, value] of [["x", left ? x - 12 : x + 12], ["y", clamp(y + 5, 16, scale.floor - 4)], ["text-anchor", left ? "end" : "start"]]) name.setAttribute(key, value);
  }
  return { svg, draw };
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
    keep: make("button", { type: "button", class: "anx-keep", title: "Keep this sentence (Ctrl and Enter)", ...QUIET }, "Keep this sentence"),
    open: make("button", { type: "button", "aria-expanded": "false", ...QUIET }, "show the reference"),
    told: span("note", "The first sentence that you keep shows the reference."), refs: div("refs"), verdict: div("verdict"), chart: div("chart"),
    lines: div("note", "Blue: the candidates that are best at some β. Grey: all that is worth as much as the oracle's choice at this β."),
    said: make("div", { class: "anx-hidden", role: "status" }),
    body: make("tbody"), status: make("div", { class: "anx-status", role: "status" }),
  };
  ui.legend = div("note", make("span", { class: "anx-key anx-down" }, "sounds translated"), " ", make("span", { class: "anx-key anx-up" }, "sounds original"),
    " ", make("span", { class: "anx-hit" }, "in a reference"), " (four letters or more)");
  return ui;
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
  const opened = new Set(), drafts = new Map();
  const left = div("write", div("tools", span("pair", ui.back, ui.where, ui.forth)), ui.source, ui.gloss,
    make("label", { for: ui.area.id, class: "anx-ask" }, "Your translation"), ui.area, ui.words, ui.scores, ui.verdict, ui.pulls, ui.legend,
    div("tools", ui.keep, ui.open, ui.told), ui.refs);
  const right = div("see", ui.bar, ui.chart, ui.lines);
  const list = tableOf(make("caption", {}, "Worth at this β, the best first, with the oracle's choice. A number is the point of a kept sentence in the picture."),
    heads("", "Sentence", "chrF", "Critic", "Worth"), []);
  list.tBodies[0].replaceWith(ui.body);
  const kept = div("kept-list", list);
  const root = rootOf(data, "own", "write your own translation", div("two", left, right), kept, ui.status, ui.said);
  el.append(root);
  let one = data.segments[0], plane, saving, saying;
  let own = null, fair = null; // what is typed, with its scores; the same where the critic can judge it

  const beta = () => { const b = model.get("beta"); return b === "inf" ? Infinity : +b; };
  const scored = (text) => { const judged = explainedText(critic, text); return { judged, a: chrfOf(text, references.get(one.id)), n: judged.score, text, unfit: unfit(text, critic, data.language, fewest.get(one.id)) }; };
  const here = () => model.get("kept").filter(([id]) => id === one.id).map(([, text]) => scored(text)).filter((row) => row.n !== null);
  const revealed = () => opened.has(one.id) || here().length > 0;

  function paintText() { // what a key changes
    const text = ui.area.value, now = scored(text);
    own = now.n === null ? null : now;
    fair = own && !own.unfit ? own : null;
    ui.words.replaceChildren(...colouredWords(text, now.unfit ? { shares: [] } : now.judged, references.get(one.id)));
    ui.scores.replaceChildren(make("b", {}, "chrF ", own ? number(now.a, 1) : "–"), " of 100 · ", make("b", {}, "critic ", fair ? nats(now.n) : "–"),
      fair ? `: ${oddsSaid(now.n)}.` : own ? `. ${own.unfit.said}` : text.trim() ? ". This text has no word for the critic." : ". Type a translation: two automatic judges score it.");
    ui.pulls.textContent = fair ? `${pullsSaid(now.judged.shares)} Every text starts at ${nats(critic.intercept)}.` : "";
    for (const part of [ui.words, ui.legend]) part.hidden = !text.trim();
    off(ui.keep, !own);
    paintBeta();
  }

  function paintBeta() { // what a β changes
    const b = beta(), k = oracleAt(one, b), text = betaText(b);
    plane.draw(b, fair);
    ui.slider.max = STEPS * one.beta.length;
    ui.slider.value = Math.round(ownPlace(one, b));
    ui.value.textContent = text;
    ui.verdict.replaceChildren(`At ${text} the oracle takes: `, make("b", {}, one.tags[k]), ". ", fair ? `${worthSaid(one, fair, b)} ${beatenSaid(one, fair)}` : "");
    ui.verdict.classList.toggle("anx-won", Boolean(fair && winsBetween(one, fair.a, fair.n)));
    ui.slider.setAttribute("aria-valuetext", `${text}: the oracle takes ${one.tags[k]}`);
    plane.svg.setAttribute("aria-label", `${one.texts.length} candidates by chrF and by the critic; best at some β: ` +
      `${one.chain.map((j) => one.tags[j]).join(", ")}.${fair ? ` Yours: chrF ${number(fair.a, 1)}, critic ${nats(fair.n)}.` : own ? ` ${own.unfit.said}` : ""}`);
    root.dataset.beta = b;
    off(ui.before, b === 0);
    off(ui.after, b === Infinity);
    paintList();
  }

  function paintList() { // kept sentences with the oracle's choice, by their worth
    const b = beta(), k = oracleAt(one, b), size = (x) => number(x, b === Infinity ? 2 : 1);
    const rows = here().map((row, i) => ({ ...row, who: `${i + 1}` }));
    kept.hidden = !rows.length;
    if (!rows.length) return;
    rows.push({ who: `oracle: ${one.tags[k]}`, text: one.texts[k], a: one.accuracy[k], n: one.naturalness[k], oracle: true });
    rows.sort((p, q) => Boolean(p.unfit) - Boolean(q.unfit) || worth(q.a, q.n, b) - worth(p.a, p.n, b)); // unjudged ones last
    ui.body.replaceChildren(...rows.map((row) => {
      const text = make("td", { dir: "auto", ...langOf(data, 1) }, row.text), cell = (words) => make("td", { class: "anx-number" }, words);
      if (row.unfit) text.append(" ", make("span", { class: "anx-note", lang: "en", title: row.unfit.said }, `(${row.unfit.mark})`));
      if (!row.oracle) text.append(" ", dropButton(row));
      return make("tr", row.oracle ? { class: "anx-oracle" } : {}, make("th", { scope: "row" }, row.who), text, cell(number(row.a, 1)), cell(number(row.n, 2)), cell(row.unfit ? "–" : size(worth(row.a, row.n, b))));
    }));
  }

  function dropButton(row) {
    const drop = button("✕", `Delete sentence ${row.who}`);
    drop.addEventListener("click", () => {
      putKept(model.get("kept").filter(([id, text]) => id !== one.id || text !== row.text));
      ui.status.textContent = "Deleted. The numbers count what is left.";
      ui.area.focus();
    });
    return drop;
  }

  function layKept() { // what another source, or another kept sentence, changes
    const open = revealed();
    ui.open.setAttribute("aria-expanded", open);
    ui.open.hidden = ui.told.hidden = open;
    ui.refs.replaceChildren(...(open ? one.refs.map((text, k) => make("p", { dir: "auto", ...langOf(data, 1) }, make("b", { lang: "en" }, one.refs.length > 1 ? `Reference ${k + 1}: ` : "Reference: "), text)) : []));
    plane = planeOf(one, here());
    ui.chart.replaceChildren(plane.svg);
    paintText();
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
    layKept();
  }

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
    memory.write({ kept: model.get("kept"), drafts: [...drafts] });
  }

  function recall() { // what this browser kept, unless the kernel has something newer
    const found = memory.read(), known = new Set(data.segments.map((s) => s.id));
    const pairs = (some) => (Array.isArray(some) ? some.filter((pair) => known.has(pair?.[0]) && typeof pair[1] === "string") : []);
    for (const [id, text] of pairs(found.drafts)) drafts.set(id, text);
    const list = pairs(found.kept).filter(([, text]) => text.trim());
    if (list.length && !model.get("kept").length) model.set("kept", list);
    if (drafts.get(model.get("segment")) && !model.get("text")) model.set("text", drafts.get(model.get("segment")));
    model.save_changes();
    ui.area.value = model.get("text");
  }

  function putKept(list) { put(model, "kept", list); remember(); }

  function keep() {
    const text = ui.area.value.trim().replace(/\s+/gu, " "), list = model.get("kept");
    if (!own) return;
    if (list.some(([id, other]) => id === one.id && other === text)) { ui.status.textContent = "This sentence is kept already."; return; }
    putKept([...list, [one.id, text]]);
    ui.status.textContent = `Kept as sentence ${here().length} of this source. Can you beat it?`;
  }

  // ---- where the hand goes
  function putBeta(b) { put(model, "beta", b === Infinity ? "inf" : b); }

  function change(by) { // the β of the neighbouring change
    const b = beta(), later = one.beta.filter((start) => start > b), earlier = one.beta.filter((start) => start < b);
    putBeta(by > 0 ? later[0] ?? Infinity : earlier[earlier.length - 1] ?? 0);
  }

  ui.area.addEventListener("input", () => {
    paintText();
    put(model, "text", ui.area.value);
    clearTimeout(saving);
    clearTimeout(saying);
    saving = setTimeout(remember, WAIT);
    saying = setTimeout(() => { ui.said.textContent = `${ui.scores.textContent} ${ui.verdict.textContent}`; }, PAUSE);
  });
  ui.area.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.ctrlKey) { event.preventDefault(); event.stopPropagation(); keep(); } });
  ui.slider.addEventListener("input", () => putBeta(ownBeta(one, +ui.slider.value)));
  for (const [control, act] of [[ui.before, () => change(-1)], [ui.after, () => change(1)], [ui.back, () => turn(-1)], [ui.forth, () => turn(1)], [ui.keep, keep]])
    control.addEventListener("click", act);
  ui.open.addEventListener("click", () => { opened.add(one.id); layKept(); ui.area.focus(); });
  keepKeys(root);
  window.addEventListener("pagehide", remember);

  const onText = () => { // from the kernel; what somebody types here is newer
    if (document.activeElement === ui.area || ui.area.value === model.get("text")) return;
    ui.area.value = model.get("text");
    paintText();
  };
  recall();
  const end = follow(model, [["change:text", onText], ["change:segment", laySegment], ["change:beta", paintBeta], ["change:kept", layKept]]);
  laySegment();
  return () => { end(); remember(); window.removeEventListener("pagehide", remember); };
}
