"""What a worker does: it reads an object once, from its beginning to its end, and hands the bytes to the library as they come."""

# mypy: disable-error-code="import-not-found,import-untyped"
import time
from datetime import UTC, datetime
from typing import Any

from .. import Report, Severity, __version__, validate
from ._results import INCOMPLETE, INVALID, UNREADABLE, VALID, Result, Version, version_of

BLOCK = 8 << 20  # one request; the next one is made while the bytes of this one are checked
ATTEMPTS = 3  # for an object that is replaced while it is read


class Stream:
    """A file without seek(): the library then reads each byte once, and does without the offsets that it finds in a second pass."""

    def __init__(self, file: Any) -> None:
        self.read = file.read


class ReplacedError(Exception):
    pass


def reason(failure: BaseException) -> str:
    """One line for people."""
    text = failure.strerror if isinstance(failure, OSError) and failure.strerror else str(failure)
    denied = "access denied: " if isinstance(failure, PermissionError) else ""
    return denied + " ".join((text or type(failure).__name__).split())


def first_finding(report: Report) -> str:
    if not report.findings or max(f.severity for f in report.findings) == Severity.NOTE:
        return ""
    f = max(report.findings, key=lambda finding: finding.severity)
    place = f" at {f.offset:#x}" if f.offset is not None else ""
    return f"{f.rule}{place}: expected {f.expected}; found {f.found}"


def is_replaced(fs: Any, path: str, version: Version) -> bool:
    try:
        return version_of(fs.info(path)) != version
    except FileNotFoundError:
        return False  # it was there until it was read


def read_once(fs: Any, path: str, profile: str, jobs: int) -> tuple[Version, Report]:
    with fs.open(path, "rb", block_size=BLOCK, cache_type="background", cache_options={"maxblocks": 2}) as file:
        version = version_of(getattr(file, "details", None) or fs.info(path))
        report = validate(Stream(file), profile=profile, jobs=jobs, max_findings=1)
        if report.summary.missing_undecided:
            file.seek(0)
            report = validate(file, profile=profile, jobs=jobs, max_findings=1)
    if is_replaced(fs, path, version):
        raise ReplacedError("the object was replaced while it was read, three times")
    return version, report


def check(fs: Any, path: str, url: str, listed: Version, profile: str, jobs: int) -> Result:
    """Never raises: what goes wrong with one object is its result."""
    start = time.monotonic()
    version, failure, report = listed, "", None
    for _ in range(ATTEMPTS):
        try:
            version, report = read_once(fs, path, profile, jobs)
            failure = ""
            break
        except Exception as exception:
            vanished = isinstance(exception, FileNotFoundError)
            failure = "the object vanished after it was listed" if vanished else reason(exception)
            if not isinstance(exception, ReplacedError) and type(exception).__name__ != "FileExpired":
                break
    now = datetime.now(UTC).isoformat(timespec="seconds")
    seconds = round(time.monotonic() - start, 3)
    if report is None:
        return Result(
            url, version.size, version.etag, UNREADABLE, profile, failure=failure, seconds=seconds, checked_at=now,
            checked_by=__version__,
        )
    s = report.summary
    return Result(
        url, version.size, version.etag, VALID if report.valid else INCOMPLETE if s.incomplete else INVALID, profile,
        used_profile=s.profile, producer=s.producer, version=s.version, bytes=s.bytes, objects=s.objects,
        missing_objects=s.missing_objects, errors=s.errors, warnings=s.warnings, notes=s.notes, rules=s.totals,
        finding=first_finding(report), hint=s.hint or "", seconds=seconds, checked_at=now, checked_by=__version__,
    )


def probe(objects: list[tuple[Any, str]]) -> tuple[str, str]:
    """The version of the package on a worker; and why none of these objects can be opened there, or ""."""
    failure = ""
    for fs, path in objects:
        try:
            with fs.open(path, "rb", cache_type="none") as file:
                file.read(1)
            return __version__, ""
        except FileNotFoundError:
            return __version__, ""  # the store was reached
        except Exception as exception:
            failure = reason(exception)
    return __version__, failure
