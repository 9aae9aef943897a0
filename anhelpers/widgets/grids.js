// A slider over a grid of places: Python sends what it has computed at each of them, and here it is only looked up. Lines
// and what is said of all places appear as one drags, so that nobody reads the answer before the guess.

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

function curtain(svg, view, xs) { // show(first, last): of the lines what lies between two places, for they are drawn as one drags
  const { box, y, names } = view, [x0, x1, y0, y1, width, height] = box, id = newId();
  const seen = drawing("rect", { y: -20, height: height + 40 }), across = (x) => ((x - x0) / (x1 - x0)) * width;
  svg.prepend(drawing("clipPath", { id }, seen));
  for (const line of svg.querySelectorAll(".lines_marks")) line.setAttribute("clip-path", `url(#${id})`);
  const leaders = svg.querySelectorAll(".leaders_marks"); // from the right ends of the lines to their names
  const texts = [...svg.querySelectorAll("text")], labels = names.map((name) => texts.find((text) => text.textContent === name));
  return (first, last) => {
    const whole = last === xs.length - 1, [from, to] = [across(xs[first]), across(xs[last])];
    seen.setAttribute("x", from);
    seen.setAttribute("width", to - from);
    for (const leader of leaders) leader.style.visibility = whole ? "" : "hidden";
    labels.forEach((label, i) => { // a name goes with the end of its line
      label.style.setProperty("--at", `translate(${to + 14}px,${height - ((y[i][last] - y0) / (y1 - y0)) * height + 5}px)`);
      label.classList.toggle("anx-rides", !whole);
    });
  };
}

function viewOf(data, view) { // {element, show(k)}
  const svg = parsed(view), rows = view.rows.map(rowOf), reveal = curtain(svg, view, data.x);
  const marks = view.y.map((_, i) => svg.querySelector(`.bxpoint${i}_marks path`));
  const text = make("div", { class: "anx-text", dir: "auto" }, view.text);
  const said = make("div", { class: "anx-readout", dir: "auto" });
  const table = make("table", {}, make("tbody", {}, ...rows.map(({ element }) => element)));
  const element = div("view", text, said, div("main", div("left", div("chart", svg)), div("table", table)));
  const show = (k, first, last) => { // the place, and the ends of what was seen so far
    reveal(first, last);
    text.style.visibility = first < last ? "" : "hidden"; // what all places have in common
    marks.forEach((mark, i) => movePoint(mark, view.box, data.x[k], view.y[i][k]));
    for (const row of rows) row.show(k);
    said.textContent = view.said[k];
  };
  return { element, show };
}

function render({ model, el }) {
  const data = model.get("data"), { words } = data, id = newId(), last = data.places.length - 1;
  const ui = slideBar(id, words.label, { min: 0, max: last }, ["◀ less", "Previous stop, to the left"], ["more ▶", "Next stop, to the right"]);
  const choice = select({ id: id + "-v" }, data.views.map(({ name }) => [name, name]));
  const printed = make("b", { class: "anx-printed" });
  const tools = div("tools", labelled(words.choose, choice), printed);
  tools.hidden = data.views.length < 2;
  const views = data.views.map((view) => viewOf(data, view));
  let first = model.get("place"), farthest = first; // between them everything was seen
  const root = rootOf(data, "gr", "explorer", ui.bar, tools, ...views.map(({ element }) => element));
  el.append(root);

  const chosen = () => Math.max(0, data.views.findIndex(({ name }) => name === model.get("view")));
  const place = () => clamp(model.get("place"), 0, last);

  function paint() {
    const k = place(), said = data.views[chosen()].said[k];
    [first, farthest] = [Math.min(first, k), Math.max(farthest, k)];
    views[chosen()].show(k, first, farthest);
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
