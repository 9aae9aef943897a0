/* a link into something folded opens it, and paper shows it all, in browsers that do neither by themselves */
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
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:is(.anx-fold, .anx-deeper):not([open])")];
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });
})();
