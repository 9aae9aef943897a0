/* Contents; light or dark; a link into something folded opens it, and paper shows it all, in browsers that do neither by
   themselves; columns of a table that hold sentences begin at the left, as pandas' tables do not. */
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
  const reveal = () => {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let fold = named && named.closest("details");
    if (!fold) return;
    for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
    named.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("DOMContentLoaded", reveal);
  const fromRight = (row, place) => row.cells[row.cells.length - place];
  for (const table of document.querySelectorAll(".jp-RenderedHTML table")) {
    if (table.closest(".anx, .anx-host") || !table.tHead || !table.tBodies[0]?.rows.length) continue;
    const body = [...table.tBodies[0].rows];
    const wide = Math.min(...body.map(row => row.querySelectorAll("td").length));
    for (let place = 1; place <= wide; place++) {
      const cells = body.map(row => fromRight(row, place));
      if (!cells.some(cell => /\p{L}{2}.{20}/u.test(cell.textContent))) continue;
      const heads = [...table.tHead.rows].filter(row => [...row.cells].every(cell => cell.colSpan === 1));
      for (const cell of [...cells, ...heads.map(row => fromRight(row, place))]) cell?.classList.add("anx-words");
    }
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
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:is(.anx-fold, .anx-deeper):not([open])")];
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });
})();
