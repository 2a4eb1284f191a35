// The notation of the corpus to bytes, as hprof_corpus.assembler does it: a test compares the two on all texts of the corpus.
// The layouts come from hprof_corpus.layouts, as layouts.json.

export class NotationError extends Error {
  constructor(line, message) {
    super(`line ${line}: ${message}`);
    this.line = line;
  }
}

const MOST = 1 << 26; // bytes
const NUMBER = /^-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$/;
const SYMBOL = /^[@$%][A-Za-z0-9_.+-]+(?:\([a-z](?:[+-]\d+)?\)[A-Za-z0-9_.]*)*$/;
const FAULT = /^#\s*([A-Z]+-\d{3}(?:, [A-Z]+-\d{3})*):\s*\S/;
const ESCAPES = {n: "\n", t: "\t", r: "\r", '"': '"', "\\": "\\"};
const fail = (line, message) => {
  throw new NotationError(line, message);
};

// ---- Text to statements

const unescape = (text, line) =>
  text.replace(/\\(?:u\{([0-9a-fA-F]+)\}|([^\n]))/g, (all, code, letter) => {
    if (code) return parseInt(code, 16) <= 0x10ffff ? String.fromCodePoint(parseInt(code, 16)) : fail(line, `no character has the number ${code}`);
    return ESCAPES[letter] ?? fail(line, `unknown escape \\${letter}`);
  });

function word(text, line) {
  if ("@$%".includes(text[0])) {
    if (!SYMBOL.test(text)) fail(line, `bad symbol ${text}`);
    return {form: "symbol", text, line};
  }
  return {form: NUMBER.test(text) ? "number" : "word", text, line};
}

function lineTokens(text, line) {
  const pattern = /[ \t\r]*(?:(?<comment>#[^\n]*)|(?<mark>!)?(?:"(?<string>(?:[^"\\]|\\[^\n])*)"|(?<punctuation>[\][{}*])|(?<word>[^\][\s{}*"!]+))|(?<end>$))/uy;
  const tokens = [], marked = [];
  let rules = [];
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex, found = pattern.exec(text)?.groups;
    if (!found) fail(line, `cannot read '${text.slice(at).trimStart()}'`);
    if (found.comment !== undefined) {
      rules = FAULT.exec(found.comment)?.[1].split(", ") ?? [];
      continue;
    }
    if (found.end !== undefined) break;
    if (found.mark) marked.push(tokens.length);
    if (found.word !== undefined) tokens.push(word(found.word, line));
    else if (found.string !== undefined) tokens.push({form: "string", text: unescape(found.string, line), line});
    else tokens.push({form: found.punctuation, text: found.punctuation, line});
  }
  if (marked.length !== rules.length) fail(line, "a fault needs both: `!` before the word that is wrong, and a comment `# RULE-ID: why`");
  marked.forEach((index, i) => (tokens[index].rule = rules[i]));
  return tokens;
}

function logicalLines(text) {
  const lines = [];
  let depth = 0;
  text.split("\n").forEach((one, number) => {
    const tokens = lineTokens(one, number + 1);
    if (!tokens.length) return;
    if (depth) lines.at(-1).push(...tokens);
    else lines.push(tokens);
    for (const {form} of tokens) depth += (form === "[") - (form === "]");
    if (depth !== 0 && depth !== 1) fail(number + 1, "lists do not nest");
  });
  if (depth) fail(lines.at(-1)[0].line, "the list is not closed");
  return lines;
}

function items(tokens) {
  const found = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token.form === "[") {
      const close = tokens.findIndex((one, i) => i >= at && one.form === "]");
      found.push({list: tokens.slice(at + 1, close), line: token.line});
      at = close;
    } else if ("{}]".includes(token.form)) fail(token.line, `unexpected ${token.text}`);
    else found.push(token);
  }
  return found;
}

function block(lines, state, opened) {
  const statements = [];
  while (state.at < lines.length) {
    const tokens = lines[state.at++];
    if (tokens[0].form === "}") {
      if (opened === null || tokens.length > 1) fail(tokens[0].line, "unexpected }");
      return statements;
    }
    if (tokens[0].form !== "word") fail(tokens[0].line, `a statement begins with a word, not ${tokens[0].text}`);
    const opens = tokens.at(-1).form === "{";
    const given = items(opens ? tokens.slice(1, -1) : tokens.slice(1));
    statements.push({head: tokens[0], word: tokens[0].text, line: tokens[0].line, items: given, block: opens ? block(lines, state, tokens[0].line) : null});
  }
  if (opened !== null) fail(opened, "the block is not closed");
  return statements;
}

function integer(token) {
  if (token.list || token.form !== "number") fail(token.line, "expected a whole number");
  try {
    return token.text[0] === "-" ? -BigInt(token.text.slice(1)) : BigInt(token.text);
  } catch {
    return fail(token.line, `expected a whole number, not ${token.text}`);
  }
}

function* expand(statements, variables = {}) {
  const filled = token => {
    const text = token.text.replace(/\(([a-z])([+-]\d+)?\)/g, (all, name, more) => (name in variables ? String(variables[name] + Number(more ?? 0)) : all));
    return text === token.text ? token : {...token, text, form: token.form === "word" && NUMBER.test(text) ? "number" : token.form};
  };
  for (const statement of statements) {
    const given = statement.items.map(one => (one.list ? {...one, list: one.list.map(filled)} : filled(one)));
    if (statement.word !== "repeat") {
      yield {...statement, items: given, block: statement.block && [...expand(statement.block, variables)]};
      continue;
    }
    if (!statement.block || given.length < 1 || given.length > 2) fail(statement.line, "repeat COUNT [NAME] { ... }");
    const name = given.length === 2 && !given[1].list ? given[1].text : "", count = integer(given[0]);
    if (count > MOST) fail(statement.line, "too much for this page");
    for (let value = 0; value < Number(count); value++) yield* expand(statement.block, {...variables, [name]: value});
  }
}

// ---- The words of a statement

class Arguments {
  constructor(statement) {
    this.statement = statement;
    this.line = statement.line;
    this.items = [...statement.items];
  }
  fail(message) {
    return fail(this.line, `${this.statement.word}: ${message}`);
  }
  at(text) {
    return this.items.findIndex(one => one.form === "word" && one.text === text);
  }
  keyword(text) {
    const at = this.at(text);
    if (at < 0) return null;
    if (at + 1 >= this.items.length) this.fail(`${text} needs a value`);
    if (this.items[at + 1].list) this.fail(`${text} needs a value, not a list`);
    return this.items.splice(at, 2);
  }
  flag(text) {
    const at = this.at(text);
    return at < 0 ? null : this.items.splice(at, 1)[0];
  }
  listing(text) {
    let start = 0;
    if (text !== undefined) {
      start = this.at(text);
      if (start < 0) return null;
      this.items.splice(start, 1);
    }
    const at = this.items.findIndex((one, i) => i >= start && one.list);
    return at < 0 ? null : this.items.splice(at, 1)[0];
  }
  positional() {
    if (!this.items.length || this.items[0].list) this.fail("a value is missing");
    return this.items.shift();
  }
  peekNumber(text) {
    const at = this.at(text);
    return at >= 0 && this.items[at + 1]?.form === "number";
  }
  rest() {
    if (this.items.some(one => one.list)) this.fail("unexpected list");
    return this.items.splice(0);
  }
  done(mayHaveBlock = false) {
    if (this.items.length) this.fail(`unexpected ${this.items[0].list ? "list" : this.items[0].text}`);
    if (this.statement.block && !mayHaveBlock) this.fail("takes no block");
  }
}

const isWord = (token, text) => token.form === "word" && token.text === text;

function hexBytes(token) {
  if (token.form !== "number" || !token.text.startsWith("0x") || token.text.length % 2)
    fail(token.line, `expected bytes (0x and an even number of digits), not ${token.text}`);
  return Uint8Array.from(token.text.slice(2).match(/../g) ?? [], pair => parseInt(pair, 16));
}

function utf8(token) {
  if (/\p{Surrogate}/u.test(token.text)) fail(token.line, "half a character, which UTF-8 has not");
  return new TextEncoder().encode(token.text);
}

const rawBytes = token => (token.form === "string" ? utf8(token) : hexBytes(token));

function repeated(tokens) {
  const found = [];
  for (let at = 0; at < tokens.length; at++) {
    if (at + 2 < tokens.length && tokens[at + 1].form === "*") {
      found.push([tokens[at], Number(integer(tokens[at + 2]))]);
      at += 2;
    } else found.push([tokens[at], 1]);
  }
  return found;
}

// ---- Bytes, and which line they come from

class Piece {
  constructor() {
    this.bytes = new Uint8Array(64);
    this.size = 0;
    this.spots = [];
  }
  add(data) {
    if (this.size + data.length > MOST) fail(this.spots.at(-1)?.line ?? 1, "too much for this page");
    if (this.size + data.length > this.bytes.length) {
      const larger = new Uint8Array(2 * (this.size + data.length));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
    }
    this.bytes.set(data, this.size);
    this.size += data.length;
  }
  addRepeated(data, count) {
    if (data.length * count > MOST) fail(this.spots.at(-1)?.line ?? 1, "too much for this page");
    for (let i = 0; i < count; i++) this.add(data);
  }
  spot(line, label, rule) {
    this.spots.push({offset: this.size, line, label, rule});
  }
  append(other) {
    for (const spot of other.spots) this.spots.push({...spot, offset: spot.offset + this.size});
    this.add(other.data());
  }
  cut(count) {
    this.size -= count;
  }
  data() {
    return this.bytes.subarray(0, this.size);
  }
}

function bytesOf(value, width, line) {
  const least = value < 0n ? -(1n << BigInt(8 * width - 1)) : 0n;
  if (value < least || value >= 1n << BigInt(8 * width)) fail(line, `${value} does not fit in ${width} bytes`);
  const bytes = new Uint8Array(width);
  for (let i = width - 1; i >= 0; i--, value >>= 8n) bytes[i] = Number(value & 0xffn);
  return bytes;
}

// ---- gzip: members whose bytes depend only on the input

const CRC = Uint32Array.from({length: 256}, (none, i) => {
  for (let k = 0; k < 8; k++) i = i & 1 ? 0xedb88320 ^ (i >>> 1) : i >>> 1;
  return i;
});
const crc32 = data => ~data.reduce((crc, byte) => CRC[(crc ^ byte) & 0xff] ^ (crc >>> 8), ~0) >>> 0;
const little = (value, width) => Uint8Array.from({length: width}, (none, i) => Number((BigInt(value) >> BigInt(8 * i)) & 0xffn));
const joined = parts => {
  const piece = new Piece();
  parts.forEach(part => piece.add(part));
  return piece.data();
};

class Bits {
  constructor() {
    this.bytes = [];
    this.pending = this.count = 0;
  }
  put(value, width) {
    for (let i = 0; i < width; i++) {
      this.pending |= ((value >> i) & 1) << this.count;
      if (++this.count === 8) this.flush();
    }
  }
  putCode(code, width) {
    for (let i = width - 1; i >= 0; i--) this.put((code >> i) & 1, 1);
  }
  flush() {
    if (this.count) this.bytes.push(this.pending);
    this.pending = this.count = 0;
  }
  finish() {
    this.flush();
    return Uint8Array.from(this.bytes);
  }
}

function fixedCode(symbol) {
  if (symbol < 144) return [0x30 + symbol, 8];
  if (symbol < 256) return [0x190 + symbol - 144, 9];
  return symbol < 280 ? [symbol - 256, 7] : [0xc0 + symbol - 280, 8];
}

const METHODS = {
  stored(data) {
    const blocks = [];
    for (let at = 0; at < data.length || !blocks.length; at += 0xffff) {
      const part = data.subarray(at, at + 0xffff);
      blocks.push(Uint8Array.of(Number(at + 0xffff >= data.length)), little(part.length, 2), little(part.length ^ 0xffff, 2), part);
    }
    return joined(blocks);
  },
  fixed(data) {
    const bits = new Bits();
    bits.put(1, 1);
    bits.put(1, 2);
    for (let at = 0; at < data.length;) {
      bits.putCode(...fixedCode(data[at]));
      let run = 0;
      while (at + 1 + run < data.length && data[at + 1 + run] === data[at]) run++;
      at++;
      for (let i = 0; i < Math.floor(run / 258); i++) {
        bits.putCode(...fixedCode(285));
        bits.putCode(0, 5);
      }
      at += run - (run % 258);
    }
    bits.putCode(...fixedCode(256));
    return bits.finish();
  },
  dynamic(data) {
    const bits = new Bits(), order = [16, 17, 18, 0, 8, 7, 9], widths = {0: 2, 8: 1, 9: 2};
    bits.put(1, 1);
    bits.put(2, 2);
    bits.put(0, 5);
    bits.put(0, 5);
    bits.put(order.length - 4, 4);
    for (const symbol of order) bits.put(widths[symbol] ?? 0, 3);
    for (let i = 0; i < 255; i++) bits.putCode(0, 1);
    for (let i = 0; i < 2; i++) bits.putCode(3, 2);
    bits.putCode(2, 2);
    for (const byte of data) bits.putCode(...(byte < 255 ? [byte, 8] : [0x1fe, 9]));
    bits.putCode(0x1ff, 9);
    return bits.finish();
  },
};

function memberParts(data, o) {
  const has = name => o[name] !== undefined;
  const flags = Number(has("text")) | (Number(has("hcrc")) << 1) | (Number(has("extra")) << 2) | (Number(has("name")) << 3) | (Number(has("comment")) << 4);
  const zero = Uint8Array.of(0);
  const parts = [
    ["gzip", Uint8Array.of(0x1f, 0x8b)],
    ["method", little(o.method ?? 8, 1)],
    ["flags", little(o.flags ?? flags, 1)],
    ["mtime", little(o.mtime ?? 0, 4)],
    ["xfl", little(o.xfl ?? 0, 1)],
    ["os", little(o.os ?? 255, 1)],
  ];
  if (has("extra")) parts.push(["extra", joined([little(o.extra.length, 2), o.extra])]);
  if (has("name")) parts.push(["name", joined([o.name, zero])]);
  if (has("comment")) parts.push(["comment", joined([o.comment, zero])]);
  if (has("hcrc")) parts.push(["hcrc", little(o.hcrc ?? crc32(joined(parts.map(part => part[1]))) & 0xffff, 2)]);
  parts.push(["data", METHODS[o.deflate ?? "fixed"](data)]);
  parts.push(["crc", little(o.crc ?? crc32(data), 4)], ["isize", little(o.isize ?? data.length, 4)]);
  return parts;
}

// ---- Statements to bytes

const NUMBERING = {$: [0x100001n, 1n], "%": [0x200001n, 1n], "@": [0x300008n, 8n]};
const SIGILS = {string: "$", object: "@", frame: "%"};
const REMARKS = ["about", "reader", "profile", "looks-like", "importance", "id", "id-size"];

class Names {
  constructor(statements, basicTypes) {
    this.basicTypes = basicTypes;
    this.widths = Object.fromEntries(Object.values(basicTypes));
    this.idSize = 8;
    this.symbols = new Map();
    this.classes = new Map();
    const all = [], walk = some => some.forEach(one => (all.push(one), one.block && walk(one.block)));
    walk(statements);
    const sized = all.find(one => one.word === "hprof" || one.word === "id-size");
    if (sized) {
      const found = new Arguments(sized).keyword("id-size"), size = found ? found[1] : sized.word === "id-size" ? sized.items[0] : null;
      if (size) this.idSize = Number(integer(size));
    }
    const counts = {$: 0n, "%": 0n, "@": 0n};
    for (const statement of all) {
      if (statement.word === "id") {
        const given = new Arguments(statement), symbol = given.positional(), value = given.positional();
        given.done();
        if (this.symbols.has(symbol.text)) fail(statement.line, `${symbol.text} was mentioned before`);
        this.symbols.set(symbol.text, integer(value));
        continue;
      }
      for (const token of statement.items.flatMap(one => one.list ?? [one]))
        if (token.form === "symbol" && !this.symbols.has(token.text)) {
          const [first, step] = NUMBERING[token.text[0]];
          this.symbols.set(token.text, first + step * counts[token.text[0]]++);
        }
    }
    for (const statement of all) if (statement.word === "class-dump") this.noteClass(statement);
  }
  noteClass(statement) {
    const given = new Arguments(statement), id = this.id(given.positional(), "object"), superclass = given.keyword("super");
    let own = 0;
    for (const one of statement.block ?? [])
      if (one.word === "field") {
        const field = new Arguments(one);
        field.positional();
        own += this.type(field.positional())[1];
      }
    if (!this.classes.has(id)) this.classes.set(id, {super: superclass ? this.id(superclass[1], "object") : 0n, own});
  }
  chainSize(id) {
    let size = 0;
    for (const seen = new Set(); this.classes.has(id) && !seen.has(id); id = this.classes.get(id).super) {
      seen.add(id);
      size += this.classes.get(id).own;
    }
    return size;
  }
  id(token, kind) {
    if (token.form === "symbol") {
      if (kind !== "number" && token.text[0] !== SIGILS[kind]) fail(token.line, `${token.text} is no ${kind}`);
      return this.symbols.get(token.text);
    }
    return isWord(token, "null") ? 0n : integer(token);
  }
  type(token) {
    if (token.form === "number") {
      const code = Number(integer(token)), width = this.widths[code];
      return [code, width === 0 ? this.idSize : (width ?? 0)];
    }
    if (!Object.hasOwn(this.basicTypes, token.text)) fail(token.line, `${token.text} is no basic type`);
    const [code, width] = this.basicTypes[token.text];
    return [code, width || this.idSize];
  }
}

class Assembler {
  constructor(statements, layouts) {
    this.statements = statements;
    this.layouts = layouts;
    this.names = new Names(statements, layouts.basic_types);
    this.records = new Map(layouts.records.map(one => [one.word, one]));
    this.subrecords = new Map(layouts.subrecords.map(one => [one.word, one]));
  }

  float(token, width) {
    if (token.text.startsWith("0x")) return bytesOf(integer(token), width, token.line);
    const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(token.text);
    const value = special ? (special[2] ? Infinity : NaN) * (special[1] === "-" ? -1 : 1) : Number(token.text);
    if (!special && (token.text.trim() === "" || Number.isNaN(value))) fail(token.line, `${token.text} is no number`);
    const view = new DataView(new ArrayBuffer(width));
    if (width === 4) view.setFloat32(0, value);
    else view.setFloat64(0, value);
    return new Uint8Array(view.buffer);
  }
  value(code, token) {
    const width = this.names.widths[code];
    if (width === undefined) return rawBytes(token);
    if (code === 6 || code === 7) return this.float(token, code === 6 ? 4 : 8);
    if (token.form === "string") {
      if (code === 5) return Uint8Array.from([...Array(2 * token.text.length).keys()], i => (token.text.charCodeAt(i >> 1) >> (i & 1 ? 0 : 8)) & 0xff);
      if (code === 8) return utf8(token);
      fail(token.line, "only char and byte take a string");
    }
    if (code === 2) return bytesOf(this.names.id(token, "object"), this.names.idSize, token.line);
    return bytesOf(integer(token), width, token.line);
  }

  field(piece, spec, token, computed, at) {
    const width = spec.type === "ID" ? this.names.idSize : this.layouts.widths[spec.type];
    piece.spot(at.line, spec.name, at.rule);
    if (!token) piece.add(bytesOf(BigInt(computed), width, at.line));
    else if (spec.type === "ID") piece.add(bytesOf(this.names.id(token, spec.kind), width, token.line));
    else if (spec.name === "type") piece.add(bytesOf(BigInt(this.names.type(token)[0]), width, token.line));
    else if (spec.name === "cutoff" && token.text.includes(".")) piece.add(this.float(token, 4));
    else piece.add(bytesOf(integer(token), width, token.line));
  }
  fixed(layout, given, computed = {}, positional = []) {
    const piece = new Piece(), first = [...positional], nowhere = {text: "", line: given.line};
    for (const spec of layout.fields) {
      if (spec.word === "") {
        const token = first.length ? first.shift() : given.positional();
        this.field(piece, spec, token, 0, token);
      } else if (spec.name in computed && !given.peekNumber(spec.word)) {
        this.field(piece, spec, null, computed[spec.name], given.flag(spec.word) ?? nowhere);
      } else {
        const found = given.keyword(spec.word);
        if (found) this.field(piece, spec, found[1], 0, found[0].rule ? found[0] : found[1]);
        else if (spec.default === "NONE") given.fail(`${spec.word} is missing`);
        else this.field(piece, spec, null, 0, nowhere);
      }
    }
    return piece;
  }
  raw(tokens) {
    const piece = new Piece();
    for (const [token, count] of repeated(tokens)) {
      piece.spot(token.line, "raw", token.rule);
      piece.addRepeated(rawBytes(token), count);
    }
    return piece;
  }
  element(code, token) {
    const width = this.names.widths[code] ?? 0, digits = token.text.length - 2;
    if (width && token.form === "number" && token.text.startsWith("0x") && digits > 2 * width && digits % (2 * width) === 0) return hexBytes(token);
    return this.value(code, token);
  }
  elements(listing, code) {
    const piece = new Piece(), pairs = repeated(listing?.list ?? []);
    let count = 0;
    for (let i = 0; i < pairs.length; i++) {
      const raw = isWord(pairs[i][0], "raw");
      if (raw && ++i >= pairs.length) fail(pairs[i - 1][0].line, "raw needs bytes");
      const [token, times] = pairs[i], data = raw ? rawBytes(token) : this.element(code, token);
      piece.spot(token.line, raw ? "raw" : "element", token.rule);
      piece.addRepeated(data, times);
      const width = this.names.widths[code] === 0 ? this.names.idSize : (this.names.widths[code] ?? 0);
      if (!raw) count += times * (width ? Math.floor(data.length / width) : 1);
    }
    return [piece, count];
  }
  ids(listing, kind) {
    const piece = new Piece();
    let count = 0;
    for (const [token, times] of repeated(listing?.list ?? [])) {
      piece.spot(token.line, "id", token.rule);
      piece.addRepeated(bytesOf(this.names.id(token, kind), this.names.idSize, token.line), times);
      count += times;
    }
    return [piece, count];
  }
  values(listing) {
    const piece = new Piece(), pairs = repeated(listing?.list ?? []);
    for (let i = 0; i < pairs.length; i += 2) {
      const word = pairs[i][0];
      if (i + 1 >= pairs.length) fail(word.line, "a type and a value, or raw and bytes");
      const [token, times] = pairs[i + 1];
      const data = isWord(word, "raw") ? hexBytes(token) : this.value(this.names.type(word)[0], token);
      piece.spot(token.line, word.text, token.rule ?? word.rule);
      piece.addRepeated(data, times);
    }
    return piece;
  }

  classDump(given, record) {
    const id = given.positional(), words = ["constants", "statics", "fields"];
    const counts = Object.fromEntries(words.map(word => [word, given.keyword(word)]));
    const head = this.fixed(record.layout, given, {instance_size: this.names.chainSize(this.names.id(id, "object"))}, [id]);
    const parts = Object.fromEntries(words.map(word => [word, {piece: new Piece(), count: 0}])), tail = new Piece();
    const entries = {
      constant: ["constants", this.layouts.constant, true],
      static: ["statics", this.layouts.static_field, true],
      field: ["fields", this.layouts.instance_field, false],
    };
    for (const statement of given.statement.block ?? []) {
      if (statement.word === "raw") {
        tail.append(this.raw(new Arguments(statement).rest()));
        continue;
      }
      if (!Object.hasOwn(entries, statement.word)) fail(statement.line, `${statement.word} has no place in a class-dump`);
      const [word, layout, hasValue] = entries[statement.word];
      parts[word].piece.append(this.entry(new Arguments(statement), layout, hasValue));
      parts[word].count++;
    }
    for (const word of words) {
      const found = counts[word];
      head.spot(given.line, word, found && (found[1].rule ?? found[0].rule));
      head.add(bytesOf(found ? integer(found[1]) : BigInt(parts[word].count), 2, given.line));
      head.append(parts[word].piece);
    }
    head.append(tail);
    return head;
  }
  entry(given, layout, hasValue) {
    const name = given.positional(), type = given.positional(), piece = this.fixed(layout, given, {}, [name, type]);
    if (hasValue) {
      const value = given.positional();
      piece.spot(value.line, "value", value.rule);
      piece.add(this.value(this.names.type(type)[0], value));
    }
    given.done();
    return piece;
  }
  subrecordBody(given, record) {
    const {layout} = record;
    if (layout.tail === "class") return this.classDump(given, record);
    const listing = given.listing();
    let tail, count, body;
    if (record.name === "INSTANCE_DUMP") {
      tail = this.values(listing);
      body = this.fixed(layout, given, {bytes: tail.size});
    } else if (record.name === "OBJECT_ARRAY_DUMP") {
      [tail, count] = this.elements(listing, 2);
      body = this.fixed(layout, given, {elements: count});
    } else if (record.name === "PRIMITIVE_ARRAY_DUMP") {
      const type = new Arguments(given.statement).keyword("type") ?? given.fail("type is missing");
      [tail, count] = this.elements(listing, this.names.type(type[1])[0]);
      body = this.fixed(layout, given, {elements: count});
    } else {
      if (listing) given.fail("takes no list");
      return this.fixed(layout, given);
    }
    body.append(tail);
    return body;
  }
  inHeap(statement) {
    const record = this.subrecords.get(statement.word) ?? fail(statement.line, `${statement.word} is no sub-record`);
    const given = new Arguments(statement), piece = new Piece();
    piece.spot(statement.line, record.name, statement.head.rule);
    piece.add(Uint8Array.of(record.tag));
    piece.append(this.subrecordBody(given, record));
    given.done(record.name === "CLASS_DUMP");
    return piece;
  }

  sequence(statements, one) {
    const piece = new Piece();
    for (const statement of statements) {
      if (statement.word === "raw") {
        if (statement.head.rule) piece.spot(statement.line, "raw", statement.head.rule);
        piece.append(this.raw(new Arguments(statement).rest()));
      } else if (statement.word === "cut") this.cut(piece, statement);
      else if (statement.word === "here") piece.spot(statement.line, "here", statement.head.rule);
      else if (statement.word !== "id") piece.append(one(statement));
    }
    return piece;
  }
  cut(piece, statement) {
    const given = new Arguments(statement), count = Number(integer(given.positional()));
    given.done();
    if (count > piece.size) given.fail(`there are only ${piece.size} bytes`);
    piece.cut(count);
  }
  entries(statement, word, layout) {
    const numbers = [];
    const piece = this.sequence(statement.block ?? [], inner => {
      if (inner.word !== word) fail(inner.line, `expected ${word}, not ${inner.word}`);
      const shadow = new Arguments(inner);
      numbers.push(Object.fromEntries(layout.fields.map(spec => [spec.name, shadow.keyword(spec.word)]).map(([name, pair]) => [name, pair ? integer(pair[1]) : 0n])));
      const given = new Arguments(inner), made = this.fixed(layout, given);
      given.done();
      return made;
    });
    return [piece, numbers];
  }
  recordBody(given, record) {
    const {layout} = record, {statement} = given;
    const sum = (all, name) => all.reduce((total, one) => total + one[name], 0n);
    let tail, count, all, body;
    if (record.name === "UTF8") {
      body = this.fixed(layout, given);
      body.append(this.raw(given.rest()));
      return body;
    }
    if (record.name === "TRACE") {
      [tail, count] = this.ids(given.listing(), "frame");
      body = this.fixed(layout, given, {frames: count});
    } else if (layout.tail === "sites") {
      [tail, all] = this.entries(statement, "site", this.layouts.site);
      const names = ["live_bytes", "live_instances", "allocated_bytes", "allocated_instances"];
      body = this.fixed(layout, given, {sites: all.length, ...Object.fromEntries(names.map(name => [name, sum(all, name)]))});
    } else if (layout.tail === "traces") {
      [tail, all] = this.entries(statement, "sample", this.layouts.sample);
      body = this.fixed(layout, given, {samples: sum(all, "samples"), traces: all.length});
    } else if (layout.tail === "subrecords") {
      return this.sequence(statement.block ?? [], one => this.inHeap(one));
    } else return this.fixed(layout, given);
    body.append(tail);
    return body;
  }
  framed(statement, tag, name, bodyOf) {
    const given = new Arguments(statement), {line} = statement, time = given.keyword("at");
    const length = given.peekNumber("length") ? given.keyword("length") : null, mark = length ? length[0] : given.flag("length");
    const cut = given.keyword("cut"), extra = given.keyword("extra"), body = bodyOf(given), piece = new Piece();
    given.done(true);
    if (extra) body.append(this.raw([extra[1]]));
    if (cut) {
      if (integer(cut[1]) > body.size) given.fail(`there are only ${body.size} bytes to cut`);
      body.cut(Number(integer(cut[1])));
    }
    piece.spot(line, name, statement.head.rule);
    piece.add(bytesOf(BigInt(tag), 1, line));
    piece.spot(line, "time", time && (time[0].rule ?? time[1].rule));
    piece.add(bytesOf(time ? integer(time[1]) : 0n, 4, line));
    piece.spot(line, "length", mark?.rule ?? length?.[1].rule);
    piece.add(bytesOf(length ? integer(length[1]) : BigInt(body.size), 4, line));
    piece.append(body);
    return piece;
  }
  inDump(statement) {
    const {word} = statement, record = this.records.get(word);
    if (record) {
      if (statement.block && !["subrecords", "sites", "traces"].includes(record.layout.tail)) fail(statement.line, `${word} takes no block`);
      return this.framed(statement, record.tag, record.name, given => this.recordBody(given, record));
    }
    if (word === "record")
      return this.framed(statement, integer(new Arguments(statement).positional()), "record", given => {
        given.positional();
        return this.sequence(statement.block ?? [], one => this.inHeap(one));
      });
    if (word === "hprof") return this.header(new Arguments(statement));
    if (word === "gzip") return this.gzip(statement);
    if (REMARKS.includes(word)) return new Piece();
    return fail(statement.line, `unknown statement ${word}`);
  }
  header(given) {
    const piece = new Piece(), version = given.positional();
    piece.spot(given.line, "hprof", given.statement.head.rule ?? version.rule);
    piece.add(utf8(version));
    piece.add(Uint8Array.of(0));
    for (const [word, width] of [["id-size", 4], ["time", 8]]) {
      const found = given.keyword(word) ?? given.fail(`${word} is missing`);
      piece.spot(given.line, word, found[0].rule ?? found[1].rule);
      piece.add(bytesOf(word === "time" ? milliseconds(found[1]) : integer(found[1]), width, given.line));
    }
    given.done();
    return piece;
  }

  gzip(statement) {
    const given = new Arguments(statement), content = statement.block ?? [], piece = new Piece();
    let data = this.sequence(content.filter(one => one.word !== "member"), one => this.inDump(one)).data();
    const listed = content.filter(one => one.word === "member").map(one => new Arguments(one));
    for (const one of listed) {
      const size = Number(integer(one.positional()));
      if (size < 0 || size > data.length) one.fail(`there are only ${data.length} bytes left`);
      this.members(piece, one, [data.subarray(0, size)]);
      data = data.subarray(size);
    }
    if (listed.length && !data.length) {
      given.done(true);
      return piece;
    }
    const sizes = given.listing("sizes"), each = given.keyword("each"), members = [];
    let at = 0;
    const take = size => (members.push(data.subarray(at, at + size)), (at += size));
    if (each) {
      const step = Number(integer(each[1]));
      if (step < 1) given.fail("each takes 1 or more");
      while (at < data.length) take(step);
    } else {
      for (const [token, count] of repeated(sizes?.list ?? [])) for (let i = 0; i < count; i++) take(Number(integer(token)));
      if (at < data.length || !members.length) members.push(data.subarray(at));
    }
    this.members(piece, given, members);
    return piece;
  }
  members(piece, given, contents) {
    const list = given.listing("data"), deflated = list ? this.raw(list.list) : null, options = {};
    let marks = {gzip: given.statement.head.rule};
    if (given.peekNumber("hcrc")) options.hcrc = null;
    else if (given.flag("hcrc")) options.hcrc = null;
    if (given.flag("text")) options.text = true;
    for (const word of ["deflate", "method", "flags", "mtime", "xfl", "os", "extra", "name", "comment", "crc", "isize", "hcrc"]) {
      const found = given.keyword(word);
      if (!found) continue;
      options[word] = word === "deflate" ? found[1].text : ["extra", "name", "comment"].includes(word) ? rawBytes(found[1]) : integer(found[1]);
      marks[word] = found[0].rule ?? found[1].rule;
    }
    given.done(true);
    if (!Object.hasOwn(METHODS, options.deflate ?? "fixed")) given.fail("deflate is stored, fixed or dynamic");
    for (const content of contents) {
      for (const [label, part] of memberParts(content, options)) {
        piece.spot(given.line, label, marks[label]);
        if (label === "data" && deflated) piece.append(deflated);
        else piece.add(part);
      }
      marks = {};
    }
  }

  assemble() {
    const file = new Piece();
    for (const statement of this.statements) {
      if (statement.word === "cut") this.cut(file, statement);
      else file.append(this.sequence([statement], one => this.inDump(one)));
    }
    return {bytes: file.data(), spots: file.spots};
  }
}

function milliseconds(token) {
  if (token.form === "number") return integer(token);
  const value = Date.parse(token.text);
  if (Number.isNaN(value)) fail(token.line, `${token.text} is no time`);
  if (!/(?:Z|[+-]\d\d:?\d\d)$/.test(token.text)) fail(token.line, "a time needs its zone: 2026-01-01T00:00:00Z");
  return BigInt(value);
}

// The bytes that a text describes, and which line each field comes from. Throws NotationError.
export function assemble(text, layouts) {
  return new Assembler([...expand(block(logicalLines(text), {at: 0}, null))], layouts).assemble();
}
