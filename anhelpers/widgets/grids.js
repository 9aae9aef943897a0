// A slider over a grid of places: Python sends what it has computed at each of them, and here it is only looked up.

const PAGE = 10; // PageUp moves by ten places

function rowOf(row) { // {element, show(k)}: a quantity, its number, and a bar from zero, or over its interval
  const text = span("number"), fill = div("fill"), tick = div("tick"), zero = div("zero");
  zero.style.left = `${row.zero}%`;
  tick.hidden = row.low === null;
  const track = make("div", { class: "anx-track", "aria-hidden": "true" }, fill, zero, tick);
  const show = (k) => {
    const at = row.value[k], [from, to] = row.low === null ? [Math.min(at, row.zero), Math.max(at, row.zero)] : [row.low[k], row.high[k]];
    text.textContent = row.texts[k];
    fill.style.left = `${from}%`;
    fill.style.width = `${to - from}%`;
    tick.style.left = `${at}%`;
  };
  const element = make("tr", {}, make("th", { scope: "row", dir: "auto" }, row.name), make("td", {}, text, track));
  return { element, show };
}

function viewOf(data, view) { // {element, show(k)}
  const svg = parsed(view), rows = view.rows.map(rowOf);
  const marks = view.y.map((_, i) => svg.querySelector(`.bxpoint${i}_marks path`));
  const text = make("div", { class: "anx-text", dir: "auto" }, view.text);
  text.hidden = !view.text;
  const said = make("div", { class: "anx-readout", dir: "auto" });
  const table = make("table", {}, make("tbody", {}, ...rows.map(({ element }) => element)));
  const element = div("view", text, said, div("main", div("left", div("chart", svg)), div("table", table)));
  const show = (k) => {
    marks.forEach((mark, i) => movePoint(mark, view.box, data.x[k], view.y[i][k]));
    for (const row of rows) row.show(k);
    said.textContent = view.said[k];
  };
  return { element, show };
}

function render({ model, el }) {
  const data = model.get("data"), { words } = data, id = newId(), last = data.places.length - 1;
  const ui = slideBar(id, words.label, { min: 0, max: last }, [`◀ ${words.stop}`, `Previous ${words.stop}`], [`${words.stop} ▶`, `Next ${words.stop}`]);
  const choice = select({ id: id + "-v" }, data.views.map(({ name }) => [name, name]));
  const printed = make("b", { class: "anx-printed" });
  const tools = div("tools", labelled(words.choose, choice), printed);
  tools.hidden = data.views.length < 2;
  const views = data.views.map((view) => viewOf(data, view));
  const root = rootOf(data, "gr", "explorer", ui.bar, tools, ...views.map(({ element }) => element));
  el.append(root);

  const chosen = () => Math.max(0, data.views.findIndex(({ name }) => name === model.get("view")));
  const place = () => clamp(model.get("place"), 0, last);

  function paint() {
    const k = place(), said = data.views[chosen()].said[k];
    views[chosen()].show(k);
    ui.value.textContent = data.places[k];
    ui.slider.value = k;
    ui.slider.setAttribute("aria-valuetext", `${data.places[k]} · ${said}`);
    root.dataset.place = k;
    off(ui.before, k === 0);
    off(ui.after, k === last);
  }

  function lay() {
    views.forEach(({ element }, i) => { element.hidden = i !== chosen(); });
    choice.value = printed.textContent = root.dataset.view = data.views[chosen()].name;
    paint();
  }

  const goTo = (k) => put(model, "place", clamp(k, 0, last));
  function jump(direction) { // to the neighbouring stop
    const k = place(), to = direction > 0 ? data.stops.find((stop) => stop > k) : data.stops.findLast((stop) => stop < k);
    goTo(to ?? (direction > 0 ? last : 0));
  }

  onKeys(ui.slider, sliderKeys(PAGE, Infinity), (by) => goTo(place() + by));
  ui.slider.addEventListener("input", () => goTo(+ui.slider.value));
  ui.before.addEventListener("click", () => jump(-1));
  ui.after.addEventListener("click", () => jump(1));
  choice.addEventListener("change", () => put(model, "view", choice.value));
  keepKeys(root);

  const end = follow(model, [["change:place", paint], ["change:view", lay]]);
  lay();
  return end;
}
