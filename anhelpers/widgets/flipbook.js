// Precomputed frames: each slider chooses a position, all together a frame. Python stores what frames share once.

function render({ model, el }) {
  const data = model.get("data"), sizes = data.controls.map(({ values }) => values.length);
  const chart = div("chart"), texts = data.texts.map((text) => div("frame", ...bold(text)));
  const bars = data.controls.map(({ name, values }, k) => {
    const ui = slideBar(newId(), name, { min: 0, max: values.length - 1 }, ["◀", `${name}: previous`],
      data.button && k === 0 ? [data.button, data.button] : ["▶", `${name}: next`]);
    if (data.button && k === 0) ui.before.remove();
    if (data.button && k === 0) ui.value.before(ui.after);
    const go = (steps) => goTo(k, stepped(places()[k], steps, 0, values.length - 1));
    if (data.button) onKeys(ui.slider, { Enter: 1, " ": 1 }, go);
    ui.slider.addEventListener("input", () => goTo(k, +ui.slider.value));
    ui.before.addEventListener("click", () => go(-1));
    ui.after.addEventListener("click", () => go(1));
    return ui;
  });
  const words = make("div", { class: "anx-frames", "aria-live": data.button ? "polite" : "off" }, ...new Set(texts));
  const root = rootOf(data, "flipbook anx-card", "frames", ...bars.map(({ bar }) => bar), chart, words);
  words.hidden = !data.texts.some(Boolean);
  el.append(root);

  const places = () => [model.get("at")].flat();
  const frameAt = (at) => at.reduce((sum, place, k) => sum * sizes[k] + place, 0);

  function goTo(k, place) {
    const at = places().with(k, place);
    if (place !== places()[k]) put(model, "at", at.length === 1 ? place : at);
  }

  function paint() {
    const at = places(), frame = frameAt(at), picture = data.pictures[data.charts[frame]];
    bars.forEach(({ slider, value, before, after }, k) => {
      const { name, values } = data.controls[k];
      slider.value = at[k];
      value.textContent = `${name} = ${values[at[k]]}`;
      slider.setAttribute("aria-valuetext", value.textContent);
      off(before, at[k] === 0);
      off(after, at[k] === values.length - 1);
    });
    if (picture) chart.replaceChildren(parsed({ svg: picture.svg.map((k) => data.pieces[k]).join(""), alt: picture.alt }));
    chart.hidden = !picture;
    texts.forEach((text, k) => text.classList.toggle("anx-now", k === frame));
    root.dataset.at = at;
  }

  keepKeys(root);
  paint();
  return follow(model, [["change:at", paint]]);
}
