"""Java sources of ours with libraries that Maven fetches, and what else is installed from a registry."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from hprof_conformance import jvms
from hprof_conformance.files import locked
from hprof_conformance.jvms import NotHereError, install

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"


def need(program: str) -> str:
    found = shutil.which(program)
    if not found:
        raise NotHereError(f"needs {program}, which is not installed")
    return found


def lacks() -> list[str]:
    """What this machine has not, and Java code needs to be built."""
    return [name for name, found in (("Maven", shutil.which("mvn")), ("a JDK", jvms.some_javac())) if not found]


def digest(paths: list[Path], *words: str) -> str:
    return hashlib.sha256("\0".join([*(path.read_text(encoding="utf-8") for path in paths), *words]).encode()).hexdigest()


def copy_source(path: Path, copy: Path, replace: dict[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for old, new in replace.items():
        text = text.replace(old, new)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, encoding="utf-8")


def build(
    home: Path, sources: list[Path], pom: Path, into: Path, replace: dict[str, str] | None = None, jars: Sequence[Path] = ()
) -> str:
    """The class path. `replace` holds for the text of the sources. What has not changed is not built again."""
    with locked(into):
        _build(home, sources, pom, into, replace, jars)
    return _class_path(into, jars)


def _build(home: Path, sources: list[Path], pom: Path, into: Path, replace: dict[str, str] | None, jars: Sequence[Path]) -> None:
    stamp = into / "stamp"
    state = digest([*sources, pom], str(replace), str(home))
    if not stamp.exists() or stamp.read_text(encoding="ascii") != state:
        shutil.rmtree(into, ignore_errors=True)
        copies = into / "sources"
        for path in sources:
            copy_source(path, copies / path.name, replace or {})
        to = f"-DoutputDirectory={into / 'jars'}"
        install([need("mvn"), "-q", "-B", "-f", pom, f"{_COPY}:copy-dependencies", to], into, into / "mvn.log")
        (into / "classes").mkdir()
        options: list[str | Path] = ["-nowarn", "-cp", _class_path(into, jars), "-d", into / "classes"]
        install([home / "bin" / "javac", *options, *sorted(copies.glob("*.java"))], into, into / "javac.log")
        stamp.write_text(state, encoding="ascii")


def _class_path(into: Path, jars: Sequence[Path]) -> str:
    return os.pathsep.join(str(path) for path in [into / "classes", *sorted((into / "jars").glob("*.jar")), *jars])
