"""What readers are fed: the files of the corpus and the gold dumps of producers, each with the truth about it."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import lzma
import shutil
import zlib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hprof_conformance.protocol import Entry
from hprof_corpus import layouts
from hprof_corpus.assembler import assemble_file
from hprof_corpus.digest import Content, identity
from hprof_corpus.reader import count, decompressed
from hprof_corpus.source import is_gzip
from hprof_corpus.walk import FramingError, read_header, records

_HEAP_TAGS = {record.tag for record in layouts.RECORDS if record.layout.tail == "subrecords"}
_END = next(record.tag for record in layouts.RECORDS if record.name == "HEAP_DUMP_END")
_SEGMENT = next(record.tag for record in layouts.RECORDS if record.name == "HEAP_DUMP_SEGMENT")


@dataclass(frozen=True)
class Truth:
    """What is in a file. Digests are None where its framing is broken: then counts are those of the corpus text."""

    counts: dict[str, int]
    exact: dict[str, Entry] | None
    resolved: dict[str, Entry] | None


@dataclass(frozen=True)
class Case:
    name: str  # as in the matrix: valid/all-roots-101-id4
    file: Path
    packed: bool  # by xz, to keep a gold file small; a reader gets what is in it
    about: str
    should: str  # accept, reject or either
    rules: list[str]
    requires: list[str]
    bytes: int
    truth: Truth

    @property
    def has_objects(self) -> bool:
        return self.truth.counts["objects"] > 0

    def place(self, folder: Path) -> Path:
        """A copy for one reader, which may write beside it."""
        gzipped = "gzip" in self.requires and not self.packed  # some readers go by the name
        copy = folder / ("dump.hprof.gz" if gzipped else "dump.hprof")
        if self.packed:
            with lzma.open(self.file) as packed, copy.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
        else:
            shutil.copyfile(self.file, copy)
        return copy


def _members(data: memoryview) -> int:
    """Of a gzip file, as far as they can be read; 2 stands for any more than one."""
    found = 0
    rest = bytes(data)
    while rest and found < 2:
        member = zlib.decompressobj(wbits=31)
        try:
            member.decompress(rest)
        except zlib.error:
            break
        found += 1
        rest = member.unused_data
    return found


def requires(file: memoryview) -> list[str]:
    """The features, PROTOCOL.md 2.2, that a reader needs for a file."""
    found = []
    data = file
    if is_gzip(file):
        found.append("gzip")
        if _members(file) > 1:
            found.append("gzip-members")
        try:
            data = decompressed(file)
        except FramingError:
            return found
    header = read_header(data)
    if header is None:
        return found
    if header.format in (b"JAVA PROFILE 1.0.1", b"JAVA PROFILE 1.0.3"):
        found.append(f"version-{header.format[-5:].decode()}")
    if header.id_size in (4, 8):
        found.append(f"id-size-{header.id_size}")
    dumps, in_series = 0, False
    for framed in records(data, header.size):
        if framed.tag in _HEAP_TAGS:
            dumps += not (framed.tag == _SEGMENT and in_series)
            in_series = in_series or framed.tag == _SEGMENT
        elif framed.tag == _END:
            in_series = False
    if dumps != 1:
        found.append("several-heap-dumps" if dumps else "no-heap-dump")
    return found


def _sum(found: dict[str, int]) -> dict[str, int]:
    objects = {
        "instances": found["INSTANCE_DUMP"],
        "object_arrays": found["OBJECT_ARRAY_DUMP"],
        "primitive_arrays": found["PRIMITIVE_ARRAY_DUMP"] + found.get("PRIMITIVE_ARRAY_NODATA", 0),
    }
    roots = sum(number for name, number in found.items() if name.startswith("ROOT_"))
    return {**objects, "classes": found["CLASS_DUMP"], "objects": sum(objects.values()), "roots": roots}


def truth_of(data: memoryview, text: Path | None) -> Truth:
    """Where the framing is broken, the text says what was written."""
    try:
        counts = count(data)
        content = Content(decompressed(data) if is_gzip(data) else data)
    except FramingError:
        spots = Counter(spot.label for spot in assemble_file(text).spots) if text else Counter()
        labels = {record.name: spots[record.name] for record in layouts.SUBRECORDS}
        return Truth({**_sum(labels), "strings": spots["UTF8"]}, None, None)

    def entries(parts: dict[str, Any]) -> dict[str, Entry]:
        return {name: Entry(one.count, f"{one.sum:032x}") for name, one in parts.items()}

    return Truth(
        {**_sum(counts.sub_records), "strings": counts.strings},
        entries(identity(content, "exact")),
        entries(identity(content, "resolved")),
    )


class Truths:
    """The truth about files, computed once for the same bytes and kept in a folder."""

    def __init__(self, folder: Path, sources: list[Path]) -> None:
        """`sources` are the programs that compute it: with other programs it is computed again."""
        self._folder = folder
        self._version = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).digest()
        folder.mkdir(parents=True, exist_ok=True)

    def of(self, file: Path, text: Path | None, packed: bool) -> tuple[Truth, list[str], int]:
        """And what it requires of a reader, and its size."""
        raw = file.read_bytes()
        key = hashlib.sha256(self._version + raw + (text.read_bytes() if text else b"")).hexdigest()
        kept = self._folder / f"{key}.json"
        if not kept.exists():
            data = memoryview(lzma.decompress(raw) if packed else raw)
            truth, needs = truth_of(data, text), requires(data)
            if not truth.counts["instances"]:
                needs.append("no-instances")
            if not truth.counts["objects"]:
                needs.append("no-objects")
            found = {"truth": asdict(truth), "requires": needs, "bytes": len(data)}
            partial = kept.with_suffix(".tmp")
            partial.write_text(json.dumps(found), encoding="utf-8")
            partial.rename(kept)
        return self._read(kept)

    def _read(self, kept: Path) -> tuple[Truth, list[str], int]:
        found = json.loads(kept.read_text(encoding="utf-8"))

        def entries(parts: dict[str, Any] | None) -> dict[str, Entry] | None:
            return None if parts is None else {name: Entry(**one) for name, one in parts.items()}

        truth = found["truth"]
        return (
            Truth(truth["counts"], entries(truth["exact"]), entries(truth["resolved"])),
            found["requires"],
            found["bytes"],
        )


def _sources(root: Path) -> list[Path]:
    package = root / "generator" / "python" / "hprof_corpus"
    return [Path(__file__), *(package / f"{name}.py" for name in ("digest", "reader", "walk", "layouts", "assembler"))]


@dataclass(frozen=True)
class _Entry:
    """A case before the truth about it is known."""

    name: str
    file: Path
    text: Path | None
    about: str
    should: str
    rules: list[str]


def _entries(root: Path) -> list[_Entry]:
    corpus, gold = root / "corpus", root / "conformance" / "gold"
    found = [
        _Entry(
            name=one["file"].removesuffix(".hprof"),
            file=corpus / one["file"],
            text=corpus / one["text"],
            about=one["about"],
            should=one["reader"]["should"],
            rules=sorted({finding["rule"] for finding in one["findings"]}),
        )
        for one in json.loads((corpus / "manifest.json").read_text(encoding="utf-8"))["files"]
        if one["checked_in"]
    ]
    index: dict[str, Any] = json.loads((gold / "index.json").read_text(encoding="utf-8")) if gold.exists() else {}
    for name, about in sorted(index.items()):
        found.append(_Entry(f"gold/{name}", gold / f"{name}.hprof.xz", None, about["about"], "accept", []))
    return found


def names(root: Path) -> set[str]:
    """Of all cases."""
    return {one.name for one in _entries(root)}


def _is_chosen(one: _Entry, patterns: list[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(word, pattern) for word in (one.name, *one.rules) for pattern in patterns)


def read_cases(root: Path, kept: Path, patterns: list[str]) -> list[Case]:
    """Those whose name, or one of whose rules, matches one of the patterns; all if there is none."""
    truths = Truths(kept, _sources(root))
    found = []
    for one in _entries(root):
        if not _is_chosen(one, patterns):
            continue
        packed = one.text is None
        truth, needs, size = truths.of(one.file, one.text, packed)
        found.append(Case(one.name, one.file, packed, one.about, one.should, one.rules, needs, size, truth))
    return found
