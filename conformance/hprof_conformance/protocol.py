"""The lines that the runner and a reader exchange: PROTOCOL.md, section 2, and protocol.schema.json."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hprof_corpus.truth import OBJECTS, ROOTS

if TYPE_CHECKING:
    import jsonschema

VERSION = 1
COUNTS = (*OBJECTS, "objects", "classes", "roots", *ROOTS, "strings", "ends")
_LONGEST = 2000  # characters of what a reader says that are kept
_MOST_NOTICES = 1000
SCHEMA = Path(__file__).parent / "protocol.schema.json"


class ProtocolError(Exception):
    """A reader wrote something that PROTOCOL.md does not allow."""


class FieldsError(ProtocolError):
    """A JSON object that lacks a field, or has one that the schema does not know."""


@dataclass(frozen=True)
class Entry:
    """Of a digest: the number of items and the sum of their hashes."""

    count: int
    sum: str


@dataclass(frozen=True)
class Hello:
    name: str
    version: str
    bugs: str
    unsupported: dict[str, str]
    counts: list[str]
    digests: list[str]
    references: str

    def differs(self, other: Hello) -> list[str]:
        """The fields that differ. The order of names has no meaning."""
        mine, theirs = ({**asdict(one), "counts": {*one.counts}, "digests": {*one.digests}} for one in (self, other))
        return [name for name in mine if mine[name] != theirs[name]]


@dataclass(frozen=True)
class Reply:
    case: str
    outcome: str  # accepted, rejected, crashed, out of memory; the runner adds hung
    message: str = ""
    notices: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    digests: dict[str, Entry] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # entries and counts, each with the error of the call that failed


@cache
def _validator(definition: str) -> jsonschema.Draft202012Validator:
    import jsonschema  # --help and --list answer where it is not installed

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator({**schema, "$ref": f"#/$defs/{definition}"})


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ProtocolError(f"{name[:200]} is there twice")
        found[name] = value
    return found


def _no_integer(number: str) -> Any:
    raise ProtocolError(f"{number[:200]} is no integer")


def _parse(line: str, definition: str) -> dict[str, Any]:
    import jsonschema  # as above

    try:
        # An unpaired surrogate is legal in JSON, but no file in UTF-8 can hold one.
        read = json.loads(line, object_pairs_hook=_once, parse_float=_no_integer, parse_constant=_no_integer)
        found: Any = json.loads(json.dumps(read, ensure_ascii=False).encode("utf-8", "replace"))
        if not isinstance(found, dict):
            raise ValueError
        _validator(definition).validate(found)
    except (ValueError, RecursionError) as error:  # or nested too deeply
        raise ProtocolError(f"no JSON object: {line.strip()[:200]}") from error
    except jsonschema.ValidationError as error:
        where = "".join(f" {name}:" for name in error.absolute_path)
        raise FieldsError(f"{definition}:{where} {error.message[:300]}") from error
    return found


def parse_hello(line: str) -> Hello:
    found = _parse(line, "hello")
    found.pop("protocol")
    return Hello(**found)


def parse_reply(line: str, case: str) -> Reply:
    found = _parse(line, "reply")
    if found["case"] != case:
        raise ProtocolError(f"asked for {case}, answered {found['case']}")
    digests = {name: Entry(**entry) for name, entry in found.pop("digests", {}).items()}
    message = found.pop("message", "")[:_LONGEST]
    notices = [one[:_LONGEST] for one in found.pop("notices", [])[:_MOST_NOTICES]]
    return Reply(**found, message=message, notices=notices, digests=digests)


def request(case: str, file: Path) -> str:
    return json.dumps({"case": case, "file": str(file)}) + "\n"
