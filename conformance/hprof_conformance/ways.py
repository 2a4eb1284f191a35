"""How each kind of producer is made to write its dumps."""

from __future__ import annotations

import filecmp
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from hprof_conformance import everything, facts, gold, javaproject, jvms, steps
from hprof_conformance.command import RefusedError
from hprof_conformance.everything import PATIENCE, FailedError, Program, do, limited, program, steady, text_of
from hprof_conformance.jvms import Jvm, NotHereError
from hprof_conformance.secrets import FORMS, Planted, planted
from hprof_conformance.tools import LIBHPROF, OWN_TOOLS, built
from hprof_conformance.whole import whole_until
from hprof_corpus.walk import FramingError

SMALL = "small"  # with smaller arrays, for conformance/gold; also small-gz
HUGE = "huge"  # a dump of more than 2 GB, only on demand
LARGE = "large"  # Large.java
VALUES = "values"  # a program with value classes, which its own JDK compiles
ODD = "odd-"  # a kind of Odd.java alone, such as odd-nan
ALL_ODD = "odd-all"  # Everything.java with all of them
KINDS_OF_ODD = {
    "supplementary": "Supplementary",
    "names": "Names",
    "surrogates": "Surrogates",
    "nan": "NaN",
    "extremes": "Extremes",
    "loaders": "Loaders",
}


@functools.cache
def seed() -> int:
    """Of the secrets. Raises RefusedError."""
    named = os.environ.get("HPROF_SEED", "")
    if named and not named.isdecimal():
        raise RefusedError(f"HPROF_SEED: {named} is no number")
    return int(named) if named else int.from_bytes(os.urandom(4), "big")


@dataclass(frozen=True)
class Producer:
    name: str
    title: str
    profile: str
    kind: str  # of KINDS, or none
    folder: Path  # own: the program itself
    jdk: int = 0
    architecture: str = ""  # of the JDK's Debian package, if it is not that of the machine
    ways: list[str] = field(default_factory=list)  # of `kind`
    options: dict[str, list[str]] = field(default_factory=dict)  # of the JVM, by way
    gold: list[str] = field(default_factory=list)  # ways whose dumps are kept in conformance/gold
    not_compared: list[str] = field(default_factory=list)  # ways of which the producer says nothing that could be compared
    version: str = ""  # of one that cannot be asked
    package: str = ""  # filter: of Debian
    start: list[str] = field(default_factory=list)  # filter: the program and its arguments; IN and OUT are the two files
    own: bool = False  # of the user: no expectations hold for it
    why: str = ""


@dataclass
class Dump:
    """What a producer left. No `file` if it left none: then `note` says why, and `left_out` whether that is no fault of its own."""

    how: str
    file: Path | None
    profile: str
    facts: list[facts.Fact] = field(default_factory=list)
    interrupted: bool = False  # on purpose: the tool must say from where on it is incomplete
    note: str = ""
    left_out: bool = False
    original: Path | None = None  # whose content it must have
    planted: Planted | None = None  # what must be gone if some of it is


@dataclass(frozen=True)
class Setting:
    """Where a producer runs."""

    root: Path  # of this project
    build: Path
    folder: Path  # which the JVM sees too
    producer: Producer
    jvm: Jvm

    def place(self, way: str) -> tuple[Path, Path]:
        """A folder for one way, and the dump in it."""
        folder = self.folder / way
        folder.mkdir()
        return folder, folder / "dump.hprof"

    def program(self, way: str) -> tuple[str, list[str]]:
        """The main class that is dumped in this way, and its arguments."""
        size = way.removesuffix("-gz")
        if way == VALUES:
            return "Values", []
        if way == LARGE:
            return "Large", []
        if way == ALL_ODD:
            return "Everything", [SMALL, *KINDS_OF_ODD.values()]
        if way.startswith(ODD):
            return "Odd", [KINDS_OF_ODD[way.removeprefix(ODD)]]
        return "Everything", [size] if size in (SMALL, HUGE) else []

    def classes(self) -> Path:
        return everything.compile_into(self.root, self.build, self.folder)

    def dump(self, way: str, file: Path, said: list[facts.Fact] | None = None) -> Dump:
        """Raises FailedError."""
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise FailedError(f"{file.name} is no regular file")
        return Dump(way, file if file.exists() else None, self.producer.profile, said or [])


def _each(setting: Setting, one: Callable[[str], Dump]) -> Iterator[Dump]:
    """A way that fails does not keep the others from running."""
    for way in setting.producer.ways:
        try:
            yield one(way)
        except NotHereError as error:
            yield Dump(way, None, setting.producer.profile, note=str(error), left_out=True)
        except (FailedError, subprocess.SubprocessError, OSError) as error:
            yield Dump(way, None, setting.producer.profile, note=str(error))


# ---- HotSpot

_ALIKE = ["-XX:+UseSerialGC", "-Xmx64m"]  # the same addresses in each run, so that dumps of one JVM pack well
JCMD = {"all": ["-all"], "gz": ["-gz=1"], "small-gz": ["-gz=1"], "parallel": ["-parallel=2"]}


# HotSpot 8 marks deleted JNI handles by an object of its own, and does not dump it.
_UNDUMPED = {8: Counter({"java/lang/Object": 1})}


def _by_jcmd(one: Program, file: Path, way: str, undumped: Counter[str] | None) -> list[facts.Fact]:
    """And what the VM says of the heap before and after. A dump of all objects holds more, and so does one with flat values, which
    are objects in the dump alone."""
    before = one.histogram() if way not in ("all", VALUES) else None
    do(one.jcmd("GC.heap_dump", *JCMD.get(way, []), one.jvm.inside(file)))
    return everything.agreed(before, one.histogram(), undumped) if before is not None else []


# By way: the option that makes an archive of the program's classes, or of its heap too, in a run before the dump, and the options
# that use it. The last one ends a VM that cannot use the archive.
_ARCHIVED = {
    "app-cds": ("-XX:ArchiveClassesAtExit=", ["-XX:SharedArchiveFile=", "-Xshare:on"]),
    "aot-cache": ("-XX:AOTCacheOutput=", ["-XX:AOTCache=", "-XX:AOTMode=on"]),
}


def _jar(classes: Path, folder: Path) -> Path:
    """The VM archives no classes of a folder."""
    made = folder / "classes.jar"
    with zipfile.ZipFile(made, "w") as jar:
        for one in sorted(classes.iterdir()):
            jar.write(one, one.name)
    return made


def _archive(setting: Setting, classes: Path, folder: Path, way: str, options: list[str]) -> list[str]:
    """The options that use the archive. Raises FailedError if the VM does not make one."""
    make, use = _ARCHIVED[way]
    archive = folder / "archive"
    with program(setting.jvm, classes, [*options, f"{make}{setting.jvm.inside(archive)}"], folder):
        pass  # the VM makes it when the program ends
    if not archive.exists():
        raise FailedError(f"no archive: {text_of(folder / 'program.log')[-300:]}")
    return [f"{use[0]}{setting.jvm.inside(archive)}", *use[1:]]


def _compile_values(setting: Setting, classes: Path) -> None:
    """Among the other classes."""
    shutil.copy(setting.producer.folder / "Values.java", classes)
    inside = setting.jvm.inside(classes)
    preview = ["--enable-preview", "--release", str(setting.producer.jdk)]
    do([*setting.jvm.command("javac"), *preview, "-cp", inside, "-d", inside, f"{inside}/Values.java"])


def _hotspot_way(setting: Setting, classes: Path, way: str) -> Dump:
    folder, file = setting.place(way)
    jvm = setting.jvm
    options = ["-Xmx512m", *setting.producer.options.get(way, [])]
    is_kept = way.startswith((SMALL, ODD, LARGE))
    if is_kept:
        options += _ALIKE
    if way == "out-of-memory":
        options = ["-Xmx64m", "-XX:+HeapDumpOnOutOfMemoryError", f"-XX:HeapDumpPath={jvm.inside(file)}"]
    elif way in ("before-full-gc", "after-full-gc"):
        when = "Before" if way == "before-full-gc" else "After"
        options += [f"-XX:+HeapDump{when}FullGC", f"-XX:HeapDumpPath={jvm.inside(folder)}"]
    if way == VALUES:
        options += ["--enable-preview"]
        _compile_values(setting, classes)
    if way in _ARCHIVED:
        classes = _jar(classes, folder)
        options += _archive(setting, classes, folder, way, options)
    main, arguments = setting.program(way)
    with program(jvm, classes, options, folder, *arguments, main=main, through=steady() if is_kept else ()) as one:
        said = one.facts
        if way == "mxbean":
            one.send(f"dump {jvm.inside(file)}")
        elif way == "out-of-memory":
            one.send("fill")
        elif way in ("before-full-gc", "after-full-gc"):
            one.send("collect")
            for made in sorted(folder.glob("java_pid*")):  # the last one: the program itself has collected before
                made.rename(file)
        elif way == "jmap":
            do([*jvm.command("jmap"), f"-dump:live,format=b,file={jvm.inside(file)}", str(one.pid)])
        else:
            said = [*said, *_by_jcmd(one, file, way, _UNDUMPED.get(setting.producer.jdk))]
    return setting.dump(way, file, said)


def _hotspot(setting: Setting) -> Iterator[Dump]:
    return _each(setting, partial(_hotspot_way, setting, setting.classes()))


_NEEDS_SYMBOLS = 8  # the JDK

# ---- the serviceability agent, which reads the memory of a process or of a core file


def _core(one: Program, folder: Path) -> Path:
    """Of the program, which it ends. The kernel names it core or core.PID and puts it where the program was started."""
    one.process.send_signal(signal.SIGABRT)
    one.process.wait(PATIENCE)
    for place in (folder, one.jvm.root):
        for core in (place / "core", place / f"core.{one.pid}"):
            if core.exists():
                return Path(shutil.move(core, folder / "core"))
    raise NotHereError("the kernel leaves no core file where the program runs: /proc/sys/kernel/core_pattern")


def _sa_way(setting: Setting, classes: Path, way: str) -> Dump:
    folder, file = setting.place(way)
    jvm = setting.jvm
    through = limited("-c unlimited") if way == "core" else ()
    options = ["-Xmx128m", "-XX:+UseG1GC", *setting.producer.options.get(way, [])]
    main, arguments = setting.program(way)
    with program(jvm, classes, options, folder, *arguments, main=main, through=through) as one:
        one.send("collect")  # a collection shows what its walk of the heap leaves out
        core = way == "core"
        whom = [str(jvm.home / "bin" / "java"), jvm.inside(_core(one, folder))] if core else [str(one.pid)]
        if setting.producer.jdk == 8:
            do([*jvm.command("jmap"), *([] if core else ["-F"]), f"-dump:format=b,file={jvm.inside(file)}", *whom])
        else:
            extra = ["--gz", "1"] if way == "gz" else []
            of = ["--exe", whom[0], "--core", whom[1]] if core else ["--pid", *whom]
            do([*jvm.command("jhsdb"), "jmap", "--binaryheap", *extra, "--dumpfile", jvm.inside(file), *of])
    return setting.dump(way, file, one.facts)


def _serviceability_agent(setting: Setting) -> Iterator[Dump]:
    if setting.producer.jdk == _NEEDS_SYMBOLS and not (setting.jvm.root / "usr/share/doc/openjdk-8-dbg").exists():
        raise NotHereError("needs openjdk-8-dbg beside JDK 8: the agent finds the classes of the VM by their symbols")
    return _each(setting, partial(_sa_way, setting, setting.classes()))


# ---- the agent of JDK 8

_DUMPED = "done."  # what it prints when a dump is written
_AGENT_PATH = "-agentpath:"
ATTACHED = "attached"  # the agent is loaded into the VM that runs


def _dump_by_signal(one: Program) -> None:
    """Returns when the agent says on standard error that the dump is written."""
    before = text_of(one.log).count(_DUMPED)
    one.process.send_signal(signal.SIGQUIT)
    until = time.monotonic() + PATIENCE
    while text_of(one.log).count(_DUMPED) == before:
        if one.process.poll() is not None or time.monotonic() > until:
            raise FailedError(f"no dump after SIGQUIT: {text_of(one.log)[-300:]}")
        time.sleep(0.1)


def _agent_way(agent: str, setting: Setting, classes: Path, way: str) -> Dump:
    folder, file = setting.place(way)
    option, *options = setting.producer.options[way]
    option = option.replace("FILE", setting.jvm.inside(file))
    if way != ATTACHED:
        options.append(f"{agent}={option}")
    main, arguments = setting.program(way)
    with program(setting.jvm, classes, options, folder, *arguments, main=main) as one:
        said = one.facts
        if way == ATTACHED:
            do(one.jcmd("JVMTI.agent_load", agent.removeprefix(_AGENT_PATH), f'"{option}"'))
        elif way == "signals":
            one.send("collect")  # has loaded each class that waiting takes: one more between the dumps ends the VM, FINDINGS.md 31
            for _ in range(2):
                _dump_by_signal(one)
            said = [*said, facts.Fact("dumps", ["2"])]
    return setting.dump(way, file, [] if "heap=sites" in option else said)


def _agent(setting: Setting) -> Iterator[Dump]:
    return _each(setting, partial(_agent_way, "-agentlib:hprof", setting, setting.classes()))


def _libhprof(setting: Setting) -> Iterator[Dump]:
    """The agent of this project, where the JVM sees it."""
    library = built(setting.root, *LIBHPROF)
    if not library.exists():
        raise NotHereError("libhprof.so is not built: it needs a JDK when hprof-gen is built")
    copy = shutil.copy(library, setting.folder)
    return _each(setting, partial(_agent_way, f"{_AGENT_PATH}{setting.jvm.inside(Path(copy))}", setting, setting.classes()))


# ---- interrupted


@contextmanager
def _small_file_system(folder: Path, size: int) -> Iterator[None]:
    run = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise NotHereError(f"a small file system cannot be mounted here: {run.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def _written(file: Path) -> int:
    """By all threads: a parallel dump is in parts until it is complete."""
    return sum(path.stat().st_size for path in file.parent.glob(f"{file.name}*"))


def _kill(one: Program, file: Path, options: list[str], size: int) -> None:
    """Raises FailedError if no dump was begun."""
    with tempfile.TemporaryFile() as said:
        dumping = subprocess.Popen(one.jcmd("GC.heap_dump", *options, one.jvm.inside(file)), stdout=said, stderr=said)
        until = time.monotonic() + PATIENCE
        while dumping.poll() is None and time.monotonic() < until:
            try:
                if file.exists() and _written(file) >= size:
                    break
            except FileNotFoundError:  # a part that was just merged
                pass
            time.sleep(0.001)  # polled without a pause, the VM lacked the core, and was killed later
        begun = file.exists()
        os.kill(one.pid, signal.SIGKILL)
        dumping.wait(PATIENCE)
        if not begun:
            said.seek(0)
            raise FailedError(f"no dump was begun: {said.read().decode(errors='replace').strip()[-300:]}")


def _dump_to_the_limit(one: Program, file: Path, options: list[str]) -> None:
    """The VM may delete what it cannot complete. jcmd fails only if it does not reach the VM: then it raises FailedError."""
    do(one.jcmd("GC.heap_dump", *options, one.jvm.inside(file)))


def _interrupted_way(setting: Setting, classes: Path, way: str) -> Dump:
    """killed-at-SIZE, killed-gz-at-SIZE, killed-parallel-at-SIZE; border-at-SIZE: killed, and the file cut back to the end of its
    last whole record, because no poll is exact enough; limit-at-SIZE: no file may be larger; full-at-SIZE: so is the file
    system."""
    folder, file = setting.place(way)
    words, _, size = way.partition("-at-")
    word, _, manner = words.partition("-")
    options = JCMD[manner] if manner else []
    if word in ("killed", "border"):
        with program(setting.jvm, classes, ["-Xmx256m"], folder) as one:
            _kill(one, file, options, int(size))
        if word == "border" and file.exists():
            with suppress(FramingError):  # check() reports it
                os.truncate(file, whole_until(file))
    elif word == "limit":
        with program(setting.jvm, classes, ["-Xmx256m"], folder, through=limited(f"-f {int(size) // 1024}")) as one:
            _dump_to_the_limit(one, file, options)
    else:
        full = folder / "full"
        full.mkdir()
        with _small_file_system(full, int(size)), program(setting.jvm, classes, ["-Xmx256m"], folder) as one:
            _dump_to_the_limit(one, full / file.name, options)
            for left in sorted(full.iterdir()):
                shutil.move(left, folder)
    parts = ", ".join(path.name for path in sorted(folder.glob(f"{file.name}.*")))
    note = f"beside it {parts}" if parts else ""
    return Dump(way, file if file.exists() else None, setting.producer.profile, interrupted=True, note=note)


def _interrupted(setting: Setting) -> Iterator[Dump]:
    return _each(setting, partial(_interrupted_way, setting, setting.classes()))


# ---- others


def _generator(setting: Setting) -> Iterator[Dump]:
    tool = built(setting.root, "hprof-gen", "generator")

    def like(way: str) -> Dump:
        _, file = setting.place(way)
        do([str(tool), "--quiet", "--like", way, "--objects", "20000", "-o", str(file)])
        return Dump(way, file, "strict" if way == "plain" else way)

    return _each(setting, like)


def _shark(setting: Setting) -> Iterator[Dump]:
    """LeakCanary's Shark copies a dump and empties its primitive arrays."""
    home = jvms.any_home(setting.root)
    folder = setting.producer.folder
    class_path = javaproject.build(home, sorted(folder.glob("*.java")), folder / "pom.xml", setting.build / "shark-writer")

    def strip(way: str) -> Dump:
        place, file = setting.place(way)
        original = place / "gold.hprof"
        original.write_bytes(gold.read(setting.root, way))
        do([str(home / "bin" / "java"), "-cp", class_path, "Strip", str(original), str(file)])
        return setting.dump(way, file)

    return _each(setting, strip)


def _filter_program(setting: Setting) -> list[str]:
    producer = setting.producer
    if producer.start[0] in OWN_TOOLS:
        return [str(built(setting.root, producer.start[0], OWN_TOOLS[producer.start[0]])), *producer.start[1:]]
    if producer.package and not Path(producer.start[0]).exists():
        jvms.install([setting.root / "ci" / "packages", producer.package], setting.root, setting.build / "packages.log")
    return producer.start


def _filter(setting: Setting) -> Iterator[Dump]:
    """A program that reads a dump and writes one: a converter, a redactor. A way is a case, or a dump with secrets."""
    program = _filter_program(setting)

    def run(way: str) -> Dump:
        folder, file = setting.place(way.replace("/", "-"))
        original = setting.folder / f"{folder.name}.original"  # not what the filter gets, which it may change
        secrets = None
        if way in FORMS:
            secrets = planted(way, seed())
            steps.say(f"HPROF_SEED={seed()}")
        if secrets is not None:
            original.write_bytes(secrets.dump)
        elif way.startswith("gold/"):
            original.write_bytes(gold.read(setting.root, way.removeprefix("gold/")))
        else:
            shutil.copyfile(setting.root / "corpus" / f"{way}.hprof", original)
        given = shutil.copyfile(original, folder / "original.hprof")
        do([{"IN": str(given), "OUT": str(file)}.get(word, word) for word in program])
        if not given.is_file() or not filecmp.cmp(given, original, shallow=False):
            raise FailedError("it has changed the dump that it was given")
        return replace(setting.dump(way, file), original=original, planted=secrets)

    return _each(setting, run)


def _own(setting: Setting) -> Iterator[Dump]:
    def dump(way: str) -> Dump:
        _, file = setting.place(way)
        do([str(setting.producer.folder), str(file)])
        return setting.dump(way, file)

    return _each(setting, dump)


KINDS: dict[str, Callable[[Setting], Iterator[Dump]]] = {
    "hotspot": _hotspot,
    "sa": _serviceability_agent,
    "agent": _agent,
    "libhprof": _libhprof,
    "interrupted": _interrupted,
    "hprof-gen": _generator,
    "shark": _shark,
    "filter": _filter,
    "own": _own,
}
