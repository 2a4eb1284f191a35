"""What readers are fed: the files of the corpus and the gold dumps of producers, each with the truth about it."""

from __future__ import annotations

import fnmatch
import functools
import hashlib
import json
import lzma
import os
import shutil
import tarfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import hprof_corpus
from hprof_conformance import gold, steps
from hprof_conformance.command import RefusedError
from hprof_conformance.files import read_json, replace_file
from hprof_conformance.protocol import Entry
from hprof_corpus import layouts
from hprof_corpus.digest import Content, Digest, References, identity, root_items
from hprof_corpus.reader import decompressed
from hprof_corpus.source import is_gzip
from hprof_corpus.truth import OBJECTS, ROOTS, Holds, holds
from hprof_corpus.walk import FramingError, Shapes, read_header, records, subrecords

_HEAP_TAGS = {record.tag for record in layouts.RECORDS if record.layout.tail == "subrecords"}
_UTF8 = next(record.tag for record in layouts.RECORDS if record.name == "UTF8")
_END = next(record.tag for record in layouts.RECORDS if record.name == "HEAP_DUMP_END")
_COUNTED = {"CLASS_DUMP": "classes", **{name: count for count, names in OBJECTS.items() for name in names}}


_INSTALLED = Path(__file__).resolve().parent / "tree"  # what the package has of the tree: setup.py


def source_tree() -> Path:
    """Of this project: where this package lies in it or, if the package is installed, around the working directory, or what the
    package has of it: the corpus and the gold dumps."""
    places = [Path(__file__).resolve().parents[2], Path.cwd(), *Path.cwd().parents, _INSTALLED]
    for folder in places:
        if (folder / "corpus" / "manifest.json").exists() and (folder / "conformance" / "gold").exists():
            return folder
    raise RefusedError("run it in the source tree of the project, which has the corpus")


def is_installed(root: Path) -> bool:
    """Whether `root` is no source tree, so that neither readers nor producers can be built."""
    return root == _INSTALLED


def work_folder(root: Path) -> Path:
    """Where a run keeps what it makes."""
    if not is_installed(root):
        return root / "build" / "conformance"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hprof-conformance"


@dataclass(frozen=True)
class Truth:
    """What is in a file. Digests are None where its framing is broken: then counts are those of the corpus text. Beside the entries
    they have the roots of each kind that occurs."""

    counts: dict[str, int]  # a kind of root that is not named does not occur
    exact: dict[str, Entry] | None
    resolved: dict[str, Entry] | None
    skipped: dict[str, int] | None = None  # by lengths alone, where they lead to the end: as right as the text
    null_roots: dict[str, int] = field(default_factory=dict)  # how many of a count are roots of no object, which a reader may omit

    def allows(self, name: str, found: int | None) -> bool:
        right = self.counts.get(name, 0)
        return found in (right, right - self.null_roots.get(name, 0)) or (
            self.skipped is not None and found == self.skipped.get(name, 0)
        )


@dataclass(frozen=True)
class Case:
    name: str  # as in the matrix: valid/all-roots-101-id4
    file: Path
    member: str | None  # of an archive, empty if the file itself is packed, None if it is not; a reader gets the content
    about: str
    should: str  # accept, reject, report or either
    rules: list[str]
    requires: list[str]
    bytes: int
    truth: Truth

    @property
    def shown(self) -> str:
        """Its file, from the root of the repository or, of the package, where it is installed."""
        if self.file.is_relative_to(_INSTALLED):
            return str(self.file)
        folder = "conformance" if self.name.startswith("gold/") else "corpus"
        return f"{folder}/{Path(self.name).parent}/{self.file.name}"

    @property
    def is_real(self) -> bool:
        """A real producer wrote it."""
        return self.name.startswith("gold/")

    @property
    def is_control(self) -> bool:
        """Nothing is to be reported, so notices for it report no fault."""
        return self.should == "accept" and not self.rules

    @property
    def has_objects(self) -> bool:
        return self.truth.counts["objects"] > 0

    def place(self, folder: Path) -> Path:
        """A copy for one reader, which may write beside it."""
        copy = folder / ("dump.hprof.gz" if "gzip" in self.requires else "dump.hprof")  # some readers go by the name
        if self.member is not None:
            copy.write_bytes(gold.unpacked(self.file, self.member))
        else:
            shutil.copyfile(self.file, copy)
        return copy


def counts_of(held: Holds) -> dict[str, int]:
    """By the names of PROTOCOL.md, 2.1."""
    kinds = {name: held.sub_records[name] for name in ROOTS if name in held.sub_records}
    return {**held.counts(), **kinds, "ends": held.records.get("HEAP_DUMP_END", 0)}


def _by_lengths(data: memoryview) -> dict[str, int] | None:
    """The counts of a reader that skips, by their lengths, the body of a HEAP_DUMP_END and each record that it does not know.
    None if lengths do not lead to the end."""
    header = read_header(data)
    if header is None or header.id_size not in (4, 8):
        return None
    shapes = Shapes(header.id_size)
    found = dict.fromkeys((*OBJECTS, "objects", "classes", "roots", "strings", "ends"), 0)
    at = header.size
    try:
        for framed in records(data, at):
            at = framed.body + framed.length
            if framed.tag in _HEAP_TAGS:
                for shape, *_ in subrecords(data, framed.body, framed.end, shapes):
                    name = shape.record.name
                    if name in ROOTS:
                        found[name] = found.get(name, 0) + 1
                        found["roots"] += 1
                    elif name in _COUNTED:
                        found[_COUNTED[name]] += 1
            elif framed.tag == _UTF8:
                found["strings"] += framed.length >= header.id_size
            elif framed.tag == _END:
                found["ends"] += 1
    except FramingError:
        return None
    found["objects"] = sum(found[name] for name in OBJECTS)
    return found if at == len(data) else None


def _null_roots(data: memoryview) -> dict[str, int]:
    """Roots whose object is 0. Raises FramingError."""
    header = read_header(data)
    if header is None:
        return {}
    shapes = Shapes(header.id_size)
    kinds = Counter(
        shape.record.name
        for framed in records(data, header.size)
        if framed.tag in _HEAP_TAGS
        for shape, _, fields, *_ in subrecords(data, framed.body, framed.end, shapes)
        if shape.record.name in ROOTS and not fields[0]
    )
    return {**kinds, "roots": kinds.total()} if kinds else {}


def truth_of(data: memoryview, counts: dict[str, int]) -> Truth:
    """`counts` are those of the file, from the manifest or the Python reader."""
    skipped = None if is_gzip(data) else _by_lengths(data)
    try:
        plain = decompressed(data) if is_gzip(data) else data
        content, null_roots = Content(plain), _null_roots(plain)
    except FramingError:
        return Truth(counts, None, None, skipped)

    def entries(references: References) -> dict[str, Entry]:
        parts = dict(identity(content, references))
        for dump in content.dumps:
            for kind, item in root_items(dump, references):
                parts.setdefault(kind, Digest()).add(item)
        return {name: Entry(one.count, f"{one.sum:032x}") for name, one in parts.items()}

    return Truth(counts, entries("exact"), entries("resolved"), skipped, null_roots)


@dataclass(frozen=True)
class _Listed:
    """A case as the manifest of the corpus or the index of the gold dumps lists it. The index has no counts."""

    name: str
    file: Path
    member: str | None
    about: str
    should: str
    rules: list[str]
    counts: dict[str, int] | None
    requires: list[str]
    has_content: bool = True  # it can be read, so readers are compared with it
    sha256: str | None = None


def _computed(one: _Listed, raw: bytes) -> dict[str, Any]:
    """Raises LZMAError, TarError or FramingError for a gold file that is damaged."""
    data = memoryview(raw if one.member is None else gold.unpacked(one.file, one.member))
    counts = counts_of(holds(data)) if one.counts is None else one.counts
    return {"truth": asdict(truth_of(data, counts)), "bytes": len(data)}


class Truths:
    """The truth about files, computed once for the same bytes and kept in a folder."""

    def __init__(self, folder: Path, sources: list[Path]) -> None:
        """`sources` are the programs that compute it: with other programs it is computed again."""
        self._folder = folder
        self._version = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).digest()
        folder.mkdir(parents=True, exist_ok=True)

    def of(self, one: _Listed) -> tuple[Truth, int]:
        """The truth about a file, and its size."""
        raw = one.file.read_bytes()
        if one.sha256 and hashlib.sha256(raw).hexdigest() != one.sha256:
            raise RefusedError(f"{one.file}: not the file that corpus/manifest.json describes")
        known = json.dumps([one.counts, one.member]).encode()
        kept = self._folder / f"{hashlib.sha256(self._version + known + raw).hexdigest()}.json"
        if not kept.exists():
            try:
                found = _computed(one, raw)
            except (lzma.LZMAError, tarfile.TarError, EOFError, FramingError) as error:
                raise RefusedError(f"{one.file}: damaged: {error}") from error
            replace_file(kept, json.dumps(found).encode())
        return self._read(kept)

    def _read(self, kept: Path) -> tuple[Truth, int]:
        found = json.loads(kept.read_text(encoding="utf-8"))

        def entries(parts: dict[str, Any] | None) -> dict[str, Entry] | None:
            return None if parts is None else {name: Entry(**one) for name, one in parts.items()}

        truth = found["truth"]
        return (
            Truth(truth["counts"], entries(truth["exact"]), entries(truth["resolved"]), truth["skipped"], truth["null_roots"]),
            found["bytes"],
        )


def _sources() -> list[Path]:
    package = Path(hprof_corpus.__file__).parent
    return [Path(__file__), *sorted(package.glob("*.py"))]


def _gold(root: Path) -> list[_Listed]:
    return [
        _Listed(
            name=f"gold/{name}",
            file=gold.folder_of(root) / one["file"],
            member=None if one["file"].endswith(".gz") else one.get("member", ""),
            about=one["about"],
            should=one["should"],
            rules=one["rules"],
            counts=None,
            requires=one["requires"],
        )
        for name, one in sorted(gold.index(root).items())
    ]


@functools.cache  # a run asks for them several times
def _listed(root: Path) -> list[_Listed]:
    corpus = root / "corpus"
    found = [
        _Listed(
            name=one["file"].removesuffix(".hprof"),
            file=corpus / one["file"],
            member=None,
            about=one["about"],
            should=one["reader"]["should"],
            rules=sorted({finding["rule"] for finding in one["findings"]}),
            counts=counts_of(Holds(**{"references": None, "objects_by_class": None, **one["counts"]})),
            requires=one["requires"],
            has_content="objects_by_class" in one["counts"],
            sha256=one["sha256"],
        )
        for one in read_json(corpus / "manifest.json")["files"]
        if one["checked_in"]
    ]
    return found + _gold(root)


def names(root: Path) -> set[str]:
    """Of all cases."""
    return {one.name for one in _listed(root)}


def needs(root: Path) -> list[list[str]]:
    """The features that a reader needs for each case."""
    return [one.requires for one in _listed(root)]


def _words(one: _Listed) -> list[str]:
    """What a pattern can match."""
    return [one.name, *one.rules]


def words(root: Path) -> set[str]:
    """Of all cases, what a pattern can match."""
    return {word for one in _listed(root) for word in _words(one)}


def _is_chosen(one: _Listed, patterns: list[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(word, pattern) for word in _words(one) for pattern in patterns)


def chosen_names(root: Path, patterns: list[str]) -> list[str]:
    """Of the cases whose name or one of whose rules matches a pattern."""
    return [one.name for one in _listed(root) if _is_chosen(one, patterns)]


_CONTROLS = 20


def _read(listed: list[_Listed], truths: Truths, jobs: int) -> list[Case]:
    found = []
    known = steps.in_processes("the truth about each dump", truths.of, listed, jobs)
    for one, (truth, size) in zip(listed, known, strict=True):
        if one.has_content and truth.exact is None:
            raise RefusedError(f"{one.file}: the Python reader does not read its content, which corpus/manifest.json has")
        found.append(Case(one.name, one.file, one.member, one.about, one.should, one.rules, one.requires, size, truth))
    return found


def read_cases(root: Path, kept: Path, patterns: list[str], jobs: int = 1) -> list[Case]:
    """The cases whose name or one of whose rules matches a pattern; all if there is no pattern."""
    return _read([one for one in _listed(root) if _is_chosen(one, patterns)], Truths(kept, _sources()), jobs)


def read_controls(root: Path, kept: Path, chosen: list[Case], jobs: int = 1) -> list[Case]:
    """Valid dumps beside the chosen ones, so that there are some, whatever was chosen."""
    names_of_chosen = {one.name for one in chosen}
    missing = _CONTROLS - sum(one.is_control for one in chosen)
    valid = [
        one for one in _listed(root) if one.should == "accept" and one.name.startswith("valid/") and one.name not in names_of_chosen
    ]
    step = max(len(valid) // _CONTROLS, 1)
    return _read(valid[::step][: max(missing, 0)], Truths(kept, _sources()), jobs)
