// What test_access.py asks of a page with a widget: contrasts of texts, controls without a name, stops of the tabulator.
(() => {
  const CONTROLS = ".anx :is(button, input, select, textarea, a[href], [tabindex])";
  const numbers = (color) => { const c = color.match(/[\d.]+/g).map(Number); return c.length === 3 ? [...c, 1] : c; };
  const channel = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const shown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const controls = () => [...document.querySelectorAll(CONTROLS)].filter((e) => shown(e) && !e.disabled);

  function behind(element) { // the first colour behind a text
    for (let e = element; e; e = e.parentElement) {
      const color = numbers(getComputedStyle(e).backgroundColor);
      if (color[3] > 0.99) return color;
    }
    return [255, 255, 255, 1];
  }

  function texts() { // [contrast, contrast wanted by WCAG AA, text, size in pixels on the screen]
    const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const e = node.parentElement, style = getComputedStyle(e), text = node.textContent.trim();
      if (!text || !shown(e) || e.closest('script, style, option, [aria-disabled="true"]')) continue;
      const svg = e.namespaceURI.endsWith("svg");
      const [a, b] = [light(numbers(svg ? style.fill : style.color)), light(behind(e))].sort((x, y) => y - x);
      const at = svg && e.getScreenCTM(), scale = svg ? Math.hypot(at.a, at.b) : 1, size = parseFloat(style.fontSize) * scale;
      found.push([(a + 0.05) / (b + 0.05), size >= 24 ? 3 : 4.5, text.slice(0, 40), size]);
    }
    return found;
  }

  function nameless() {
    const named = (e) => e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.title ||
      [...(e.labels || [])].some((label) => label.textContent.trim()) || (e.tagName === "BUTTON" && e.textContent.trim());
    return controls().filter((e) => !named(e)).map((e) => e.outerHTML.slice(0, 120));
  }

  function stops() { // how many places the tabulator must get to: of a group of radio buttons one
    const groups = new Set(), single = controls().filter((e) => e.tabIndex >= 0 && !(e.type === "radio" && groups.add(e.name)));
    return single.length + groups.size;
  }

  window.access = { texts, nameless, stops };
})();
