// A plane drawn by Altair. The points that move are drawn here; a pointer or the arrow keys drag them.

const ranks = (v) => v.map((a) => v.filter((b) => b < a).length + (v.filter((b) => b === a).length + 1) / 2);
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function correlation(points, of) {
  const r = pearson(...[0, 1].map((k) => of(points.map((point) => point[k]))));
  return Number.isFinite(r) ? number(r, 2) : "undefined";
}

function render({ model, el }) {
  const data = model.get("data"), { moved, others, places, names } = data, [x0, x1, y0, y1, w, h] = data.box;
  const hidden = data.readout === "hidden", chart = div("chart", sized(data)), compare = button("Compare", "Compare");
  const words = make("div", { class: "anx-readout", "aria-live": "polite" });
  const root = rootOf(data, "points anx-card", "points to drag", ...(hidden ? [div("tools", compare, words), chart] : [chart, words]));
  const svg = chart.firstChild, plane = svg.querySelector(".anxdots_marks"), lines = drawing("g", { class: "anx-truth" });
  svg.setAttribute("role", "group");
  svg.querySelectorAll(".anxlabels_marks").forEach((mark) => mark.remove());
  el.append(root);
  let compared = false;

  const placed = (k) => model.get("places")[moved[k]];
  const toPixels = ([x, y]) => [((x - x0) / (x1 - x0)) * w, h - ((y - y0) / (y1 - y0)) * h];
  const toValues = (a, b) => [x0 + (clamp(a, 0, w) / w) * (x1 - x0), y0 + (1 - clamp(b, 0, h) / h) * (y1 - y0)];
  const aside = (k) => [w + 24, (h * (k + 0.5)) / moved.length]; // beside the empty map
  const seen = (k) => (hidden && !placed(k) ? aside(k) : toPixels(placed(k) || places[k]));
  const move = (k, a, b) => put(model, "places", { ...model.get("places"), [moved[k]]: toValues(a, b) });

  const dots = moved.map((name, k) => {
    const text = drawing("text", { class: "anx-name", "font-size": 16, y: 5 }, name), ring = drawing("circle", { r: 9 });
    const touch = drawing("circle", { r: 22, fill: "transparent" }); // as large as a finger
    const dot = drawing("g", { class: "anx-move", tabindex: 0, role: "slider", ...QUIET }, touch, ring, text);
    let grip = null; // from the pointer to the middle of the dot
    const at = ({ x, y }) => new DOMPoint(x, y).matrixTransform(plane.getScreenCTM().inverse());
    dot.addEventListener("pointerdown", (event) => {
      grip = [seen(k)[0] - at(event).x, seen(k)[1] - at(event).y];
      dot.setPointerCapture(event.pointerId);
      event.preventDefault();
      dot.focus();
    });
    dot.addEventListener("pointermove", (event) => grip && move(k, at(event).x + grip[0], at(event).y + grip[1]));
    for (const end of ["pointerup", "pointercancel"]) dot.addEventListener(end, () => (grip = null));
    onKeys(dot, ARROWS, ([a, b]) => move(k, seen(k)[0] + (a * w) / 50, seen(k)[1] + (b * h) / 50));
    return dot;
  });
  plane.replaceChildren(lines, ...dots);

  function said() {
    if (compared) return ["A ring is the true place, a dot your guess."];
    if (hidden) return ["Drag the points onto the map, then compare."];
    const all = others.concat(places.map((p, k) => placed(k) || p)), ranked = data.readout === "spearman";
    const r = (some) => `${ranked ? "ρ" : "r"} = ${correlation(some, ranked ? ranks : (v) => v)}`;
    return [make("b", {}, r(all)), ` over all ${all.length}; ${r(others)} without ${moved.join(" and ")}.`];
  }

  function paint() {
    lines.replaceChildren();
    dots.forEach((dot, k) => {
      const [x, y] = placed(k) || places[k], [a, b] = seen(k), [c, d] = toPixels(places[k]);
      const where = hidden && !placed(k) ? "not yet placed" : `${names[0]} ${legible(x)}, ${names[1]} ${legible(y)}`;
      set(dot, { "aria-label": `${moved[k]}: ${where}`, "aria-valuetext": where, "aria-valuenow": x, "aria-valuemin": x0,
        "aria-valuemax": x1, transform: `translate(${a},${b})` });
      const text = dot.lastChild, left = a <= w && (compared ? c > a : a + 9 * moved[k].length + 14 > w);
      set(text, { x: left ? -14 : 14, "text-anchor": left ? "end" : "start" });
      if (!compared || !placed(k)) return;
      const line = drawing("line", { x1: c, y1: d, x2: a, y2: b, "stroke-dasharray": "4 3" });
      const name = { class: "anx-name", "font-size": 16, fill: "currentColor", x: left ? c + 14 : c - 14, y: d + 5 };
      lines.append(line, drawing("circle", { cx: c, cy: d, r: 9 }), drawing("text", { ...name, "text-anchor": left ? "start" : "end" }, moved[k]));
    });
    off(compare, !moved.some((_, k) => placed(k)));
    words.replaceChildren(...said());
    root.dataset.places = JSON.stringify(model.get("places"));
  }

  compare.addEventListener("click", () => {
    compared = compare.getAttribute("aria-disabled") === "false";
    paint();
  });
  keepKeys(root);
  paint();
  return follow(model, [["change:places", paint]]);
}
