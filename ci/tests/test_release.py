"""The files that ci/release makes work on a machine that has nothing else.

ci/full runs this as root, with HPROF_RELEASE naming the folder of the files.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
FILES = Path(os.environ["HPROF_RELEASE"])
TOOLS = ("hprof", "hprof-validate", "hprof-diff", "hprof-reduce", "hprof-gen", "hprof-serve")
VERSION = re.search(r'HPROF_VERSION "(.*)"', (SOURCE / "validator/include/hprof/hprof.h").read_text())[1]  # type: ignore[index]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True, check=True).stdout


def the(pattern: str) -> Path:
    (file,) = FILES.glob(pattern)
    return file


@dataclass
class Root:
    """A system of its own in a folder."""

    folder: Path

    def copy(self, name: str) -> "Root":
        run("cp", "--archive", self.folder, self.folder.parent / name)
        return Root(self.folder.parent / name)

    def take(self, *files: Path) -> None:
        for file in files:
            shutil.copy(file, self.folder / "tmp")

    def shell(self, line: str, folder: str = "/tmp", user: str = "root") -> str:
        clean = ("env", "--ignore-environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root")
        command = (*clean, "sh", "-ec", f"cd {shlex.quote(folder)}\n{line}")
        return run("chroot", f"--userspec={user}", self.folder, *command)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Root:
    """The distribution that this runs on, with what every installation has, and no more."""
    uri, suite = run("apt-cache", "madison", "libisal-dev").splitlines()[0].split()[4:6]
    folder = tmp_path_factory.mktemp("roots") / "bare"
    run("debootstrap", "--variant=minbase", suite.partition("/")[0], folder, uri)
    shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
    return Root(folder)


@pytest.fixture(scope="session")
def installed(bare: Root) -> Root:
    root = bare.copy("installed")
    root.take(*FILES.glob("*.deb"), *FILES.glob("hprof-corpus-*.tar.gz"))
    root.shell("apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ./*.deb")
    return root


# ---- The files -------------------------------------------------------------------------------------------------------


def test_sums() -> None:
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=FILES)
    assert len((FILES / "SHA256SUMS").read_text().splitlines()) == len(list(FILES.iterdir())) - 1 == 5 + len(TOOLS)


def test_lintian_has_nothing_to_say() -> None:
    for package in FILES.glob("*.deb"):
        done = subprocess.run(
            ["lintian", "--allow-root", "--display-info", package], stdout=subprocess.PIPE, text=True, check=False
        )
        assert (done.stdout, done.returncode) == ("", 0)


def test_source_has_each_tracked_file() -> None:
    top = f"hprof-{VERSION}/"
    with tarfile.open(the(f"hprof-{VERSION}.tar.gz")) as archive:
        names = {member.name.removeprefix(top) for member in archive.getmembers() if not member.isdir()}
    assert names == set(run("git", "ls-files", cwd=SOURCE).splitlines())


# ---- Installed -------------------------------------------------------------------------------------------------------


def check_corpus(root: Root, tool: str) -> None:
    """The tool gives each dump of the corpus its verdict."""
    root.shell(f"tar xzf hprof-corpus-{VERSION}.tar.gz")
    corpus = f"/tmp/hprof-corpus-{VERSION}/corpus"
    entries = json.loads((root.folder / corpus[1:] / "manifest.json").read_text())["files"]
    wanted = {entry["file"]: entry["verdict"] for entry in entries if entry["checked_in"]}
    report = root.shell(f"{tool} --profile strict --format json $(find . -name '*.hprof' -o -name '*.gz') || [ $? -eq 1 ]", corpus)
    found = {file["file"].removeprefix("./"): "valid" if file["valid"] else "invalid" for file in json.loads(report)["files"]}
    assert len(found) > 100
    assert found == wanted


def test_debian_packages(installed: Root) -> None:
    assert installed.shell("hprof-validate --version").split() == ["hprof-validate", VERSION]
    check_corpus(installed, "hprof-validate")
    made = "hprof-gen --objects 1000 | hprof-validate -"
    assert installed.shell(made, user="nobody").startswith("standard input: ")
    for tool in (*TOOLS, "hprof-ascii"):
        assert "HPROF" in installed.shell(f"zcat /usr/share/man/man1/{tool}.1.gz")
    for tool in TOOLS:
        for place in ("bash-completion/completions/", "zsh/vendor-completions/_", "fish/vendor_completions.d/"):
            assert tool in (installed.folder / f"usr/share/{place}{tool}{'.fish' * place.startswith('fish')}").read_text()
    assert "Heap dumps: " in installed.shell("hprof gen --objects 1000 | hprof stats -", user="nobody")
    installed.take(SOURCE / "corpus/ascii/valid/header-only.txt")
    assert ": valid" in installed.shell("hprof-ascii check header-only.txt", user="nobody")
    assert (installed.folder / "usr/lib/hprof/libhprof.so").stat().st_size > 100_000
    assert "cpu=samples" in installed.shell("zcat /usr/share/man/man7/libhprof.7.gz")
    for document in ("SPEC.md", "validator/RULES.md", "conformance/PRODUCERS.md"):
        assert (installed.folder / "usr/share/doc/hprof" / document).read_text() == (SOURCE / document).read_text()


def test_library_of_the_package(installed: Root) -> None:
    root = installed.copy("library")
    root.shell("DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends gcc libc6-dev pkg-config")
    root.take(SOURCE / "validator/tests/consumer/check.c")
    root.shell("cc -o check check.c $(pkg-config --cflags --libs hprof)")
    assert "HDR-001" in root.shell("echo nothing >bad; ./check bad || [ $? -eq 1 ]")


def test_packages_leave_nothing_behind(installed: Root) -> None:
    root = installed.copy("removed")
    root.shell("dpkg --purge libhprof-dev hprof")
    assert [path for path in (root.folder / "usr").rglob("*hprof*") if "corpus" not in str(path)] == []


def test_static_binaries_need_nothing(tmp_path: Path) -> None:
    """In a root with no other file but /dev/null, which hprof-reduce gives its command as standard input. hprof-gen uses its copies
    of zlib and libcrypto: the dump is compressed and has a digest."""
    for tool in TOOLS:
        shutil.copy(the(f"{tool}-{VERSION}-linux-*"), tmp_path / tool)
    (tmp_path / "dev").mkdir()
    run("mknod", tmp_path / "dev/null", "c", "1", "3")
    run("chroot", tmp_path, "/hprof-gen", "--objects=1e4", "--gz=1", "--output=/dump.hprof", "--manifest=/dump.json")
    report = json.loads(run("chroot", tmp_path, "/hprof-validate", "--profile=strict", "--format=json", "/dump.hprof"))
    run("chroot", tmp_path, "/hprof-reduce", "/dump.hprof", "--output=/small.hprof", "--", "/hprof-validate")
    assert 0 < (tmp_path / "small.hprof").stat().st_size < 100
    (tmp_path / "as-published").mkdir()
    front, validator = the(f"hprof-{VERSION}-linux-*"), the(f"hprof-validate-{VERSION}-linux-*")
    for file in (front, validator):
        shutil.copy(file, tmp_path / "as-published")
    for path in ("/hprof", f"/as-published/{front.name}"):
        assert "Heap dumps: 1" in run("chroot", tmp_path, path, "stats", "/dump.hprof")
    truth = json.loads((tmp_path / "dump.json").read_text())
    assert report["files"][0]["valid"]
    run("chroot", tmp_path, "/hprof-diff", "--quiet", "/dump.hprof", "/dump.hprof")
    assert truth["sha256"] == hashlib.sha256((tmp_path / "dump.hprof").read_bytes()).hexdigest()


def test_static_binary_on_the_corpus(bare: Root) -> None:
    root = bare.copy("static")
    root.take(the("hprof-validate-*"), the("hprof-corpus-*"))
    check_corpus(root, f"/tmp/{the('hprof-validate-*').name}")


def test_agent_of_the_release(bare: Root) -> None:
    """It has all but glibc in it, of which it needs no later one than ci/agent says. A VM loads it, and its dump is valid."""
    (agent,) = FILES.glob("libhprof-*.so")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", agent))
    assert {name.partition(".so")[0] for name in needed} <= {"libc", "libm", "libpthread", "libdl", "ld-linux-x86-64"}
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", agent.read_bytes())
    assert versions and max((int(major), int(minor)) for major, minor in versions) <= (2, 17)
    root = bare.copy("agent")
    root.take(agent, the("hprof-validate-*"), SOURCE / "conformance/producers/agent8/Crowd.java")
    install = "DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends default-jdk-headless"
    java = f"java -agentpath:/tmp/{agent.name}=heap=dump,format=b,file=/tmp/app.hprof Crowd.java 4 1"
    script = f"mount -t proc proc /proc\ntrap 'umount /proc' EXIT\napt-get update\n{install}\n{java}"
    assert "Dumping Java heap ... done." in root.shell(f"{script} 2>&1")
    assert ": valid (" in root.shell(f"/tmp/{the('hprof-validate-*').name} --profile strict app.hprof")


# ---- The first ten minutes ---------------------------------------------------------------------------------------------


def test_demo(bare: Root) -> None:
    """What README says first: on a bare system, in few lines. Its status is 0, or `shell` fails. With the PATH that it prints
    the tools of the rest of README are found."""
    root = bare.copy("demo")
    run("tar", "--extract", "--file", the(f"hprof-{VERSION}.tar.gz"), "--directory", root.folder / "tmp")
    script = "mount -t proc proc /proc\ntrap 'umount /proc' EXIT\nci/demo 2>&1"
    lines = root.shell(script, folder=f"/tmp/hprof-{VERSION}").splitlines()
    assert len(lines) <= 25
    assert [line.split()[1] for line in lines if line.startswith("$ ")] == ["hprof-validate"] * 3
    versions = root.shell(f"{lines[-1]}\nfor tool in {' '.join(TOOLS)}; do $tool --version; done")
    assert versions.split()[::2] == list(TOOLS)
