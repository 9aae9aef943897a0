// What every widget here needs. It stands in front of the widget's own file, in one module, for three hosts: anywidget,
// a fragment in a notebook's output, a standalone page (the last two with fakeModel).

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const number = (x, digits) => x.toFixed(digits).replace(/^-(?=0(\.0*)?$)/, "").replace("-", "\u2212"); // no minus before a zero
const div = (name, ...children) => make("div", { class: "anx-" + name }, ...children);
const span = (name, ...children) => make("span", { class: "anx-" + name }, ...children);
const whole = (text) => span("whole", text); // never broken across lines
const labelled = (text, control, ...more) => span("pair", make("label", { for: control.id }, text), control, ...more);
const heads = (...texts) => make("tr", {}, ...texts.map((text) => make("th", { scope: "col" }, text)));
const bold = (text) => text.split(/\*\*(.+?)\*\*/s).map((part, k) => (k % 2 ? make("b", {}, part) : part)); // **words**
const QUIET = { "data-lm-suppress-shortcuts": "true" }; // JupyterLab: keys pressed here are not commands
let made = 0; // so that labels and controls of two widgets in one page find each other

function set(element, attributes, ...children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const make = (tag, attributes = {}, ...children) => set(document.createElement(tag), attributes, ...children);
const drawing = (tag, attributes = {}, ...children) => // a part of a picture
  set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, ...children);

function newId() { return "anx-" + ++made + "-" + Math.random().toString(36).slice(2, 8); }

function glossOf(gloss) { // what a source says, word for word, for those who do not know its language
  const shown = make("summary", QUIET, "word for word");
  return make("details", { class: "anx-note", lang: "en" }, shown, make("span", {}, gloss));
}

function select(attributes, options) { // options: [value, text] each
  return make("select", { ...attributes, ...QUIET }, ...options.map(([value, text]) => make("option", { value }, text)));
}

function tableOf(caption, head, rows) { return make("table", {}, caption, make("thead", {}, head), make("tbody", {}, ...rows)); }

function rootOf(data, name, noun, ...children) { // all that a widget shows, below its title
  const title = div("title", data.title);
  title.hidden = !data.title;
  return make("div", { class: "anx anx-" + name, role: "group", "aria-label": data.title || noun }, title, ...children);
}

function slideBar(id, text, range, before, after) { // a slider with its label and value; before, after: [text, words] of buttons
  const slider = make("input", { type: "range", step: 1, id, ...range, ...QUIET }), label = make("label", { for: id }, text);
  const value = make("output", { class: "anx-value", for: id, "aria-live": "off" });
  const ui = { slider, label, value, before: button(...before), after: button(...after) };
  return { ...ui, bar: div("bar", div("slide", label, ui.before, slider, ui.after, value)) };
}

function button(text, label) {
  return make("button", { type: "button", "aria-label": label, title: label, ...QUIET }, text);
}

function off(button, is) { button.setAttribute("aria-disabled", is); } // keeps the keyboard focus, unlike `disabled`

function legible(x, digits = 3) { // a number of any size, as charts/frame.py prints it: no "e", thousands apart
  const size = Math.abs(x);
  if (size === Infinity) return x < 0 ? "\u2212∞" : "∞";
  if (size < 1e7 && size >= 100) return number(x, 0).replace(/\B(?=(\d{3})+$)/g, ",");
  if (size < 1e7 && (size >= 1e-4 || x === 0)) return x === 0 ? "0" : x.toPrecision(digits).replace("-", "\u2212");
  const [mantissa, power] = x.toExponential(2).split("e"), raised = { "-": "⁻", "+": "" };
  return `${+mantissa}·10${[...power].map((sign) => raised[sign] ?? "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign]).join("")}`.replace("-", "\u2212");
}

const betaText = (beta) => "β = " + legible(beta); // its zeros stay, so that it keeps its width while it is dragged

function parsed(one) { // drawn by Altair from our own numbers; texts in it are escaped there
  const holder = make("div");
  holder.innerHTML = one.svg.replace(/(id="|url\(#)/g, "$1" + newId()); // ids are those of one page
  const svg = holder.querySelector("svg");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", one.alt);
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  return svg;
}

function sized(one) { // in the middle of a card, or as wide as the card; no larger than its letters should be
  const svg = parsed(one), { width } = svg.viewBox.baseVal;
  svg.style.maxWidth = width < 700 ? `min(38rem, ${1.4 * width}px)` : "none";
  svg.style.setProperty("--drawn", `${width}px`);
  return svg;
}

function pearson(x, y) { // NaN where one of them does not vary
  if ([x, y].some((some) => Math.max(...some) === Math.min(...some))) return NaN;
  const mean = (some) => some.reduce((a, b) => a + b) / some.length;
  const [u, v] = [x, y].map((some) => some.map((one) => one - mean(some)));
  const dot = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);
  return clamp(dot(u, v) / Math.sqrt(dot(u, u) * dot(v, v)), -1, 1);
}

function movePoint(point, box, x, y) { // box: from and to of x, of y, width and height of the plane
  const [x0, x1, y0, y1, w, h] = box;
  point.setAttribute("transform", `translate(${((x - x0) / (x1 - x0)) * w},${h - ((y - y0) / (y1 - y0)) * h})`);
}

function put(model, key, value) { // saved at once: the echo of an older value would undo one that was set and not yet saved
  model.set(key, value);
  model.save_changes();
}

function keepKeys(root) { // JupyterLab would take arrows, and "d d" deletes the cell
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Escape" || event.key === "Tab") return;
    event.stopPropagation();
  });
}

function onKeys(slider, keys, act) { // act(keys[pressed]) in place of what the browser does
  slider.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(keys[event.key]);
  });
}

function backAndForth(back, forth, act) { // two buttons
  for (const [one, by] of [[back, -1], [forth, 1]]) one.addEventListener("click", () => act(by));
}

function drive(ui, keys, step, goTo, jump = step) { // the keys, the hand and the buttons of a slideBar
  onKeys(ui.slider, keys, step);
  ui.slider.addEventListener("input", () => goTo(+ui.slider.value));
  backAndForth(ui.before, ui.after, jump);
}

function stepped(at, steps, first, last) { // the position `steps` away; a place between two positions first moves onto one
  const near = Math.round(at);
  const from = Math.abs(at - near) < 1e-6 ? near : steps > 0 ? Math.floor(at) : Math.ceil(at);
  return clamp(from + steps, first, last);
}

const sliderKeys = (page, last) => ({ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: page, PageDown: -page,
  Home: -last, End: last });

const langOf = (data, i) => (data.langs[i] ? { lang: data.langs[i] } : {}); // of sources, 0, or of targets, 1

function download(name, text) { // a CSV file
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function follow(model, events) { // [event, function] pairs; returns what ends them
  for (const [event, f] of events) model.on(event, f);
  return () => { for (const [event, f] of events) model.off(event, f); };
}

function fakeModel(state) { // what render() needs of an anywidget model, without a kernel
  const listeners = {};
  return {
    get: (key) => state[key],
    set(key, value) {
      if (state[key] === value) return;
      state[key] = value;
      (listeners["change:" + key] || []).slice().forEach((f) => f());
    },
    on: (event, f) => (listeners[event] = listeners[event] || []).push(f),
    off: (event, f) => (listeners[event] = (listeners[event] || []).filter((g) => g !== f)),
    save_changes() {},
  };
}
