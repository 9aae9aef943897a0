// Precomputed frames: each slider, or row of buttons where values are few, chooses a position, all together a frame.
// Python stores what frames share once.

function render({ model, el }) {
  const data = model.get("data"), { controls, button: next, pieces } = data, chart = div("chart");
  const texts = data.texts.map((text) => div("frame", ...bold(text)));
  const words = make("div", { class: "anx-frames", "aria-live": next ? "polite" : "off" }, ...texts);
  const places = () => [model.get("at")].flat();
  const bars = controls.map(({ name, values }, k) => {
    const after = next && k === 0 ? [next, next] : ["▶", `${name}: next`];
    const ui = slideBar(newId(), name, { min: 0, max: values.length - 1 }, ["◀", `${name}: previous`], after);
    const goTo = (place) => {
      const at = places().with(k, place);
      if (place !== places()[k]) put(model, "at", at.length === 1 ? place : at);
    };
    if (values.length < (/\d/.test(values) ? 4 : 6) && after[0] !== next) { // more numbers than three are a scale
      const buttons = values.map((text, i) => set(button(text, text), { value: i }));
      for (const one of buttons) one.addEventListener("click", () => goTo(+one.value));
      return { buttons, bar: set(div("tools", make("b", {}, name), ...buttons), { role: "group", "aria-label": name }) };
    }
    const go = (steps) => goTo(stepped(places()[k], steps, 0, values.length - 1));
    if (after[0] === next) ui.before.remove();
    drive(ui, after[0] === next ? { Enter: 1, " ": 1 } : {}, go, goTo);
    return ui;
  });
  const both = div("main", chart, words); // a narrow chart has its words beside it
  const read = make("p", { class: "anx-readout anx-read" }, "Point at a mark to read its sentence.");
  const root = rootOf(data, "flipbook anx-card", "frames", div("bar", ...bars.map(({ bar }) => bar)), both);
  words.hidden = !data.texts.some(Boolean);
  read.hidden = !pieces.some((one) => one.includes('aria-roledescription="sentence"'));
  chart.addEventListener("pointerover", ({ target }) => {
    if (target.ariaRoleDescription === "sentence") read.textContent = target.ariaLabel;
  });
  el.append(root);

  function paint() {
    const at = places(), frame = at.reduce((sum, place, k) => sum * controls[k].values.length + place, 0);
    bars.forEach(({ buttons, slider, value, before, after }, k) => {
      if (buttons) return buttons.forEach((one, i) => one.setAttribute("aria-pressed", i === at[k]));
      const { name, values } = controls[k];
      slider.value = at[k];
      value.textContent = `${name} = ${values[at[k]]}`;
      slider.setAttribute("aria-valuetext", value.textContent);
      off(before, at[k] === 0);
      off(after, at[k] === values.length - 1);
    });
    const picture = data.pictures[data.charts[frame]];
    chart.hidden = !picture;
    if (picture) chart.replaceChildren(sized({ svg: picture.svg.map((k) => pieces[k]).join(""), alt: picture.alt }), read);
    both.classList.toggle("anx-main", chart.firstChild?.viewBox.baseVal.width < 600);
    texts.forEach((text, k) => text.classList.toggle("anx-now", k === frame));
    root.dataset.at = at;
  }

  keepKeys(root);
  paint();
  return follow(model, [["change:at", paint]]);
}
