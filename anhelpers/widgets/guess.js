// A question with buttons or a slider; the answer is on the page only after a guess.

function render({ model, el }) {
  const data = model.get("data"), numeric = !data.choices, id = newId();
  const unit = (n) => data.unit && "\u00a0" + (n === "1" ? data.unit.replace(/s$/, "") : data.unit);
  const said = (x) => number(x, data.digits);
  const question = make("div", { class: "anx-question", id }, ...bold(data.question));
  const answer = make("div", { class: "anx-answer", "aria-live": "polite" }), tools = div("tools");
  const buttons = numeric ? [button("Guess", "Guess")] : data.choices.map((choice) => button(choice, choice));
  const slider = make("input", { type: "range", min: data.low, max: data.high, step: data.step, "aria-labelledby": id, ...QUIET });
  const value = make("output", { class: "anx-value", "aria-live": "off" }), marks = make("div", { class: "anx-marks", "aria-hidden": "true" });
  const root = rootOf(data, "guess anx-card", data.question, question, div("slide", slider, value), marks, tools, answer);
  tools.append(...buttons);
  slider.parentElement.hidden = !numeric;
  el.append(root);

  function move() {
    value.textContent = said(+slider.value) + unit(said(+slider.value));
    slider.setAttribute("aria-valuetext", value.textContent);
  }

  const mark = (kind, x) => {
    const one = span(kind);
    one.style.insetInlineStart = `${(100 * clamp((x - data.low) / (data.high - data.low), 0, 1)).toFixed(2)}%`;
    return one;
  };

  function verdict(guess) {
    if (!numeric) return guess === data.value ? "Right." : `Not quite: ${data.value}.`;
    const yours = said(guess);
    return yours === data.shown ? `Exactly: ${data.shown}${unit(data.shown)}.` : `You guessed ${yours}; it is ${data.shown}${unit(data.shown)}.`;
  }

  function paint() {
    const guess = model.get("guess"), done = guess !== null && guess !== undefined;
    buttons.forEach((one, k) => {
      off(one, done);
      one.classList.toggle("anx-yours", done && !numeric && data.choices[k] === guess);
      one.classList.toggle("anx-right", done && !numeric && data.choices[k] === data.value);
    });
    buttons[0].hidden = numeric && done;
    root.dataset.done = done;
    marks.hidden = !(numeric && done);
    if (!done) return answer.replaceChildren();
    if (numeric) slider.value = guess;
    value.hidden = true;
    slider.setAttribute("aria-disabled", true);
    move();
    if (numeric) marks.replaceChildren(mark("yours", guess), mark("true", data.value));
    answer.replaceChildren(make("p", {}, make("b", {}, verdict(guess)), " ", ...bold(data.sentence)));
    if (data.after) answer.append(div("chart", parsed(data.after)));
  }

  const done = () => root.dataset.done === "true";
  slider.addEventListener("input", () => (done() ? (slider.value = model.get("guess")) : move()));
  buttons.forEach((one, k) => one.addEventListener("click", () => {
    if (!done()) put(model, "guess", numeric ? +slider.value : data.choices[k]);
  }));
  slider.value = (data.low + data.high) / 2;
  onKeys(slider, { Enter: 1 }, () => buttons[0].click());
  keepKeys(root);
  move();
  paint();
  return follow(model, [["change:guess", paint]]);
}
