"""hprof runs the tools: each command gives what the tool gives, and its completions are those of the tool."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRONT = os.environ["HPROF_FRONT"]
VALIDATE, DIFF, REDUCE = (os.environ[name] for name in ("HPROF_VALIDATE", "HPROF_DIFF", "HPROF_REDUCE"))
GENERATE = os.environ.get("HPROF_GEN")
SERVE = os.environ.get("HPROF_SERVE")
TOOLS = [tool for tool in (VALIDATE, DIFF, REDUCE, GENERATE, SERVE) if tool]
PATH = os.pathsep.join([*(str(Path(tool).parent) for tool in TOOLS), os.environ["PATH"]])
VALID = str(min((ROOT / "corpus/valid").rglob("*.hprof")))
INVALID = str(min((ROOT / "corpus/invalid/OBJ-004").rglob("*.hprof")))
NEEDS_GENERATOR = pytest.mark.skipif(not GENERATE, reason="built without hprof-gen")
COMPLETIONS = ROOT / "validator/cli/front/completions"
FOLDERS = {
    "hprof-diff": "validator/cli/diff",
    "hprof-gen": "generator/cli",
    "hprof-reduce": "validator/reduce/cli",
    "hprof-serve": "generator/serve/cli",
    "hprof-validate": "validator/cli",
}


def run(*command: str, path: str = PATH) -> tuple[int, bytes, bytes]:
    done = subprocess.run(command, capture_output=True, check=False, env=os.environ | {"PATH": path}, timeout=60)
    return done.returncode, done.stdout, done.stderr


def commands() -> dict[str, str]:
    """The commands of --help, and the tool that each runs."""
    status, out, _ = run(FRONT, "--help")
    assert status == 0
    names = re.findall(r"^  (\w+) ", out.decode(), re.MULTILINE)
    return {name: f"hprof-{name}" if name in ("diff", "reduce", "gen", "serve") else "hprof-validate" for name in names}


@pytest.mark.parametrize(
    ("given", "command"),
    [
        (["check", INVALID], [VALIDATE, INVALID]),
        (["check", "--format=json", VALID, INVALID], [VALIDATE, "--format=json", VALID, INVALID]),
        (["show", "31:1", INVALID], [VALIDATE, "--show", "31:1", INVALID]),
        (["stats", "--format=json", VALID], [VALIDATE, "--stats", "--format=json", VALID]),
        (["explain", "OBJ-004,REF"], [VALIDATE, "--explain", "OBJ-004,REF"]),
        (["diff", VALID, INVALID], [DIFF, VALID, INVALID]),
        (["reduce", VALID], [REDUCE, VALID]),
        (["check", "--help"], [VALIDATE, "--help"]),
        (["repair", "--help"], [VALIDATE, "--help"]),
        (["help", "diff"], [DIFF, "--help"]),
        (["help", "repair"], [VALIDATE, "--help"]),
        (["show"], [VALIDATE, "--show"]),
        pytest.param(["gen", "--objects=5"], [str(GENERATE), "--objects=5"], marks=NEEDS_GENERATOR),
        pytest.param(["serve", "localhost:1"], [str(SERVE), "localhost:1"], marks=NEEDS_GENERATOR),
    ],
)
def test_a_command_gives_what_the_tool_gives(given: list[str], command: list[str]) -> None:
    status, out, err = run(FRONT, *given)
    expected = run(*command)
    assert (status, err) == (expected[0], expected[2])
    assert re.sub(rb"[\d.]+ s\b", b"", out) == re.sub(rb"[\d.]+ s\b", b"", expected[1])


@pytest.mark.parametrize("tool", [FRONT, *TOOLS], ids=lambda tool: Path(tool).name)
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_what_cannot_be_printed_is_a_failure(tool: str, option: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([tool, option], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    failed = 2 if tool == DIFF else 3
    assert (done.returncode, done.stderr.decode()) == (failed, f"{Path(tool).name}: standard output: No space left on device\n")


def test_repair_ends_with_the_copy(tmp_path: Path) -> None:
    copy, other = str(tmp_path / "copy.hprof"), str(tmp_path / "other.hprof")
    status, _, _ = run(FRONT, "repair", "--profile=strict", INVALID, copy)
    assert status == run(VALIDATE, "--profile=strict", "--repair", other, INVALID)[0]
    assert Path(copy).read_bytes() == Path(other).read_bytes()


@pytest.mark.parametrize("given", [["repair"], ["repair", VALID], ["repair", VALID, "copy", "--force"]])
def test_repair_without_a_copy(given: list[str]) -> None:
    status, out, err = run(FRONT, *given)
    assert (status, out) == (2, b"")
    assert err.startswith(b"hprof: repair takes FILE and COPY")


def test_each_command_has_a_line_in_the_page() -> None:
    page = (ROOT / "validator/cli/front/hprof.1.md").read_text(encoding="utf-8")
    assert list(commands()) == re.findall(r"^\| `hprof (\w+)`", page, re.MULTILINE)
    assert len(commands()) == 9


def test_wrong_usage() -> None:
    assert run(FRONT)[0] == 2
    status, out, err = run(FRONT, "chek", VALID)
    assert (status, out) == (2, b"")
    assert err.startswith(b"hprof: there is no command 'chek'; did you mean 'check'?")
    assert run(FRONT, "--version")[1].startswith(b"hprof 0.")


def test_the_tool_of_its_own_folder_comes_first(tmp_path: Path) -> None:
    """And a tool that is nowhere is named."""
    for folder in ("own", "path"):
        (tmp_path / folder).mkdir()
        tool = tmp_path / folder / "hprof-validate"
        tool.write_text(f"#!/bin/sh\necho {folder}\n")
        tool.chmod(0o755)
    front = shutil.copy(FRONT, tmp_path / "own/hprof")
    of_a_release = shutil.copy(FRONT, tmp_path / "own/hprof-1.0-linux")
    path = str(tmp_path / "path")
    assert run(str(of_a_release), "check", path=path) == (0, b"path\n", b"")
    (tmp_path / "own/hprof-validate-1.0-linux").symlink_to("hprof-validate")
    assert run(str(of_a_release), "check", path=path) == (0, b"own\n", b"")
    assert run(str(front), "check", path=path) == (0, b"own\n", b"")
    (tmp_path / "own/hprof-validate").unlink()
    assert run(str(front), "check", path=path) == (0, b"path\n", b"")
    assert run(str(front), "diff", path=path) == (127, b"", b"hprof: hprof-diff: No such file or directory\n")


# ---- Completions


def bash_offers(folder: Path, *typed: str) -> list[str]:
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hprof; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", folder / "hprof.bash", "hprof", *typed],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # compopt wants a real completion
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The completions of all tools in one folder, as they are installed."""
    shutil.copy(COMPLETIONS / "hprof.bash", tmp_path)
    for tool, folder in FOLDERS.items():
        shutil.copy(ROOT / folder / f"completions/{tool}.bash", tmp_path)
    return tmp_path


def test_bash_offers_commands_and_their_options(installed: Path) -> None:
    assert bash_offers(installed, "re") == ["repair", "reduce"]
    assert set(bash_offers(installed, "")) == {*commands(), "--help", "--version"}
    assert bash_offers(installed, "check", "--sel") == ["--select"]
    assert bash_offers(installed, "check", "--profile", "j") == ["jdk8-agent", "jvmpi-agent"]
    assert bash_offers(installed, "diff", "--by", "co") == ["content"]
    assert bash_offers(installed, "gen", "--shap") == ["--shape"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh")
def test_zsh_has_the_completion_of_each_tool() -> None:
    tools = "; ".join(f"_{tool}() {{ print {tool} }}" for tool in FOLDERS)
    script = f'_arguments() {{ state=tool }}; {tools}; source "$1"'
    for name, tool in commands().items():
        done = subprocess.run(
            ["zsh", "-f", "-c", f'words=({name}); f() {{ {script} }}; f "$1"', "zsh", COMPLETIONS / "_hprof"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert (done.stdout, done.stderr) == (tool + "\n", ""), name


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish")
def test_fish_offers_commands_and_their_options(tmp_path: Path) -> None:
    def offers(typed: str) -> list[str]:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {COMPLETIONS / 'hprof.fish'}; complete -C '{typed}'"],
            env=os.environ | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return [line.split("\t")[0].rstrip("=") for line in done.stdout.splitlines()]

    assert sorted(offers("hprof ")) == sorted(commands())
    assert offers("hprof check --selec") == ["--select"]  # fish 4 offers --baseline for --sel, too: it has that text inside
    assert "--select" not in offers("hprof diff --")
    assert "--assert-redacted" in offers("hprof diff --")
