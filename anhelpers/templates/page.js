/* A link into something folded opens it, and paper shows it all, in browsers that do neither by themselves; columns of
   a table that hold sentences begin at the left, as pandas' tables do not; broad charts are marked, for phones. */
(() => {
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
  for (const chart of document.querySelectorAll('img[src^="data:image/svg+xml"]')) {
    chart.decode().then(() => chart.classList.toggle("anx-broad", chart.naturalWidth > 800), () => {});
  }
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:is(.anx-fold, .anx-deeper):not([open])")];
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });
})();
