"""What was found in each object: a row of a Parquet file, or a line of JSON."""

# mypy: disable-error-code="import-not-found,import-untyped"
import io
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

VALID, INCOMPLETE, INVALID, UNREADABLE = STATUSES = ("valid", "incomplete", "invalid", "unreadable")
VERSIONS = ("ETag", "etag", "md5Hash", "mtime", "last_modified", "LastModified", "created")


@dataclass(frozen=True, slots=True)
class Version:
    """What changes when an object is written again."""

    size: int
    etag: str


def version_of(info: dict[str, Any]) -> Version:
    """Stores have different names for what they know of an object."""
    known = [str(info[key]).strip('"') for key in VERSIONS if info.get(key)]
    return Version(int(info.get("size") or 0), known[0] if known else "")


@dataclass(frozen=True, slots=True)
class Result:
    url: str
    size: int  # of the object, as it was read
    etag: str  # or the time of the last change, where the store has no ETag
    status: str  # one of STATUSES
    profile: str  # that was asked for
    used_profile: str = ""  # that "auto" chose
    producer: str = ""
    version: str = ""  # of the format
    bytes: int = 0  # of the dump, decompressed
    objects: int = 0
    missing_objects: int = 0
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    rules: dict[str, int] = field(default_factory=dict)  # findings by rule
    finding: str = ""  # the first of the gravest
    hint: str = ""  # the usual cause
    failure: str = ""  # why the object could not be read
    seconds: float = 0  # that the check took
    checked_at: str = ""  # ISO 8601, UTC
    checked_by: str = ""  # version of hprof-validate


class NoResultsError(Exception):
    """A file that is not one of results."""


def _schema() -> Any:
    import pyarrow  # only Parquet needs it

    types: dict[Any, Any] = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    types[dict[str, int]] = pyarrow.map_(pyarrow.string(), pyarrow.int64())
    return pyarrow.schema([(one.name, types[one.type]) for one in fields(Result)])


def _packed(name: str, results: Iterable[Result]) -> bytes:
    rows = [asdict(result) for result in results]
    if name.endswith(".jsonl"):
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    import pyarrow.parquet

    for row in rows:
        row["rules"] = list(row["rules"].items())
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, _schema()), buffer, compression="zstd")
    return buffer.getvalue()


def _rows(name: str, data: bytes) -> list[dict[str, Any]]:
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in data.decode().splitlines()]
    import pyarrow.parquet

    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    return [row | {"rules": dict(row["rules"])} for row in rows]


class Results:
    """One result for each URL, in a file of any store. The file is replaced as a whole: a reader never sees half of it, and an
    object of a store cannot be appended to."""

    def __init__(self, name: str, storage: dict[str, Any]) -> None:
        self.name = name
        self.by_url: dict[str, Result] = {}
        self._fs, self._path = fsspec.core.url_to_fs(name, **storage)
        self.url: str = self._fs.unstrip_protocol(self._path)

    def read(self) -> None:
        try:
            data = self._fs.cat_file(self._path)
        except FileNotFoundError:
            return
        try:
            results = [Result(**row) for row in _rows(self.name, data)]
        except Exception as failure:
            raise NoResultsError(f"not a file of results: {failure}") from failure
        self.by_url = {result.url: result for result in results}

    def write(self) -> None:
        data = _packed(self.name, (self.by_url[url] for url in sorted(self.by_url)))
        if isinstance(self._fs, LocalFileSystem):  # all others show an object when it is complete
            self._fs.pipe_file(f"{self._path}.new", data)
            os.replace(f"{self._path}.new", self._path)  # noqa: PTH105 # fsspec's paths are strings
        else:
            self._fs.pipe_file(self._path, data)
