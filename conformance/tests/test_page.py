"""index.html in a browser: what is shown, what the filters leave, and what a click on a cell opens."""

from __future__ import annotations

import base64
import fcntl
import html
import json
import lzma
import os
import random
import re
import shlex
import shutil
import string
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from hprof_conformance import page, texts
from hprof_conformance.readers import FILE, one_request

BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")


DIGEST = {"what": "statics", "found": "1 items, 00", "expected": "1 items, 01", "words": "field x of Foo is 3, not 5"}


def reader(name: str, outcomes: dict[str, str]) -> dict[str, Any]:
    results = [
        {
            "case": case,
            "outcome": outcome,
            "fine": outcome == "right",
            "detail": f"</script><b>{outcome}</b>",
            "counts": {"instances": 7},
            **({"differs": [{"what": "instances", "found": "7", "expected": "9"}, DIGEST]} if outcome == "crashed" else {}),
        }
        for case, outcome in outcomes.items()
    ]
    names = ("valid_right", "valid", "content_right", "content", "invalid_rejected", "invalid", "invalid_tolerated")
    more = (
        "unreported",
        "silent_losses",
        "crashes",
        "hangs",
        "out_of_memory",
        "unsupported",
        "cases",
        "seconds",
        "real",
        "real_right",
    )
    none = ("real_counts_right", "valid_counts_right", "valid_not_compared", "invalid_counts_only", "invalid_not_compared")
    apart = ("unsupported_crashes", "unsupported_losses")
    return {
        "name": name,
        "title": f"Reader {name}",
        "family": f"family of {name}",
        "asks": {"instances": "its list"},
        "not_asked": {"roots": {"says": "we", "why": "it keeps <some>"}},
        "unsupported": {"gzip": "plain files only"},
        "says": {"gzip": "we"},
        "counts": ["instances"],
        "version": "1",
        "home": "nowhere",
        "bugs": "nobody",
        "ran": True,
        "why_not": "",
        "by_hand": f"read-{name} FILE",
        "needs": "",
        "digests": ["instances"],
        "scores": {**dict.fromkeys((*names, *more), 1), **dict.fromkeys((*none, *apart), 0)},
        "results": results,
    }


def case(name: str, rule: str) -> dict[str, Any]:
    return {
        "name": name,
        "file": f"corpus/{name}.hprof",
        "member": "",
        "real": name == "one",
        "about": f"About {rule}.",
        "should": "accept",
        "rules": [rule],
        "requires": ["gzip"],
        "bytes": 12,
        "counts": {"instances": 9},
    }


DUMP = {
    "how": "jcmd",
    "bytes": 5,
    "valid": True,
    "strict": {"REF-002": 3},
    "in_profile": {},
    "content": "",
    "fine": True,
    "objects": 4,
    "covered": 3,
}
LOST = {**DUMP, "how": "plain", "content": "Node: 0 instead of 3", "fine": False, "reason": "It loses <nodes>."}
NOT_COMPARED = {**DUMP, "how": "by hand", "content": "not compared", "objects": 0, "covered": 0}
LEFT_OUT = {"how": "core", "why": "no core file"}
REPORT: dict[str, Any] = {
    "run": {"date": "2026-01-01", "machine": "m", "python": "3", "java": "17"},
    "cases": [case("one", "OBJ-004"), case("two", "REC-012")],
    "readers": [
        reader("a", {"one": "right", "two": "hung"}),
        reader("b", {"one": "crashed", "two": "right"}),
        {"name": "c", "title": "Reader c", "version": "1", "ran": False, "why_not": "needs a <licence>"},
    ],
    "producers": [
        {
            "name": "p",
            "title": "Producer p",
            "version": "17",
            "profile": "sa",
            "own": False,
            "ran": True,
            "why_not": "",
            "dumps": [DUMP, LOST, NOT_COMPARED],
            "left_out": [LEFT_OUT],
        }
    ],
}


def shown(folder: Path, address: str = "", act: str = "", report: dict[str, Any] = REPORT, browser: tuple[str, ...] = ()) -> str:
    """The page as the browser has it once its script has run, and then `act`: what a user does. `browser`: options."""
    dom = in_browser(folder, page.make(report) + f"<script>{act}</script>", address, browser)
    return dom.split('<script id="report"')[0]


def in_browser(folder: Path, text: str, address: str = "", browser: tuple[str, ...] = ()) -> str:
    (folder / "index.html").write_text(text, encoding="utf-8")
    assert BROWSER is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=1000"]
    options += [f"--user-data-dir={folder}/profile", *browser]
    url = f"file://{folder}/index.html{address}"
    return subprocess.run([BROWSER, *options, "--dump-dom", url], capture_output=True, text=True, check=True).stdout


def cells(dom: str) -> list[str]:
    return re.findall(r'<td[^>]*><button class="cell [^"]*" type="button">([^<]*)</button></td>', dom.split('id="by-case"')[1])


def test_all_is_shown(tmp_path: Path) -> None:
    dom = shown(tmp_path)
    assert cells(dom) == ["right", "crashed", "hung", "right"]
    assert "2 of 2 cases" in dom
    assert "not run: needs a &lt;licence&gt;" in dom
    assert "REF-002 3" in dom
    assert "left out: no core file" in dom


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("?who=a", ["right", "hung"]),
        ("?who=p", []),
        ("?text=rec-012", ["hung", "right"]),
        ("?text=one", ["right", "crashed"]),
        ("?outcome=crashed", ["right", "crashed"]),
        ("?who=b&odd=1", ["crashed"]),
        ("?text=nothing", []),
    ],
)
def test_the_filters(address: str, expected: list[str], tmp_path: Path) -> None:
    assert cells(shown(tmp_path, address)) == expected


def test_a_cell_says_what_was_fed_what_came_back_and_why_it_counts_as_it_does(tmp_path: Path) -> None:
    dom = shown(tmp_path, "#" + quote("a:two"))
    detail = html.unescape(re.sub(r"<[^>]+>", " ", dom.split('id="detail"')[1]))
    copy = "/tmp/hprof-conformance-cell/dump.hprof.gz"
    commands = ("--readers a ", f"cp corpus/two.hprof {copy}", f"read-a {copy}")
    words_of = ("Reader a 1: two", "About REC-012.", "12 bytes", "instances 9", "instances 7", "counts as", "hung", "</script>")
    for words in (*words_of, *commands):
        assert words in detail, words
    assert re.search(r'id="detail"[^>]*></section>', shown(tmp_path))


PATH = "a FILE of a PROFILER"  # of a reader
SAME = 'test "$0" = "a F""ILE of a PROF""ILER" && cp'
BY_HAND = shlex.join(["sh", "-c", f'{SAME} "$1" came-back', PATH, FILE])
ASKED = one_request(["sh", "-c", f"""{SAME} "$(sed 's/.*"file": "//; s/".*//')" came-back""", PATH])


@pytest.mark.parametrize(("packed", "by_hand"), [("plain", BY_HAND), ("xz", BY_HAND), ("member", BY_HAND), ("plain", ASKED)])
def test_the_commands_of_a_cell_work_when_they_are_pasted_into_a_shell(packed: str, by_hand: str, tmp_path: Path) -> None:
    """Of a case with any name, in a folder with any name."""
    rng = random.Random(seed := random.randrange(1 << 32))
    name, member = ("a" + "".join(rng.choices("b'\" $`*;&(é", k=12)) for _ in range(2))
    content = rng.randbytes(1000)
    root = tmp_path / "it's the root"
    (root / "conformance").mkdir(parents=True)
    (root / "corpus").mkdir()
    note, dump = root / "ran", root / "corpus" / f"{name}.hprof"
    dump.write_bytes(content)
    one = {**case("one", "OBJ-004"), "name": name, "file": f"corpus/{name}.hprof", "requires": []}
    if packed == "xz":
        one["file"] += ".xz"
        (root / one["file"]).write_bytes(lzma.compress(content))
        dump.unlink()
    elif packed == "member":
        one.update(file=f"corpus/{name}.tar.xz", member=member)
        with tarfile.open(root / one["file"], "w:xz") as archive:
            archive.add(dump, member)
        dump.unlink()
    run = root / "conformance" / "run"
    run.write_text('#!/bin/sh\nfor word in "$OF_IT" "$@"; do printf "%s\\n" "$word"; done >ran\n')
    run.chmod(0o755)
    own = {**reader("a", {name: "right"}), "by_hand": by_hand, "needs": "OF_IT='it is here'"}
    act = "document.body.dataset.typed = btoa(unescape(encodeURIComponent(again(report.readers[0], report.cases[0]))));"
    dom = shown(tmp_path, act=act, report={**REPORT, "cases": [one], "readers": [own]})
    typed = base64.b64decode(re.findall('data-typed="([^"]*)"', dom)[0]).decode()
    subprocess.run(["bash", "-euc", typed], cwd=root, check=True)
    assert (root / "came-back").read_bytes() == content, f"seed {seed}"
    report = "/tmp/hprof-conformance-cell-report"
    words = ["it is here", "--report", report, "--readers", "a", "--producers", "none", "--cases", name]
    assert note.read_text().splitlines() == words, f"seed {seed}"


def click(cell: str) -> str:
    return f"[...document.querySelectorAll('button.cell')].find(one => one.textContent.startsWith('{cell}')).click();"


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (click("hung"), "Reader a 1: two"),
        (click("hung") + click("crashed"), "Reader b 1: one"),
        (click("Node: 0"), "Producer p 17: plain"),
    ],
)
def test_a_click_opens_what_is_behind_a_cell(act: str, words: str, tmp_path: Path) -> None:
    assert f"<h3>{words}</h3>" in shown(tmp_path, act=act).split('id="detail"')[1]


def test_escape_closes_the_detail_and_the_focus_goes_back(tmp_path: Path) -> None:
    act = click("hung") + "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));"
    act += "document.title = document.activeElement.textContent;"
    dom = shown(tmp_path, act=act)
    assert re.search(r'id="detail"[^>]*></section>', dom)
    assert "<title>hung</title>" in dom


def moved(end: int) -> int:
    """An end of a pipe beyond 3 and 4, which the browser takes for its own."""
    beyond = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(end)
    return beyond


@contextmanager
def opened(folder: Path) -> Iterator[Callable[..., Any]]:
    """The page in a browser that takes keys: `ask` calls a method of its protocol, and gives what came back."""
    (folder / "index.html").write_text(page.make(REPORT), encoding="utf-8")
    assert BROWSER is not None
    ends = [moved(end) for end in (*os.pipe(), *os.pipe())]
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
    words = [BROWSER, *options, f"--user-data-dir={folder}/profile", f"file://{folder}/index.html"]
    start = ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[3]}', "bash", *words]
    run = subprocess.Popen(start, pass_fds=(ends[0], ends[3]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(ends[0])
    os.close(ends[3])
    session: dict[str, str] = {}
    with os.fdopen(ends[1], "wb", buffering=0) as requests, os.fdopen(ends[2], "rb") as replies:

        def ask(method: str, **parameters: object) -> Any:
            requests.write(json.dumps({"id": 1, "method": method, "params": parameters, **session}).encode() + b"\0")
            while True:
                reply = json.loads(b"".join(iter(lambda: replies.read(1) or b"\0", b"\0")))
                if reply.get("id") == 1:
                    return reply["result"]

        try:
            (target,) = (one for one in ask("Target.getTargets")["targetInfos"] if one["type"] == "page")
            session["sessionId"] = ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
            ask("Emulation.setFocusEmulationEnabled", enabled=True)
            yield ask
        finally:
            run.kill()
            run.wait()


KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}


def test_cells_are_reached_and_opened_by_keys(tmp_path: Path) -> None:
    """Keys of the browser itself: an event that a script makes neither moves the focus nor presses a button."""
    with opened(tmp_path) as ask:

        def value(words: str) -> Any:
            return ask("Runtime.evaluate", expression=words)["result"].get("value")

        def press(key: str) -> None:
            text = {"text": "\r"} if key == "Enter" else {}
            for kind in ("keyDown", "keyUp"):
                ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key], **text)

        cells_of = "[...document.querySelectorAll('button.cell')].map(one => one.textContent).join('|')"
        until = time.monotonic() + 60
        while len(every := (value(cells_of) or "").split("|")) < 7:
            assert time.monotonic() < until, every
            time.sleep(0.05)
        found = []
        focused = "document.activeElement"
        for _ in range(50):
            press("Tab")
            if not value(f"{focused}.matches('button.cell')"):
                continue
            found.append(value(f"{focused}.textContent"))
            assert value(f"{focused}.matches(':focus-visible')")
            press("Enter")
            assert value(f"{focused} === byId('detail') && {focused}.querySelector('h3') !== null")
            press("Escape")
            assert value(f"{focused}.textContent") == found[-1]
            if len(found) == len(every):
                break
        assert found == every


def test_a_difference_names_what_the_reader_was_asked_for(tmp_path: Path) -> None:
    dom = shown(tmp_path, "#" + quote("b:one"))
    detail = html.unescape(re.sub(r"<[^>]+>", " ", dom.split('id="detail"')[1]))
    for words in (
        "instances: 7; the truth is 9",
        "statics: field x of Foo is 3, not 5",
        "its list",
        "gzip: plain files only. So say we.",
    ):
        assert words in detail, words
    assert detail.index("wrong here") < detail.index("the truth ")  # the counts, which are long


def test_each_reader_has_a_table_of_what_it_is_asked_for(tmp_path: Path) -> None:
    table = shown(tmp_path).split('id="asked"')[1].split("</table>")[0]
    for name in "ab":
        assert f"Reader {name}</th><td>instances</td><td>its list</td>" in table
    assert table.count("gzip: plain files only. So say we.") == 2
    assert table.count("roots: it keeps &lt;some&gt;. So say we.") == 2


def test_real_dumps_come_first_and_readers_stand_by_family(tmp_path: Path) -> None:
    dom = shown(tmp_path)
    real, constructed = dom.split('id="real"')[1].split('id="matrix"')
    assert cells('id="by-case"' + real) == ["right", "crashed"]
    assert cells('id="by-case"' + constructed) == ["hung", "right"]
    assert "family of a" in real and "75 %" in dom


def test_the_scores_are_there_without_javascript() -> None:
    made = page.make(REPORT)
    assert '<th scope="row">Reader a</th>' in made.split("<noscript>")[1].split("</noscript>")[0]


def test_each_score_is_explained() -> None:
    made = page.make(REPORT)
    for column in texts.COLUMNS[2:]:
        if column not in ("crashes", "hangs", "out of memory"):
            assert f"<em>{column.capitalize()}</em>" in made


def test_a_choice_filters_at_once(tmp_path: Path) -> None:
    choose = "byId('who').value = 'b'; byId('odd').checked = true;"
    choose += "byId('filter').dispatchEvent(new Event('input', {bubbles: true}));"
    assert cells(shown(tmp_path, act=choose)) == ["crashed"]


def test_a_dump_says_what_was_found_and_why_it_is_expected(tmp_path: Path) -> None:
    dom = shown(tmp_path, "#" + quote("p:plain"))
    detail = html.unescape(re.sub(r"<[^>]+>", " ", dom.split('id="detail"')[1]))
    command = "--readers none --producers p:plain"
    for words in ("Producer p 17: plain", "REF-002 3", "profile sa", "Node: 0 instead of 3", "It loses <nodes>.", command):
        assert words in detail, words


def test_of_a_program_of_the_users_own_no_name_is_given_to_the_runner(tmp_path: Path) -> None:
    own = {**REPORT["producers"][0], "own": True}
    assert (
        "see it again" not in shown(tmp_path, "#" + quote("p:plain"), report={**REPORT, "producers": [own]}).split('id="detail"')[1]
    )


def test_the_names_of_cases_stay_above_the_cells_that_are_scrolled_beneath(tmp_path: Path) -> None:
    """Paler cells are drawn by themselves, above what has no height of its own."""
    act = """
        document.querySelectorAll("#real button").forEach(one => one.classList.add("expected"));
        document.querySelector("#real").style.width = "3000px";
        document.querySelector("#real").parentElement.scrollLeft = 1600;
        document.querySelector("#real").scrollIntoView();
        const box = document.querySelector("#real th[scope=row]").getBoundingClientRect();
        document.body.dataset.above = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).textContent;
    """
    assert 'data-above="one"' in shown(tmp_path, act=act)


def test_content_that_was_not_compared_is_not_green(tmp_path: Path) -> None:
    producers = shown(tmp_path).split('id="by-case"')[0]
    assert re.findall(r'class="cell ([^"]*)" type="button">([^<]*)</button>', producers) == [
        ("good", "right"),
        ("bad expected", "Node: 0 instead of 3"),
        ("none", "not compared"),
    ]


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_only_the_tables_are_scrolled_sideways(width: int, tmp_path: Path) -> None:
    """In a frame, because no window of the browser is as narrow as a telephone."""
    many = [{**reader(name, {"one": "right", "two": "hung"}), "title": f"Reader {name} " * 5} for name in string.ascii_letters]
    source = html.escape(page.make({**REPORT, "readers": many}))
    dom = in_browser(
        tmp_path,
        f"""<!DOCTYPE html><iframe style="width: {width}px; height: 800px; border: 0" srcdoc="{source}"></iframe><script>
        onload = () => {{
          const inside = document.querySelector("iframe").contentWindow, found = inside.document;
          found.querySelector("#real button.cell").click();
          const table = found.querySelector("#real").scrollWidth, detail = found.querySelector("#detail").textContent;
          document.body.dataset.widths = [inside.innerWidth, found.documentElement.scrollWidth, table, detail.length];
        }};
        </script>""",
    )
    inner, page_width, table, detail = map(int, re.findall('data-widths="([^"]*)"', dom)[0].split(","))
    assert detail > 100
    assert page_width <= inner == width < table


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_words_stand_out_from_their_ground(scheme: str, tmp_path: Path) -> None:
    """By the 4.5 to 1 of WCAG 2.1, 1.4.3."""
    act = """
        const part = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        const light = ([r, g, b]) => 0.2126 * part(r / 255) + 0.7152 * part(g / 255) + 0.0722 * part(b / 255);
        const parts = (colour) => colour.match(/[0-9.]+/g).map(Number).slice(0, 3);
        const mixed = (above, below, share) => above.map((value, i) => value * share + below[i] * (1 - share));
        function contrast(text, back) {
          const both = [light(text), light(back)].sort((a, b) => b - a);
          return (both[0] + 0.05) / (both[1] + 0.05);
        }
        document.body.style.background = "Canvas";
        const found = {}, canvas = parts(getComputedStyle(document.body).backgroundColor);
        found.page = contrast(parts(getComputedStyle(document.body).color), canvas);
        const cell = document.querySelector("#real button.cell");
        for (const name of new Set(Object.values(colour))) for (const more of ["", " expected"]) {
          cell.className = `cell ${name}${more}`;
          const style = getComputedStyle(cell), seen = (colour) => mixed(parts(colour), canvas, Number(style.opacity));
          found[name + more] = contrast(seen(style.color), seen(style.backgroundColor));
        }
        found.dark = matchMedia("(prefers-color-scheme: dark)").matches ? 100 : 50;
        document.body.dataset.contrast = JSON.stringify(found);
    """
    dom = shown(tmp_path, act=act, browser=(f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}",))
    found = json.loads(html.unescape(re.findall('data-contrast="([^"]*)"', dom)[0]))
    assert (found.pop("dark") == 100) == (scheme == "dark")
    assert len(found) > 10 and all(ratio >= 4.5 for ratio in found.values()), found
