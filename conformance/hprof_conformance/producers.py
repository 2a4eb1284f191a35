"""The producers of conformance/producers: real programs that write dumps, checked against the specification and their own word."""

from __future__ import annotations

import json
import lzma
import os
import shutil
import signal
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hprof_conformance import expectations, facts
from hprof_conformance.readers import NotHereError, jdk_home

Json = dict[str, Any]
_PATIENCE = 120.0
GOLD = "small"  # the way whose dump is kept in conformance/gold


@dataclass(frozen=True)
class Producer:
    name: str
    title: str
    profile: str
    kind: str  # hotspot, sa, agent, interrupted, hprof-gen, own, none
    folder: Path
    jdk: int = 0
    ways: list[str] = field(default_factory=list)  # of `kind`
    options: dict[str, list[str]] = field(default_factory=dict)  # of the JVM, by way
    ci_ways: list[str] = field(default_factory=list)  # those that ci/test runs
    why: str = ""


@dataclass
class Dump:
    how: str
    file: Path
    profile: str
    facts: list[facts.Fact]
    interrupted: bool = False  # on purpose: invalid, and the tool must say from where on


def read_producers(root: Path) -> list[Producer]:
    return [
        Producer(name=path.parent.name, folder=path.parent, **tomllib.loads(path.read_text(encoding="utf-8")))
        for path in sorted((root / "conformance" / "producers").glob("*/producer.toml"))
    ]


def own_producer(program: str) -> Producer:
    path = Path(program).resolve()
    if not path.exists():
        raise SystemExit(f"{program}: no such file")
    return Producer(path.name, path.name, "strict", "own", path)


def built(root: Path, tool: str, folder: str) -> Path:
    """A tool of this project: named by the environment, as it was built, or as it is installed."""
    named = os.environ.get(tool.upper().replace("-", "_"))
    installed = shutil.which(tool)
    for path in (named, root / "build" / "release" / folder / tool, installed):
        if path and Path(path).exists():
            return Path(path)
    raise NotHereError(f"needs {tool}: build it, or let {tool.upper().replace('-', '_')} name it")


# ---- a program that waits to be dumped


class Program:
    """Everything.java, running."""

    def __init__(self, process: subprocess.Popen[str], said: list[facts.Fact]) -> None:
        self.process = process
        self.facts = said

    @property
    def pid(self) -> int:
        return self.process.pid

    def tell(self, command: str) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:  # the JVM writes there too, of the dumps that it makes
            if line == "done\n":
                return
        raise NotHereError(f"the program ended at '{command}'")


def _compile(root: Path, build: Path, home: Path) -> Path:
    classes = build / "everything"
    source = root / "conformance" / "producers" / "java" / "Everything.java"
    if not classes.exists() or (classes / "Everything.class").stat().st_mtime < source.stat().st_mtime:
        classes.mkdir(parents=True, exist_ok=True)
        options = ["-nowarn", "-encoding", "UTF-8", "-source", "8", "-target", "8", "-d", str(classes)]
        subprocess.run([home / "bin" / "javac", *options, source], check=True, stderr=subprocess.DEVNULL)
    return classes


@contextmanager
def program(java: list[str], classes: Path, options: list[str], folder: Path, *arguments: str) -> Iterator[Program]:
    command = [*java, "-Dfile.encoding=UTF-8", *options, "-cp", str(classes), "Everything", *arguments]
    with (folder / "program.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=folder, encoding="utf-8", text=True
        )
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            if line == "ready\n":
                break
            if "\t" in line:
                lines.append(line.rstrip("\n"))
        else:
            raise NotHereError((folder / "program.log").read_text(encoding="utf-8").strip()[:300] or "the program ended early")
        yield Program(process, facts.parse(lines))
    finally:
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _do(command: list[str | Path]) -> None:
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    if run.returncode:
        raise NotHereError(f"{Path(command[0]).name} ended with {run.returncode}: {(run.stderr or run.stdout).strip()[-300:]}")


# ---- HotSpot


def _jcmd(home: Path, one: Program, file: Path, *options: str) -> None:
    _do([home / "bin" / "jcmd", str(one.pid), "GC.heap_dump", *options, str(file)])


def _hotspot(root: Path, producer: Producer, build: Path, folder: Path) -> Iterator[Dump]:
    home = jdk_home(root, producer.jdk)
    classes = _compile(root, build, jdk_home(root))
    java = [str(home / "bin" / "java")]
    for way in producer.ways:
        how, file = folder / way, folder / way / "dump.hprof"
        how.mkdir()
        options = ["-Xmx512m", *producer.options.get(way, [])]
        if way == "out-of-memory":
            options = ["-Xmx64m", "-XX:+HeapDumpOnOutOfMemoryError", f"-XX:HeapDumpPath={file}"]
        elif way in ("before-full-gc", "after-full-gc"):
            when = "Before" if way == "before-full-gc" else "After"
            options += [f"-XX:+HeapDump{when}FullGC", f"-XX:HeapDumpPath={how}"]
        with program(java, classes, options, how, *(["small"] if way == GOLD else [])) as one:
            if way == "mxbean":
                one.tell(f"dump {file}")
            elif way == "out-of-memory":
                one.tell("fill")
            elif way in ("before-full-gc", "after-full-gc"):
                one.tell("collect")
                next(iter(sorted(how.glob("*.hprof")))).rename(file)
            elif way == "jmap":
                _do([home / "bin" / "jmap", f"-dump:live,format=b,file={file}", str(one.pid)])
            else:
                extra = {"all": ["-all"], "gz": ["-gz=1"], "parallel": ["-parallel=2"]}.get(way, [])
                _jcmd(home, one, file, *extra)
            yield Dump(way, file, producer.profile, one.facts)


def _serviceability_agent(root: Path, producer: Producer, build: Path, folder: Path) -> Iterator[Dump]:
    home = jdk_home(root, producer.jdk)
    classes = _compile(root, build, jdk_home(root))
    for way in producer.ways:
        (folder / way).mkdir()
        file = folder / way / "dump.hprof"
        with program([str(home / "bin" / "java")], classes, ["-Xmx256m"], folder / way) as one:
            extra = ["--gz", "1"] if way == "gz" else []
            _do([home / "bin" / "jhsdb", "jmap", "--binaryheap", *extra, "--dumpfile", file, "--pid", str(one.pid)])
            yield Dump(way, file, producer.profile, one.facts)


# ---- the agent of JDK 8, in a root of its own


def _agent_java() -> list[str]:
    """HPROF_JDK8_ROOT names a file system with OpenJDK 8: producers/agent8/setup-root makes one."""
    named = os.environ.get("HPROF_JDK8_ROOT")
    if not named:
        raise NotHereError("needs HPROF_JDK8_ROOT, a file system with OpenJDK 8: conformance/producers/agent8/setup-root makes one")
    if os.geteuid():
        raise NotHereError("needs to be root, to change into the file system that HPROF_JDK8_ROOT names")
    java = next(Path(named).glob("usr/lib/jvm/java-8-openjdk-*/bin/java"), None)
    if java is None:
        raise NotHereError(f"no OpenJDK 8 in {named}")
    return ["chroot", named, f"/{java.relative_to(named)}"]


def _agent(root: Path, producer: Producer, build: Path, folder: Path) -> Iterator[Dump]:
    start = _agent_java()
    classes = _compile(root, build, jdk_home(root))
    inside = Path(tempfile.mkdtemp(prefix="hprof-", dir=Path(start[1]) / "tmp"))
    try:
        shutil.copytree(classes, inside / "classes")
        within = Path("/tmp") / inside.name
        for way in producer.ways:
            option = producer.options[way][0].replace("FILE", f"{within}/{way}.hprof")
            options = [*producer.options[way][1:], f"-agentlib:hprof={option}"]
            with program(start, within / "classes", options, folder, *(["small"] if way == GOLD else [])) as one:
                said = one.facts
            shutil.move(inside / f"{way}.hprof", folder / f"{way}.hprof")
            heap = "heap=sites" not in option
            yield Dump(way, folder / f"{way}.hprof", producer.profile, said if heap else [])
    finally:
        shutil.rmtree(inside)


# ---- interrupted


def _interrupted(root: Path, producer: Producer, build: Path, folder: Path) -> Iterator[Dump]:
    """HotSpot killed while it dumps, at several sizes of the file; and with a limit on the size of files."""
    home = jdk_home(root, producer.jdk)
    classes = _compile(root, build, jdk_home(root))
    java = [str(home / "bin" / "java")]
    for way in producer.ways:
        (folder / way).mkdir()
        file = folder / way / "dump.hprof"
        word, _, size = way.partition("-at-")
        bytes_ = int(size)
        if word == "limit":
            start = ["bash", "-c", f'ulimit -f {bytes_ // 1024} && exec "$@"', "bash", *java]
            with program(start, classes, ["-Xmx256m"], folder / way) as one:
                subprocess.run([home / "bin" / "jcmd", str(one.pid), "GC.heap_dump", file], capture_output=True, check=False)
        else:
            with program(java, classes, ["-Xmx256m"], folder / way) as one:
                dumping = subprocess.Popen(
                    [home / "bin" / "jcmd", str(one.pid), "GC.heap_dump", file],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                until = time.monotonic() + _PATIENCE
                while not (file.exists() and file.stat().st_size >= bytes_) and time.monotonic() < until:
                    if dumping.poll() is not None:
                        break
                os.kill(one.pid, signal.SIGKILL)
                dumping.wait(_PATIENCE)
        if not file.exists():
            continue  # this JDK takes away a dump that it could not write
        yield Dump(way, file, producer.profile, [], interrupted=True)


# ---- others


def _generator(root: Path, producer: Producer, build: Path, folder: Path) -> Iterator[Dump]:
    tool = built(root, "hprof-gen", "generator")
    for way in producer.ways:
        file = folder / f"{way}.hprof"
        _do([tool, "--quiet", "--like", way, "--objects", "20000", "-o", file])
        yield Dump(way, file, "strict" if way == "plain" else way, [])


def _own(root: Path, producer: Producer, build: Path, folder: Path) -> Iterator[Dump]:
    file = folder / "dump.hprof"
    _do([producer.folder, file])
    yield Dump("dump", file, "auto", [])


_KINDS = {
    "hotspot": _hotspot,
    "sa": _serviceability_agent,
    "agent": _agent,
    "interrupted": _interrupted,
    "hprof-gen": _generator,
    "own": _own,
}


# ---- the check


def _validate(tool: Path, file: Path, profile: str) -> Json:
    command: list[str | Path] = [
        tool,
        "--format",
        "json",
        "--max-errors",
        "1000",
        "--progress",
        "never",
        "--profile",
        profile,
        file,
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode > 1:
        raise NotHereError(f"hprof-validate ended with {run.returncode} for {file.name}: {run.stderr.strip()[-300:]}")
    found: Json = json.loads(run.stdout)["files"][0]
    return found


def _by_rule(found: Json, severities: tuple[str, ...]) -> dict[str, int]:
    """How often each rule was broken, where one of its findings has one of the severities."""
    rules = {one["rule"] for one in found["findings"] if one["severity"] in severities}
    return {rule: found["totals"][rule] for rule in sorted(rules)}


def check(tool: Path, dump: Dump) -> Json:
    """`fine`: valid in the producer's profile, without a warning, and the content is what the program says. An interrupted dump is
    fine if it is invalid from a stated offset on."""
    strict, own = _validate(tool, dump.file, "strict"), _validate(tool, dump.file, dump.profile)
    content = facts.differences(dump.file, dump.facts) if dump.facts else ""
    left = _by_rule(own, ("error", "warning"))
    if dump.interrupted:
        content = f"sound until {strict['sound_until']} of {strict['bytes']} bytes"
        fine = not strict["valid"] and strict["sound_until"] <= strict["bytes"]
    else:
        fine = bool(own["valid"]) and not left and not content
    return {
        "how": dump.how,
        "bytes": dump.file.stat().st_size,
        "valid": own["valid"],
        "strict": _by_rule(strict, ("error", "warning", "note")),
        "in_profile": left,
        "content": content,
        "fine": fine,
    }


def _version(root: Path, producer: Producer) -> str:
    if producer.kind in ("hotspot", "sa", "interrupted"):
        release = (jdk_home(root, producer.jdk) / "release").read_text(encoding="utf-8")
        return release.partition('JAVA_VERSION="')[2].partition('"')[0]
    if producer.kind == "hprof-gen":
        tool = built(root, "hprof-gen", "generator")
        return subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    if producer.kind == "agent":
        said = subprocess.run([*_agent_java(), "-version"], capture_output=True, text=True, check=True).stderr
        return said.partition('"')[2].partition('"')[0]
    return "unknown"


def keep(root: Path, producer: Producer, version: str, dump: Dump) -> None:
    """As a gold file."""
    gold = root / "conformance" / "gold"
    gold.mkdir(exist_ok=True)
    (gold / f"{producer.name}.hprof.xz").write_bytes(lzma.compress(dump.file.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    index = gold / "index.json"
    known: Json = json.loads(index.read_text(encoding="utf-8")) if index.exists() else {}
    known[producer.name] = {"about": f"Everything.java, dumped by {producer.title}, version {version}."}
    index.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def run(root: Path, build: Path, producer: Producer, progress: Callable[[str], None], update: bool, gold: bool) -> Json:
    found: Json = {
        "name": producer.name,
        "title": producer.title,
        "version": "",
        "profile": producer.profile,
        "ran": False,
        "why_not": producer.why,
        "dumps": [],
        "surprises": [],
    }
    if producer.kind == "none":
        return found
    folder = Path(tempfile.mkdtemp(prefix=f"hprof-{producer.name}-"))
    try:
        tool = built(root, "hprof-validate", "validator")
        for dump in _KINDS[producer.kind](root, producer, build, folder):
            found["dumps"].append(check(tool, dump))
            if gold and dump.how == GOLD:
                keep(root, producer, _version(root, producer), dump)
            progress(f"{producer.title}: {dump.how}")
        found["version"], found["ran"] = _version(root, producer), True
    except (NotHereError, subprocess.SubprocessError, OSError) as error:
        found["why_not"] = str(error)
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _compare(root, producer, found, update)
    return found


def _compare(root: Path, producer: Producer, found: Json, update: bool) -> None:
    """Findings and differences that expectations/<name>.toml does not list are surprises."""
    path = root / "conformance" / "expectations" / f"{producer.name}.toml"
    known = expectations.read(path)
    ways = {way for one in read_producers(root) if one.name == producer.name for way in one.ways}
    outcomes = {dump["how"]: (outcome(dump), dump["fine"], outcome(dump)) for dump in found["dumps"]}
    if update and producer.kind != "own":
        known = expectations.updated(known, found["version"], outcomes, ways)
        if known.cases or path.exists():
            expectations.write(path, producer.title, known)
    seen = {how: (words, fine) for how, (words, fine, _) in outcomes.items()}
    surprises = expectations.compare(known, seen, ways, complete=True)
    found["surprises"] = [{"case": one.case, "what": one.what} for one in surprises]


def outcome(dump: Json) -> str:
    """In words that do not change with the number of findings."""
    if dump["fine"]:
        return "fine"
    rules = ", ".join(dump["in_profile"])
    return (
        "; ".join(words for words in ("" if dump["valid"] else "invalid", rules, dump["content"] and "content differs") if words)
        or "valid though interrupted"
    )
