/* Contents; light or dark; columns of a table that hold sentences begin at the left, as pandas' tables do not; answers. */
(() => {
  const list = document.querySelector(".anx-contents ol"), root = document.documentElement;
  for (const head of document.querySelectorAll("main h2[id]:not(summary *)")) {
    const link = Object.assign(document.createElement("a"), { href: "#" + head.id, textContent: head.textContent });
    list.append(document.createElement("li"));
    list.lastChild.append(link);
  }
  document.querySelector(".anx-theme")?.addEventListener("click", () => {
    const dark = getComputedStyle(root).colorScheme === "dark" || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.anxTheme = root.dataset.theme; } catch { /* a page without storage forgets */ }
  });
  for (const table of document.querySelectorAll(".jp-RenderedHTML table:not(.anx *, .anx-host *)")) {
    const rows = [...table.rows].filter(row => [...row.cells].every(cell => cell.colSpan === 1));
    const place = cell => cell.parentElement.cells.length - cell.cellIndex; // from the right
    const sentences = new Set([...table.querySelectorAll("td")].filter(td => /\p{L}{2}.{20}/u.test(td.textContent)).map(place));
    for (const cell of rows.flatMap(row => [...row.cells])) if (sentences.has(place(cell))) cell.classList.add("anx-words");
  }
  // Answers: 0,21 and −3/4 and 40 % are numbers; 1 % off is right, or half a unit of the last digit up to 5 %.
  const isRight = (said, right) => {
    const text = said.trim().toLowerCase().replace(/^["'“”]|["'“”]$/g, "");
    if (typeof right === "boolean") return right ? /^(true|yes)$/.test(text) : /^(false|no)$/.test(text);
    if (typeof right === "string") return text === right.trim().toLowerCase();
    const plain = text.replace(/[−–]/g, "-").replace(",", ".").replace(/\s/g, "");
    const [, top, below, percent] = /^([-+]?\d*\.?\d+\.?)(?:\/(\d*\.?\d+))?(%?)$/.exec(plain) || [];
    const unit = percent ? 0.01 : 1;
    const digit = below ? 0 : 0.5 * unit / 10 ** (top?.split(".")[1] || "").length;
    const near = Math.max(Math.abs(right) / 100, Math.min(digit, Math.abs(right) / 20 || 0.005), 1e-9);
    return Math.abs(top / (below || 1) * unit - right) <= Math.min(near, Number.isInteger(right) ? 0.06 : near);
  };
  for (const ask of document.querySelectorAll(".anx-ask")) {
    ask.addEventListener("submit", event => {
      event.preventDefault();
      const right = JSON.parse(atob(ask.dataset.right));
      const fields = [...ask.querySelectorAll("input")];
      const wrong = fields.filter((field, i) => !isRight(field.value, right[i]));
      for (const field of fields) field.setAttribute("aria-invalid", wrong.includes(field));
      const names = wrong.map(field => field.parentElement.querySelector("code").textContent);
      ask.querySelector("output").textContent = wrong.length ? `not yet: ${names.join(", ")}` : "right";
    });
  }
})();
