"""The readers of conformance/readers: what each is, how it is installed, how it is started."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from hprof_conformance.protocol import FEATURES

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
_JAVA_OPTIONS = ("-Xmx1g", "-Xss1m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8")


class NotHereError(Exception):
    """A reader or a producer cannot run on this machine; the message says why."""


@dataclass(frozen=True)
class Reader:
    name: str
    title: str
    version: str
    family: str
    home: str
    bugs: str
    kind: str  # java, program, none
    folder: Path
    unsupported: dict[str, str]
    main: str = ""  # java: the class of the adapter
    sources: list[str] = field(default_factory=list)  # java: beside those of the folder
    replace: dict[str, str] = field(default_factory=dict)  # java: in the sources
    jdk8_tools: bool = False  # java: it is part of the tools.jar of JDK 8
    crate: str = ""  # program: as `cargo install` takes it; empty if the folder holds a Cargo project
    start: list[str] = field(default_factory=list)  # program: what is installed, and its options before the file
    adapter: str = ""  # program: a module of hprof_conformance.adapters
    why: str = ""  # none: why it is not run
    in_ci: bool = True  # whether `--readers ci` has it


def read_readers(root: Path) -> list[Reader]:
    found = []
    for path in sorted((root / "conformance" / "readers").glob("*/reader.toml")):
        stated = tomllib.loads(path.read_text(encoding="utf-8"))
        unknown = set(stated.get("unsupported", {})) - set(FEATURES)
        if unknown:
            raise SystemExit(f"{path}: no such feature: {', '.join(sorted(unknown))}")
        found.append(Reader(name=path.parent.name, folder=path.parent, **{"unsupported": {}, **stated}))
    return found


def _run(command: list[str | Path], folder: Path, log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out:
        status = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False).returncode
    if status:
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
        raise NotHereError(f"{Path(command[0]).name} ended with {status}: {' '.join(last)[:500]}")


def _need(program: str) -> str:
    found = shutil.which(program)
    if not found:
        raise NotHereError(f"needs {program}, which is not installed")
    return found


def _digest(paths: list[Path], *words: str) -> str:
    return hashlib.sha256("\0".join([*(path.read_text(encoding="utf-8") for path in paths), *words]).encode()).hexdigest()


def jdk_home(root: Path, major: int = 0) -> Path:
    """Of any JDK, or of one of a major version: HPROF_JDK8 and the like name it, or /usr/lib/jvm has it."""
    if not major:
        run = subprocess.run([root / "ci" / "jdk"], stdout=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            raise NotHereError("needs a JDK")
        return Path(run.stdout.strip())
    named = os.environ.get(f"HPROF_JDK{major}")
    candidates = [Path(named)] if named else sorted(Path("/usr/lib/jvm").glob("*"))
    for home in candidates:
        release = home / "release"
        if (home / "bin" / "java").exists() and release.exists():
            version = release.read_text(encoding="utf-8").partition('JAVA_VERSION="')[2].partition('"')[0]
            if version.removeprefix("1.").split(".")[0] == str(major):
                return home
    raise NotHereError(f"needs a JDK {major}: HPROF_JDK{major} may name its home")


def _build_java(root: Path, reader: Reader, build: Path) -> list[str]:
    jdk = jdk_home(root)
    shared = sorted((root / "conformance" / "readers" / "java").glob("*.java"))
    own = [*sorted(reader.folder.glob("*.java")), *((reader.folder / source).resolve() for source in reader.sources)]
    pom = reader.folder / "pom.xml"
    stamp = build / "stamp"
    state = _digest([*shared, *own, pom], str(reader.replace), str(jdk))
    if not stamp.exists() or stamp.read_text(encoding="ascii") != state:
        shutil.rmtree(build, ignore_errors=True)
        sources = build / "sources"
        sources.mkdir(parents=True)
        for path in [*shared, *own]:
            text = path.read_text(encoding="utf-8")
            for old, new in reader.replace.items():
                text = text.replace(old, new)
            (sources / path.name).write_text(text, encoding="utf-8")
        jars = f"-DoutputDirectory={build / 'jars'}"
        _run([_need("mvn"), "-q", "-B", "-f", pom, f"{_COPY}:copy-dependencies", jars], build, build / "mvn.log")
        (build / "classes").mkdir()
        to: list[str | Path] = ["-nowarn", "-cp", _class_path(reader, build), "-d", build / "classes"]
        _run([jdk / "bin" / "javac", *to, *sorted(sources.glob("*.java"))], build, build / "javac.log")
        stamp.write_text(state, encoding="ascii")
    return [str(jdk / "bin" / "java"), *_JAVA_OPTIONS, "-cp", _class_path(reader, build), "Serve", reader.main]


def _jdk8_tools() -> Path:
    """jhat runs on any JVM; only JDK 8 has its classes. HPROF_JDK8_ROOT is a file system with OpenJDK 8."""
    for home in (os.environ.get("HPROF_JDK8_ROOT", ""), "/"):
        for jar in sorted(Path(home).glob("usr/lib/jvm/*8*/lib/tools.jar")) if home else []:
            return jar
    raise NotHereError("needs the tools.jar of JDK 8: HPROF_JDK8_ROOT may name a file system with OpenJDK 8")


def _class_path(reader: Reader, build: Path) -> str:
    tools = [_jdk8_tools()] if reader.jdk8_tools else []
    return os.pathsep.join(str(path) for path in [build / "classes", *sorted((build / "jars").glob("*.jar")), *tools])


def _build_program(root: Path, reader: Reader, build: Path) -> list[str]:
    """A crate, or a Cargo project of our own in the reader's folder; an adapter in Python starts it."""
    stamp = build / "stamp"
    project = reader.folder / "Cargo.toml"
    state = _digest([*reader.folder.glob("Cargo.*"), *reader.folder.glob("src/*.rs")], reader.crate)
    if not stamp.exists() or stamp.read_text(encoding="ascii") != state:
        build.mkdir(parents=True, exist_ok=True)
        what: list[str | Path] = ["--path", reader.folder] if project.exists() else list(reader.crate.split())
        options: list[str | Path] = ["--locked", "--quiet", "--force", "--root", build, "--target-dir", build.parent / "target"]
        _run([_need("cargo"), "install", *options, *what], build, build / "cargo.log")
        stamp.write_text(state, encoding="ascii")
    program = [str(build / "bin" / reader.start[0]), *reader.start[1:]]
    return [
        sys.executable,
        "-m",
        f"hprof_conformance.adapters.{reader.adapter}",
        reader.title,
        reader.version,
        reader.bugs,
        *program,
    ]


def command(root: Path, reader: Reader, build: Path) -> list[str]:
    """What starts the reader; installs it first. Raises NotHereError."""
    if reader.kind == "none":
        raise NotHereError(reader.why)
    if reader.kind == "java":
        return _build_java(root, reader, build)
    return _build_program(root, reader, build)


def own_reader(program: str) -> Reader:
    """What `--reader PROGRAM` names."""
    path = Path(program).resolve()
    if not path.exists():
        raise SystemExit(f"{program}: no such file")
    return Reader(path.name, path.name, "unknown", path.name, "", "", "own", path, {})
