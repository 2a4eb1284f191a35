"""Metrics for the textfile collector of Prometheus' node exporter."""

# mypy: disable-error-code="import-not-found,import-untyped"
import time
from collections import Counter

from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

from ._results import STATUSES, Result


def write(name: str, results: list[Result], checked: int, seconds: float) -> None:
    """Of the objects that are there now. The file appears when it is complete."""
    registry = CollectorRegistry()

    def put(metric: str, about: str, value: float) -> None:
        Gauge(f"hprof_fleet_{metric}", about, registry=registry).set(value)

    objects = Gauge("hprof_fleet_objects", "Heap dumps by the result of their last check", ["status"], registry=registry)
    for status in STATUSES:
        objects.labels(status).set(sum(result.status == status for result in results))
    findings = Gauge("hprof_fleet_findings", "Findings by rule, notes included", ["rule"], registry=registry)
    for rule, count in sorted(sum((Counter(result.rules) for result in results), Counter()).items()):
        findings.labels(rule).set(count)
    put("size_bytes", "Bytes of the objects in the store", sum(result.size for result in results))
    put("dump_bytes", "Bytes of the dumps, decompressed", sum(result.bytes for result in results))
    put("checked_objects", "Objects that the last run checked; it knew the others", checked)
    put("run_seconds", "Seconds that the last run took", seconds)
    put("last_run_timestamp_seconds", "End of the last complete run", time.time())
    write_to_textfile(name, registry)
