// The opening: one sentence in large letters and a slider from faithful to natural. The guess appears with the first
// change; plane and answer after a guess, at the end. Python ships one source's candidates and the ways through them.

const GUESSES = [1, 5, 10, 20, 40, 80]; // points

function render({ model, el }) {
  const data = model.get("data"), id = newId(), plane = planeOf(), keys = {};
  const inTarget = { dir: "auto", ...langOf(data, 1) };
  const short = (x, i = 0) => number(x, data.digits[i]).replace(/\.0+$/, "");
  const slider = make("input", { type: "range", min: 0, step: "any", id, ...QUIET }), ticks = div("ticks");
  const stack = [...new Set(data.ways.flat())].map((i) => [i, make("p", inTarget, data.texts[i])]);
  const ask = div("hint", "Drag towards natural"), question = span("question"), answer = make("p", { role: "status" });
  const guesses = GUESSES.map((points) => make("button", { type: "button", value: points, ...QUIET }, `${points}`));
  const box = make("input", { type: "checkbox", ...QUIET });
  const allow = make("label", { class: "anx-allow" }, box, " allow sentences about something else", `${data.ways[0]}` === `${data.ways[1]}` ? " (no change for this one)" : "");
  const chart = div("chart", plane.svg), dot = div("seen"), see = div("see", chart, dot);
  const chips = make("div", { class: "anx-tools anx-guesses", role: "group", "aria-label": "Your guess, in points" });
  const label = make("label", { for: id, class: "anx-unseen" }, "from faithful to natural");
  chips.append(...guesses);
  const gloss = data.gloss ? [glossOf(data.gloss)] : [];
  const more = div("two", div("write", question, chips, answer, allow, div("note", data.note), ...gloss), see);
  const source = make("p", { class: "anx-source", dir: "auto", ...langOf(data, 0) }, data.src);
  const bar = div("way", label, span("faithful", "faithful"), div("track", slider, ticks), span("natural", "natural"));
  const large = div("stack", ...stack.map(([, text]) => text));
  const root = rootOf(data, "hero anx-card", "From faithful to natural", source, large, bar, ask, more);
  el.append(root);
  let way, moved = false, ended = false;

  const last = () => way.length - 1, place = () => clamp(model.get("place"), 0, last());

  function layWay() { // without sentences about something else, or with them; a slider stays at its end
    const old = way, atEnd = old && Math.round(place()) === last();
    way = data.ways[+(model.get("allowed") && data.ways.length > 1)];
    box.checked = model.get("allowed");
    const cloud = [...data.texts.keys()].filter((i) => way === data.ways.at(-1) || !data.aside[i]);
    const of = (some, values) => some.map((i) => values[i]), { accuracy, naturalness } = data;
    const clouds = [of(cloud, accuracy), of(cloud, naturalness)];
    const row = { accuracy: of(way, accuracy), naturalness: of(way, naturalness), clouds };
    const said = (i) => [make("span", inTarget, data.texts[i]), " ", span("note", whole(scores(i)))];
    plane.lay(row, data.axes, ["accuracy", "naturalness"], {
      see: (i) => dot.replaceChildren(...said(cloud[i])), texts: of(cloud, data.texts) });
    dot.textContent = "Each dot is a translation: point at it, tap it, or use the arrow keys.";
    slider.max = Math.max(1, last());
    Object.assign(keys, sliderKeys(1, last()));
    ticks.replaceChildren(...way.slice(1).map((_, k) => {
      const tick = make("i");
      tick.style.setProperty("--at", (k + 0.5) / last());
      return tick;
    }));
    if (atEnd) put(model, "place", last());
    paint();
  }

  const scores = (i) => `accuracy ${short(data.accuracy[i])} · naturalness ${short(data.naturalness[i], 1)}`;

  function paint() { // what a place of the slider changes
    const k = Math.round(place()), guess = model.get("guess");
    const from = data.accuracy[way[0]], lost = from - data.accuracy[way[last()]];
    moved ||= k > 0;
    ended ||= k === last();
    const told = ended && guess !== null;
    for (const [i, text] of stack) text.classList.toggle("anx-on", i === way[k]);
    slider.value = place();
    slider.setAttribute("aria-valuetext", data.texts[way[k]]);
    ask.classList.toggle("anx-asked", moved);
    more.hidden = !moved;
    see.hidden = !told;
    allow.hidden = !told || data.ways.length < 2;
    question.textContent = `The leftmost translation has ${short(from)} ${data.points}. Guess: how many does the rightmost lose?`;
    for (const one of guesses) one.setAttribute("aria-pressed", guess === +one.value);
    const mean = (i) => `${number(data.paid[i], 1)}\u00a0points`, on = way !== data.ways[0];
    const before = on ? `; ${mean(0)} without sentences about something else` : "";
    const all = ` On average over ${data.n} sentences: ${mean(+on)}${before}.`;
    const loses = make("b", {}, `It loses ${short(lost)} of its ${short(from)} points.`);
    if (told) answer.replaceChildren(loses, ` You guessed ${guess}.`, all);
    plane.paint(k);
    root.dataset.place = k;
  }

  onKeys(slider, keys, (by) => put(model, "place", clamp(Math.round(place()) + by, 0, last())));
  slider.addEventListener("input", () => put(model, "place", +slider.value));
  for (const one of guesses) one.addEventListener("click", () => put(model, "guess", +one.value));
  box.addEventListener("change", () => put(model, "allowed", box.checked));
  keepKeys(root);
  const end = follow(model, [["change:place", paint], ["change:guess", paint], ["change:allowed", layWay]]);
  layWay();
  return end;
}
