"""The readers of conformance/readers: what each is, how it is installed, how it is started."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from hprof_conformance import javaproject, jvms
from hprof_conformance.command import RefusedError, own_program
from hprof_conformance.files import locked, read_toml
from hprof_conformance.javaproject import copy_source, digest, need
from hprof_conformance.jvms import NotHereError, install
from hprof_conformance.protocol import COUNTS
from hprof_corpus.digest import PARTS
from hprof_corpus.truth import FEATURES

_JAVA_OPTIONS = (
    *("-Xmx1g", "-Xss1m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8"),
    "-XX:+DisplayVMOutputToStderr",  # what SIGQUIT asks for: session.py
    "-Djava.io.tmpdir=.",  # the folder of its session: VisualVM's library leaves files there if its VM is killed
)


@dataclass(frozen=True)
class Reader:
    name: str
    title: str
    version: str
    family: str
    home: str
    bugs: str
    kind: str  # java, program, own, none
    folder: Path  # own: the program itself
    unsupported: dict[str, str]
    says: dict[str, str] = field(default_factory=dict)  # by unsupported feature: "the reader" or "we"
    asks: dict[str, str] = field(default_factory=dict)  # by count and entry: what the adapter asks the reader for
    not_asked: dict[str, dict[str, str]] = field(default_factory=dict)  # by count or entry: `says`, as above, and `why`
    counts: list[str] = field(default_factory=list)  # these three: what its hello must say, kept apart from the adapter
    digests: list[str] = field(default_factory=list)
    references: str = "exact"
    main: str = ""  # java: the class of the adapter
    sources: list[str] = field(default_factory=list)  # java: beside those of the folder
    replace: dict[str, str] = field(default_factory=dict)  # in our sources
    jdk8_tools: bool = False  # java: it is part of the tools.jar of JDK 8
    installed: str = ""  # java: the variable that names an Eclipse application which the user has installed
    bundle: str = ""  # java: the one whose version is the reader's
    jdk: int = 0  # java: the least that runs it; 0: any
    fetched: str = ""  # java: what writes the reader's own sources into a folder
    crate: str = ""  # program: as `cargo install` takes it; empty if the folder holds a Cargo project
    start: list[str] = field(default_factory=list)  # program: what is installed, and its options before the file
    adapter: str = ""  # program: a module of hprof_conformance.adapters
    why: str = ""  # none: why it is not run; with `installed`: why the run does not fetch it


def read_readers(root: Path) -> list[Reader]:
    found = []
    for path in sorted((root / "conformance" / "readers").glob("*/reader.toml")):
        stated = read_toml(path)
        unsupported: dict[str, dict[str, str]] = stated.pop("unsupported", {})
        unknown = set(unsupported) - set(FEATURES)
        if unknown:
            raise RefusedError(f"{path}: no such feature: {', '.join(sorted(unknown))}")
        asks: dict[str, str] = stated.get("asks", {})
        unasked = {*stated.get("counts", []), *stated.get("digests", [])} ^ set(asks)
        if unasked and stated["kind"] != "none":
            raise RefusedError(f"{path}: [asks] and the counts and digests differ: {', '.join(sorted(unasked))}")
        spare = {name for name in stated.get("not_asked", {}) if name in stated["counts"] and name in stated["digests"]}
        unknown = set(stated.get("not_asked", {})) - {*COUNTS, *PARTS} | spare
        if unknown:
            raise RefusedError(f"{path}: [not_asked] names what is asked, or no count and no digest: {', '.join(sorted(unknown))}")
        found.append(
            Reader(
                name=path.parent.name,
                folder=path.parent,
                unsupported={feature: one["why"] for feature, one in unsupported.items()},
                says={feature: one["says"] for feature, one in unsupported.items()},
                **stated,
            )
        )
    return found


def _java(root: Path, reader: Reader, build: Path) -> list[str]:
    plugins = _plugins(reader) if reader.installed else None
    home = jvms.any_home(root, reader.jdk)
    shared = sorted((root / "conformance" / "readers" / "java").glob("*.java"))
    own = [*sorted(reader.folder.glob("*.java")), *((reader.folder / source).resolve() for source in reader.sources)]
    if reader.fetched:
        own += _fetched(root, reader, build.parent / f"{reader.name}-source")
    jars = [_jdk8_tools(root)] if reader.jdk8_tools else sorted(plugins.glob("*.jar")) if plugins else []
    class_path = javaproject.build(home, [*shared, *own], reader.folder / "pom.xml", build, reader.replace, jars)
    return [str(home / "bin" / "java"), *_JAVA_OPTIONS, "-cp", class_path, *_program_of(reader, plugins)]


def _program_of(reader: Reader, plugins: Path | None) -> list[str]:
    """The main class and its arguments. An Eclipse application has its classes in bundles, which Equinox.java starts."""
    within = ["Equinox", str(plugins)] if plugins else []
    return [*within, "Serve", reader.main, *_identity(reader)]


def _identity(reader: Reader) -> list[str]:
    """What an adapter needs for its hello."""
    return [reader.title, reader.version or _bundle_version(reader), reader.bugs]


def _plugins(reader: Reader) -> Path:
    """The bundles of an application that the user has installed."""
    folder = Path(os.environ.get(reader.installed) or "/nonexistent").resolve() / "plugins"
    if not any(folder.glob(f"{reader.bundle}_*.jar")):
        raise NotHereError(f"{reader.why}: {reader.installed} names no folder whose plugins/ has {reader.bundle}")
    return folder


def _bundle_version(reader: Reader) -> str:
    jar = max(_plugins(reader).glob(f"{reader.bundle}_*.jar"))
    return jar.stem.removeprefix(f"{reader.bundle}_")


def _fetched(root: Path, reader: Reader, folder: Path) -> list[Path]:
    script = reader.folder / reader.fetched
    stamp = folder / "stamp"
    state = digest([script])
    with locked(folder):
        if not stamp.exists() or stamp.read_text(encoding="ascii") != state:
            sid = jvms.in_sid(root, 8).root
            install([script, sid, folder], root, folder.parent / f"{folder.name}.log")
            stamp.write_text(state, encoding="ascii")
    return sorted(folder.glob("*.java"))


def _jdk8_tools(root: Path) -> Path:
    """jhat runs on any JVM; only JDK 8 has its classes."""
    return next(Path("/usr/lib/jvm").glob("*8*/lib/tools.jar"), None) or jvms.in_sid(root, 8).tools / "lib" / "tools.jar"


def _program(root: Path, reader: Reader, build: Path) -> list[str]:
    """A crate, or a Cargo project of our own in the reader's folder; an adapter in Python starts it."""
    _crate(root, reader, build)
    program = [str(build / "bin" / reader.start[0]), *reader.start[1:]]
    adapter = f"hprof_conformance.adapters.{reader.adapter}"
    return [sys.executable, "-m", adapter, *_identity(reader), *program]


def _crate(root: Path, reader: Reader, build: Path) -> None:
    stamp = build / "stamp"
    folders = root / "conformance" / "readers"
    own = [*reader.folder.glob("Cargo.*"), *reader.folder.glob("src/*.rs"), *folders.glob("rust/*.rs")]
    state = digest(sorted(own), reader.crate, str(reader.replace))
    with locked(build):
        if stamp.exists() and stamp.read_text(encoding="ascii") == state:
            return
        build.mkdir(parents=True, exist_ok=True)
        what: list[str | Path] = list(reader.crate.split())
        if not what:
            for path in own:
                copy_source(path, build / "sources" / path.relative_to(folders), reader.replace)
            what = ["--path", build / "sources" / reader.name]
        # Of its own: while Cargo builds in one, it lets no other reader build there.
        target: list[str | Path] = ["--target-dir", build / "target"]
        options: list[str | Path] = ["--locked", "--quiet", "--force", "--root", build, *target]
        install([need("cargo"), "install", *options, *what], build, build / "cargo.log")
        stamp.write_text(state, encoding="ascii")


def command(root: Path, reader: Reader, build: Path) -> list[str]:
    """What starts the reader; installs it first. Raises NotHereError."""
    if reader.kind == "none":
        raise NotHereError(reader.why)
    if reader.kind == "java":
        return _java(root, reader, build)
    return _program(root, reader, build)


def lacks(reader: Reader) -> str:
    """What this machine has not, and the reader needs, at a glance; or why no machine runs it."""
    if reader.kind == "none":
        return reader.why
    if reader.kind == "program":
        missing = [] if shutil.which("cargo") else ["Cargo"]
    else:
        missing = javaproject.lacks()
        if reader.jdk8_tools or reader.fetched:
            missing += jvms.lacks(8)
        if reader.installed and not os.environ.get(reader.installed):
            missing.append(f"a folder named by {reader.installed}")
    return f"not here: {', '.join(missing)}" if missing else ""


def environment(reader: Reader) -> str:
    """What a shell takes before the command of a run that has this reader; empty for most."""
    return f"{reader.installed}={shlex.quote(os.environ.get(reader.installed, ''))}" if reader.installed else ""


FILE = "FILE"


def one_request(command: list[str]) -> str:
    """What a shell takes to have a reader that speaks the protocol read FILE."""
    return f'echo \'{{"case": "", "file": "{FILE}"}}\' | {shlex.join(command)}'


def by_hand(root: Path, reader: Reader, build: Path) -> str:
    """What a shell in `root` takes to run the reader, once it is installed, on FILE."""
    own = build.relative_to(root) if build.is_relative_to(root) else build
    if reader.kind == "java":
        class_path = f"{own / 'classes'}:{own / 'jars' / '*'}"
        plugins = _plugins(reader) if reader.installed else None
        if reader.jdk8_tools:
            class_path += ":" + str(_jdk8_tools(root))
        elif plugins:
            class_path += f":{plugins / '*'}"
        java = str(jvms.any_home(root, reader.jdk) / "bin" / "java") if reader.jdk else "java"
        return one_request([java, *_JAVA_OPTIONS, "-cp", class_path, *_program_of(reader, plugins)])
    return shlex.join([str(own / "bin" / reader.start[0]), *reader.start[1:], FILE])


def own_reader(program: str) -> Reader:
    """What `--reader PROGRAM` names."""
    path = own_program(program)
    return Reader(path.name, path.name, "unknown", path.name, "", "", "own", path, {})
