"""conformance/gold: small dumps of real producers, packed. The dumps of one producer share an archive, because they are alike."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hprof_conformance.files import read_json, replace_file
from hprof_corpus.source import is_gzip

_DICTIONARY = 1 << 26  # holds all dumps of an archive
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": _DICTIONARY}]


@dataclass(frozen=True)
class Gold:
    """A dump to be kept."""

    name: str
    about: str
    should: str
    rules: list[str]
    requires: list[str]  # features that a reader needs
    data: bytes
    facts: list[str]  # what the program said of itself, facts.py


def folder_of(root: Path) -> Path:
    return root / "conformance" / "gold"


def index(root: Path) -> dict[str, dict[str, Any]]:
    path = folder_of(root) / "index.json"
    found: dict[str, dict[str, Any]] = read_json(path) if path.exists() else {}
    return found


def unpacked(file: Path, member: str) -> bytes:
    """A gzip dump is kept as the producer wrote it. Raises LZMAError or TarError for a damaged file."""
    if member:
        with tarfile.open(file, "r:xz") as archive:
            # By a name of its own, tarfile would unpack the whole archive, with what follows the member.
            found = next((one for one in archive if one.name == member), None)
            stream = archive.extractfile(found) if found is not None else None
            if stream is None:
                raise tarfile.TarError(f"it has no file {member}")
            return stream.read()
    return lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()


def read(root: Path, name: str) -> bytes:
    one = index(root)[name]
    return unpacked(folder_of(root) / one["file"], one.get("member", ""))


def facts_of(root: Path, name: str) -> list[str]:
    """Of a dump in an archive: what the program said of itself, in the words of facts.py."""
    one = index(root)[name]
    return unpacked(folder_of(root) / one["file"], f"{name}.facts").decode("ascii").splitlines()


def _archive(dumps: list[Gold]) -> bytes:
    """The same dumps give the same bytes."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for one in dumps:
            for suffix, data in (("hprof", one.data), ("facts", "".join(f"{line}\n" for line in one.facts).encode())):
                member = tarfile.TarInfo(f"{one.name}.{suffix}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return lzma.compress(whole.getvalue(), filters=_FILTERS)


def _kept(root: Path, name: str) -> Gold:
    one = index(root)[name]
    said = facts_of(root, name) if "member" in one else []
    return Gold(name, one["about"], one["should"], one["rules"], one["requires"], read(root, name), said)


def keep(root: Path, producer: str, made: list[Gold], names: list[str]) -> None:
    """In place of what was kept of the producer. Of the dumps that `names` lists, those that were not made stay as they are."""
    folder = folder_of(root)
    folder.mkdir(exist_ok=True)
    known, new = index(root), {one.name: one for one in made}
    dumps = [new[name] if name in new else _kept(root, name) for name in names if name in new or name in known]
    known = {name: one for name, one in known.items() if one["producer"] != producer}
    gzipped = [one for one in dumps if is_gzip(memoryview(one.data))]  # its members are part of what a reader must read
    plain = [one for one in dumps if one not in gzipped]
    files = {one.name: (folder / f"{one.name}.hprof.gz", one.data) for one in gzipped}
    if plain:
        archive = folder / f"{producer}.tar.xz"
        files |= dict.fromkeys((one.name for one in plain), (archive, _archive(plain)))
    for one in dumps:
        file, data = files[one.name]
        replace_file(file, data)
        known[one.name] = {
            "about": one.about,
            "file": file.name,
            "producer": producer,
            "requires": one.requires,
            "rules": one.rules,
            "should": one.should,
        }
        if one in plain:
            known[one.name]["member"] = f"{one.name}.hprof"
    replace_file(folder / "index.json", (json.dumps(known, indent=2, sort_keys=True) + "\n").encode())
