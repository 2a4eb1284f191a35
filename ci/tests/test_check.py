"""The page that checks dumps, in Chromium: it shows what the tool says, makes the same repaired copy, and sends nothing.

ci/full runs this after ci/site. The pages are in HPROF_SITE, or build/site.
"""

import base64
import gzip
import hashlib
import json
import os
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import PROGRAM, Browser, Server, serving

from hprof_corpus.assembler import assemble

SOURCE = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("HPROF_SITE", SOURCE / "build/site"))
VALIDATE, GENERATE = os.environ["HPROF_VALIDATE"], os.environ["HPROF_GEN"]
LARGE = os.environ.get("HPROF_LARGE_DUMP", "200M")  # 2G takes two minutes

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(SITE) as server:
        yield server


@pytest.fixture(scope="module")
def browser(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile"), server) as browser:
        browser.look(1280, dark=False)
        load(browser, server)
        yield browser


def load(browser: Browser, server: Server) -> None:
    browser.go("about:blank")
    browser.go(f"{server.address}/check.html")
    browser.wait("document.body?.dataset.ready && document.body.dataset.played")


def tool(*args: str | Path, folder: Path) -> str:
    done = subprocess.run([VALIDATE, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode in (0, 1), done.stdout
    return done.stdout.decode()


def generate(file: Path, *options: str) -> None:
    subprocess.run([GENERATE, "--quiet", *options, "--output", file], check=True)


def sha256_of(browser: Browser, blob: str) -> Any:
    digest = f"crypto.subtle.digest('SHA-256', await ({blob}).arrayBuffer())"
    return bytes(browser.evaluate(f"(async () => Array.from(new Uint8Array(await {digest})))()")).hex()


def make_dump(kind: str, folder: Path) -> Path:
    file = folder / "heap.hprof"
    generate(file, "--like=hotspot", "--objects=30000")
    whole = bytearray(file.read_bytes())
    if kind == "damaged":
        damaged = 0
        while damaged == 0:  # all of it may lie in one long array
            at = random.randrange(len(whole) // 4, len(whole) - 50000)
            print("damage at", at)
            file.write_bytes(whole[:at] + bytes(40000) + whole[at + 40000 :])
            damaged = json.loads(tool("--stats", "--format=json", file.name, folder=folder))["damage"]["number"]
    elif kind in ("truncated", "incomplete"):
        file.write_bytes(whole[: len(whole) * 2 // 3])
        if kind == "incomplete":
            tool("--repair", "fixed.hprof", file.name, folder=folder)
            (folder / "fixed.hprof").replace(file)
    elif kind == "compressed":
        file = folder / "heap.hprof.gz"
        file.write_bytes(gzip.compress(whole))
    return file


PAGE = """(d => [d.querySelector('.verdict').innerText, d.querySelectorAll('svg rect').length, d.querySelectorAll('.mark').length,
  [...d.querySelectorAll('#bytes + .scroll td.name')].map(e => e.innerText),
  [...d.querySelectorAll('svg .k8')].map(e => [e.getAttribute('x'), e.getAttribute('width')])])"""


@pytest.mark.parametrize("kind", ["valid", "damaged", "truncated", "incomplete", "compressed"])
def test_a_dump_that_is_dropped(kind: str, browser: Browser, server: Server, tmp_path: Path) -> None:
    file = make_dump(kind, tmp_path)
    asked = len(server.asked)
    browser.evaluate("delete document.body.dataset.done")
    browser.drop(file, "#drop")
    browser.wait("document.body.dataset.done === 'check'")
    assert browser.evaluate("document.getElementById('text').textContent") == tool(file.name, folder=tmp_path)
    verdict = {"valid": "Valid", "compressed": "Valid", "incomplete": "Incomplete"}.get(kind, "Not valid")
    assert browser.evaluate("document.getElementById('verdict').textContent") == verdict
    # The map is the page of --stats, cell by cell.
    browser.wait("document.getElementById('map').contentDocument?.querySelector('.verdict')")
    shown = browser.evaluate(PAGE + "(document.getElementById('map').contentDocument)")
    page = tool("--stats", "--format=html", file.name, folder=tmp_path)
    expected = browser.evaluate(f"{PAGE}(new DOMParser().parseFromString({json.dumps(page)}, 'text/html'))")
    assert shown == expected
    assert bool(shown[4]) == (kind == "damaged") or kind == "truncated"
    # The repaired copy is that of the tool, byte by byte.
    browser.evaluate("document.getElementById('repair').click()")
    browser.wait("document.body.dataset.done === 'repair'")
    report = tool("--repair", "repaired-heap.hprof", file.name, folder=tmp_path)
    assert browser.evaluate("document.getElementById('repaired').textContent") == report
    assert browser.evaluate("document.getElementById('copy').download") == "repaired-heap.hprof"
    link = "await fetch(document.getElementById('copy').href).then(answer => answer.blob())"
    assert sha256_of(browser, link) == hashlib.sha256((tmp_path / "repaired-heap.hprof").read_bytes()).hexdigest()
    assert server.asked[asked:] == []  # nothing has left the page


@pytest.mark.parametrize("host", ["other", "own"])
@pytest.mark.parametrize("who", ["page", "worker"])
def test_what_would_leave_the_page_is_noted(who: str, host: str, browser: Browser, server: Server) -> None:
    """By the tests that find nothing: they saw only what went to the server of the page."""
    address = "http://elsewhere.invalid/dump" if host == "other" else f"{server.address}/dump"
    asked = len(server.asked)
    code = f"fetch({address!r}, {{method: 'POST', body: 'bytes', mode: 'no-cors'}}).catch(() => 0)"
    if who == "worker":
        worker = f"new Worker(URL.createObjectURL(new Blob([{code + '.then(() => postMessage(0))'!r}])))"
        code = f"new Promise(done => {worker}.onmessage = done).then(() => 0)"
    browser.evaluate(f"{code}.then(() => 0)")
    assert server.asked[asked:] == [f"POST {address if host == 'other' else '/dump'} HTTP/1.1"]


def test_readme_has_what_the_page_shows(browser: Browser, tmp_path: Path) -> None:
    """Of the dump that README truncates."""
    readme = (SOURCE / "README.md").read_text()
    section = re.search(r"^## In the browser\n(.*?)^## ", readme, re.DOTALL | re.MULTILINE)
    size = re.search(r"^\$ head -c (\d+) heap.hprof", readme, re.MULTILINE)
    assert section and size and "$ hprof-gen --like hotspot --bytes 16M " in readme
    generate(tmp_path / "heap.hprof", "--like=hotspot", "--bytes=16M")
    (tmp_path / "cut.hprof").write_bytes((tmp_path / "heap.hprof").read_bytes()[: int(size[1])])
    browser.evaluate("delete document.body.dataset.done")
    browser.drop(tmp_path / "cut.hprof", "#drop")
    browser.wait("document.body.dataset.done === 'check'")
    browser.evaluate("document.getElementById('repair').click()")
    browser.wait("document.body.dataset.done === 'repair'")
    shown = browser.evaluate("['verdict', 'text', 'copy'].map(id => document.getElementById(id).innerText.trim()).join('\\n')")
    assert f"```text\n{shown}\n```" in section[1], shown


def test_what_is_no_dump(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "-no dump.txt").write_text("not a dump\n" * 10)
    browser.evaluate("delete document.body.dataset.done")
    browser.drop(tmp_path / "-no dump.txt", "#drop")
    browser.wait("document.body.dataset.done === 'check'")
    assert "HDR-001" in browser.evaluate("document.getElementById('text').textContent")
    assert browser.evaluate("document.getElementById('map').hidden")


def test_a_large_dump_is_read_in_slices(browser: Browser, server: Server, tmp_path: Path) -> None:
    generate(tmp_path / "large.hprof", "--like=hotspot", f"--bytes={LARGE}")
    asked = len(server.asked)
    browser.evaluate("delete document.body.dataset.done")
    browser.drop(tmp_path / "large.hprof", "#drop")
    browser.wait("document.body.dataset.done === 'check'", 600)
    assert browser.evaluate("document.getElementById('text').textContent") == tool("large.hprof", folder=tmp_path)
    size, memory = (tmp_path / "large.hprof").stat().st_size, int(browser.evaluate("document.body.dataset.memory"))
    print(f"{size} bytes, {browser.evaluate('document.body.dataset.seconds')} s, {memory} bytes of memory")
    assert memory < 64 << 20 or memory < size / 5
    assert server.asked[asked:] == []


# ---- The playground


def played(browser: Browser, text: str) -> None:
    browser.evaluate(
        f"(e => (e.value = {json.dumps(text)}, delete document.body.dataset.played, e.dispatchEvent(new Event('input'))))"
        "(document.getElementById('source'))"
    )
    browser.wait("document.body.dataset.played")


def test_the_playground_shows_bytes_and_findings(browser: Browser, tmp_path: Path) -> None:
    text = (SOURCE / "corpus/invalid/OBJ-004").glob("*.txt")
    source = min(text).read_text()
    played(browser, source)
    assembled = assemble(source)
    data = assembled.file.to_bytes()
    (tmp_path / "playground.hprof").write_bytes(data)
    findings = tool("--profile=strict", "-v", "playground.hprof", folder=tmp_path)
    assert "OBJ-004" in findings
    shown_findings = browser.evaluate("document.getElementById('findings').textContent")
    assert re.sub(r"[0-9.]+ s\n", "", shown_findings) == re.sub(r"[0-9.]+ s\n", "", findings)
    table = "[...document.querySelectorAll('#bytes tbody tr')]"
    rows = browser.evaluate(f"{table}.map(row => [...row.cells].map(cell => cell.textContent))")
    spots = [[f"{spot.offset:#x}", str(spot.line)] for spot in assembled.spots]
    assert [[row[0], row[3]] for row in rows] == spots
    shown = [(int(row[0], 16), bytes.fromhex(row[1])) for row in rows if row[1] and "..." not in row[1]]
    assert shown and all(data[at : at + len(part)] == part for at, part in shown)
    assert sum(len(part) for _, part in shown) == len(data)
    faults = browser.evaluate("[...document.querySelectorAll('#bytes tr.fault')].map(row => row.cells[2].textContent)")
    assert faults and all("OBJ-004" in fault for fault in faults)


def test_a_mistake_in_the_text_is_named(browser: Browser) -> None:
    played(browser, 'hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\nutf9 $a "x"\n')
    assert browser.evaluate("document.getElementById('syntax').textContent") == "line 2: unknown statement utf9"


def test_the_assembler_is_that_of_the_corpus(browser: Browser) -> None:
    """All texts of the corpus whose dumps are kept: the same bytes, and the same offset for each line."""
    code = """(async texts => {
      const {assemble} = await import('./check/assemble.js');
      const layouts = await fetch('check/layouts.json').then(answer => answer.json());
      return texts.map(text => {
        try {
          const {bytes, spots} = assemble(text, layouts);
          const places = spots.map(one => [one.offset, one.line, one.label, one.rule ?? null]);
          return [btoa(String.fromCharCode(...bytes.subarray(0, 60000))), bytes.length, places];
        } catch (failure) {
          return String(failure);
        }
      });
    })"""
    entries = [entry for entry in json.loads((SOURCE / "corpus/manifest.json").read_text())["files"] if entry["checked_in"]]
    compared = 0
    for start in range(0, len(entries), 100):
        part = entries[start : start + 100]
        texts = [(SOURCE / "corpus" / entry["text"]).read_text() for entry in part]
        found = browser.evaluate(f"{code}({json.dumps(texts)})")
        for entry, text, one in zip(part, texts, found, strict=True):
            assembled = assemble(text)
            data = assembled.file.to_bytes()
            assert not isinstance(one, str), (entry["text"], one)
            assert (one[0], one[1]) == (base64.b64encode(data[:60000]).decode(), len(data)), entry["text"]
            assert one[2] == [[s.offset, s.line, s.label, s.rule] for s in assembled.file.spots()], entry["text"]
            compared += 1
    assert compared > 300


# ---- How it looks


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_too_wide(width: int, dark: bool, browser: Browser, server: Server, tmp_path: Path) -> None:
    file = make_dump("damaged", tmp_path)
    browser.look(width, dark)
    load(browser, server)  # the pages choose their colours when they are loaded
    browser.drop(file, "#drop")
    browser.wait("document.body.dataset.done === 'check'")
    too_wide = "(d => d.scrollWidth - d.clientWidth)"
    wide = browser.evaluate(f"{too_wide}(document.documentElement)")
    map_wide = browser.evaluate(f"{too_wide}(document.getElementById('map').contentDocument.documentElement)")
    back = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    if "HPROF_PICTURES" in os.environ:
        browser.picture(Path(os.environ["HPROF_PICTURES"]) / f"check-{width}-{'dark' if dark else 'light'}.png")
    browser.look(1280, dark=False)
    assert (wide <= 0, map_wide <= 0) == (True, True)
    assert (sum(map(int, re.findall(r"\d+", back)[:3])) < 384) == dark
