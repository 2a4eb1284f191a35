// A worker that runs hprof-validate, which is compiled for WASI, on a Blob. The tool sees a folder with a few files; nothing
// else of WASI is needed, and nothing is fetched.
//
// Gets {module, args, input: {name: Blob}, outputs: [name]}; posts {error: text} while the tool runs, and at its end
// {status, text, error, files: {name: Blob}}.

const BADF = 8, EXIST = 20, INVAL = 28, NOENT = 44, NOSYS = 52;
const FILE = 4, FOLDER = 3, CHARACTERS = 2, ROOT = 3;
const WINDOW = 1 << 20, LOADED = 64; // bytes that are read at once; parts of a written file that are in memory

class Exit extends Error {
  constructor(status) {
    super();
    this.status = status;
  }
}

// The bytes of a Blob, a window at a time.
class Input {
  constructor(blob) {
    this.blob = blob;
    this.size = blob.size;
    this.windows = [];
  }
  window(number) {
    let found = this.windows.find(one => one.number === number);
    if (!found) {
      const part = this.blob.slice(number * WINDOW, (number + 1) * WINDOW);
      found = {number, bytes: new Uint8Array(new FileReaderSync().readAsArrayBuffer(part))};
      this.windows.unshift(found);
      this.windows.length = Math.min(this.windows.length, 4);
    }
    return found.bytes;
  }
  read(at, to) {
    let done = 0;
    while (done < to.length && at + done < this.size) {
      const from = (at + done) % WINDOW;
      const bytes = this.window(Math.floor((at + done) / WINDOW)).subarray(from, from + to.length - done);
      to.set(bytes, done);
      done += bytes.length;
    }
    return done;
  }
  write() {
    return -BADF;
  }
}

// A file that the tool writes. Parts that were not used for long become Blobs, which the browser keeps on the disk.
class Output {
  constructor() {
    this.size = 0;
    this.parts = [];
    this.loaded = [];
  }
  part(number) {
    let part = this.parts[number];
    if (!(part instanceof Uint8Array)) {
      const bytes = new Uint8Array(WINDOW);
      if (part) bytes.set(new Uint8Array(new FileReaderSync().readAsArrayBuffer(part)));
      part = this.parts[number] = bytes;
      this.loaded.push(number);
      if (this.loaded.length > LOADED) {
        const oldest = this.loaded.shift();
        this.parts[oldest] = new Blob([this.parts[oldest]]);
      }
    }
    return part;
  }
  each(at, length, use) {
    for (let done = 0; done < length;) {
      const from = (at + done) % WINDOW, n = Math.min(WINDOW - from, length - done);
      use(this.part(Math.floor((at + done) / WINDOW)).subarray(from, from + n), done);
      done += n;
    }
    return length;
  }
  read(at, to) {
    return this.each(at, Math.max(0, Math.min(to.length, this.size - at)), (bytes, done) => to.set(bytes, done));
  }
  write(at, from) {
    this.size = Math.max(this.size, at + from.length);
    return this.each(at, from.length, (bytes, done) => bytes.set(from.subarray(done, done + bytes.length)));
  }
  resize(size) {
    if (size < this.size) {
      const whole = Math.ceil(size / WINDOW);
      this.parts.length = Math.min(this.parts.length, whole);
      this.loaded = this.loaded.filter(number => number < whole);
      if (size % WINDOW) this.part(whole - 1).fill(0, size % WINDOW);
    }
    this.size = size;
  }
  toBlob() {
    const parts = [];
    for (let i = 0; i * WINDOW < this.size; i++) parts.push(this.parts[i] ?? new Uint8Array(WINDOW));
    return new Blob(parts).slice(0, this.size);
  }
}

class Stream {
  constructor(take) {
    this.take = take;
    this.decoder = new TextDecoder();
  }
  write(at, from) {
    this.take(this.decoder.decode(from.slice(), {stream: true}));
    return from.length;
  }
  read() {
    return 0;
  }
}

function system(files, args, out, err, memory) {
  const open = [new Stream(() => {}), new Stream(out), new Stream(err)].map(file => ({file, at: 0}));
  open[ROOT] = {folder: true};
  const view = () => new DataView(memory().buffer), bytes = (at, size) => new Uint8Array(memory().buffer, at, size);
  const encoded = args.map(one => new TextEncoder().encode(one + "\0"));
  const text = (at, size) => new TextDecoder().decode(bytes(at, size)).replace(/^(\.?\/)+/, "");
  const clock = {0: () => BigInt(Date.now()) * 1000000n, 1: () => BigInt(Math.round(performance.now() * 1e6))};

  // One after the other, the parts of memory that a list names. A short one ends the list.
  function transfer(one, list, count, at, use) {
    let done = 0;
    for (let i = 0; i < count; i++) {
      const part = bytes(view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true));
      const n = use(one.file, at + done, part);
      if (n < 0) return n;
      done += n;
      if (n < part.length) break;
    }
    return done;
  }
  function move(number, list, count, offset, result, use) {
    const one = open[number];
    if (!one?.file) return BADF;
    const done = transfer(one, list, count, offset === undefined ? one.at : Number(offset), use);
    if (done < 0) return -done;
    if (offset === undefined) one.at += done;
    view().setUint32(result, done, true);
    return 0;
  }
  const read = (file, at, part) => file.read(at, part), write = (file, at, part) => file.write(at, part);
  const numbers = new Map();
  function describe(file, kind, at) {
    bytes(at, 64).fill(0);
    if (file && !numbers.has(file)) numbers.set(file, BigInt(numbers.size + 2));
    view().setBigUint64(at + 8, file ? numbers.get(file) : 1n, true);
    view().setUint8(at + 16, kind);
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(file?.size ?? 0), true);
    return 0;
  }
  const kind = one => (one.folder ? FOLDER : one.file instanceof Stream ? CHARACTERS : FILE);

  return {
    args_sizes_get(count, size) {
      view().setUint32(count, encoded.length, true);
      view().setUint32(size, encoded.reduce((sum, one) => sum + one.length, 0), true);
      return 0;
    },
    args_get(list, to) {
      encoded.forEach((one, i) => {
        view().setUint32(list + 4 * i, to, true);
        bytes(to, one.length).set(one);
        to += one.length;
      });
      return 0;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    clock_time_get(id, precision, to) {
      view().setBigUint64(to, (clock[id] ?? clock[1])(), true);
      return 0;
    },
    random_get(to, size) {
      const some = new Uint8Array(size); // memory of WebAssembly is refused
      crypto.getRandomValues(some);
      bytes(to, size).set(some);
      return 0;
    },
    proc_exit(status) {
      throw new Exit(status);
    },
    sched_yield: () => 0,
    fd_advise: () => 0,
    fd_sync: () => 0,
    fd_fdstat_set_flags: () => 0,
    fd_prestat_get(number, to) {
      if (number !== ROOT) return BADF;
      view().setUint32(to, 0, true);
      view().setUint32(to + 4, 1, true);
      return 0;
    },
    fd_prestat_dir_name(number, to) {
      bytes(to, 1)[0] = 0x2f;
      return 0;
    },
    fd_fdstat_get(number, to) {
      if (!open[number]) return BADF;
      bytes(to, 24).fill(0);
      view().setUint8(to, kind(open[number]));
      const all = 0x1fffffffn; // a terminal is one that cannot seek
      view().setBigUint64(to + 8, all, true);
      view().setBigUint64(to + 16, all, true);
      return 0;
    },
    fd_filestat_get: (number, to) => (open[number] ? describe(open[number].file, kind(open[number]), to) : BADF),
    fd_filestat_set_size(number, size) {
      open[number].file.resize(Number(size));
      return 0;
    },
    path_filestat_get(folder, flags, name, size, to) {
      const wanted = text(name, size);
      if (wanted === "" || wanted === ".") return describe(null, FOLDER, to);
      return files.has(wanted) ? describe(files.get(wanted), FILE, to) : NOENT;
    },
    path_readlink: (folder, name, size) => (files.has(text(name, size)) || text(name, size) === "" ? INVAL : NOENT),
    path_open(folder, look, name, size, how, rights, inherited, flags, to) {
      const wanted = text(name, size), create = how & 1, exclusive = how & 4, truncate = how & 8;
      if (wanted === "" || wanted === ".") {
        open.push({folder: true});
      } else {
        if (!files.has(wanted) && !create) return NOENT;
        if (files.has(wanted) && exclusive) return EXIST;
        if (!files.has(wanted) || truncate) files.set(wanted, new Output());
        open.push({file: files.get(wanted), at: 0});
      }
      view().setUint32(to, open.length - 1, true);
      return 0;
    },
    path_unlink_file: (folder, name, size) => (files.delete(text(name, size)) ? 0 : NOENT),
    path_rename(folder, name, size, other, to, length) {
      const from = text(name, size);
      if (!files.has(from)) return NOENT;
      files.set(text(to, length), files.get(from));
      files.delete(from);
      return 0;
    },
    fd_close(number) {
      if (!open[number]) return BADF;
      open[number] = undefined;
      return 0;
    },
    fd_read: (number, list, count, result) => move(number, list, count, undefined, result, read),
    fd_pread: (number, list, count, offset, result) => move(number, list, count, offset, result, read),
    fd_write: (number, list, count, result) => move(number, list, count, undefined, result, write),
    fd_pwrite: (number, list, count, offset, result) => move(number, list, count, offset, result, write),
    fd_seek(number, offset, whence, to) {
      const one = open[number];
      if (!one?.file || one.file instanceof Stream) return 70; // SPIPE
      one.at = Number(offset) + [0, one.at, one.file.size][whence];
      view().setBigUint64(to, BigInt(one.at), true);
      return 0;
    },
    fd_tell(number, to) {
      view().setBigUint64(to, BigInt(open[number].at), true);
      return 0;
    },
  };
}

async function run({module, args, input, outputs}) {
  const files = new Map(Object.entries(input).map(([name, blob]) => [name, new Input(blob)]));
  let text = "", error = "", status = 0, instance;
  const take = part => {
    error += part;
    postMessage({progress: part});
  };
  const given = system(files, args, part => (text += part), take, () => instance.exports.memory);
  const imports = {};
  for (const {module: from, name} of WebAssembly.Module.imports(module))
    (imports[from] ??= {})[name] = given[name] ?? (() => NOSYS);
  instance = await WebAssembly.instantiate(module, imports);
  try {
    instance.exports._start();
  } catch (end) {
    if (!(end instanceof Exit)) throw end;
    status = end.status;
  }
  const made = {};
  for (const name of outputs) if (files.has(name)) made[name] = files.get(name).toBlob();
  postMessage({status, text, error, files: made, memory: instance.exports.memory.buffer.byteLength});
}

onmessage = event => run(event.data).catch(failure => postMessage({status: -1, text: "", error: String(failure), files: {}}));
