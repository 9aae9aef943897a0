// A question with buttons or a slider; the answer is on the page only after a guess.

function render({ model, el }) {
  const data = model.get("data"), numeric = !data.choices, id = newId(), { low, high } = data;
  const unit = data.unit && "\u00a0" + data.unit, said = (x) => number(x, data.digits);
  const question = make("div", { class: "anx-question", id }, ...bold(data.question));
  const answer = make("div", { class: "anx-answer", "aria-live": "polite" }), marks = div("marks");
  const buttons = (data.choices || ["Guess"]).map((text) => button(text, text));
  const slider = make("input", { ...QUIET, type: "range", min: low, max: high, step: data.step, "aria-labelledby": id });
  const value = make("output", { class: "anx-value", "aria-live": "off" }), slide = div("slide", slider, value);
  const tools = div("tools", ...buttons);
  const root = rootOf(data, "guess anx-card", data.question, question, slide, marks, tools, answer);
  slide.hidden = !numeric;
  el.append(root);

  function move() {
    value.textContent = said(+slider.value) + unit;
    slider.setAttribute("aria-valuetext", value.textContent);
  }

  function mark(kind, x) {
    const one = span(kind);
    one.style.left = `${100 * clamp((x - low) / (high - low), 0, 1)}%`;
    return one;
  }

  function verdict(guess) {
    if (!numeric) return guess === data.value ? "Right." : /[.!?]"?$/.test(data.value) ? "No." : `No: ${data.value}.`;
    return `You guessed ${said(guess)}; it is ${data.shown}${unit}.`;
  }

  function paint() {
    const guess = model.get("guess"), done = guess !== null;
    root.dataset.done = done;
    value.hidden = done;
    marks.hidden = !done || !numeric;
    slider.setAttribute("aria-disabled", done);
    buttons.forEach((one, k) => {
      off(one, done);
      one.classList.toggle("anx-yours", done && !numeric && data.choices[k] === guess);
      one.classList.toggle("anx-right", done && !numeric && data.choices[k] === data.value);
    });
    if (!done) return answer.replaceChildren();
    if (numeric) slider.value = guess;
    move();
    marks.replaceChildren(mark("yours", guess), mark("right", data.value));
    answer.replaceChildren(make("p", {}, make("b", {}, verdict(guess)), " ", ...bold(data.sentence)));
    if (data.after) answer.append(div("chart", sized(data.after)));
  }

  const done = () => model.get("guess") !== null;
  slider.addEventListener("input", () => (done() ? (slider.value = model.get("guess")) : move()));
  onKeys(slider, { Enter: 1 }, () => buttons[0].click());
  buttons.forEach((one, k) => one.addEventListener("click", () =>
    done() || put(model, "guess", numeric ? +slider.value : data.choices[k])));
  keepKeys(root);
  slider.value = data.start?.[0] ?? (low + high) / 2;
  move();
  paint();
  return follow(model, [["change:guess", paint]]);
}
