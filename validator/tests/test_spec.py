"""SPEC.md and the documents beside it agree with the rules and the layouts, and with each other.

`ci/derive --check` compares what `ci/derive` writes. These tests read the .def files once more, in the simplest way, and so
notice a row that derive overlooks.
"""

import hashlib
import itertools
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hprof_corpus import reader
from hprof_corpus.assembler import assemble

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "validator/src"
NAMES = [
    "SPEC.md",
    "validator/RULES.md",
    "conformance/PRODUCERS.md",
    "conformance/producers/agent8/TEXT.md",
    "conformance/HISTORY.md",
    "conformance/sources.md",
]
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
TEXT = TEXTS["SPEC.md"]
each_document = pytest.mark.parametrize("name", NAMES)
RULES_DEF = (SOURCES / "findings/rules.def").read_text()
RECORDS_DEF = (SOURCES / "format/records.def").read_text()
PROFILES_DEF = (SOURCES / "findings/profiles.def").read_text()
EXPLANATIONS_DEF = (SOURCES / "findings/explanations.def").read_text()

# The letter of a decision by the severity of its rule.
LETTERS = {"FRAMING": "E", "ERROR": "E", "STRICT": "S", "WARNING": "W", "PROFILE": "P"}


def rows(text: str, macro: str) -> list[list[str]]:
    """The arguments of each row of an X-macro file, adjacent literals joined."""
    literal = r'"(?:[^"\\]|\\.)*"'
    found = []
    for body in re.findall(rf"^{macro}\(((?:[^\"()]|{literal})*)\)", text, re.MULTILINE):
        arguments = [""]
        for token in re.findall(rf"{literal}|\w+|,", body):
            if token == ",":
                arguments.append("")
            elif token.startswith('"'):
                arguments[-1] += re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), token[1:-1])
            else:
                arguments[-1] += token
        found.append(arguments)
    assert len(found) == len(re.findall(rf"^{macro}\(", text, re.MULTILINE)), f"a row of {macro} was not understood"
    return found


def rule_id(identifier: str) -> str:
    return identifier.replace("_", "-")


@dataclass(frozen=True)
class Rule:
    family: str
    number: str
    name: str
    severity: str
    clause: str
    decisions: str
    summary: str

    def __str__(self) -> str:
        return f"{self.family}-{self.number}"


RULES = {str(rule): rule for rule in (Rule(*row) for row in rows(RULES_DEF, "RULE"))}


@cache
def headings(name: str) -> tuple[str, ...]:
    unfenced = re.sub(r"^```.*?^```", "", TEXTS[name], flags=re.DOTALL | re.MULTILINE)
    return tuple(re.findall(r"^#+ (.*)$", unfenced, re.MULTILINE))


def section_numbers() -> list[str]:
    return [found[1] for heading in headings("SPEC.md") if (found := re.match(r"(\d+(?:\.\d+)*) ", heading))]


def section(number: str) -> str:
    """The text of a section up to the next heading. No two documents have a section of the same number or letter."""
    lines = [line for text in TEXTS.values() for line in text.split("\n")]
    start = next(i for i, line in enumerate(lines) if re.match(rf"#+ {re.escape(number)} ", line))
    end = next((i for i, line in enumerate(lines[start + 1 :], start + 1) if line.startswith("#")), len(lines))
    return "\n".join(lines[start:end])


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def anchors(name: str) -> frozenset[str]:
    found = [*map(slug, headings(name)), *re.findall(r'<a id="([^"]+)"></a>', TEXTS[name])]
    assert len(set(found)) == len(found), "an anchor appears twice"
    return frozenset(found)


def decisions() -> dict[str, list[str]]:
    """By row: point, documents, producers, decision, rules."""
    table = [line.strip("| ").split(" | ") for line in section("G").split("\n") if line.startswith("| ")]
    table += [line.strip("| ").split(" | ") for line in section("G.1").split("\n") if line.startswith("| ")]
    return {cells[0]: cells[1:] for cells in table if re.match(r"\d", cells[0])}


def test_derived_parts_are_up_to_date() -> None:
    done = subprocess.run([ROOT / "ci/derive", "--check"], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- Rules


def test_every_clause_of_a_rule_is_a_section_that_lists_it() -> None:
    for rule in RULES.values():
        assert rule.clause in section_numbers(), f"{rule}: SPEC.md has no section {rule.clause}"
        assert f"- **{rule}** " in section(rule.clause), f"{rule} is not listed in {rule.clause}"


def test_every_rule_is_listed_once() -> None:
    listed = re.findall(r"^- \*\*([A-Z]+-\d{3})\*\* ", TEXT, re.MULTILINE)
    assert sorted(listed) == sorted(RULES)


@each_document
def test_every_rule_that_is_mentioned_exists(name: str) -> None:
    assert set(re.findall(r"\b(?:HDR|REC|STR|CLS|STK|THR|PRF|ROOT|OBJ|REF|GZ)-\d+\b", TEXTS[name])) <= set(RULES)


def test_families_are_numbered_without_a_gap() -> None:
    for family, count in Counter(rule.family for rule in RULES.values()).items():
        numbers = sorted(int(rule.number) for rule in RULES.values() if rule.family == family)
        assert numbers == list(range(1, count + 1)), family


# ---- Layouts


@pytest.mark.parametrize("macro", ["RECORD", "SUBRECORD"])
def test_every_record_has_its_section_and_diagram(macro: str) -> None:
    """Records of one layout share its table, and those of Android that are an ID alone a diagram."""
    drawn = set()
    for name, tag, since, clause, layout in rows(RECORDS_DEF, macro):
        text = section(clause) + (section("6.3.1") if name == "CLASS_DUMP" else "")
        assert tag in text, f"{name}: tag {tag} is not in {clause}"
        assert name in text
        if (clause, layout) not in drawn:
            assert f"<!-- derived: diagram {name} -->" in text or since == "V103", f"{name}: no diagram in {clause}"
        drawn.add((clause, layout))


def boxes(name: str) -> list[tuple[str, int | str]]:
    """What the diagram shows: label, and bytes, or the border of what has no fixed size."""
    diagram = TEXT.split(f"<!-- derived: diagram {name} -->")[1].split("```")[1].split("\n")
    found: list[tuple[str, int | str]] = []
    for number, line in enumerate(diagram):
        if not line.startswith("|") or not diagram[number - 1].startswith("+"):
            continue
        border = diagram[number - 1]
        end = next(i for i, other in enumerate(diagram) if i > number and not other.startswith("|"))
        bars = [column for column, mark in enumerate(line) if mark == "|"]
        for start, stop in itertools.pairwise(bars):
            label = "".join(other[start + 1 : stop].strip() for other in diagram[number:end])
            kind = border[start + 1]
            found.append((label, border[start:stop].count("+") if kind == "-" else kind))
    return found


def test_diagrams_show_the_fields() -> None:
    """Of each record and of each entry of a list."""
    sizes = {"U1": 1, "U2": 2, "U4": 4, "U8": 8, "I4": 4, "ID": "~"}
    layouts = {
        layout: [(field, sizes[kind]) for kind, field in re.findall(r"F\((\w+), (\w+),", body)]
        for layout, body in re.findall(r"^#define LAYOUT_(\w+)\(F, TAIL\)((?:.*\\\n)*.*)$", RECORDS_DEF, re.MULTILINE)
    }
    kinds = {row[0]: (macro, row) for macro in ("RECORD", "SUBRECORD") for row in rows(RECORDS_DEF, macro)}
    shown = set(re.findall(r"<!-- derived: diagram (\w+) -->", TEXT)) - {"HEADER", "RECORD", "SUBRECORD"}
    used = {layout for name in shown for layout in (kinds[name][1][4] if name in kinds else name,)}
    assert used == set(layouts)
    for name in shown:
        found = boxes(name)
        if name in kinds:
            macro, (_, tag, _, _, layout) = kinds[name]
            head = [(tag, 1), ("time", 4), ("length", 4)][: 3 if macro == "RECORD" else 1]
        else:
            layout, head = name, []
        expected = [*head, *layouts[layout]]
        assert found[: len(expected)] == expected, name
        assert all(size in ("=", 2) for _, size in found[len(expected) :]), name


def test_tables_are_numbered() -> None:
    """Each table has a caption; `ci/derive` numbers them."""
    unfenced = re.sub(r"^```.*?^```", "", TEXT, flags=re.DOTALL | re.MULTILINE)
    heads = re.findall(r"(.*)\n\n(\|.*)\n\| ---", unfenced)
    assert len(heads) == unfenced.count("\n| ---")
    for number, (caption, head) in enumerate(heads, 1):
        assert caption.startswith(f"*Table {number}: "), f"{caption!r} before {head}"


def test_the_decoding_procedure_decodes() -> None:
    """Appendix N, run on the valid files of the corpus, finds what the reader of hprof_corpus finds."""
    (code,) = re.findall(r"^```python\n(.*?)^```", section("Appendix N"), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(code, names)
    decoded = 0
    for path in sorted((ROOT / "corpus/valid").glob("*.hprof")):
        file = memoryview(path.read_bytes())
        expected = reader.count(file)
        if expected.version == "1.0.3":
            continue
        data = bytes(reader.decompressed(file)) if expected.compressed else bytes(file)
        strings, _, heaps = names["read_dump"](data)
        decoded += 1
        fields = [field for heap in heaps for one in heap.instances for field in names["fields_of"](heap, one)]
        assert len(strings) == expected.strings, path.name
        assert len(heaps) == expected.heap_dumps, path.name
        assert sum(len(heap.roots) for heap in heaps) == sum(expected.roots.values()), path.name
        assert sum(len(heap.classes) for heap in heaps) == sum(one.dumps for one in expected.classes), path.name
        assert sum(len(heap.instances) for heap in heaps) == expected.instances, path.name
        assert sum(len(elements) for heap in heaps for _, elements in heap.object_arrays.values()) == expected.elements
        assert sum(len(heap.primitive_arrays) for heap in heaps) == expected.primitive_arrays, path.name
        references = expected.references_in.get("fields", reader.References())
        assert sum(1 for *_, kind, _ in fields if kind == 2) == references.all, path.name
        assert sum(1 for *_, kind, value in fields if kind == 2 and value) == references.not_null, path.name
    assert decoded > 100


def test_every_layout_is_shown() -> None:
    layouts = re.findall(r"^#define LAYOUT_(\w+)\(", RECORDS_DEF, re.MULTILINE)
    assert layouts
    shown = re.findall(r"<!-- derived: layout (\w+) -->", TEXT)
    assert sorted(shown) == sorted(layouts), "a layout is not shown, or more than once"


def test_every_field_is_in_its_table() -> None:
    for layout, body in re.findall(r"^#define LAYOUT_(\w+)\(F, TAIL\)((?:.*\\\n)*.*)$", RECORDS_DEF, re.MULTILINE):
        table = TEXT.split(f"<!-- derived: layout {layout} -->")[1].split("<!-- /derived -->")[0]
        fields = re.findall(r"F\((\w+), (\w+),", body)
        assert re.findall(r"\| (\w+) \| `(\w+)` \|", table) == [
            (kind if kind == "ID" else kind.lower(), field) for kind, field in fields
        ]


# ---- Explanations and quirks


def test_every_rule_has_one_explanation() -> None:
    explained = [row[0] for row in rows(EXPLANATIONS_DEF, "EXPLAIN")]
    assert [rule_id(identifier) for identifier in explained] == list(RULES), "not one each, in the order of rules.def"


@pytest.mark.parametrize("row", rows(EXPLANATIONS_DEF, "EXPLAIN"), ids=lambda row: row[0])
def test_explanation(row: list[str]) -> None:
    assert len(row) == 5
    identifier, *texts, example = row
    for text in texts:
        assert text.endswith((".", ")")), f"no sentence: {text}"
    if identifier == "REC_012":  # its example has more than 4 GiB
        assert "# REC-012: " in example
        return
    header = "" if re.search(r"^\s*!?hprof", example, re.MULTILINE) else 'hprof "JAVA PROFILE 1.0.2" id-size 8 time 1\n'
    faults = assemble(f"{header}{example}\n").faults
    assert [fault.rule for fault in faults] == [rule_id(identifier)]


def test_quirks_name_rules_and_shapes_that_exist() -> None:
    quirks = rows(PROFILES_DEF, "QUIRK")
    profiles = [row[0] for row in rows(PROFILES_DEF, "PROFILE")]
    shapes = re.findall(r"\bSHAPE_\w+", (SOURCES / "findings/rules.h").read_text())
    for profile, rule, shape, effect, words, *rest in quirks:
        assert profile in profiles
        assert rule_id(rule) in RULES
        assert shape in shapes
        assert effect in ("NOTE", "WARNING", "ERROR")
        assert (words == "NULL") == (shape == "SHAPE_ANY")
        assert len(rest) == 2
    assert len({(profile, rule, shape) for profile, rule, shape, *_ in quirks}) == len(quirks)


# ---- Decisions


def test_rows_of_decisions_are_complete() -> None:
    assert list(decisions()) == [*map(str, range(1, 55)), "54a", *map(str, range(55, 89))]


def test_every_decision_that_is_not_legal_has_a_rule() -> None:
    for row, (*_, decision, rules) in decisions().items():
        if re.search(r"\b[ESWP]\b", decision):
            assert rules != "-", f"row {row}: {decision}, and no rule"
        else:
            assert rules == "-", f"row {row} is legal, and {rules} carry it out"


def test_a_rule_is_as_severe_as_its_decision() -> None:
    table = decisions()
    for rule in RULES.values():
        for row in re.findall(r"\w+", rule.decisions):
            if row not in table:
                found = re.search(rf"^{row}\. .*(?:\n    .*)*", section("G.2"), re.MULTILINE)
                assert found, f"no decision {row}"
                assert f"`{rule}`" in found[0]
            else:
                letters = re.findall(r"\b[ESWP]\b", table[row][3])
                assert LETTERS[rule.severity] in letters, f"{rule}: {rule.severity}, row {row}: {table[row][3]}"


# ---- The source documents


def test_every_statement_of_the_sources_has_its_place() -> None:
    """A section, an erratum or the words that say why not; test_cross_references_resolve finds the sections."""
    documents = re.split(r"^## (\w+)$", TEXTS["conformance/sources.md"], flags=re.MULTILINE)[1:]
    assert documents[::2] == re.findall(r"^\| ([A-Z]+) \|", section("1.2"), re.MULTILINE)
    for name, text in zip(documents[::2], documents[1::2], strict=True):
        statements = [line.strip("| ").split(" | ") for line in text.split("\n") if re.match(r"\| (?!-|Where)", line)]
        assert len(statements) > 10, name
        for where, statement, places in statements:
            assert where and statement
            for place in places.split("; "):
                assert re.fullmatch(r"\[[\w. ]+\]|erratum: \[SPEC\.md L\.2\]|not a format matter", place), (name, statement)
    errata = section("L.2")
    for name, text in zip(documents[::2], documents[1::2], strict=True):
        if "erratum" in text:
            assert re.search(rf"^\| [\w, ]*\b{name}\b", errata, re.MULTILINE), name


@pytest.mark.parametrize(("document", "column"), [("AGENT", 3), ("FORMAT", 2), ("HOTSPOT", 2)])
def test_every_record_of_the_sources_is_listed(document: str, column: int) -> None:
    text = TEXTS["conformance/sources.md"].split(f"\n## {document}\n")[1].split("\n## ")[0]
    for clause in ("3.2", "6.1"):
        for line in re.findall(r"^\| 0x.*$", section(clause), re.MULTILINE):
            name = line.split("|")[column + 1].strip(" `")
            assert name == "-" or re.search(rf"\b{name}[:,]", text), f"{name} of {document}"


# ---- The text itself


def test_section_numbers_are_unique_and_in_order() -> None:
    numbers = [tuple(map(int, number.split("."))) for number in section_numbers()]
    assert numbers == sorted(set(numbers))
    for number in numbers:
        if number[-1] > 1:
            assert (*number[:-1], number[-1] - 1) in numbers, f"a number is missing before {number}"
        assert len(number) == 1 or number[:-1] in numbers


def test_sections_are_numbered_once() -> None:
    """The letters of SPEC.md's former appendices are those of one document each."""
    labels = [found[0] for name in NAMES for heading in headings(name) if (found := re.match(r"\d\S*|[A-Z](?=[. ])\S*", heading))]
    assert [label for label, count in Counter(labels).items() if count > 1] == []


def prose(name: str) -> str:
    """The text without code, where brackets mean other things."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", TEXTS[name], flags=re.DOTALL)


@each_document
def test_cross_references_resolve(name: str) -> None:
    defined = re.findall(r"^\[(.+?)\]: (\S+)$", TEXTS[name], re.MULTILINE)
    used = set(re.findall(r"\[([^\]\n]+)\](?![(:])", prose(name)))
    assert used == {label for label, _ in defined}, "a reference that no section has"
    assert [line for line in prose(name).split("\n") if re.search(r"\[[^\]]*$", line)] == [], "a reference in two lines"


@each_document
def test_links_work(name: str) -> None:
    """To anchors of this document and of the others, and to files."""
    links = re.findall(r"\]\(([^)\s]+)\)", prose(name)) + re.findall(r"^\[.+?\]: (\S+)$", TEXTS[name], re.MULTILINE)
    assert links
    for link in links:
        if link.startswith("http"):
            continue
        path, _, fragment = link.partition("#")
        file = (ROOT / name).parent.joinpath(path).resolve() if path else ROOT / name
        assert file.exists(), link
        other = str(file.relative_to(ROOT.resolve() if path else ROOT))
        if fragment:
            assert fragment in anchors(other), link


def test_every_rule_has_an_anchor() -> None:
    assert {rule.lower() for rule in RULES} <= anchors("SPEC.md")


def test_old_anchors_are_kept() -> None:
    """Reports and pages link to them, and a fragment reaches no server that could lead on. An anchor whose section has moved is
    the start of a line with the new place."""
    old = {line for line in (Path(__file__).parent / "spec-anchors.txt").read_text().splitlines() if not line.startswith("#")}
    assert old
    assert old <= anchors("SPEC.md")
    moved = section("L.4")
    assert old - set(map(slug, headings("SPEC.md"))) - {rule.lower() for rule in RULES} == set(re.findall(r'id="(.+?)"', moved))
    for line in re.findall(r"^- .*$", moved, re.MULTILINE):
        found = re.fullmatch(r'- <a id="([^"]+)"></a>(?:Appendix )?(\S+) ?.*: \[\w+\.md(?: ([A-Z][.\d]*))?\](?:\(.*#(.+)\))?', line)
        assert found, line
        anchor, label, place, fragment = found.groups()
        assert place == label or fragment == anchor or label.startswith("9"), line


def test_the_version_is_the_same_everywhere() -> None:
    (version,) = re.findall(r"^Version (\S+) of this document", TEXT, re.MULTILINE)
    first, *drafts = re.findall(r"^\| (1\.0-draft-\S+?),? .*\|.*\|$", section("L.1"), re.MULTILINE)
    assert version == first
    assert f"version {version}," in section("L.3")
    for draft in drafts:
        assert re.search(rf"^\| {draft} \| .* \| `[0-9a-f]{{64}}` \|$", section("L.1"), re.MULTILINE), f"{draft} has no SHA-256"


def test_drafts_are_texts_of_the_history() -> None:
    """Each text with a SHA-256 was SPEC.md of a commit, with its version."""

    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout

    if not (ROOT / ".git").exists() or git("rev-parse", "--is-shallow-repository") == b"true\n":
        pytest.skip("only a complete repository has the drafts")
    commits = git("log", "--format=%H", "--", "SPEC.md").decode().split()
    texts = {hashlib.sha256(text).hexdigest(): text.decode() for text in (git("show", f"{commit}:SPEC.md") for commit in commits)}
    listed = re.findall(r"^\| (\S+) \|.*\| `([0-9a-f]{64})` \|$", section("L.1"), re.MULTILINE)
    assert listed
    for version, sha256 in listed:
        found = re.search(r"^Version (\S+) of this document", texts[sha256], re.MULTILINE)
        assert found
        assert version in (found[1], f"{found[1]}-1")  # the first called itself 1.0-draft


@pytest.mark.parametrize("version", ["1.0-draft-3-dev", "1.0-draft-3"])
def test_a_release_has_a_draft(tmp_path: Path, version: str) -> None:
    """ci/release, with a SPEC.md of this version, in a folder that has not the rest."""
    for name in ("ci/release", "validator/include/hprof/hprof.h", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "ci/packages").write_text("#!/bin/sh\necho packages; exit 9\n")
    (tmp_path / "ci/packages").chmod(0o755)
    text, count = re.subn(r"^Version \S+ of", f"Version {version} of", TEXT, flags=re.MULTILINE)
    assert count == 1
    (tmp_path / "SPEC.md").write_text(text, encoding="utf-8")
    refused = version.endswith("-dev")
    for options in ([], ["--trial"]):
        command: list[str | Path] = [tmp_path / "ci/release", *options, tmp_path / "files"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if refused and not options:
            assert (done.returncode, done.stdout) == (1, "")
            assert version in done.stderr
        else:
            assert (done.returncode, done.stdout) == (9, "packages\n")  # what follows
    assert not (tmp_path / "files").exists()


def test_every_mistake_of_readers_has_a_corpus_file() -> None:
    table = [line.strip("| ").split(" | ") for line in section("Appendix K").split("\n") if re.match(r"\| \d", line)]
    assert [row[0] for row in table] == [str(number) for number in range(1, 11)]
    for number, *_, link in table:
        found = re.fullmatch(r"\[([\w./-]+)\]\(corpus/([\w./-]+)\.txt\)", link)
        assert found, f"mistake {number}: {link}"
        assert found[1] == found[2]
        assert (ROOT / f"corpus/{found[1]}.txt").is_file(), link


@each_document
def test_rows_of_tables_have_equal_width(name: str) -> None:
    """Each row of a table has as many cells as its head."""
    block: list[str] = []
    for number, line in enumerate([*TEXTS[name].split("\n"), ""], 1):
        if line.startswith("|"):
            block.append(line)
            continue
        assert len({row.replace("\\|", "").count("|") for row in block}) <= 1, f"above line {number}"
        block = []


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "SPEC.md", "conformance/README.md", "fuzz/README.md", "CHANGELOG.md"]
)
def test_prose_has_short_lines(name: str) -> None:
    """Apart from links, anchors, code, what ci/derive writes, and two documents' tables."""
    text = (ROOT / name).read_text(encoding="utf-8")
    prose = re.sub(r"^(?:```.*?^```|<!-- derived.*?^<!-- /derived -->)$", "", text, flags=re.MULTILINE | re.DOTALL)
    wide = r"\||" if name in ("CONTRIBUTING.md", "SPEC.md") else ""
    lines = [line for line in prose.split("\n") if not re.match(wide + r"\[[^\]]+\]: |    |- <a id=", line)]
    assert len(lines) > 20
    assert [line for line in lines if len(line) > 132] == []


def test_there_is_one_version_number() -> None:
    """The library and its tools, the packages of Python and the newest entry of the changes."""
    places = {
        "validator/include/hprof/hprof.h": r'^#define HPROF_VERSION "(.*)"$',
        "generator/python/hprof_corpus/__init__.py": r'^__version__ = "(.*)"$',
        "conformance/hprof_conformance/__init__.py": r'^__version__ = "(.*)"$',
        "CHANGELOG.md": r"^## ([0-9.]+), ",
    }
    found = {name: re.findall(pattern, (ROOT / name).read_text(), re.MULTILINE)[:1] for name, pattern in places.items()}
    assert len(set(map(tuple, found.values()))) == 1 and all(found.values()), found
