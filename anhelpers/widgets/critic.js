// The critic in the page: naturalness/critic.py, n-gram by n-gram. Python ships its whole table as a text.

const SAME_SIGNS = [ // [forms, sign], in this order; marks in pairs first
  [/[„“”«»‟"]|[’‘‚`´']{2}/gu, '"'],
  [/[’‘‚`´]/gu, "'"],
  [/…/gu, "..."],
  [new RegExp(`(?:^|[${BLANK}])[–—−-]+(?=[${BLANK}]|$)|--+|—`, "gu"), " - "],
];
const TOKEN = new RegExp("#[A-Z_\\-]+#|\\p{Nd}+(?:[.,:]\\p{Nd}+)*|[\\p{L}\\p{N}_]+(?:['\\-][\\p{L}\\p{N}_]+)*|\\.\\.+|" +
  `[^\\p{L}\\p{N}_${BLANK}]`, "gu"); // Python's \w is a letter, a number or _
const UNREAD = new Set([".", "!", "?", "...", '"']); // signs at the end of a text
const DIGIT = new RegExp("^[\\p{Nd}²³¹\\u1369-\\u1371\\u19da\\u2070\\u2074-\\u2079\\u2080-\\u2089\\u2460-\\u2468\\u2474-\\u247c" +
  "\\u2488-\\u2490\\u24ea\\u24f5-\\u24fd\\u24ff\\u2776-\\u277e\\u2780-\\u2788\\u278a-\\u2792\\u{10a40}-\\u{10a43}" +
  "\\u{10e60}-\\u{10e68}\\u{11052}-\\u{1105a}\\u{1f100}-\\u{1f10a}]", "u"); // Python's str.isdigit
const LETTER = /^\p{L}/u, CAPITAL = /^\p{Uppercase}/u;

function criticOf(shipped) { // what the scores need, from what Python shipped
  const table = new Map();
  for (const line of shipped.ngrams.split("\n")) {
    const [gram, idf, weight] = line.split("\t");
    table.set(gram, [+idf, +weight]);
  }
  return { ...shipped, words: new Set(shipped.words.split(" ")), table };
}

function replacedSigns(marked, form, sign) { // marked: {text, from, to}: where each of its units begins and ends in the source
  const next = { text: "", from: [], to: [] };
  const keep = (a, b) => {
    next.text += marked.text.slice(a, b);
    next.from.push(...marked.from.slice(a, b));
    next.to.push(...marked.to.slice(a, b));
  };
  let done = 0;
  for (const { 0: found, index } of marked.text.matchAll(form)) {
    keep(done, index);
    done = index + found.length;
    next.text += sign;
    for (let k = 0; k < sign.length; k++) { next.from.push(marked.from[index]); next.to.push(marked.to[done - 1]); }
  }
  if (!done) return marked;
  keep(done, marked.text.length);
  return next;
}

function criticTokens(text, german) { // [{token, from, to}]; the places are those in the text's composed form, NFC
  const units = [...Array(text.normalize("NFC").length).keys()];
  let marked = { text: text.normalize("NFC"), from: units, to: units.map((i) => i + 1) };
  for (const [form, sign] of SAME_SIGNS) marked = replacedSigns(marked, form, sign);
  if (german) marked = replacedSigns(marked, /ß/gu, "ss");
  return [...marked.text.matchAll(TOKEN)].map(({ 0: token, index }) =>
    ({ token, from: marked.from[index], to: marked.to[index + token.length - 1] }));
}

function maskedToken(token, { words, shape }) { // a token at both grains
  if (DIGIT.test(token)) return ["0", "0"];
  if (!LETTER.test(token)) return token[0] === "#" && token.length > 1 ? ["N", "N"] : [token, token];
  const lower = token.toLowerCase();
  if (words.has(lower)) return [lower, lower];
  const bare = CAPITAL.test(token) ? "N" : "x", size = [...token].length;
  const ending = bare === "x" && shape.ending && size > 4 ? "-" + [...lower].slice(-shape.ending).join("") : "";
  return [bare, bare + shape.lengths.filter((most) => size > most).length + ending];
}

function criticGrams(tokens, critic) { // [[n-gram, first token, one after the last]]
  let n = tokens.length;
  while (n && UNREAD.has(tokens[n - 1])) n -= 1;
  const masked = tokens.slice(0, n).map((token) => maskedToken(token, critic)), found = [];
  const [coarse, fine] = [0, 1].map((grain) => ["<s>", ...masked.map((pair) => pair[grain]), "</s>"]);
  for (const grain of [coarse, fine])
    for (let k = 1; k <= critic.shape.order; k++)
      for (let i = +(k === 1); i < n + 3 - k - (k === 1); i++) {
        const gram = grain.slice(i, i + k);
        if (grain === coarse || gram.some((part, j) => part !== coarse[i + j]))
          found.push([gram.join(" "), Math.max(i - 1, 0), Math.min(i + k - 1, n)]);
      }
  return found;
}

function explainedText(critic, text) { // {score, shares: [{token, from, to, nats}]}; score is null for a text without a word
  const tokens = criticTokens(text, critic.german), shares = tokens.map((one) => ({ ...one, nats: 0 }));
  if (!tokens.some(({ token }) => LETTER.test(token))) return { score: null, shares };
  const known = criticGrams(tokens.map(({ token }) => token), critic).filter(([gram]) => critic.table.has(gram));
  const counts = new Map();
  for (const [gram] of known) counts.set(gram, (counts.get(gram) || 0) + 1);
  let size = 0, score = critic.intercept;
  for (const [gram, count] of counts) size += (count * critic.table.get(gram)[0]) ** 2;
  size = Math.sqrt(size) || 1;
  for (const [gram, first, last] of known) {
    const [idf, weight] = critic.table.get(gram), nats = (idf * weight) / size;
    score += nats;
    for (let i = first; i < last; i++) shares[i].nats += nats / (last - first);
  }
  return { score, shares };
}
