"""matrix.md and junit.xml, made from a report."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hprof_conformance.command import IS_OF_PIP, NAME
from hprof_conformance.report import Json, fails_calibration

COLUMNS = (
    *("reader", "version", "real dumps right", "valid read right", "content right", "invalid refused", "tolerated", "unreported"),
    *("silent losses", "crashes", "hangs", "out of memory", "unsupported", "seconds"),
)
LEGEND = (  # of the columns
    "*Real dumps right*: of the valid dumps that real producers wrote, accepted, and counts and content are the truth",
    "*Valid read right*: the same for all valid dumps. *Counts alone*: the reader gives no content that could be compared",
    "*Content right*: the same for the valid dumps that hold objects",
    "*Invalid refused*: rejected with a message, or accepted with a notice that the reader does not give for valid dumps",
    "*Tolerated*: accepted, content compared, and none is lost. *Counts only*: counts are right, content was not compared",
    "*Unreported*: accepted without a notice, and nothing is lost, though SPEC.md says that a reader must report the fault",
    "*Silent losses*: malformed, accepted without a word, and objects are missing or changed",
    "*Unsupported*: these cases are in no other column; what was lost and crashed there is in brackets",
    "*Seconds*: for all cases; a hang takes 10, or 60 for a large or compressed dump, if `--timeout` does not say otherwise",
)

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # readers and producers print anything


def _cell(content: object) -> str:
    """In one line of a table."""
    return _NO_XML.sub("\ufffd", " ".join(str(content).split())).replace("|", "\\|").replace("<", "&lt;")


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "none"


def score_cells(one: Json) -> list[str]:
    """The scores of a reader, by column. What was not compared is never under "right"."""
    s = one["scores"]

    def right(name: str, whole: str) -> str:
        words = [_of(s[f"{name}_right"], s[whole])] if one["digests"] else []
        if s[f"{name}_counts_right"]:
            words.append(f"{'counts of ' if one['digests'] else 'counts alone: '}{_of(s[f'{name}_counts_right'], s[whole])}")
        if name == "valid" and s["valid_not_compared"]:
            words.append(f"accepted {s['valid_not_compared']}, nothing compared")
        return ", ".join(words) or _of(0, s[whole])

    tolerated = [str(s["invalid_tolerated"])] if one["digests"] or not one["counts"] else []
    if s["invalid_counts_only"]:
        tolerated.append(f"counts only: {s['invalid_counts_only']}")
    if s["invalid_not_compared"]:
        tolerated.append(f"nothing compared: {s['invalid_not_compared']}")
    apart = (("crash", "crashes"), ("loss", "losses"))
    beneath = [f"{count} {one if count == 1 else some}" for one, some in apart if (count := s[f"unsupported_{some}"])]
    unsupported = _of(s["unsupported"], s["cases"])
    return [
        right("real", "real"),
        right("valid", "valid"),
        _of(s["content_right"], s["content"]) if one["digests"] else "not compared",
        _of(s["invalid_rejected"], s["invalid"]),
        ", ".join(tolerated) or "0",
        *(str(s[name]) for name in ("unreported", "silent_losses", "crashes", "hangs", "out_of_memory")),
        f"{unsupported} ({', '.join(beneath)})" if beneath else unsupported,
        str(round(s["seconds"])),
    ]


def matrix(report: Json) -> str:
    run = report["run"]
    lines = [
        "# The conformance matrix",
        "",
        f"{', '.join(filter(None, (run['date'][:10], run['machine'], run['java'])))}.",
        f"`{NAME}` makes this page{'' if IS_OF_PIP else '; [README.md](README.md) explains it'}.",
        "",
        "## Readers",
        "",
        *(f"- {line}" for line in LEGEND),
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "| --- " * len(COLUMNS) + "|",
    ]
    for one in report["readers"]:
        if not one["ran"]:
            continue
        cells = (one["title"], one["version"], *score_cells(one))
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    left_out = [one for one in report["readers"] if not one["ran"]]
    if left_out:
        lines += ["", "Not run:", ""]
        lines += [f"- {_cell(one['title'])}: {_cell(one['why_not'])}" for one in left_out]
    if report["producers"]:
        lines += _producers(report["producers"])
    return "\n".join(lines) + "\n"


def _rules(found: dict[str, int]) -> str:
    return ", ".join(f"{rule} {count}" for rule, count in sorted(found.items())) or "none"


def covered(dump: Json) -> str:
    return f"{100 * dump['covered'] / dump['objects']:.0f} %" if dump["objects"] else "none"


def _producers(producers: list[Json]) -> list[str]:
    lines = [
        *("", "## Producers", ""),
        "Findings in `strict`, and those that the producer's own profile leaves: errors and warnings, by rule, with their number.",
        "",
        "- *Content*: right if the known objects, values, strings and links of the program are there; of others nothing is said",
        "- *Covered*: the share of objects that belong to a class whose number is known, so that one left out would be found",
        "",
        "| producer | version | how | bytes | strict | in its profile | content | covered |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in producers:
        for dump in one["dumps"]:
            cells = (
                *(one["title"], one["version"], dump["how"], dump["bytes"]),
                *(_rules(dump["strict"]), _rules(dump["in_profile"]), dump["content"] or "right", covered(dump)),
            )
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    left_out = [one for one in producers if not one["ran"]]
    if left_out:
        lines += ["", "Not run:", ""]
        lines += [f"- {_cell(one['title'])}: {_cell(one['why_not'])}" for one in left_out]
    ways = [f"- {one['title']}, {way['how']}: {way['why']}" for one in producers for way in one["left_out"]]
    return [*lines, "", "Left out:", "", *ways] if ways else lines


def junit(report: Json) -> str:
    """A suite for each reader and producer. What is expected passes; what surprises fails, unless it is another version."""
    suites = ElementTree.Element("testsuites", name="hprof conformance")
    for one in (*report["readers"], *report["producers"]):
        surprises: dict[str, list[str]] = {}
        for surprise in one["surprises"]:
            surprises.setdefault(surprise["case"], []).append(surprise["what"])
        results = one.get("results") or one.get("dumps") or []
        suite = ElementTree.SubElement(suites, "testsuite", name=one["title"])
        names = [result.get("case") or result["how"] for result in results]
        for name in [*names, *(case for case in surprises if case not in names)]:
            case = ElementTree.SubElement(suite, "testcase", classname=one["name"], name=name)
            if name in surprises:
                outcome, words = ("skipped", ["another version"]) if one["another_version"] else ("failure", [])
                ElementTree.SubElement(case, outcome, message="; ".join([*words, *surprises[name]]))
        if not one["ran"]:
            case = ElementTree.SubElement(suite, "testcase", classname=one["name"], name="runs")
            ElementTree.SubElement(case, "failure" if fails_calibration(one) else "skipped", message=one["why_not"])
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    for element in suites.iter():
        element.attrib.update({name: _NO_XML.sub("\ufffd", value) for name, value in element.attrib.items()})
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
