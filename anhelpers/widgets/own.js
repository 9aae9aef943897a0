// Fool the judges: two metrics score what is typed, at every key, beside the plane of the candidates. Python ships the
// scored candidates, the references and the critic's table; chrf.js and critic.js score as Python does.

const FULL = 0.4; // nats of one word that give it the full colour
const PAUSE = 1500; // milliseconds until typing is announced

const valueOf = (a, n, beta) => (beta === Infinity ? n : a + beta * n); // AN eq. 5
const nats = (x) => `${number(x, 2)}\u00a0nats`;
const shortBeta = (b) => betaText(b).replace("β = ", "");

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

function beatenSaid(one, own) { // whether it lies above the oracle curve
  const wins = winsBetween(one, own.a, own.n);
  const prefer = `Both metrics together prefer yours to all ${one.texts.length} candidates`;
  if (!wins) return "At every β, another candidate has a higher value.";
  const [low, high] = wins;
  const where = low === 0 ? (high === Infinity ? "at every β" : `at β below ${shortBeta(high)}`)
    : high === Infinity ? `at β above ${shortBeta(low)}` : `at β from ${shortBeta(low)} to ${shortBeta(high)}`;
  return `${prefer} ${where}. Is it faithful to the source?`;
}

function oddsSaid(score) { // a critic's score in words
  const chance = clamp(Math.round(100 / (1 + Math.exp(-score))), 1, 99);
  return `${/^8|^1[18]$/.test(chance) ? "an" : "a"} ${chance}\u00a0% chance of an original`;
}

function colouredWords(text, judged, references) { // each word coloured by its share, pieces of a reference underlined
  const composed = text.normalize("NFC"), hits = matchedPlaces(composed, references), found = [];
  const pieces = (from, to) => { // cut where an underline begins or ends
    const cut = [];
    for (let i = from, j; i < to; i = j) {
      for (j = i + 1; j < to && hits[j] === hits[i];) j += 1;
      cut.push(hits[i] ? span("hit", composed.slice(i, j)) : composed.slice(i, j));
    }
    return cut;
  };
  let done = 0;
  for (const { from, to, nats: share } of judged.shares) {
    if (from < done) continue;
    const strength = Math.min(1, Math.abs(share) / FULL), word = span(share < 0 ? "down" : "up", ...pieces(from, to));
    word.title = `${share > 0 ? "+" : ""}${number(share, 2)} nats`;
    word.style.setProperty("--w", strength < 0.05 ? 0 : strength.toFixed(2));
    found.push(...pieces(done, from), word);
    done = to;
  }
  return [...found, ...pieces(done, composed.length)];
}

function controls(data) {
  const id = newId();
  return {
    ...slideBar(id, "β", { min: 0 }, ["◀", "Previous change of the oracle's choice"],
      ["▶", "Next change of the oracle's choice"]),
    back: button("‹", "Previous source"), forth: button("›", "Next source"), where: span("where"),
    source: make("p", { class: "anx-source", dir: "auto", ...langOf(data, 0) }), gloss: div("gloss"),
    area: make("textarea", { id: id + "-t", rows: 3, dir: "auto", spellcheck: "true", autocomplete: "off", ...langOf(data, 1),
      ...QUIET }),
    words: make("div", { class: "anx-words", dir: "auto", ...langOf(data, 1) }),
    scores: div("scores"), verdict: div("verdict"),
    legend: div("note", span("key anx-down", "sounds translated"), " ", span("key anx-up", "sounds original"), " ",
      span("hit", "in the reference")),
    refs: make("details", { class: "anx-note" }), seen: div("seen"), chart: div("chart"),
    said: make("div", { class: "anx-unseen", role: "status" }),
  };
}

function render({ model, el }) {
  const data = model.get("data"), ui = controls(data), critic = criticOf(data.critic), plane = planeOf();
  const references = new Map(data.segments.map((one) => [one.id, one.refs.map(chrfReference)]));
  const drafts = new Map();
  const root = rootOf(data, "own", "Fool the judges", div("two",
    div("write", div("tools", span("pair", ui.back, ui.where, ui.forth)), ui.source, ui.gloss,
      make("label", { for: ui.area.id, class: "anx-typed" }, "Your translation"), ui.area, ui.words, ui.legend,
      ui.scores, ui.verdict, ui.refs),
    div("see", ui.bar, ui.chart, ui.seen)), ui.said);
  el.append(root);
  ui.chart.append(plane.svg);
  let one, own = null, saying; // own: what is typed, with its scores
  const { beta, steps, paint } = betaSlider(model, ui);

  function paintText() { // what a key changes
    const text = ui.area.value, refs = references.get(one.id), judged = explainedText(critic, text), n = judged.score;
    own = n === null ? null : { a: chrfOf(text, refs), n };
    ui.words.replaceChildren(...colouredWords(text, judged, refs));
    ui.scores.replaceChildren(make("b", {}, "chrF ", own ? number(own.a, 1) : "–"), " of 100 · ",
      make("b", {}, "critic ", own ? nats(n) : "–"), own ? `: ${oddsSaid(n)}` : "");
    for (const part of [ui.words, ui.legend]) part.hidden = !text.trim();
    paintBeta();
  }

  function paintBeta() { // what a β changes
    const b = beta(), k = winner(one.beta, b), at = one.chain[k], text = betaText(b);
    const best = valueOf(one.accuracy[at], one.naturalness[at], b);
    plane.paint(k, { beta: b, own });
    const size = (x) => number(x, b === Infinity ? 2 : 1);
    const sum = () => (b === Infinity ? ""
      : `${number(own.a, 1)} + ${shortBeta(b)} × ${number(own.n, 2).replace(/^\u2212.*/, "($&)")} = `);
    ui.verdict.replaceChildren(`The oracle's choice at ${text}, `, make("i", {}, one.tags[at]), ", has the value ",
      make("b", {}, size(best)), ". ", ...(own ? [`Yours: ${sum()}`,
        make("b", {}, size(valueOf(own.a, own.n, b))), `. ${beatenSaid(one, own)}`] : []));
    ui.verdict.classList.toggle("anx-won", Boolean(own && winsBetween(one, own.a, own.n)));
    paint(`: the oracle chooses ${one.tags[at]}`);
    root.dataset.beta = b;
  }

  function laySegment() {
    one = data.segments.find((s) => s.id === model.get("segment")) || data.segments[0];
    const at = data.segments.indexOf(one), inTarget = { dir: "auto", ...langOf(data, 1) };
    ui.where.textContent = `source ${at + 1} of ${data.segments.length}`;
    off(ui.back, at === 0);
    off(ui.forth, at === data.segments.length - 1);
    ui.back.parentElement.hidden = data.segments.length < 2;
    ui.source.textContent = one.src;
    ui.gloss.replaceChildren(...(one.gloss ? [glossOf(one.gloss)] : []));
    ui.refs.replaceChildren(make("summary", QUIET, "the reference"), ...one.refs.map((text) => make("p", inTarget, text)));
    ui.refs.open = false;
    const { accuracy, naturalness, texts, tags, box } = one, chosen = (scores) => one.chain.map((k) => scores[k]);
    const row = { accuracy: chosen(accuracy), naturalness: chosen(naturalness), clouds: [accuracy, naturalness] };
    const see = (k) => ui.seen.replaceChildren(make("b", {}, tags[k]), ": ", make("span", inTarget, texts[k]));
    plane.lay(row, ["↑ accuracy (chrF)", "naturalness (critic, nats) →"], ["chrF", "the critic"], { box, see, texts });
    ui.seen.textContent = "Each dot is a candidate: hover or tap to read it. Line: the oracle's choices. Dashed: the same " +
      "value at this β.";
    steps(one.beta.slice(1));
    paintText();
  }

  function turn(by) {
    const next = data.segments[data.segments.indexOf(one) + by];
    if (!next) return;
    drafts.set(one.id, ui.area.value);
    ui.area.value = drafts.get(next.id) || "";
    model.set("text", ui.area.value);
    put(model, "segment", next.id);
  }

  ui.area.addEventListener("input", () => {
    paintText();
    put(model, "text", ui.area.value);
    clearTimeout(saying);
    saying = setTimeout(() => { ui.said.textContent = `${ui.scores.textContent} ${ui.verdict.textContent}`; }, PAUSE);
  });
  backAndForth(ui.back, ui.forth, turn);
  keepKeys(root);

  const onText = () => { // from the kernel; what somebody types here is newer
    if (document.activeElement === ui.area || ui.area.value === model.get("text")) return;
    ui.area.value = model.get("text");
    paintText();
  };
  ui.area.value = model.get("text");
  const end = follow(model, [["change:text", onText], ["change:segment", laySegment], ["change:beta", paintBeta]]);
  laySegment();
  return end;
}
