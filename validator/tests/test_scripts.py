"""The scripts of ci/: what they require, what they report about skipped tests, and which tests a run takes."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def skips(folder: Path, step: str, log: str) -> "subprocess.CompletedProcess[str]":
    (folder / "log").write_text(log)
    command = [str(ROOT / "ci/skips"), f"{step}={folder / 'log'}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_skips_are_counted_with_their_reasons(tmp_path: Path) -> None:
    log = """..s.s  [100%]
SKIPPED [2] generator/tests/test_manifest.py:129: the same in all builds
SKIPPED [1] generator/tests/test_violations.py:229: 4 GiB, three times
3 passed, 3 skipped in 1.00s
"""
    done = skips(tmp_path, "sanitize", log * 2)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "sanitize: 2 skipped: 4 GiB, three times\nsanitize: 4 skipped: the same in all builds\n"


@pytest.mark.parametrize(
    "line",
    [
        "SKIPPED [2] generator/tests/test_manifest.py:129: the same in all builds",
        "SKIPPED [1] generator/tests/test_third_party.py: HPROF_VISUALVM and HPROF_JDK say where the reader is",
        "[  SKIPPED ] a_read_that_fails_midway_ends_the_stream",
    ],
)
def test_an_unexpected_skip_fails(tmp_path: Path, line: str) -> None:
    done = skips(tmp_path, "release", f"....\n{line}\n")
    assert done.returncode == 1
    assert done.stdout.rstrip().endswith("<- not expected here")


def test_all_that_is_missing_is_asked_for_at_once(tmp_path: Path) -> None:
    """On a bare machine, a user without sudo gets the message before anything is built."""
    for name in ("bash", "dirname", "readlink", "cat", "mkdir", "tail"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    for name, body in (("id", "echo 1000"), ("dpkg-query", "echo not-installed"), ("cmake", f"touch {tmp_path}/built")):
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run([ROOT / "ci/demo"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    pasted = done.stderr.splitlines()[-1]
    assert pasted.startswith("apt-get update && apt-get install --yes ")
    missing = pasted.split()
    assert {"cmake", "gcc", "libisal-dev"} < set(missing)
    has_jdk = any((home / "bin/jcmd").exists() for home in Path("/usr/lib/jvm").glob("*"))
    assert ("default-jdk-headless" in missing) == (not has_jdk)
    assert not (tmp_path / "built").exists()


@pytest.mark.skipif("HPROF_GEN" not in os.environ, reason="built without hprof-gen")
def test_the_demo_is_a_story_of_three_commands(tmp_path: Path) -> None:
    """A sentence before each says what its output means. Here nothing is installed or built, and hprof-gen writes the dump."""
    tools, generator = Path(os.environ["HPROF_VALIDATE"]), os.environ["HPROF_GEN"]
    fakes = {
        "packages": "",
        "jdk": "",
        "cmake": f"mkdir -p build/demo/tools && ln -sfn {tools.parent} build/demo/tools/bin",
        "heap-dump": f'{generator} --like hotspot-17 --bytes 8M --output "$2"',
    }
    (tmp_path / "ci").mkdir()
    for name, body in fakes.items():
        (tmp_path / "ci" / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "ci" / name).chmod(0o755)
    shutil.copy(ROOT / "ci/demo", tmp_path / "ci")
    environment = os.environ | {"PATH": f"{tmp_path}/ci:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / "ci/demo"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 132
    commands = [number for number, line in enumerate(lines) if line.startswith("$ hprof-validate")]
    assert len(commands) == 3
    for number in commands:
        assert lines[number - 2] == "" and re.fullmatch(r"[A-Z].*:", lines[number - 1])


def test_ci_test_asks_for_the_packages_of_all_steps_at_once(tmp_path: Path) -> None:
    """A user who may not install them learns of all before the first step. Here each can be had, and none is there."""
    fakes = {"packages": 'echo "$@"; exit 77', "jdk": "echo jdk", "uname": "echo x86_64", "apt-cache": "exit 0"}
    folder = tmp_path / "ci"
    folder.mkdir()
    for name, body in fakes.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    shutil.copy(ROOT / "ci/test", folder)
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    asked = []
    for options in ([], ["--fast"]):
        done = subprocess.run([folder / "test", *options], env=environment, stdout=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 77
        asked.append(set(done.stdout.splitlines()[-1].split()))  # no summary follows, as nothing was tested
    assert asked[0] - asked[1] == {"clang-19", "libclang-rt-19-dev"}


def test_the_step_that_fails_has_its_seconds_in_the_summary(tmp_path: Path) -> None:
    """Here all is installed, and CMake fails."""
    (tmp_path / "ci").mkdir()
    for name in ("packages", "jdk", "visualvm", "cmake"):
        (tmp_path / "ci" / name).write_text("#!/bin/sh\n[ ${0##*/} != cmake ]\n")
        (tmp_path / "ci" / name).chmod(0o755)
    shutil.copy(ROOT / "ci/test", tmp_path / "ci")
    (tmp_path / "build/venv").mkdir(parents=True)
    for folder in ("ci", "build/venv"):
        (tmp_path / folder / "requirements.txt").touch()
    environment = os.environ | {"PATH": f"{tmp_path}/ci:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / "ci/test", "clang"], env=environment, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    rows = r"prepare \d+ s, \d+ s\nclang \d+ s, \d+ s\nall \d+ s, \d+ s\n\nci/test: failed in clang\n"
    assert re.search(rf"\n{rows}\Z", done.stdout), done.stdout


def test_the_package_of_a_jdk_is_named_where_there_is_none() -> None:
    """In a mount namespace of its own, where /usr/lib/jvm is empty."""
    script = 'if [ -d /usr/lib/jvm ]; then mount -t tmpfs none /usr/lib/jvm; fi; exec "$0" --package'
    hidden = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount", "sh", "-c", script, str(ROOT / "ci/jdk")]
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    done = subprocess.run(hidden, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:  # without namespaces the output depends on the machine
        assert done.stdout == "default-jdk-headless\n"
    printed = subprocess.run([ROOT / "ci/jdk", "--package"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert printed in ("", "default-jdk-headless\n")


TESTS = """
import pytest

@pytest.mark.parametrize("n", range(40))
def test_many(n): pass

@pytest.mark.parametrize("n", range(3))
def test_few(n): pass

def test_one(): pass
"""


def taken(folder: Path, plugin: str, tests: str = TESTS, **environment: str) -> list[str]:
    """The tests of a file that a plugin of pytest takes, in their order."""
    (folder / "test_file.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-p", plugin, "test_file.py"]
    others = ("HPROF_SHARE", "HPROF_ALL_CASES", "HPROF_PART", "HPROF_ONE_IN")
    ours = {name: value for name, value in os.environ.items() if name not in others}
    given = ours | {"PYTHONPATH": str(ROOT / "ci")} | environment
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_of_each_test_some_cases_are_taken(tmp_path: Path) -> None:
    every = taken(tmp_path, "some_cases")
    assert len(every) == 44 and taken(tmp_path, "some_cases", HPROF_SHARE="4", HPROF_ALL_CASES="1") == every
    some, others = (taken(tmp_path, "some_cases", HPROF_SHARE="4") for _ in range(2))
    for drawn in (some, others):
        assert Counter(test.partition("[")[0] for test in drawn) == {"test_many": 10, "test_few": 2, "test_one": 1}
        assert drawn == [test for test in every if test in drawn]
    assert some != others  # one draw of 800 million


def test_the_parts_of_a_draw_are_all_tests(tmp_path: Path) -> None:
    every = taken(tmp_path, "parts")
    first, second, rest = (taken(tmp_path, "parts", HPROF_PART=f"7/{part}/6") for part in ("0-1", "2", "3-5"))
    assert sorted([*first, *second, *rest]) == sorted(every) and len(every) == 44
    assert (len(first) in (14, 15), len(second) in (7, 8)) == (True, True)
    assert taken(tmp_path, "parts", HPROF_PART="8/0-1/6") != first
    fewer = taken(tmp_path, "parts", HPROF_PART="7/0-1/6", HPROF_ONE_IN="4")
    assert len(fewer) == 4 and set(fewer) < set(first)


def test_one_of_the_parts_has_the_only_test_of_a_file(tmp_path: Path) -> None:
    tests = "def test_one(): pass"
    draws = [[taken(tmp_path, "parts", tests, HPROF_PART=f"{draw}/{part}/2") for part in "01"] for draw in range(6)]
    assert all(sorted(map(len, parts)) == [0, 1] for parts in draws)
    assert {len(first) for first, _ in draws} == {0, 1}
