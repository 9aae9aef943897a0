// chrF in the page: accuracy/chrf.py for one text, in sacreBLEU's order of operations, so that the last bit is the same.

const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"; // where Python's str.split() splits
const CHAR_ORDER = 6, RECALL_COUNTS = 2; // the six orders of n-grams; the 2 of chrF2
const PIECE = 4; // characters of the shortest piece that is marked as found in a reference

function lettersOf(text) { // [its code points that are no white space, where each begins in the text]
  const blank = new RegExp(`[${BLANK}]`), found = [], at = [];
  let place = 0;
  for (const letter of text) {
    if (!blank.test(letter)) { found.push(letter); at.push(place); }
    place += letter.length;
  }
  return [found, at];
}

function countedGrams(letters, order) { // n-gram -> how often
  const counts = new Map();
  for (let i = 0; i + order <= letters.length; i++) {
    const gram = letters.slice(i, i + order).join("");
    counts.set(gram, (counts.get(gram) || 0) + 1);
  }
  return counts;
}

function chrfReference(text) { // what is counted of a reference once
  const letters = lettersOf(text)[0];
  return { size: letters.length, grams: Array.from({ length: CHAR_ORDER }, (_, n) => countedGrams(letters, n + 1)) };
}

function chrfOf(text, references) { // points, 0 to 100; of several references the one that scores best
  const letters = lettersOf(text)[0];
  const mine = Array.from({ length: CHAR_ORDER }, (_, n) => countedGrams(letters, n + 1));
  return Math.max(0, ...references.map((one) => chrfAgainst(letters.length, mine, one)));
}

function chrfAgainst(size, mine, reference) {
  let precision = 0, recall = 0, orders = 0;
  for (let n = 0; n < CHAR_ORDER; n++) {
    const have = size - n, wanted = reference.size - n;
    if (have <= 0 || wanted <= 0) continue;
    let matches = 0;
    for (const [gram, count] of mine[n]) matches += Math.min(count, reference.grams[n].get(gram) || 0);
    precision += matches / have;
    recall += matches / wanted;
    orders += 1;
  }
  if (!(precision + recall)) return 0;
  precision /= orders;
  recall /= orders;
  const factor = RECALL_COUNTS ** 2, score = (1 + factor) * precision * recall;
  return 100 * (score / (factor * precision + recall));
}

function matchedPlaces(text, references) { // of each UTF-16 unit of the text: whether it is in a piece that a reference has too
  const [letters, at] = lettersOf(text), seen = new Array(text.length).fill(false);
  for (let i = 0; i + PIECE <= letters.length; i++) {
    const gram = letters.slice(i, i + PIECE).join("");
    if (!references.some((one) => one.grams[PIECE - 1].has(gram))) continue;
    const last = i + PIECE - 1;
    seen.fill(true, at[i], at[last] + letters[last].length);
  }
  return seen;
}
