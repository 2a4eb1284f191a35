#!/usr/bin/env node
// The reader of reader.py in JavaScript, as small, and as independent of this project.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";

const HELLO = {
  protocol: 1,
  name: "example in JavaScript",
  version: "1",
  bugs: "https://example.org/bugs",
  unsupported: { "version-1.0.3": "the versions of Java alone" },
  counts: ["strings", "classes", "instances", "object_arrays", "primitive_arrays", "objects", "roots", "ends"],
  digests: ["instance_bytes", "object_arrays", "primitive_arrays"],
  references: "exact",
};
const HEADERS = ["JAVA PROFILE 1.0.1", "JAVA PROFILE 1.0.2"];
const WIDTHS = { 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8 };
const OBJECT = 2, BOOLEAN = 4;
// How many IDs and how many bytes follow the tag of a root.
const ROOTS = { 0xff: [1, 0], 1: [2, 0], 2: [1, 8], 3: [1, 8], 4: [1, 4], 5: [1, 0], 6: [1, 4], 7: [1, 0], 8: [1, 8] };

class Malformed extends Error {}

/** Reads forward, and never beyond the end. */
class Cursor {
  constructor(data, at, end, idSize) {
    Object.assign(this, { data, at, end, idSize });
  }

  bytes(length) {
    if (length > this.end - this.at) throw new Malformed(`offset ${this.at}: ${length} bytes are due, and ${this.end - this.at} are left`);
    this.at += length;
    return this.data.subarray(this.at - length, this.at);
  }

  number(length) {
    return this.bytes(length).readUIntBE(0, length);
  }

  /** In eight bytes. */
  id() {
    return Buffer.concat([Buffer.alloc(8 - this.idSize), this.bytes(this.idSize)]);
  }

  type() {
    const type = this.number(1);
    if (type !== OBJECT && !(type in WIDTHS)) throw new Malformed(`offset ${this.at - 1}: no type is ${type}`);
    return type;
  }

  value() {
    const type = this.type();
    this.bytes(type === OBJECT ? this.idSize : WIDTHS[type]);
  }
}

/** What a dump holds. */
class Found {
  counts = Object.fromEntries(HELLO.counts.map(name => [name, 0]));
  strings = new Set();
  items = Object.fromEntries(HELLO.digests.map(name => [name, { count: 0, sum: 0n }]));

  add(entry, word, ...parts) {
    const hash = createHash("sha256");
    for (const part of [Buffer.from(word), ...parts]) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      hash.update(length).update(part);
    }
    const item = this.items[entry];
    item.count++;
    item.sum = BigInt.asUintN(128, item.sum + BigInt("0x" + hash.digest("hex").slice(0, 32)));
  }

  reply() {
    const { instances, object_arrays, primitive_arrays } = this.counts;
    const counts = { ...this.counts, strings: this.strings.size, objects: instances + object_arrays + primitive_arrays };
    const entries = Object.entries(this.items).map(([name, { count, sum }]) => [name, { count, sum: sum.toString(16).padStart(32, "0") }]);
    return { counts, digests: Object.fromEntries(entries) };
  }
}

function classDump(cursor) {
  cursor.bytes(4 + 4 + 7 * cursor.idSize);
  for (let left = cursor.number(2); left > 0; left--) { // constants
    cursor.bytes(2);
    cursor.value();
  }
  for (let left = cursor.number(2); left > 0; left--) { // static fields
    cursor.id();
    cursor.value();
  }
  for (let left = cursor.number(2); left > 0; left--) { // fields
    cursor.id();
    cursor.type();
  }
}

function subRecord(cursor, found) {
  const tag = cursor.number(1);
  if (tag in ROOTS) {
    const [ids, more] = ROOTS[tag];
    cursor.bytes(ids * cursor.idSize + more);
    found.counts.roots++;
  } else if (tag === 0x20) {
    classDump(cursor);
    found.counts.classes++;
  } else if (tag === 0x21) {
    const own = cursor.id();
    cursor.bytes(4);
    const type = cursor.id();
    found.add("instance_bytes", "instance bytes", own, type, cursor.bytes(cursor.number(4)));
    found.counts.instances++;
  } else if (tag === 0x22) {
    const own = cursor.id();
    cursor.bytes(4);
    const number = cursor.number(4), type = cursor.id();
    const narrow = cursor.bytes(number * cursor.idSize);
    const elements = Buffer.alloc(8 * number);
    for (let i = 0; i < number; i++) narrow.copy(elements, 8 * (i + 1) - cursor.idSize, i * cursor.idSize, (i + 1) * cursor.idSize);
    found.add("object_arrays", "object array", own, type, elements);
    found.counts.object_arrays++;
  } else if (tag === 0x23) {
    const own = cursor.id();
    cursor.bytes(4);
    const number = cursor.number(4), type = cursor.type();
    if (type === OBJECT) throw new Malformed(`offset ${cursor.at - 1}: no type of elements is 2`);
    const elements = cursor.bytes(number * WIDTHS[type]);
    found.add("primitive_arrays", "primitive array", own, Buffer.of(type), type === BOOLEAN ? elements.map(one => (one ? 1 : 0)) : elements);
    found.counts.primitive_arrays++;
  } else {
    throw new Malformed(`offset ${cursor.at - 1}: no sub-record has the tag 0x${tag.toString(16)}`);
  }
}

function read(file) {
  const data = file[0] === 0x1f && file[1] === 0x8b ? gunzipSync(file) : file;
  const end = data.indexOf(0);
  if (end < 0 || !HEADERS.includes(data.toString("latin1", 0, end))) throw new Malformed("no header of a heap dump");
  const top = new Cursor(data, end + 1, data.length, 4);
  top.idSize = top.number(4);
  if (top.idSize !== 4 && top.idSize !== 8) throw new Malformed(`IDs have ${top.idSize} bytes`);
  top.bytes(8); // the time
  const found = new Found();
  while (top.at < top.end) {
    const tag = top.number(1);
    top.bytes(4);
    const length = top.number(4), body = top.at;
    top.bytes(length);
    const within = new Cursor(data, body, top.at, top.idSize);
    if (tag === 0x01) found.strings.add(within.id().toString("hex"));
    else if (tag === 0x0c || tag === 0x1c) while (within.at < within.end) subRecord(within, found);
    else if (tag === 0x2c) found.counts.ends++;
  }
  return found;
}

function answer(file) {
  try {
    return { outcome: "accepted", ...read(readFileSync(file)).reply() };
  } catch (error) {
    const fromGzip = typeof error.code === "string" && error.code.startsWith("Z_");
    if (!(error instanceof Malformed) && !fromGzip) throw error;
    return { outcome: "rejected", message: error.message };
  }
}

console.log(JSON.stringify(HELLO));
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  console.log(JSON.stringify({ case: asked.case, ...answer(asked.file) }));
}
