"""Checking a dump."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum

from ._library import IO, LIBRARY, LIMIT, NO_OFFSET, ON_FINDING, ON_PROGRESS, USAGE, VALID, COptions, CSummary, made, text
from ._source import ObjectSource, PathOrFile, opened


class Severity(IntEnum):
    NOTE = 1  # a known quirk of the producer whose profile is used
    WARNING = 2  # unusual, but readers can cope
    ERROR = 3  # breaks the specification


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, and where. Offsets count bytes of the dump after decompression; those of the GZ family, of the file."""

    rule: str  # "OBJ-004"
    name: str  # "object-id-duplicate"
    severity: Severity
    offset: int | None  # None only on input that cannot be read twice
    related_offset: int | None  # of the earlier definition of what is defined twice
    path: str  # "HEAP_DUMP_SEGMENT #3 > INSTANCE_DUMP 0x7ff0a8 (java.lang.String)"
    message: str  # what the rule requires
    expected: str
    found: str
    quirk: str | None  # why a profile changed the severity


@dataclass(frozen=True, slots=True)
class Summary:
    """What is in a dump, and how many findings there are, whatever max_findings is."""

    version: str  # "1.0.2"; "" if the header has none
    id_size: int  # 4 or 8; 0 if the header has none
    time: datetime | None  # None if the header's is not a time that Python has
    compressed: bool
    bytes: int  # of the dump, decompressed
    file_bytes: int
    sound_until: int  # the framing has no fault up to this offset
    skipped: int  # bytes that could not be checked because of an earlier fault
    profile: str  # that was used
    producer: str  # "HotSpot 17"; "" if unknown
    classes: int
    instances: int
    object_arrays: int
    primitive_arrays: int
    references: int  # including null
    strings: int
    errors: int
    warnings: int
    notes: int
    incomplete: bool  # nothing is wrong but that something is missing
    missing_objects: int  # that others refer to: at least so many
    missing_undecided: bool  # one reading was too little to decide whether objects are missing
    hint: str | None  # the usual cause of such findings
    totals: dict[str, int]  # findings by rule
    records: dict[str, int]  # complete records by name
    subrecords: dict[str, int]

    @property
    def objects(self) -> int:
        return self.instances + self.object_arrays + self.primitive_arrays


@dataclass(frozen=True, slots=True)
class Report:
    valid: bool
    summary: Summary
    findings: list[Finding]  # by offset


def profiles() -> list[str]:
    """What `profile` may be."""
    names: list[str] = []
    while profile := LIBRARY.hprof_profile_at(len(names)):
        names.append(text(profile.contents.name))
    return names


def _offset(value: int) -> int | None:
    return None if value == NO_OFFSET else value


def _time(milliseconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None


def _names(counts: "ctypes.Array[ctypes.c_uint64]", name_of: Callable[[int], bytes | None]) -> dict[str, int]:
    return {text(name_of(tag)) or f"0x{tag:02x}": count for tag, count in enumerate(counts) if count}


def _summary(s: CSummary) -> Summary:
    return Summary(
        version=text(s.version), id_size=s.id_size, time=_time(s.timestamp), compressed=s.compressed, bytes=s.bytes,
        file_bytes=s.file_bytes, sound_until=s.sound_until, skipped=s.skipped,
        profile=text(LIBRARY.hprof_profile_at(s.profile).contents.name), producer=text(s.producer), classes=s.classes,
        instances=s.instances, object_arrays=s.object_arrays, primitive_arrays=s.primitive_arrays, references=s.references,
        strings=s.strings, errors=s.errors, warnings=s.warnings, notes=s.notes, incomplete=s.incomplete,
        missing_objects=s.missing_objects, missing_undecided=s.missing_undecided, hint=text(s.hint) if s.hint else None,
        totals={text(LIBRARY.hprof_rule_at(rule).contents.id): count for rule, count in enumerate(s.totals) if count},
        records=_names(s.record_counts, LIBRARY.hprof_record_name),
        subrecords=_names(s.subrecord_counts, LIBRARY.hprof_subrecord_name),
    )


def validate(
    path_or_file: PathOrFile,
    *,
    profile: str = "auto",
    jobs: int = 1,
    max_findings: int = 20,
    werror: bool = False,
    allow_incomplete: bool = False,
    max_memory: int = 0,
    on_progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Checks a dump, plain or compressed with gzip.

    max_findings: of each rule, the gravest first; 0 for all. max_memory: bytes; 0 for no limit. on_progress is called with the
    bytes that were read and those of the file, 0 if unknown; an exception in it ends the check. Raises OSError if the input
    cannot be read to its end, ValueError if an argument is wrong, and MemoryError if max_memory is not enough.
    """
    options, summary = COptions(), made(CSummary)
    findings: list[Finding] = []
    raised: list[BaseException] = []

    def take(_context: object, pointer: "ctypes._Pointer[ctypes.Structure]") -> int:
        f = pointer.contents
        rule = LIBRARY.hprof_rule_at(f.rule).contents
        findings.append(
            Finding(
                text(rule.id), text(rule.name), Severity(f.severity), _offset(f.offset), _offset(f.related_offset),
                text(f.path), text(f.message), text(f.expected), text(f.found), text(f.quirk) if f.quirk else None,
            )
        )
        return 0

    def progress(_context: object, done: int, total: int) -> int:
        try:
            if on_progress is not None:
                on_progress(done, total)
        except BaseException as failure:  # the library is C: nothing may pass through it
            raised.append(failure)
        return len(raised)

    LIBRARY.hprof_options_defaults(ctypes.byref(options), ctypes.sizeof(options))
    options.profile = LIBRARY.hprof_profile_find(profile.encode())
    if not LIBRARY.hprof_profile_at(options.profile):
        raise ValueError(f"profile is one of {', '.join(profiles())}, not {profile!r}")
    if jobs < 1:
        raise ValueError(f"jobs is 1 or more, not {jobs}")
    options.max_errors, options.max_memory = max_findings, max_memory
    options.werror, options.allow_incomplete = werror, allow_incomplete
    options.on_finding, options.on_progress = ON_FINDING(take), ON_PROGRESS(progress)
    with opened(path_or_file) as source:
        options.threads = jobs
        if isinstance(source, ObjectSource):
            status = LIBRARY.hprof_validate_source(source.source, options, summary)
            source.raise_failure()
        else:
            status = LIBRARY.hprof_validate_fd(source, options, summary)
    if raised:
        raise raised[0]
    if status in (USAGE, IO, LIMIT):
        raise {USAGE: ValueError, IO: OSError, LIMIT: MemoryError}[status](text(summary.failure))
    return Report(status == VALID, _summary(summary), findings)
