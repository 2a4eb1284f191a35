"""Checks and reads Java heap dumps (HPROF).

    import hprof_validate

    report = hprof_validate.validate("heap.hprof")
    print(report.valid, report.summary.objects)
"""

from ._check import Finding, Report, Severity, Summary, profiles, validate
from ._library import LIBRARY as _LIBRARY
from ._read import Class, Dump, Field, Header, Item, Kind, Objects, References, read

__version__: str = _LIBRARY.hprof_version().decode()

__all__ = [
    "Class", "Dump", "Field", "Finding", "Header", "Item", "Kind", "Objects", "References", "Report", "Severity", "Summary",
    "profiles", "read", "validate",
]
