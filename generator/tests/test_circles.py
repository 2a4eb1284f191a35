"""ci/circles finds circles of files, and hprof-gen has none: not of files, and not of folders."""

import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
LAYERS = os.environ["HPROF_LAYERS"].split(":")


def circles(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([SOURCE / "ci/circles", *arguments], capture_output=True, text=True, check=False)


def compiled(folder: Path, name: str, text: str) -> Path:
    source = folder / f"{name}.c"
    source.parent.mkdir(exist_ok=True)
    source.write_text(text)
    subprocess.run([os.environ.get("CC", "cc"), "-c", source, "-o", source.with_suffix(".o")], check=True)
    return source.with_suffix(".o")


def test_a_circle_is_found(tmp_path: Path) -> None:
    compiled(tmp_path, "low/a", "int b(void); int a(void) { return b(); }")
    compiled(tmp_path, "low/b", "int c(void); int b(void) { return c(); }")
    last = compiled(tmp_path, "high/c", "int a(void); int c(void) { return a(); }")
    compiled(tmp_path, "high/d", "int a(void); int d(void) { return a(); }")
    done = circles(tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "3 files need each other:"
    assert "d." not in done.stdout
    assert circles("--folders", tmp_path).stdout.splitlines()[0] == "2 folders need each other:"
    last.unlink()
    assert circles(tmp_path).returncode == 0


def test_none_in_a_line(tmp_path: Path) -> None:
    compiled(tmp_path, "low/a", "int a(void) { return 1; }")
    compiled(tmp_path, "high/b", "int a(void); int b(void) { return a(); }")
    assert (circles(tmp_path).returncode, circles("--folders", tmp_path).returncode) == (0, 0)


def test_what_has_no_symbols_is_an_error(tmp_path: Path) -> None:
    assert circles(tmp_path).returncode == 1
    assert "no symbols are defined" in circles(tmp_path).stderr


def test_hprof_gen_has_none() -> None:
    assert len(LAYERS) > 50
    for more in ([], ["--folders"]):
        done = circles(*more, *LAYERS)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
