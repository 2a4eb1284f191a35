"""The JVMs of this machine, and those of a small Debian sid, each with its tools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hprof_conformance import steps
from hprof_conformance.command import RefusedError
from hprof_conformance.files import locked

_OTHERS = ("-i386",)  # architectures whose JDKs may lie beside those of the machine


class NotHereError(Exception):
    """A reader or a producer cannot run on this machine; the message says why."""


class NotBuiltError(NotHereError):
    """It could, if it had not failed to build or to install."""


def install(command: Sequence[str | Path], folder: Path, log: Path) -> None:
    """Raises NotBuiltError; but NotHereError if the command ends because this user may not install what it needs."""
    status = steps.run(command, folder, log)
    if status:
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
        error = NotHereError if status == os.EX_NOPERM else NotBuiltError
        raise error(f"{Path(command[0]).name} ended with {status}: {' '.join(last)[:500]}")


@dataclass(frozen=True)
class Jvm:
    home: Path  # within `root`
    root: Path = Path("/")  # the file system that it runs in

    @property
    def tools(self) -> Path:
        """The home as this process sees it."""
        return self.root / self.home.relative_to("/")

    def command(self, tool: str) -> list[str]:
        enter = [] if self.root == Path("/") else ["chroot", str(self.root)]
        return [*enter, str(self.home / "bin" / tool)]

    def inside(self, path: Path) -> str:
        """What the JVM calls a file."""
        return f"/{path.relative_to(self.root)}"

    def folder(self, name: str) -> Path:
        """A new one, which the JVM sees too."""
        return Path(tempfile.mkdtemp(prefix=f"hprof-{name}-", dir=self.root / "tmp"))

    def version(self) -> str:
        said = subprocess.run([*self.command("java"), "-version"], capture_output=True, text=True, check=True, timeout=60).stderr
        return said.partition('"')[2].partition('"')[0]


def any_home(root: Path, least: int = 0) -> Path:
    """Of a JDK that compiles: the newest of the machine if it has to be of a version or a later one."""
    if least:
        homes = [home for home in Path("/usr/lib/jvm").glob("*") if (home / "bin" / "javac").exists() and _major(home)]
        newest = max(homes, key=lambda home: int(_major(home)), default=None)
        if newest is None or int(_major(newest)) < least:
            raise NotHereError(f"needs a JDK of {least} or later in /usr/lib/jvm")
        return newest
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "jdk.log"
        install([root / "ci" / "jdk"], root, log)
        return Path(log.read_text(encoding="utf-8").splitlines()[-1])


def _major(home: Path) -> str:
    release = home / "release"
    if not (home / "bin" / "java").exists() or not release.exists():
        return ""
    version = release.read_text(encoding="utf-8").partition('JAVA_VERSION="')[2].partition('"')[0]
    return version.removeprefix("1.").split(".")[0]


def check_named() -> None:
    """Raises RefusedError if HPROF_JDK17 or the like names no JDK of this version, even if the run does not need that JDK."""
    for name, home in sorted(os.environ.items()):
        major = re.fullmatch(r"HPROF_JDK(\d+)", name)
        if not major or not home:
            continue
        found = _major(Path(home))
        if found != major[1]:
            raise RefusedError(f"{name}: {home}: {f'the home of JDK {found}' if found else 'no home of a JDK'}")


def find(root: Path, major: int, architecture: str = "") -> Jvm:
    """HPROF_JDK17 and the like name its home, or /usr/lib/jvm has it, or Debian sid. One of another architecture, such as i386, is
    that of Debian sid."""
    if architecture:
        return in_sid(root, major, architecture)
    named = os.environ.get(f"HPROF_JDK{major}")
    if named:
        check_named()
        return Jvm(Path(named))
    for home in sorted(Path("/usr/lib/jvm").glob("*")):
        if _major(home) == str(major):
            return Jvm(home)
    return in_sid(root, major)


def some_javac() -> bool:
    return bool(shutil.which("javac") or next(Path("/usr/lib/jvm").glob("*/bin/javac"), None))


def is_here(major: int, architecture: str = "") -> bool:
    """Whether a JDK is on this machine: nothing is set up for the answer."""
    if not architecture:
        if os.environ.get(f"HPROF_JDK{major}"):
            return True
        if any(_major(home) == str(major) for home in Path("/usr/lib/jvm").glob("*")):
            return True
    folder = os.environ.get("HPROF_JDK_ROOT")
    return bool(folder and _home_in(Path(folder), major, architecture))


def lacks(major: int, architecture: str = "") -> list[str]:
    """What a list of what is not here says of a JDK; empty if it is here."""
    if is_here(major, architecture):
        return []
    what = " ".join(filter(None, ["JDK", str(major), architecture]))
    return [f"{what} ({'root gets it' if os.geteuid() else 'the run gets it'} from Debian sid)"]


def in_sid(root: Path, major: int, architecture: str = "") -> Jvm:
    """In the file system that HPROF_JDK_ROOT names, or one of our own. It is made when it is needed, by root."""
    folder = Path(os.environ.get("HPROF_JDK_ROOT") or root / "build" / "conformance" / "jdks")
    if os.geteuid():
        raise NotHereError(f"needs JDK {major}: HPROF_JDK{major} may name its home; root gets it from Debian sid")
    package = f"{major}:{architecture}" if architecture else str(major)
    with locked(folder):
        if not _home_in(folder, major, architecture) or not (folder / "proc" / "self").exists():
            setup = root / "conformance" / "producers" / "hotspot" / "setup-root"
            install([setup, folder, package], root, folder.with_name(f"{folder.name}.log"))
    home = _home_in(folder, major, architecture)
    if not home:
        raise NotHereError(f"{folder} has no JDK {package}")
    return Jvm(Path("/") / home.relative_to(folder), folder)


def _home_in(folder: Path, major: int, architecture: str) -> Path | None:
    """Without an architecture: that of the machine, which is none of `_OTHERS`."""
    homes = [java.parents[1] for java in folder.glob(f"usr/lib/jvm/java-{major}-openjdk-{architecture or '*'}/bin/javac")]
    return next((home for home in homes if architecture or not home.name.endswith(_OTHERS)), None)
