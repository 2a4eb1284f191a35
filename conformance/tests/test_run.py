"""conformance/run: what is asked of it, what it lacks, how it ends, and what it leaves."""

from __future__ import annotations

import argparse
import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from built import ROOT, needs_tool, reads_records

from hprof_conformance import (
    expectations,
    jvms,
    main,
    matrix,
    outcomes,
    producers,
    readers,
    report,
    steps,
    tools,
    ways,
)
from hprof_conformance.command import RefusedError
from hprof_conformance.everything import FailedError
from hprof_conformance.jvms import NotBuiltError, NotHereError
from hprof_conformance.producers import read_producers
from hprof_conformance.readers import Reader, read_readers
from hprof_conformance.session import Limits


def run(*options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "hprof_conformance.main", "--quiet", *options]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


def test_a_program_that_takes_a_file_is_a_reader(tmp_path: Path) -> None:
    reader = reads_records(tmp_path / "my-reader")
    status, out = run("--reader", str(reader), "--cases", "valid/names-*,HDR-001", "--report", str(tmp_path / "report"))
    found = json.loads((tmp_path / "report" / "report.json").read_text())["readers"][0]
    results = {one["case"]: one["outcome"] for one in found["results"]}
    assert status == 0, out
    assert results["valid/names-odd"] == outcomes.NOT_COMPARED
    assert "rejected" in results.values()
    for name in ("matrix.md", "junit.xml", "index.html"):
        assert (tmp_path / "report" / name).stat().st_size > 0


def test_a_reader_of_ones_own_fails_for_what_it_does_not_report(tmp_path: Path) -> None:
    reader = reads_records(tmp_path / "my-reader")
    found = run("--reader", str(reader), "--cases", "REC-007", "--report", str(tmp_path / "report"))
    made = json.loads((tmp_path / "report" / "report.json").read_text())["readers"][0]
    assert found[0] == 1, found[1]
    assert {one["outcome"] for one in made["results"]} == {"accepted without notice"}
    assert made["scores"]["unreported"] == made["scores"]["invalid"] > 0


def test_a_reader_of_ones_own_fails_for_a_valid_dump_that_it_refuses(tmp_path: Path) -> None:
    reader = reads_records(tmp_path / "jol", "bytes")  # the expectations of JOL, of another version, do not hold for it
    status, out = run("--reader", str(reader), "--cases", "valid/arrays-all-types-*", "--report", str(tmp_path / "report"))
    assert status == 1
    assert "refused, and no line expects it" in out


@needs_tool
@pytest.mark.parametrize(
    ("script", "status", "words"),
    [
        ("cp corpus/valid/names-odd.hprof $1", 0, "| not compared |"),
        ("cp corpus/invalid/OBJ-004/two-instances-102-id8.hprof $1", 1, "dump: invalid; OBJ-004, and no line expects it"),
        ("echo no heap >&2; exit 3", 1, "ended with 3: no heap"),
        ("exit 0", 1, "nothing is left"),
    ],
)
def test_a_producer_of_ones_own(script: str, status: int, words: str, tmp_path: Path) -> None:
    producer = tmp_path / "my-dump"
    producer.write_text(f"#!/bin/sh\ncd {ROOT} && {script}\n")
    producer.chmod(0o755)
    found = run("--producer", str(producer), "--report", str(tmp_path / "report"))
    assert found[0] == status and words in found[1], found[1]


def test_what_ends_one_reader_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a full disk. Neither a reader nor a producer that takes long is waited for."""
    first, second = read_readers(ROOT)[:2]
    monkeypatch.setattr(steps, "stopping", threading.Event())

    def run_reader(root: Path, build: Path, reader: Reader, *_: object) -> matrix.Row:
        if reader == second:
            raise OSError(errno.ENOSPC, "No space left on device")
        assert steps.stopping.wait(60)
        return matrix.Row(reader)

    monkeypatch.setattr(matrix, "run_reader", run_reader)
    for seconds in (None, 1):
        steps.stopping.clear()
        with (
            pytest.raises(OSError, match="No space left"),
            matrix.running(ROOT, ROOT, [first, second], matrix.Cases([]), Limits(), 2) as finished,
        ):
            finished(seconds)


def test_a_reader_that_cannot_be_built_fails(tmp_path: Path) -> None:
    """A reader whose tools are not here is left out."""
    (jol,) = (one for one in read_readers(ROOT) if one.name == "jol")
    broken = replace(jol, replace={"class": "clas"}, folder=tmp_path)
    (tmp_path / "Jol.java").write_text("clas Jol {}", encoding="utf-8")
    (tmp_path / "pom.xml").write_text((jol.folder / "pom.xml").read_text(encoding="utf-8"), encoding="utf-8")
    row = matrix.run_reader(ROOT, tmp_path / "build", broken, matrix.Cases([]), Limits())
    made = report.make([row], [], {}, {}, [])
    assert report.fails_calibration(made["readers"][0]) and "ended with" in row.why_not
    absent = matrix.run_reader(ROOT, tmp_path, replace(jol, kind="none", why="no"), matrix.Cases([]), Limits())
    assert not report.fails_calibration(report.make([absent], [], {}, {}, [])["readers"][0])


@needs_tool
@pytest.mark.parametrize(
    ("error", "surprises"),
    [(FailedError("it ended"), 1), (NotBuiltError("cmake ended with 1"), 1), (NotHereError("needs a JDK"), 0)],
)
def test_a_producer_that_fails_is_a_surprise(
    error: Exception, surprises: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(setting: ways.Setting) -> list[ways.Dump]:
        raise error

    (one,) = (each for each in read_producers(ROOT) if each.name == "hprof-gen")
    monkeypatch.setitem(ways.KINDS, "hprof-gen", raises)
    found = producers.run(ROOT, tmp_path, one, None, False)
    assert (found["ran"], found["why_not"], len(found["surprises"])) == (False, str(error), surprises)


@needs_tool
def test_a_producer_that_no_longer_says_what_it_dumped_is_a_surprise() -> None:
    dump = ways.Dump("plain", ROOT / "corpus/valid/fields-all-types-102-id8.hprof", "strict")
    tool = tools.built(ROOT, "hprof-validate", "validator")
    assert producers.check(tool, dump, says=False)["fine"]
    found = producers.check(tool, dump, says=True)
    assert not found["fine"] and expectations.outcome_of_dump(found) == "content differs"


@needs_tool
def test_a_producer_that_cannot_be_started_fails(tmp_path: Path) -> None:
    producer = tmp_path / "my-dump"
    producer.touch(mode=0o755)
    status, out = run("--producer", str(producer), "--report", str(tmp_path / "report"))
    assert status == 1 and "Exec format error" in out


@needs_tool
def test_a_jvm_that_does_not_run_is_no_other_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Differences of another version than the expectations name do not fail the run."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\necho broken >&2; exit 1\n")
    (tmp_path / "bin" / "java").chmod(0o755)
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.99"\n')
    monkeypatch.setenv("HPROF_JDK17", str(tmp_path))
    status, out = run("--readers", "none", "--producers", "jdk17:small", "--report", str(tmp_path / "report"))
    assert status == 1 and "jdk17: the run: " in out, out


def test_a_tool_that_the_environment_names_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPROF_VALIDATE", "/nonexistent")
    status, out = run("--readers", "none", "--producers", "hprof-gen", "--report", str(tmp_path / "report"))
    assert (status, out) == (2, "conformance/run: HPROF_VALIDATE: /nonexistent: no such file\n")


@pytest.mark.parametrize("options", [["--list"], ["--readers", "none", "--producers", "hprof-gen"]])
def test_a_jdk_that_the_environment_names_is_one_of_this_version(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the run does not need it: without it, the run would take another JDK."""
    monkeypatch.setenv("HPROF_JDK17", str(tmp_path))
    assert run(*options) == (2, f"conformance/run: HPROF_JDK17: {tmp_path}: no home of a JDK\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch(mode=0o755)
    (tmp_path / "release").write_text('JAVA_VERSION="1.8.0_402"\n')
    assert run(*options) == (2, f"conformance/run: HPROF_JDK17: {tmp_path}: the home of JDK 8\n")
    monkeypatch.setenv("HPROF_JDK8", str(tmp_path))
    monkeypatch.setenv("HPROF_JDK17", "")  # as if it were not set
    assert run("--list")[0] == 0
    with pytest.raises(RefusedError):
        monkeypatch.setenv("HPROF_JDK17", str(tmp_path))
        jvms.find(ROOT, 17)


def _every_mount_is_shared(folder: Path) -> bool:
    """If the root is no mount point, nobody within can change that a mount of a namespace of its own is seen outside."""
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return False
    script = 'mount -t tmpfs none "$0" && touch "$0/file"'
    own = ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", script, str(folder)]
    subprocess.run(own, stderr=subprocess.DEVNULL, check=False)
    if not list(folder.iterdir()):
        return False
    subprocess.run(["umount", folder], check=True)
    return True


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_mounts_end_with_the_run_even_if_it_is_killed(tmp_path: Path) -> None:
    within, was = tmp_path / "within", tmp_path / "was"
    mounts_and_dies = tmp_path / "python"
    mounts_and_dies.write_text(f"#!/bin/sh\nmount -t tmpfs none {within} && touch {within}/file {was}\nkill -9 $$\n")
    mounts_and_dies.chmod(0o755)
    within.mkdir()
    if _every_mount_is_shared(within):
        pytest.skip("a chroot in a machine whose mounts are shared")
    subprocess.run([ROOT / "conformance" / "run"], env={**os.environ, "HPROF_PYTHON": str(mounts_and_dies)}, check=False)
    if not was.exists():
        pytest.skip("mounting is forbidden here")
    assert not list(within.iterdir())


FAKE_PYTHON = """#!/bin/sh
folder=$4
mkdir -p "$folder/bin"
echo '#!/bin/sh' | tee "$folder/bin/pip" >"$folder/bin/python3"
echo 'echo "$@"' >>"$folder/bin/python3"
chmod +x "$folder"/bin/*
"""


@pytest.mark.parametrize(("script", "module"), [("run", "main"), ("fuzz-reader", "fuzz")])
def test_a_script_makes_the_environment_that_it_needs(script: str, module: str, tmp_path: Path) -> None:
    (tmp_path / "conformance").mkdir()
    (tmp_path / "ci").mkdir()
    for name in (script, "python", "builders", "requirements.txt"):
        shutil.copy(ROOT / "conformance" / name, tmp_path / "conformance")
    for name, text in (("ci/packages", "#!/bin/sh\n"), ("python3", FAKE_PYTHON), ("cargo", "#!/bin/sh\n"), ("mvn", "#!/bin/sh\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HPROF_PYTHON": ""}
    command = [str(tmp_path / "conformance" / script), "jol"]
    for _ in range(2):  # the second time it is there
        found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert found.stdout == f"-m hprof_conformance.{module} jol\n", found.stderr
        (tmp_path / "python3").unlink(missing_ok=True)


def test_the_first_part_of_a_name_means_all_that_begin_with_it() -> None:
    known = read_readers(ROOT)

    def chosen(*names: str) -> list[str]:
        asked = argparse.Namespace(reader=None, producer=None, filter=None, gold=False, readers=[*names])
        return [one.name for one in main.chosen_readers(asked, known)]

    assert chosen("shark", "jol") == ["jol", "shark-graph", "shark-stream"]
    assert chosen("gridkit") == ["gridkit"]  # a name of its own
    with pytest.raises(RefusedError):
        chosen("shar")


def test_dumps_of_more_than_2_gb_are_made_on_demand() -> None:
    known = read_producers(ROOT)
    asked = {"reader": None, "producer": None, "filter": None, "producers": ["jdk17"], "gold": False}
    for huge in (False, True):
        (one,) = main.chosen_producers(argparse.Namespace(**asked, huge=huge), known)
        assert ("huge" in one.ways) == huge and "jcmd" in one.ways


def test_the_name_of_a_dump_follows_that_of_its_producer() -> None:
    known = read_producers(ROOT)

    def chosen(*names: str) -> dict[str, list[str]]:
        asked = {"reader": None, "producer": None, "filter": None, "producers": [*names], "gold": False, "huge": False}
        return {one.name: one.ways for one in main.chosen_producers(argparse.Namespace(**asked), known)}

    assert chosen("sa8:*lain", "agent8:odd-nan", "agent8:small") == {"agent8": ["small", "odd-nan"], "sa8": ["plain"]}
    nobody = next(one.name for one in known if one.kind == "none")
    assert chosen(nobody) == {nobody: []}
    with pytest.raises(RefusedError, match="no dump of sa8 matches 'small-gz'"):
        chosen("sa8:small-gz")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--readers", "nobody"], "no reader is called 'nobody'; --list shows all"),
        (["--producers", "nobody"], "no producer is called 'nobody'; --list shows all"),
        (["--cases", "valid/*,nothing/*", "--readers", "jol"], "no case matches 'nothing/*'; --list shows all"),
        (["--cases", "nothing/*", "--list"], "no case matches 'nothing/*'; --list shows all"),
        (["--cases", "nothing", "--filter", "/bin/cp IN OUT"], "no dump for filters matches 'nothing'; --list shows all"),
        (["--accept", "nothing", "--update", "--finding", "1"], "no case matches 'nothing'; --list shows all"),
        (["--accept", "valid/*", "--update", "--finding", "9999"], "no finding of FINDINGS.md has the number 9999"),
        (["--accept", "valid/*", "--update", "--finding", "8"], "no finding of FINDINGS.md has the number 8"),
        (["--reader", "/nonexistent"], "/nonexistent: no such file"),
        (["--reader", __file__], f"{__file__}: not an executable file"),
        (["--producer", "/"], "/: not an executable file"),
        (["--report", f"{__file__}/report"], f"{__file__}/report: Not a directory"),
        (["--report", "/proc/report"], "/proc/report: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(options: list[str], words: str) -> None:
    assert run("--producers", "none", *options) == (2, f"conformance/run: {words}\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--timeout", "0s"], "'0s' is not a number of seconds above 0"),
        (["--timeout", "soon"], "'soon' is not"),
        (["--cases", ","], "names nothing"),
        (["--reader", "/bin/true", "--readers", "jol"], "exclude each other"),
        (["--reader", "/bin/true", "--update"], "--update with --reader needs --failures"),
        (["--reader", "/bin/true", "--producer", "/bin/true"], "--reader and --producer exclude each other"),
        (["--reader", "/bin/true", "--producers", "jdk17"], "--reader and --producers exclude each other"),
        (["--reader", "/bin/true", "--producers", "none", "--failures", "a", "--finding", "1"], "--failures and --finding exclude"),
        (["--producer", "/bin/true", "--readers", "jol"], "--producer and --readers exclude each other"),
        (["--producer", "/bin/true", "--filter", "/bin/true"], "--producer and --filter exclude each other"),
        (["--producer", "/bin/true", "--update"], "--producer and --update exclude each other"),
        (["--producer", "/bin/true", "--cases", "valid/*"], "--producer and --cases exclude each other"),
        (["--filter", "/bin/true", "--huge"], "--filter and --huge exclude each other"),
        (["--gold", "--readers", "jol"], "--gold and --readers exclude each other"),
        (["--failures", "a"], "--failures needs --reader"),
        (["--accept", "valid/*", "--finding", "1"], "--accept needs --update"),
        (["--accept", "valid/*", "--update"], "--accept needs --finding, or --failures with --reason"),
        (["--accept", "valid/*", "--update", "--reason", "so it is"], "--accept needs --finding, or --failures with --reason"),
        (["--accept", "valid/*", "--update", "--reader", "a", "--failures", "b"], "--accept with --failures needs --reason"),
        (["--finding", "1", "--update"], "--finding needs --accept"),
        (["--reason", "so it is"], "--reason needs --accept"),
    ],
)
def test_options_that_mean_nothing(
    options: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run", *options])
    with pytest.raises(SystemExit) as ended:
        main.arguments()
    assert ended.value.code == 2 and words in capsys.readouterr().err


def test_a_time_limit_for_small_dumps_is_one_for_large_ones_too() -> None:
    assert [(one.seconds, one.seconds_large) for one in map(main.limits, (None, 20.0, 120.0))] == [(10, 60), (20, 60), (120, 120)]


def test_what_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program that a run starts, or that it takes to build what the run starts."""
    for name in ("HPROF_VALIDATE", "HPROF_GEN", "HPROF_AGENT", "HPROF_JDK28", "HPROF_JDK_ROOT", "HPROF_JDK11"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    named = {one.name: one for one in read_producers(ROOT)}
    own = "cmake, ninja, cc, pkg-config"
    assert producers.lacks(tmp_path, named["hprof-repair"]).startswith(f"not here: {own} (")
    assert producers.lacks(tmp_path, named["shark"]).startswith(f"not here: {own} (")
    assert ", Maven" in producers.lacks(tmp_path, named["shark"])
    conv = replace(named["hprof-conv"], start=[str(tmp_path / "hprof-conv"), "IN", "OUT"])
    assert producers.lacks(tmp_path, conv).startswith(f"not here: {own}, hprof-conv (")
    assert "JDK 11 i386 (" in producers.lacks(tmp_path, named["jdk11-i386"])
    for name in ("hprof-validate", "hprof-gen", "mvn", "javac", "hprof-conv"):
        (tmp_path / name).touch(mode=0o755)
    for one in (named["hprof-repair"], named["hprof-gen"], named["hprof-gen-from"], named["shark"], conv):
        assert not producers.lacks(tmp_path, one)
    assert producers.lacks(tmp_path, named["libhprof28"]).startswith(f"not here: {own} (")


def test_which_readers_are_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAT_HOME", "HPROF_JDK8", "HPROF_JDK_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("hprof_conformance.jvms.lacks", lambda major: [f"JDK {major}"])  # whatever this machine has
    named = {one.name: one for one in read_readers(ROOT)}
    assert readers.lacks(named["google-hprof-parser"]) == named["google-hprof-parser"].why != ""
    assert readers.lacks(named["hprof-slurp"]) == "not here: Cargo"
    for name, more in (("jol", ""), ("jhat", ", JDK 8"), ("eclipse-mat", ", a folder named by MAT_HOME")):
        assert readers.lacks(named[name]).startswith("not here: Maven") and readers.lacks(named[name]).endswith(more), name
    for name in ("cargo", "mvn", "javac"):
        (tmp_path / name).touch(mode=0o755)
    for name, found in (("jol", ""), ("jhat", "not here: JDK 8"), ("hprof-slurp", "")):
        assert readers.lacks(named[name]) == found
    monkeypatch.setenv("MAT_HOME", str(tmp_path))
    assert not readers.lacks(named["eclipse-mat"])


def test_the_list() -> None:
    status, out = run("--list")
    assert status == 0 and "shark-graph" in out and "cases" in out
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "hprof_conformance.main", "--list"]
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (found.returncode, found.stderr) == (2, "conformance/run: [Errno 28] No space left on device\n")


# Python reports each process that it starts, and each connection, before it does so.
WATCHED = """
import sys
def watch(event, arguments):
    if event.startswith(("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "socket.")):
        print(f"began {event} {arguments}", file=sys.stderr)
sys.addaudithook(watch)
from hprof_conformance import main
sys.argv[0] = "run"
sys.exit(main.main())
"""


@pytest.mark.parametrize(
    ("options", "is_a_run"),
    [
        (["--list"], False),
        (["--list", "--cases", "gold/*,REC-002"], False),
        (["--help"], False),
        (["--reader", "/bin/true", "--cases", "valid/names-odd"], True),  # so the watch sees what a run starts
    ],
)
def test_a_list_starts_no_program_and_asks_no_network(options: list[str], is_a_run: bool, tmp_path: Path) -> None:
    """So it takes no longer where a JVM, a registry or the whole machine is slow."""
    command = [sys.executable, "-c", WATCHED, "--quiet", "--report", str(tmp_path), *options]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout
    assert ("began subprocess.Popen" in found.stderr) == is_a_run == bool(found.stderr), found.stderr


@pytest.mark.parametrize("option", ["--list", "--help"])
def test_the_script_starts_nothing_for_a_list(option: str, tmp_path: Path) -> None:
    """It finds each program that a run would start, and each of them leaves a mark."""
    programs, mark = tmp_path / "bin", tmp_path / "mark"
    programs.mkdir()
    for name in ("bash", "dirname", "realpath", "unshare", "true"):
        path = shutil.which(name)
        assert path
        (programs / name).symlink_to(path)
    for name in ("java", "javac", "mvn", "cargo", "cmake", "ninja", "cc", "pkg-config", "pip", "python3", "git", "curl", "apt-get"):
        (programs / name).write_text(f'#!/bin/sh\necho "$0 $*" >>{mark}\nexit 1\n')
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": str(programs), "HPROF_PYTHON": sys.executable}
    command = [str(ROOT / "conformance" / "run"), option]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (found.returncode, found.stderr) == (0, "") and found.stdout
    assert not mark.exists(), mark.read_text()
