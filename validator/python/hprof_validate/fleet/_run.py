"""One run: lists the objects, has those checked that have no result yet or have changed, and keeps the results."""

# mypy: disable-error-code="import-not-found,import-untyped"
import logging
import os
import signal
import sys
import time
import uuid
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import fsspec
from dask.distributed import Client, LocalCluster, as_completed
from distributed.scheduler import KilledWorker

from .. import __version__, profiles
from . import _metrics
from ._results import INCOMPLETE, INVALID, STATUSES, UNREADABLE, VALID, NoResultsError, Result, Results, Version, version_of
from ._task import check, probe, reason

SAVE_SECONDS = 30.0
PROBES = 3
STATUS_VALID, STATUS_INVALID, STATUS_USAGE, STATUS_IO = range(4)  # of hprof-validate


class RefusedError(Exception):
    """Nothing was checked."""


class StoppedError(BaseException):
    """The run ended early; a signal may raise this anywhere. The results so far are kept."""

    def __init__(self, why: str, status: int) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, slots=True)
class Object:
    fs: Any
    path: str
    url: str
    version: Version


def say(text: str) -> None:
    print(f"hprof-fleet: {text}", file=sys.stderr)


def size_text(size: int) -> str:
    if size < 1000:
        return f"{size} bytes"
    power = min((len(str(size)) - 1) // 3, 4)
    return f"{size / 1000**power:.3g} {' KMGT'[power]}B"


def listed(patterns: list[str], storage: dict[str, Any]) -> dict[str, Object]:
    objects: dict[str, Object] = {}
    for pattern in patterns:
        try:
            fs, path = fsspec.core.url_to_fs(pattern, **storage)
            found = fs.glob(path, detail=True)
        except Exception as failure:
            why = "there is no such bucket or folder" if isinstance(failure, FileNotFoundError) else reason(failure)
            raise RefusedError(f"{pattern}: cannot be listed: {why}") from failure
        files = {name: info for name, info in found.items() if info["type"] == "file"}
        if not files:
            raise RefusedError(f"{pattern}: no object matches")
        for name, info in files.items():
            url = fs.unstrip_protocol(name)
            objects[url] = Object(fs, name, url, version_of(info))
    return objects


def is_known(one: Object, result: Result | None, profile: str) -> bool:
    return (
        result is not None
        and Version(result.size, result.etag) == one.version
        and result.profile == profile
        and result.status != UNREADABLE
    )


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    for name in list(logging.root.manager.loggerDict):
        if name.startswith(("distributed", "tornado", "asyncio")):  # a worker that dies is no news: its objects get their results
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if address is None:
            cores = len(os.sched_getaffinity(0))
            # A cluster of one machine gives a worker up that dies again while it starts anew.
            stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1000 days"}))
            # Its server for people cannot be turned off; where its port is taken, it warns.
            there = "127.0.0.1:0"
            address = stack.enter_context(
                LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=there, silence_logs=logging.CRITICAL)
            )
        try:
            client = stack.enter_context(Client(address, timeout=10, set_as_default=False))
        except (OSError, ValueError) as failure:
            raise RefusedError(f"{address}: no Dask scheduler answers there") from failure
        if not client.nthreads():  # by worker
            say(f"{address}: there is no worker yet; waiting for one")
        yield client


def try_worker(client: Any, objects: list[Object]) -> None:
    """What is wrong with all objects is an error, not a result of each: a worker without the package, wrong credentials."""
    some = objects[:: max(1, len(objects) // PROBES)][:PROBES]
    try:
        version, failure = client.submit(probe, [(one.fs, one.path) for one in some], pure=False).result()
    except Exception as exception:
        raise RefusedError(f"a worker cannot check objects: {reason(exception)}") from exception
    if version != __version__:
        raise RefusedError(f"a worker has version {version} of hprof-validate; this is {__version__}")
    if failure:
        raise RefusedError(f"{some[0].url}: a worker cannot read it: {failure}")


def submitted(client: Any, objects: list[Object], args: Namespace) -> Iterator[tuple[Object, Result | None]]:
    """Objects as they are done. None: the workers that checked it died."""
    run = uuid.uuid4().hex
    by_key = {f"hprof-check-{run}-{i}": one for i, one in enumerate(objects)}
    columns = zip(*((one.fs, one.path, one.url, one.version) for one in objects), strict=True)
    # No other reference to a future: what is done may be forgotten, and is not done again if its worker dies.
    futures = client.map(check, *columns, profile=args.profile, jobs=args.jobs, key=list(by_key), retries=0)
    done = as_completed(futures, loop=client.loop)
    del futures
    for future in done:
        one = by_key[future.key]
        try:
            result = future.result()
        except KilledWorker:
            result = None
        except (CancelledError, OSError) as failure:  # not of check(), which never raises
            raise StoppedError("the scheduler ended, or forgot the run; the same command goes on", STATUS_IO) from failure
        except Exception as failure:
            result = Result(one.url, one.version.size, one.version.etag, UNREADABLE, args.profile, failure=reason(failure))
        del future
        yield one, result


def checked(client: Any, objects: list[Object], args: Namespace) -> Iterator[Result]:
    """A worker that dies takes all objects down that it had been given, so each of these gets another try, alone."""
    suspects = []
    for one, result in submitted(client, objects, args):
        if result is None:
            suspects.append(one)
        else:
            yield result
    for one in suspects:
        for _, result in submitted(client, [one], args):
            yield result or Result(
                one.url, one.version.size, one.version.etag, UNREADABLE, args.profile,
                failure="each worker that checked it was killed; a worker may have too little memory",
            )


def line(result: Result) -> str:
    if result.status == UNREADABLE:
        return f"{result.url}: could not be read: {result.failure}"
    objects = f"{result.missing_objects:,} object{'s' if result.missing_objects != 1 else ''}"
    missing = f", at least {objects} missing" if result.missing_objects else ""
    return f"{result.url}: {'INVALID' if result.status == INVALID else f'incomplete{missing}'}: {result.finding}"


def stop(number: int, _frame: object) -> None:
    raise StoppedError(f"ended by {signal.Signals(number).name}; the same command goes on", 128 + number)


def exit_status(count: Counter[str], allow_incomplete: bool) -> int:
    if count[UNREADABLE]:
        return STATUS_IO
    return STATUS_INVALID if count[INVALID] or (count[INCOMPLETE] and not allow_incomplete) else STATUS_VALID


def run_check(args: Namespace) -> int:
    start = time.monotonic()
    if args.profile not in profiles():
        raise RefusedError(f"--profile is one of {', '.join(profiles())}, not '{args.profile}'")
    if args.prometheus and not os.access(Path(args.prometheus).absolute().parent, os.W_OK):
        raise RefusedError(f"{args.prometheus}: cannot be written")
    objects = listed(args.pattern, dict(args.storage))
    results = open_results(args)
    objects.pop(results.url, None)
    todo = [one for url, one in objects.items() if not is_known(one, results.by_url.get(url), args.profile)]
    if todo:
        with connected(args.scheduler) as client:
            try_worker(client, todo)
            collect(client, todo, results, args)
    now = [results.by_url[url] for url in sorted(objects)]
    count = Counter(result.status for result in now)
    if args.prometheus:
        try:
            _metrics.write(args.prometheus, now, len(todo), time.monotonic() - start)
        except OSError as failure:
            raise StoppedError(f"{args.prometheus}: cannot be written: {reason(failure)}", STATUS_IO) from failure
    if not args.quiet:
        for result in now:
            if result.status != VALID:
                print(line(result))
        parts = ", ".join(f"{count[status]:,} {'could not be read' if status == UNREADABLE else status}" for status in STATUSES)
        known = f"; {len(now) - len(todo):,} were checked before" if len(todo) < len(now) else ""
        print(f"{len(now):,} objects, {size_text(sum(result.size for result in now))}: {parts}{known}")
    return exit_status(count, args.allow_incomplete)


def open_results(args: Namespace) -> Results:
    """Written at once, so that a file that cannot be written is known before the work, not after it."""
    try:
        results = Results(args.output, dict(args.storage) if same_store(args.output, args.pattern[0]) else {})
        results.read()
        results.write()
    except NoResultsError as failure:
        raise RefusedError(f"{args.output}: {failure}") from failure
    except Exception as failure:
        raise RefusedError(f"{args.output}: cannot be written: {reason(failure)}") from failure
    return results


def same_store(a: str, b: str) -> bool:
    return bool(fsspec.core.split_protocol(a)[0] == fsspec.core.split_protocol(b)[0])


def save(results: Results) -> None:
    try:
        results.write()
    except Exception as failure:
        raise StoppedError(f"{results.name}: cannot be written: {reason(failure)}", STATUS_IO) from failure


def collect(client: Any, objects: list[Object], results: Results, args: Namespace) -> None:
    saved = time.monotonic()
    shows = sys.stderr.isatty() and not args.quiet
    try:
        for number, result in enumerate(checked(client, objects, args), 1):
            results.by_url[result.url] = result
            if time.monotonic() - saved > SAVE_SECONDS:
                save(results)
                saved = time.monotonic()
            if shows:
                print(f"\r{number:,} of {len(objects):,}", end="\r" if number < len(objects) else "\n", file=sys.stderr, flush=True)
    finally:
        save(results)


def run(args: Namespace) -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        return run_check(args)
    except RefusedError as failure:
        say(str(failure))
        return STATUS_USAGE
    except StoppedError as failure:
        say(str(failure))
        return failure.status
