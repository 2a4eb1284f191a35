"""What readers are fed: the files of the corpus and the gold dumps of producers, each with the truth about it."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import lzma
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hprof_conformance.command import RefusedError
from hprof_conformance.files import read_json
from hprof_conformance.protocol import Entry
from hprof_corpus.digest import Content, identity
from hprof_corpus.reader import decompressed
from hprof_corpus.source import is_gzip
from hprof_corpus.truth import Holds, holds, requires
from hprof_corpus.walk import FramingError


def source_tree() -> Path:
    """Of this project: where this package lies in it or, if the package is installed, around the working directory."""
    places = [Path(__file__).resolve().parents[2], Path.cwd(), *Path.cwd().parents]
    for folder in places:
        if (folder / "corpus" / "manifest.json").exists() and (folder / "conformance" / "readers").exists():
            return folder
    raise RefusedError("run it in the source tree of the project, which has the corpus")


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
    packed: bool  # by xz, to keep a gold file small; a reader gets its content
    about: str
    should: str  # accept, reject, report or either
    rules: list[str]
    requires: list[str]
    bytes: int
    truth: Truth

    @property
    def shown(self) -> str:
        """Its file, from the root of the repository."""
        folder = "conformance" if self.name.startswith("gold/") else "corpus"
        return f"{folder}/{Path(self.name).parent}/{self.file.name}"

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


def truth_of(data: memoryview, counts: dict[str, int]) -> Truth:
    """`counts` are those of the file, from the manifest or the Python reader."""
    try:
        content = Content(decompressed(data) if is_gzip(data) else data)
    except FramingError:
        return Truth(counts, None, None)

    def entries(parts: dict[str, Any]) -> dict[str, Entry]:
        return {name: Entry(one.count, f"{one.sum:032x}") for name, one in parts.items()}

    return Truth(counts, entries(identity(content, "exact")), entries(identity(content, "resolved")))


@dataclass(frozen=True)
class _Listed:
    """A case as the manifest of the corpus or the index of the gold dumps lists it. The index has no counts and no features."""

    name: str
    file: Path
    packed: bool
    about: str
    should: str
    rules: list[str]
    counts: dict[str, int] | None
    requires: list[str] | None
    sha256: str | None = None


def _computed(one: _Listed, raw: bytes) -> dict[str, Any]:
    """Raises LZMAError or FramingError for a gold file that is damaged."""
    data = memoryview(lzma.decompress(raw) if one.packed else raw)
    counts = holds(data).counts() if one.counts is None else one.counts
    needs = requires(data, counts) if one.requires is None else one.requires
    return {"truth": asdict(truth_of(data, counts)), "requires": needs, "bytes": len(data)}


class Truths:
    """The truth about files, computed once for the same bytes and kept in a folder."""

    def __init__(self, folder: Path, sources: list[Path]) -> None:
        """`sources` are the programs that compute it: with other programs it is computed again."""
        self._folder = folder
        self._version = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).digest()
        folder.mkdir(parents=True, exist_ok=True)

    def of(self, one: _Listed) -> tuple[Truth, list[str], int]:
        """The truth about a file, the features that a reader needs for it, and its size."""
        raw = one.file.read_bytes()
        if one.sha256 and hashlib.sha256(raw).hexdigest() != one.sha256:
            raise RefusedError(f"{one.file}: not the file that corpus/manifest.json describes")
        known = json.dumps([one.counts, one.requires]).encode()
        kept = self._folder / f"{hashlib.sha256(self._version + known + raw).hexdigest()}.json"
        if not kept.exists():
            try:
                found = _computed(one, raw)
            except (lzma.LZMAError, FramingError) as error:
                raise RefusedError(f"{one.file}: damaged: {error}") from error
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
    return [Path(__file__), *sorted(package.glob("*.py"))]


def _gold(root: Path) -> list[_Listed]:
    gold = root / "conformance" / "gold"
    index: dict[str, Any] = read_json(gold / "index.json") if gold.exists() else {}
    return [
        _Listed(
            name=f"gold/{name}",
            file=gold / one["file"],
            packed=one["file"].endswith(".xz"),
            about=one["about"],
            should=one["should"],
            rules=one["rules"],
            counts=None,
            requires=None,
        )
        for name, one in sorted(index.items())
    ]


def _listed(root: Path) -> list[_Listed]:
    corpus = root / "corpus"
    found = [
        _Listed(
            name=one["file"].removesuffix(".hprof"),
            file=corpus / one["file"],
            packed=False,
            about=one["about"],
            should=one["reader"]["should"],
            rules=sorted({finding["rule"] for finding in one["findings"]}),
            counts=Holds(**{"references": None, "objects_by_class": None, **one["counts"]}).counts(),
            requires=one["requires"],
            sha256=one["sha256"],
        )
        for one in read_json(corpus / "manifest.json")["files"]
        if one["checked_in"]
    ]
    return found + _gold(root)


def names(root: Path) -> set[str]:
    """Of all cases."""
    return {one.name for one in _listed(root)}


def _is_chosen(one: _Listed, patterns: list[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(word, pattern) for word in (one.name, *one.rules) for pattern in patterns)


def read_cases(root: Path, kept: Path, patterns: list[str]) -> list[Case]:
    """The cases whose name or one of whose rules matches a pattern; all if there is no pattern."""
    truths = Truths(kept, _sources(root))
    found = []
    for one in _listed(root):
        if not _is_chosen(one, patterns):
            continue
        truth, needs, size = truths.of(one)
        found.append(Case(one.name, one.file, one.packed, one.about, one.should, one.rules, needs, size, truth))
    return found
