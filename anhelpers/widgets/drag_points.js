// A plane drawn by Altair, whose points are drawn here: some are dragged, by a pointer or by arrow keys.

const ranks = (v) => v.map((a) => v.filter((b) => b < a).length + (v.filter((b) => b === a).length + 1) / 2);
const RADIUS = 9, ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function pearson(x, y) {
  const mean = (v) => v.reduce((a, b) => a + b, 0) / v.length, [mx, my] = [mean(x), mean(y)];
  const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0), [u, v] = [x.map((a) => a - mx), y.map((b) => b - my)];
  const r = dot(u, v) / Math.sqrt(dot(u, u) * dot(v, v));
  return Number.isFinite(r) ? number(r, 2) : "undefined";
}

function render({ model, el }) {
  const data = model.get("data"), { labels, moved, names, readout, x, y } = data, [x0, x1, y0, y1, w, h] = data.box;
  const hidden = readout === "hidden", free = labels.map((name) => moved.includes(name)), chart = div("chart", parsed(data));
  const words = make("div", { class: "anx-readout", "aria-live": "polite" }), compare = button("Compare", "Compare with the true places");
  const root = rootOf(data, "points anx-card", "points to drag", chart, div("tools", ...(hidden ? [compare] : [])), words);
  el.append(root);
  const svg = chart.querySelector("svg"), plane = svg.querySelector(".anxdots_marks"), lines = drawing("g");
  svg.querySelectorAll(".role-mark").forEach((mark) => mark !== plane && mark.remove());
  svg.setAttribute("role", "group");
  let compared = false;

  const toPixels = ([a, b]) => [((a - x0) / (x1 - x0)) * w, h - ((b - y0) / (y1 - y0)) * h];
  const toValues = ([a, b]) => [x0 + (clamp(a, 0, w) / w) * (x1 - x0), y0 + (clamp(h - b, 0, h) / h) * (y1 - y0)];
  const side = (k) => [w + 24, h * (0.1 + 0.8 * moved.indexOf(labels[k]) / Math.max(1, moved.length - 1))]; // beside the empty map
  const placed = (k) => model.get("places")[labels[k]];
  const at = (k) => toPixels(placed(k) || [x[k], y[k]]);
  const seen = (k) => (hidden && free[k] && !placed(k) ? side(k) : at(k));
  const move = (k, pixels) => put(model, "places", { ...model.get("places"), [labels[k]]: toValues(pixels) });

  const dots = labels.map((name, k) => {
    const dot = drawing("g", free[k] ? { class: "anx-move", tabindex: 0, role: "slider", ...QUIET } : { class: "anx-fixed" },
      drawing("circle", { r: free[k] ? 22 : 0, fill: "transparent" }), drawing("circle", { r: free[k] ? RADIUS : 6 }));
    if (!free[k]) return dot;
    let grip = null; // from the pointer to the middle of the dot
    const pointer = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(plane.getScreenCTM().inverse());
    dot.addEventListener("pointerdown", (event) => {
      const p = pointer(event), [a, b] = seen(k);
      grip = [a - p.x, b - p.y];
      dot.setPointerCapture(event.pointerId);
      event.preventDefault();
      dot.focus();
    });
    dot.addEventListener("pointermove", (event) => {
      const p = pointer(event);
      if (grip) move(k, [p.x + grip[0], p.y + grip[1]]);
    });
    for (const end of ["pointerup", "pointercancel"]) dot.addEventListener(end, () => (grip = null));
    onKeys(dot, ARROWS, ([a, b]) => move(k, [seen(k)[0] + a * w / 50, seen(k)[1] - b * h / 50]));
    return dot;
  });
  const texts = labels.map((name, k) => drawing("text", { class: "anx-name", "font-size": 16, fill: "#000000" }, name));
  plane.replaceChildren(lines, ...dots, ...texts);

  function layLabels() { // each at the first free side of its dot; those that move come last
    const spots = labels.map((_, k) => seen(k)), taken = spots.map(([a, b]) => [a - RADIUS, b - RADIUS, a + RADIUS, b + RADIUS]);
    [...labels.keys()].sort((i, j) => free[i] - free[j]).forEach((k) => {
      const wide = labels[k].length * 8.5, [a, b] = spots[k], left = [[a + 14, b + 5], [a - 14 - wide, b + 5], [a - wide / 2, b - 14], [a - wide / 2, b + 25]];
      const costs = left.map(([c, d]) => taken.filter(([l, t, r, u]) => l < c + wide && r > c && t < d + 4 && u > d - 14).length +
        (c < 0 || (c + wide > w && a <= w) || d < 14 || d > h ? 1.5 : 0));
      const best = costs.indexOf(Math.min(...costs)), [c, d] = left[best];
      taken.push([c, d - 14, c + wide, d + 4]);
      texts[k].setAttribute("text-anchor", ["start", "end", "middle", "middle"][best]);
      texts[k].setAttribute("transform", `translate(${c + [0, wide, wide / 2, wide / 2][best]},${d})`);
    });
  }

  function said() {
    if (!hidden) {
      const [sign, prepare] = readout === "pearson" ? ["r", (v) => v] : ["ρ", ranks];
      const now = labels.map((_, k) => placed(k) || [x[k], y[k]]), rest = now.filter((_, k) => !free[k]);
      const r = (some) => `${sign} = ${pearson(prepare(some.map(([a]) => a)), prepare(some.map(([, b]) => b)))}`;
      return [make("b", {}, r(now)), ` over all ${labels.length}; ${r(rest)} without ${moved.join(" and ")}.`];
    }
    const far = moved.map((name) => labels.indexOf(name)).filter(placed).map((k) => Math.hypot(...at(k).map((v, i) => v - toPixels([x[k], y[k]])[i])));
    const mean = (100 / w) * far.reduce((a, b) => a + b, 0) / far.length;
    return [compared ? `Your points are ${number(mean, 0)} % of the map's width off on average.` : "Drag the points onto the map, then compare."];
  }

  function paint() {
    labels.forEach((name, k) => {
      dots[k].setAttribute("transform", `translate(${seen(k)})`);
      if (!free[k]) return;
      const [a, b] = placed(k) || [x[k], y[k]], where = placed(k) || !hidden ? `${names[0]} ${legible(a)}, ${names[1]} ${legible(b)}` : "not placed";
      for (const [key, value] of Object.entries({ label: `${name}: ${where}`, valuetext: where, valuenow: a, valuemin: x0, valuemax: x1 }))
        dots[k].setAttribute("aria-" + key, value);
    });
    lines.replaceChildren();
    if (compared) moved.map((name) => labels.indexOf(name)).forEach((k) => {
      const [a, b] = toPixels([x[k], y[k]]), [c, d] = seen(k);
      if (placed(k)) lines.append(drawing("line", { x1: a, y1: b, x2: c, y2: d, stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": "4 3" }));
      lines.append(drawing("circle", { cx: a, cy: b, r: RADIUS, fill: "none", stroke: "currentColor", "stroke-width": 3 }));
    });
    off(compare, !moved.some((name) => placed(labels.indexOf(name))));
    words.replaceChildren(...said());
    layLabels();
    root.dataset.places = JSON.stringify(model.get("places"));
  }

  compare.addEventListener("click", () => {
    if (compare.getAttribute("aria-disabled") === "true") return;
    compared = true;
    paint();
  });
  keepKeys(root);
  paint();
  return follow(model, [["change:places", paint]]);
}
