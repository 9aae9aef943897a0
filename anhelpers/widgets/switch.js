// One of several widgets at a time: radio buttons that name them. Without a kernel they show and hide the parts of the
// page around them; with one, Python does so.

function render({ model, el }) {
  const { label, names } = model.get("data"), group = newId();
  const bar = make("div", { class: "anx-tools anx-either", role: "radiogroup", "aria-labelledby": group });
  bar.append(make("b", { id: group }, label));
  const buttons = names.map((name) => make("input", { type: "radio", name: group + "-choice", value: name, ...QUIET }));
  for (const button of buttons) {
    bar.append(make("label", { class: "anx-pair" }, button, button.value));
    button.addEventListener("change", () => put(model, "choice", button.value));
  }
  const root = make("div", { class: "anx" }, bar);
  el.append(root);
  keepKeys(root);

  function lay() {
    for (const button of buttons) button.checked = button.value === model.get("choice");
    const home = root.closest(".anx-parts");
    if (!home) return;
    const parts = [...home.children].filter((child) => child.classList.contains("anx-part"));
    parts.forEach((part, i) => {
      part.hidden = names[i] !== model.get("choice");
      part.firstElementChild.hidden = true; // the name, for those who have no buttons
    });
    const host = root.closest(".anx-host");
    if (home.firstElementChild !== host) home.prepend(host); // once: what is moved loses the focus
  }

  queueMicrotask(lay); // by then it stands in the page
  return follow(model, [["change:choice", lay]]);
}
