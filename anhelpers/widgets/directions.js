// The direction explorer: a list of directions, each with its bar, and beside it the bars of the chosen one, of its
// reverse and of the mean of each side. Python sends every number, text, sentence and order; nothing is computed here.

const PAGE_ROWS = 10;
const PARTS = { saved: "saved by the source (XMI)", left: "left over (H_MT)", worse: "made worse (XMI below 0)" };

// ---- one bar: H_LM long, split into XMI and H_MT; a negative XMI goes left of 0 and a tick marks H_LM
function piecesOf(row) {
  if (row.xmi >= 0) return [["saved", 0, row.xmi], ["left", row.xmi, row.h_lm]];
  return [["worse", row.xmi, 0], ["left", 0, row.h_mt], ["tick", row.h_lm, row.h_lm]];
}

function bar(row, span) {
  const place = (v) => (100 * (v - span[0])) / (span[1] - span[0]);
  const piece = (kind, from, to) => {
    const element = make("span", { class: "anx-piece anx-" + kind });
    element.style.left = place(from) + "%";
    element.style.width = place(to) - place(from) + "%";
    return element;
  };
  const track = make("div", { class: "anx-track", "aria-hidden": "true" }, ...piecesOf(row).map((p) => piece(...p)));
  track.append(piece("zero", 0, 0));
  for (const name of ["xmi", "h_lm"]) {
    const low = row[name + "_low"], high = row[name + "_high"];
    if (typeof low === "number" && typeof high === "number") track.append(piece("whisker anx-of-" + name, low, high));
  }
  return track;
}

// ---- what is on the page
function controls(data) {
  const id = newId();
  const ui = {
    id,
    direction: select({ id }, []),
    order: select({ id: id + "-o" }, Object.entries(data.order_names)),
    before: button("▲", "Direction above in the list"),
    after: button("▼", "Direction below in the list"),
    reverse: button("⇄ reverse", "Choose the reverse direction"),
    list: make("ul", { class: "anx-list", role: "listbox", tabindex: 0, "aria-label": "directions", ...QUIET }),
    words: make("p", { class: "anx-words", "aria-live": "polite" }),
    figures: div("figures"),
  };
  for (const side of new Set(data.orders.name.map((i) => data.rows[i].side))) {
    const own = data.orders.name.map((i) => data.rows[i]).filter((row) => row.side === side);
    ui.direction.append(make("optgroup", { label: side }, ...own.map((row) => make("option", { value: row.name }, row.label))));
  }
  ui.bar = div("tools", labelled("direction", ui.direction, ui.before, ui.after, ui.reverse), labelled("list by", ui.order));
  return ui;
}

function optionsOf(data, id) { // an option per direction, in the order of the rows
  return data.rows.map((row, i) => {
    const label = make("span", { class: "anx-name", dir: "auto" }, row.label);
    const option = make("li", { role: "option", id: `${id}-${i}`, "aria-selected": "false" },
      label, bar(row, data.span), span("xmi", row.texts[0]));
    option.setAttribute("aria-label", `${row.label}: ${row.texts.map((t, k) => `${data.heads[k]} ${t}`).join(", ")}`);
    return option;
  });
}

function figure(data, rows) { // numbers above bars, one table for all
  const body = rows.flatMap((row, k) => {
    const cells = row.texts.map((text, j) => {
      const cell = make("td", {}, text);
      if (row.intervals[j]) cell.append(span("ends", row.intervals[j]));
      return cell;
    });
    const kind = row.name === undefined ? "anx-mean" : k ? "anx-other" : "anx-chosen";
    return [make("tr", { class: kind }, make("th", { scope: "row", dir: "auto" }, row.label), ...cells),
      make("tr", { class: kind + " anx-barred", "aria-hidden": "true" }, make("td", { colspan: 1 + data.heads.length }, bar(row, data.span)))];
  });
  const parts = ["saved", "left", ...(rows.some((row) => row.xmi < 0) ? ["worse"] : [])];
  const legend = parts.flatMap((part) => [make("span", { class: "anx-whole" },
    make("span", { class: `anx-key anx-${part}`, "aria-hidden": "true" }), PARTS[part]), " "]);
  const caption = make("caption", {}, `In ${data.unit}. The whole bar is H_LM = XMI + H_MT: `, ...legend);
  return tableOf(caption, heads("direction", ...data.heads), body);
}

function render({ model, el }) {
  const data = model.get("data"), ui = controls(data), options = optionsOf(data, ui.id);
  const places = new Map(data.rows.map((row, i) => [row.name, i]));
  const notes = data.notes.map((text) => div("note", text));
  const main = div("main", ui.list, div("detail", ui.words, ui.figures, ...notes));
  const root = rootOf(data, "dir", "direction explorer", ui.bar, main);
  el.append(root);

  const here = () => places.get(model.get("direction"));
  const order = () => data.orders[model.get("order")];
  const choose = (i) => put(model, "direction", data.rows[i].name);

  function shown(i) { // the direction, its reverse, the means of their sides
    const row = data.rows[i], rows = row.reverse === null ? [row] : [row, data.rows[row.reverse]];
    const means = [...new Set(rows.map((one) => one.mean))].filter((m) => m !== null);
    return [...rows, ...means.map((m) => data.means[m])];
  }

  function paint() {
    const i = here(), row = data.rows[i], at = order().indexOf(i);
    options.forEach((option, k) => option.setAttribute("aria-selected", k === i));
    ui.list.setAttribute("aria-activedescendant", options[i].id);
    ui.direction.value = row.name;
    ui.words.replaceChildren(make("strong", { dir: "auto" }, row.label + ". "), row.words.join(" "));
    ui.figures.replaceChildren(figure(data, shown(i)));
    root.dataset.direction = row.name;
    off(ui.before, at === 0);
    off(ui.after, at === data.rows.length - 1);
    off(ui.reverse, row.reverse === null);
    see(options[i]);
  }

  function see(option) { // scrolls the list alone, never the page
    const top = option.offsetTop, low = top + option.offsetHeight;
    if (top < ui.list.scrollTop) ui.list.scrollTop = top;
    else if (low > ui.list.scrollTop + ui.list.clientHeight) ui.list.scrollTop = low - ui.list.clientHeight;
  }

  function layList() {
    ui.order.value = model.get("order");
    ui.list.replaceChildren(...order().map((i) => options[i]));
    paint();
  }

  function step(rows) { // to another place in the list
    const at = order().indexOf(here());
    choose(order()[clamp(at + rows, 0, data.rows.length - 1)]);
  }

  const END = data.rows.length;
  onKeys(ui.list, { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: PAGE_ROWS, PageUp: -PAGE_ROWS,
    Home: -END, End: END }, step);
  options.forEach((option, i) => option.addEventListener("click", () => choose(i)));
  ui.direction.addEventListener("change", () => choose(places.get(ui.direction.value)));
  ui.order.addEventListener("change", () => put(model, "order", ui.order.value));
  ui.before.addEventListener("click", () => step(-1));
  ui.after.addEventListener("click", () => step(1));
  ui.reverse.addEventListener("click", () => { if (data.rows[here()].reverse !== null) choose(data.rows[here()].reverse); });
  keepKeys(root);

  const end = follow(model, [["change:direction", paint], ["change:order", layList]]);
  layList();
  requestAnimationFrame(() => see(options[here()])); // once it has a height
  return end;
}
