// Checks a dump that is dropped, and the text of the playground, by hprof-validate in workers. All that is needed is loaded with
// the page: afterwards the page asks no server for anything.
import {assemble, NotationError} from "./assemble.js";

const $ = id => document.getElementById(id);
const here = name => new URL(name, import.meta.url);
const load = async name => {
  const answer = await fetch(here(name));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
};
const CELL = 32, ROWS = 2000, AFTER_TYPING = 200; // bytes in a row, rows, milliseconds

const ready = Promise.all([
  load("hprof-validate.wasm").then(answer => answer.arrayBuffer()).then(bytes => WebAssembly.compile(bytes)),
  load("tool.js").then(answer => answer.text()).then(text => URL.createObjectURL(new Blob([text], {type: "text/javascript"}))),
  load("layouts.json").then(answer => answer.json()),
]);
ready.then(() => (document.body.dataset.ready = "yes"), failure => ($("progress").textContent = `The page cannot check dumps here: ${failure.message}`));

// One run of the tool at a time. A new one ends those before.
class Runner {
  stop() {
    this.worker?.terminate();
    this.reject?.(null);
    this.worker = this.reject = null;
  }
  async run(args, input, outputs = [], onProgress = () => {}) {
    const [module, url] = await ready;
    this.stop();
    const worker = (this.worker = new Worker(url));
    return new Promise((resolve, reject) => {
      this.reject = reject;
      worker.onmessage = ({data}) => {
        if ("progress" in data) return onProgress(data.progress);
        worker.terminate();
        resolve(data);
      };
      worker.onerror = event => reject(new Error(event.message));
      worker.postMessage({module, args: ["hprof-validate", ...args], input, outputs});
    });
  }
}

// The last line of what the tool prints on a terminal.
const lastLine = text => text.split(/[\r\n]/).map(line => line.replace(/\x1b\[[^a-zA-Z]*[a-zA-Z]/g, "").trim()).filter(Boolean).at(-1) ?? "";
const shownError = text => text.split(/\r|\n/).filter(line => line.startsWith("hprof-validate:")).join("\n");

// ---- A dump

const dumps = new Runner();
let dump = null;

// A name that is no option and no folder.
const safe = name => name.replace(/[/\\\0]/g, "_").replace(/^-/, "_") || "dump";

async function check(file) {
  dump = {name: safe(file.name), blob: file};
  const input = {[dump.name]: file};
  $("checked").hidden = $("copy").hidden = $("repaired").hidden = $("map").hidden = true;
  $("repaired").hidden = $("map").hidden = true;
  delete document.body.dataset.done;
  const show = id => text => ($(id).textContent = lastLine(text));
  $("progress").textContent = `Checking ${file.name} ...`;
  const began = performance.now();
  const done = await dumps.run(["--progress=always", dump.name], input, [], show("progress"));
  const seconds = (performance.now() - began) / 1000;
  $("progress").textContent = `${file.name}: ${file.size.toLocaleString("en")} bytes, checked in ${seconds.toFixed(2)} s`;
  const isIncomplete = lastLine(done.text).startsWith(`${dump.name}: incomplete`);
  $("verdict").textContent = isIncomplete ? "Incomplete" : ({0: "Valid", 1: "Not valid"}[done.status] ?? "Not checked");
  $("text").textContent = done.text || shownError(done.error) || done.error;
  $("repair").disabled = false;
  $("checked").hidden = false;
  Object.assign(document.body.dataset, {status: done.status, memory: done.memory, seconds});
  $("map-progress").textContent = "Counting ...";
  const page = await dumps.run(["--stats", "--format=html", "--progress=always", dump.name], input, [], show("map-progress"));
  $("map-progress").textContent = page.text ? "" : shownError(page.error) || "no map";
  if (page.text) {
    $("map").srcdoc = page.text;
    $("map").hidden = false;
  }
  document.body.dataset.done = "check";
}

async function repair() {
  const copy = `repaired-${dump.name.replace(/\.gz$/, "")}`;
  $("repair").disabled = true;
  delete document.body.dataset.done;
  const args = ["--repair", copy, "--force", "--progress=always", dump.name];
  const done = await dumps.run(args, {[dump.name]: dump.blob}, [copy], text => ($("progress").textContent = lastLine(text)));
  $("progress").textContent = "";
  $("repaired").textContent = done.text + shownError(done.error);
  $("repaired").hidden = false;
  const made = done.files[copy];
  if (made) {
    URL.revokeObjectURL($("copy").href);
    $("copy").href = URL.createObjectURL(made);
    $("copy").download = copy;
    $("copy").textContent = `Save ${copy}, ${made.size.toLocaleString("en")} bytes`;
    $("copy").hidden = false;
  }
  document.body.dataset.done = "repair";
}

const start = work => work.catch(failure => failure && ($("progress").textContent = `Failed: ${failure.message}`));
const drop = $("drop");
$("file").onchange = () => $("file").files.length && start(check($("file").files[0]));
$("repair").onclick = () => start(repair());
drop.ondragover = event => {
  event.preventDefault();
  drop.classList.add("over");
};
drop.ondragleave = () => drop.classList.remove("over");
drop.ondrop = event => {
  event.preventDefault();
  drop.classList.remove("over");
  if (event.dataTransfer.files.length) start(check(event.dataTransfer.files[0]));
};

// ---- The playground

const playground = new Runner();
const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join(" ");

function rowsOf({bytes, spots}) {
  const rows = [];
  for (let i = 0; i < spots.length && rows.length < ROWS; i++) {
    const end = spots.slice(i + 1).find(spot => spot.offset > spots[i].offset)?.offset ?? bytes.length, {offset} = spots[i];
    const same = spots[i + 1]?.offset === offset; // a record and its first field
    const part = same ? [] : bytes.subarray(offset, Math.min(end, offset + CELL));
    rows.push({...spots[i], text: hex(part) + (!same && end - offset > CELL ? ` ... ${end - offset} bytes` : "")});
  }
  return rows;
}

async function assembleAndCheck() {
  const [, , layouts] = await ready;
  delete document.body.dataset.played;
  let made;
  try {
    made = assemble($("source").value, layouts);
  } catch (failure) {
    if (!(failure instanceof NotationError)) throw failure;
    $("syntax").textContent = failure.message;
    document.body.dataset.played = "no";
    return;
  }
  $("syntax").textContent = "";
  const body = document.createElement("tbody");
  for (const row of rowsOf(made)) {
    const line = body.insertRow();
    line.className = row.rule ? "fault" : "";
    for (const text of [`0x${row.offset.toString(16)}`, row.text, row.label + (row.rule ? `: ${row.rule}` : ""), row.line]) line.insertCell().textContent = text;
  }
  $("bytes").querySelector("tbody").replaceWith(body);
  const blob = new Blob([made.bytes]);
  URL.revokeObjectURL($("save").href);
  $("save").href = URL.createObjectURL(blob);
  const done = await playground.run(["--profile=strict", "-v", "playground.hprof"], {"playground.hprof": blob});
  $("findings").textContent = done.text || done.error;
  document.body.dataset.played = "yes";
}

let timer;
const play = () => assembleAndCheck().catch(failure => failure && ($("syntax").textContent = String(failure)));
$("source").oninput = () => {
  clearTimeout(timer);
  timer = setTimeout(play, AFTER_TYPING);
};
play();
