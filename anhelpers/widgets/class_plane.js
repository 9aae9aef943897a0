// The live plane: files of a class are dropped, and the systems appear where the class's means put them.

const WIDE = [760, 520], NARROW = [430, 400], LEFT = 74, BOTTOM = 64, TOP = 16, RIGHT = 24;
const SHAPES = { circle: "M0-9A9 9 0 1 1 0 9A9 9 0 1 1 0-9Z", square: "M-8-8H8V8H-8Z", diamond: "M0-11L9 0L0 11L-9 0Z",
  "triangle-up": "M0-10L10 8H-10Z", "triangle-down": "M0 10L10-8H-10Z", cross: "M-3-9H3V-3H9V3H3V9H-3V3H-9V-3H-3Z" };

function rangeOf(values, points) { // whole half points around all values, within the scale, at least a point and a half wide
  if (!values.length) return [points[0], points[points.length - 1]];
  let from = Math.floor(2 * Math.min(...values) - 0.3) / 2, to = Math.ceil(2 * Math.max(...values) + 0.3) / 2;
  while (to - from < 1.5) { from -= 0.5; to += 0.5; }
  return [Math.max(points[0], from), Math.min(points[points.length - 1], to)];
}

const endsText = (ends) => (ends ? ` (${number(ends[0], 1)} to ${number(ends[1], 1)})` : "");

function planeSvg(systems, data, [W, H]) { // systems: [name, {accuracy, fluency}], both known; width and height
  const title = systems.map(([name, one]) => `${name}: ${["accuracy", "fluency"].map((axis) => `${axis} ${number(one[axis], 2)}${endsText(one.ends[axis])}`).join(", ")}`).join("; ");
  const svg = drawing("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Accuracy against fluency. ${title || "No file yet"}.` });
  if (!systems.length) svg.append(drawing("text", { x: W / 2, y: H / 2, "text-anchor": "middle" }, "The systems appear with the first file."));
  const ranges = ["fluency", "accuracy"].map((axis) => rangeOf(systems.flatMap(([, one]) => [one[axis], ...(one.ends[axis] || [])]), data.points));
  const x = (value) => LEFT + ((value - ranges[0][0]) / (ranges[0][1] - ranges[0][0])) * (W - LEFT - RIGHT);
  const y = (value) => H - BOTTOM - ((value - ranges[1][0]) / (ranges[1][1] - ranges[1][0])) * (H - BOTTOM - TOP);
  for (let tick = ranges[0][0]; tick <= ranges[0][1]; tick += 0.5) {
    svg.append(drawing("line", { class: "grid", x1: x(tick), x2: x(tick), y1: TOP, y2: H - BOTTOM }),
      drawing("text", { x: x(tick), y: H - BOTTOM + 24, "text-anchor": "middle" }, tick));
  }
  for (let tick = ranges[1][0]; tick <= ranges[1][1]; tick += 0.5) {
    svg.append(drawing("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(tick), y2: y(tick) }),
      drawing("text", { x: LEFT - 10, y: y(tick) + 6, "text-anchor": "end" }, tick));
  }
  svg.append(drawing("text", { class: "axis", x: (LEFT + W - RIGHT) / 2, y: H - 12, "text-anchor": "middle" }, "Fluency (mean rating, 1 to 5) →"),
    drawing("text", { class: "axis", transform: `translate(24,${(TOP + H - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, "Accuracy (mean rating, 1 to 5) →"));
  for (const [, one] of systems) {
    const { fluency, accuracy } = one.ends;
    if (fluency) svg.append(drawing("line", { class: "ends", x1: x(fluency[0]), x2: x(fluency[1]), y1: y(one.accuracy), y2: y(one.accuracy) }));
    if (accuracy) svg.append(drawing("line", { class: "ends", x1: x(one.fluency), x2: x(one.fluency), y1: y(accuracy[0]), y2: y(accuracy[1]) }));
  }
  const taken = systems.map(([, one]) => [x(one.fluency) - 11, y(one.accuracy) - 11, x(one.fluency) + 11, y(one.accuracy) + 11]);
  for (const [name, one] of systems) {
    const [shape, fill] = data.marks[data.categories[name]] || data.marks.unknown, [px, py] = [x(one.fluency), y(one.accuracy)];
    svg.append(drawing("path", { class: "mark", d: SHAPES[shape], fill, transform: `translate(${px},${py})`, "data-system": name }));
    const label = labelOf(name, px, py, taken, [W, H]);
    if (label) svg.append(label);
  }
  return svg;
}

function labelOf(name, px, py, taken, [W, H]) { // beside its mark, where there is room
  const width = 10 * name.length;
  for (const [anchor, dx, dy] of [["start", 15, 6], ["end", -15, 6], ["middle", 0, -17], ["middle", 0, 29], ["start", 15, -12], ["start", 15, 24], ["end", -15, -12], ["end", -15, 24]]) {
    const from = px + dx - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0), box = [from, py + dy - 15, from + width, py + dy + 4];
    const free = box[0] > LEFT && box[2] < W && box[1] > 0 && box[3] < H - BOTTOM;
    if (free && !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) {
      taken.push(box);
      return drawing("text", { class: "name", x: px + dx, y: py + dy, "text-anchor": anchor }, name);
    }
  }
  return null; // it stands in the table
}

function captionOf(bare, fewest, data) { // what the intervals are about, what few sentences make of them, and who has none
  const none = bare.length ? ` ${bare.join(", ")}: no interval, for want of ${data.least} sentences with ratings that differ.` : "";
  const few = fewest < data.varied ? " From so few sentences each of them may be far too short or far too long." : "";
  return `Means and 95 % intervals (bars) for other sentences of the same kind, rated by the same people. More sentences make them shorter; more raters hardly do.${few}${none}`;
}

function render({ model, el }) {
  const data = model.get("data"), id = newId(), kept = new Map(), problems = [], copies = [];
  const open = make("input", { type: "file", id: id + "-files", accept: ".csv,text/csv", multiple: "", ...QUIET });
  const clear = make("button", { type: "button", ...QUIET }, "remove all files"), wide = make("button", { type: "button", ...QUIET }, "full screen");
  const example = make("button", { type: "button", ...QUIET }, "no files yet? take an invented class");
  const read = make("span", { class: "anx-read" });
  const drop = div("drop", make("label", { for: open.id }, "Drop the raters' CSV files here, or choose them: "), open, read, example, clear, wide);
  const chart = div("picture"), agree = div("agree"), table = div("means"), told = make("ul", { class: "anx-told", role: "status" });
  const root = rootOf(data, "cp", "the plane of the class", drop, div("both", chart, div("side", agree, table)), told, div("note", `sheet ${data.sheet}`));
  el.append(root);
  let narrow = false, invented = false;

  function empty() {
    kept.clear();
    problems.length = copies.length = 0;
    invented = false;
  }

  function paint() {
    const systems = planeOf(kept, data), alpha = Object.fromEntries(data.criteria.map((one) => [one, alphaOf(kept, one, data)]));
    const placed = Object.entries(systems).sort((a, b) => (b[1].accuracy ?? 0) - (a[1].accuracy ?? 0));
    const drawn = placed.filter(([, one]) => data.criteria.every((axis) => one[axis] !== null));
    narrow = root.clientWidth < 700;
    chart.replaceChildren(planeSvg(drawn, data, narrow ? NARROW : WIDE));
    const shown = (value) => (value === null ? "–" : number(value, 2));
    const line = (...cells) => make("tr", {}, ...cells.map((cell, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, ...[cell].flat().flatMap((part) => [whole(String(part)), " "]))));
    const cell = (one, axis) => (one.ends[axis] ? [shown(one[axis]), endsText(one.ends[axis]).trim()] : shown(one[axis])), bare = drawn.filter(([, one]) => data.criteria.some((axis) => !one.ends[axis]));
    table.replaceChildren(...(placed.length ? [tableOf(make("caption", {}, captionOf(bare.map(([name]) => name), Math.min(...placed.map(([, one]) => one.n)), data)),
      heads("system", "accuracy", "fluency", "sentences"), placed.map(([name, one]) => line(name, cell(one, "accuracy"), cell(one, "fluency"), one.n)))] : []));
    agree.textContent = kept.size ? `${kept.size} rater${kept.size > 1 ? "s" : ""}. ` + (kept.size > 1 ? `Agreement beyond chance, α: ${
      data.criteria.map((one) => `${one} ${alpha[one] === null ? "not defined" : number(alpha[one], 2)}`).join(", ")}.` : "Agreement takes two.") : "";
    told.replaceChildren(...problems.map((text) => make("li", { class: "anx-wrong" }, text)),
      ...[...copies, ...notesOf(kept, data)].map((text) => make("li", {}, text)));
    const files = [...new Set([...kept.values()].map(({ file }) => file))];
    read.textContent = files.length ? `${files.length} ${files.length > 1 ? "files" : "file"} read: ${files.join(", ")}` : "no file read yet";
    example.hidden = Boolean(kept.size) || !Object.keys(data.example).length;
    clear.hidden = !(kept.size || problems.length);
    root.dataset.raters = kept.size;
    put(model, "results", { systems, alpha, raters: [...kept.keys()], problems: [...problems] });
    root.dataset.results = JSON.stringify(model.get("results"));
  }

  async function take(files) {
    if (invented) empty(); // people and the invented are never counted together
    for (const file of [...files].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      try {
        copies.push(...addFile(kept, file.name, textOf(file.name, new Uint8Array(await file.arrayBuffer())), data));
      } catch (error) {
        if (!(error instanceof REFUSED)) throw error;
        problems.push(error.message);
      }
      paint();
    }
    open.value = "";
  }

  open.addEventListener("change", () => take(open.files));
  example.addEventListener("click", () => {
    invented = true;
    for (const [name, text] of Object.entries(data.example)) addFile(kept, name, text, data);
    copies.push("This class is invented: nobody gave these ratings.");
    paint();
  });
  clear.addEventListener("click", () => { empty(); paint(); });
  wide.addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen?.()));
  for (const [event, on] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    root.addEventListener(event, (moved) => {
      moved.preventDefault();
      moved.stopPropagation();
      drop.classList.toggle("anx-over", on);
    });
  }
  root.addEventListener("drop", (moved) => take(moved.dataTransfer.files));
  keepKeys(root);
  paint();
  new ResizeObserver(() => { if (root.clientWidth < 700 !== narrow) paint(); }).observe(root);
}
