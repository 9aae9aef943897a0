// The raters' files: read, checked and counted as classroom/files.py, plane.py and alpha.py do, with the same sentences.

const REFUSED = class extends Error {}; // one sentence for the user: file, line, what to do

function refuse(name, line, sentence) { throw new REFUSED(`${name}${line ? `, line ${line}` : ""}: ${sentence}`); }

function csvCells(lines, separator, name, skip) { // [line, cells] of each row, quoted as RFC 4180 says
  const rows = [];
  let cells = [], cell = "", quoted = false;
  lines.forEach((line, i) => {
    for (let at = 0; at < line.length; at++) {
      const char = line[at];
      if (quoted && char === '"' && line[at + 1] === '"') { cell += '"'; at++; }
      else if (quoted && char === '"') quoted = false;
      else if (quoted) cell += char;
      else if (char === '"' && cell === "") quoted = true;
      else if (char === separator) { cells.push(cell); cell = ""; }
      else cell += char;
    }
    if (quoted) { cell += "\n"; return; }
    rows.push([skip + i + 1, [...cells, cell].map((one) => one.trim())]);
    cells = [];
    cell = "";
  });
  if (quoted) refuse(name, skip + lines.length, "is no CSV (a quote is not closed); check the quotes.");
  return rows;
}

function numberOf(cell) { // with a decimal point or comma; null where there is none
  const text = (cell || "").replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? +text : null;
}

function textOf(name, bytes) { // as Python reads a file, by whose rule a letter in another encoding is no letter
  const strict = (part) => { try { return new TextDecoder("utf-8", { fatal: true }).decode(part); } catch { return null; } };
  const text = strict(bytes);
  if (text !== null) return text;
  let start = 0, line = 1;
  for (;; line++) {
    const end = bytes.indexOf(10, start);
    if (end < 0 || strict(bytes.subarray(start, end)) === null) break;
    start = end + 1;
  }
  let at = start;
  for (let next = start; next - at < 4 && next < bytes.length; next++) if (strict(bytes.subarray(start, next + 1)) !== null) at = next + 1;
  const column = [...strict(bytes.subarray(start, at))].length + 1;
  return refuse(name, line, `byte 0x${bytes[at].toString(16).padStart(2, "0")} at column ${column} is not UTF-8; re-save the file as UTF-8.`);
}

function ratingsOf(name, text, data) { // rows of {line, rater, key, rating, seconds, turn} of one file
  const plain = text.replace(/^\ufeff/, ""), lines = plain.split(/\r\n|\r|\n/);
  if (plain.trimStart().startsWith("<")) refuse(name, 1, "this is a web page and no CSV: press Save on it, and take the file that it writes.");
  const skip = lines.findIndex((line) => line.trim() && !/^sep=/i.test(line));
  if (skip < 0) refuse(name, 0, `this file is empty; a file of ratings begins with ${data.columns.join(",")}.`);
  const count = (mark) => lines[skip].split(mark).length;
  const separator = [",", ";", "\t"].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
  const [[, head], ...rows] = csvCells(lines.slice(skip), separator, name, skip);
  const header = head.map((one) => one.toLowerCase());
  const missing = data.columns.slice(0, data.needed).filter((one) => !header.includes(one));
  if (missing.length) refuse(name, skip + 1, `there is no column ${missing.join(", ")}; it has ${header.filter(Boolean).join(", ")}.`);
  const twice = data.columns.find((one) => header.indexOf(one) !== header.lastIndexOf(one));
  if (twice) {
    const first = header.indexOf(twice), second = header.indexOf(twice, first + 1);
    refuse(name, skip + 1, `columns ${first + 1} and ${second + 1} are both called '${twice}'; delete the wrong one, or give it another name.`);
  }
  const found = rows.filter(([, cells]) => cells.some(Boolean)).map(([line, cells]) => {
    if (cells.length !== header.length) refuse(name, line, `${cells.length} cells, and the header has ${header.length}.`);
    return ratingOf(name, line, Object.fromEntries(header.map((one, i) => [one, cells[i]])), data);
  });
  if (!found.length) refuse(name, skip + 1, "there is a header and no rating below it.");
  return found;
}

function ratingOf(name, line, cells, data) { // one row, each of its cells checked
  for (const one of ["rater", "sheet"]) if (!cells[one]) refuse(name, line, `the ${one} is blank; every rating needs one.`);
  for (const one of ["segment", "candidate"]) {
    if (!/^\d{1,18}$/.test(cells[one])) refuse(name, line, `${one} '${cells[one]}' is no whole number from 0 on.`);
  }
  const criterion = cells.criterion.toLowerCase();
  if (!data.criteria.includes(criterion)) refuse(name, line, `unknown criterion '${criterion}'; known: ${data.criteria.join(", ")}.`);
  const [rating, seconds, turn] = ["rating", "seconds", "turn"].map((one) => numberOf(cells[one]));
  if (cells.seconds && !(seconds !== null && seconds >= 0)) {
    refuse(name, line, `seconds '${cells.seconds}' is no number ≥ 0; leave it blank where it is not known.`);
  }
  if (cells.rating && !data.points.includes(rating)) {
    refuse(name, line, `rating '${cells.rating}' is none of ${data.points.join(", ")}; leave it blank where there is none.`);
  }
  if (cells.turn && !(Number.isInteger(turn) && turn >= 1)) {
    refuse(name, line, `turn '${cells.turn}' is no whole number from 1 on; leave it blank where it is not known.`);
  }
  const [segment, candidate] = [+cells.segment, +cells.candidate];
  if (cells.sheet !== data.sheet) {
    refuse(name, line, `this is of sheet '${cells.sheet}', and the sheet at hand is '${data.sheet}'; ${data.oneSheet}`);
  }
  return { line, rater: cells.rater, segment, candidate, criterion, key: `${segment} ${candidate} ${criterion}`, rating, seconds, turn };
}

function addFile(kept, name, text, data) { // kept: rater -> {file, given}; returns notes; nothing is kept of a file that is refused
  const asked = new Set(data.cells.map((cell) => cell.join(" "))), mine = new Map(), notes = [];
  for (const row of ratingsOf(name, text, data)) {
    if (!asked.has(row.key)) refuse(name, row.line, `candidate ${row.candidate} of segment ${row.segment} is not on the sheet; leave the file as the page saved it.`);
    if (!mine.has(row.rater)) mine.set(row.rater, new Map());
    const given = mine.get(row.rater), before = given.get(row.key);
    if (before) refuse(name, row.line, `${row.rater} rates the ${row.criterion} of candidate ${row.candidate} a second time, first in line ${before.line}; keep one of the two.`);
    given.set(row.key, row);
  }
  for (const [rater, given] of mine) {
    const known = kept.get(rater);
    if (!known) continue;
    for (const key of new Set([...given.keys(), ...known.given.keys()])) {
      if ((given.get(key)?.rating ?? null) !== (known.given.get(key)?.rating ?? null)) {
        refuse(name, given.get(key)?.line, `${rater} has other ratings in ${known.file}: keep the file that counts, or give two people two pseudonyms.`);
      }
    }
    notes.push(`${name} repeats the ratings of ${rater} in ${known.file}, and is read once.`);
    mine.delete(rater);
  }
  for (const [rater, given] of mine) kept.set(rater, { file: name, given });
  return notes;
}

// ---- what is counted
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function grouped(items, key) { // Map of lists
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) || []), item]);
  return groups;
}

function endsOf(means, data) { // Student's interval of the mean over segments, within the scale; null where there is none
  const n = means.length, middle = mean(means);
  const error = Math.sqrt(means.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (n - 1) / n);
  if (n < data.least || (error < 1e-12 && n < data.varied)) return null; // equal ratings of a few say nothing of others
  const half = data.t[n] * error;
  return [Math.max(data.points[0], middle - half), Math.min(data.points[data.points.length - 1], middle + half)];
}

function planeOf(kept, data) { // system -> accuracy, fluency: a mean over raters, then a segment's candidates, then segments
  const rows = [...kept.values()].flatMap(({ given }) => [...given.values()].filter((row) => row.rating !== null));
  const long = rows.flatMap((row) => data.systems[row.candidate].map((system) => ({ ...row, system })));
  const systems = {};
  for (const [system, all] of grouped(long, (row) => row.system)) {
    systems[system] = { n: new Set(all.map((row) => row.segment)).size, ratings: all.length, ends: {} };
    for (const criterion of data.criteria) {
      const part = all.filter((row) => row.criterion === criterion);
      const segments = [...grouped(part, (row) => row.segment).values()].map((list) =>
        mean([...grouped(list, (row) => row.candidate).values()].map((one) => mean(one.map((row) => row.rating)))));
      systems[system][criterion] = segments.length ? mean(segments) : null;
      systems[system].ends[criterion] = segments.length ? endsOf(segments, data) : null;
    }
  }
  return systems;
}

function alphaOf(kept, criterion, data) { // Krippendorff's α, ordinal; null where it is not defined
  const units = data.cells.filter((cell) => cell[2] === criterion).map((cell) =>
    [...kept.values()].map(({ given }) => given.get(cell.join(" "))?.rating ?? null).filter((rating) => rating !== null));
  const size = data.points.length, pairs = data.points.map(() => new Array(size).fill(0));
  for (const unit of units.filter((one) => one.length > 1)) {
    unit.forEach((a, i) => unit.forEach((b, j) => { if (i !== j) pairs[a - 1][b - 1] += 1 / (unit.length - 1); }));
  }
  const n = pairs.map((row) => row.reduce((sum, value) => sum + value, 0)), total = n.reduce((sum, value) => sum + value, 0);
  const place = n.map((value, i) => n.slice(0, i + 1).reduce((sum, one) => sum + one, 0) - value / 2);
  let observed = 0, expected = 0;
  for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) {
    const far = (place[i] - place[j]) ** 2;
    observed += pairs[i][j] * far;
    expected += (n[i] * n[j] * far) / (total - 1);
  }
  return n.filter((value) => value > 1e-9).length > 1 && expected > 0 ? 1 - observed / expected : null;
}

function sameWork(one, other) { // three ratings or more that both gave, and all of them in the same seconds
  const both = [...one.values()].filter((row) => row.rating && row.seconds && other.get(row.key)?.rating && other.get(row.key).seconds);
  return both.length > 2 && both.every((row) => other.get(row.key).rating === row.rating && other.get(row.key).seconds === row.seconds);
}

function alike(names, same) { // groups of two names or more that are like the first of the group
  const groups = [];
  for (const name of names) {
    const group = groups.find(([first]) => same(first, name));
    if (group) group.push(name); else groups.push([name]);
  }
  return groups.filter((group) => group.length > 1);
}

function notesOf(kept, data) { // what a user should see of the files together
  const notes = [], lacks = [...kept].map(([rater, { given }]) =>
    [rater, data.cells.length - [...given.values()].filter((row) => row.rating !== null).length]);
  const all = lacks.reduce((sum, [, n]) => sum + n, 0), who = lacks.filter(([, n]) => n).map(([rater, n]) => `${rater} ${n}`);
  if (all) notes.push(`${all} of ${data.cells.length * kept.size} ratings ${all === 1 ? "is" : "are"} missing (${who.join(", ")}).`);
  for (const raters of alike([...kept.keys()], (one, other) => sameWork(kept.get(one).given, kept.get(other).given))) {
    notes.push(`${raters.join(" and ")} gave the same ratings in the same seconds: if this is one person's file ` +
      "under two names, delete one, for it makes the agreement too high.");
  }
  const bare = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  for (const raters of alike([...kept.keys()], (one, other) => bare(one) && bare(one) === bare(other))) {
    notes.push(`${raters.join(" and ")} count as ${raters.length} people: are they one, whose name was typed in two ways?`);
  }
  for (const [rater, { given }] of kept) {
    const turns = (criterion) => [...given.values()].filter((row) => row.criterion === criterion && row.turn).map((row) => row.turn);
    if (turns("fluency").length && Math.max(...turns("fluency")) > Math.min(...turns("accuracy"))) {
      notes.push(`${rater} rated fluency after the sources had been shown.`);
    }
  }
  return notes;
}
