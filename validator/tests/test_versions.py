"""A program that was compiled against another version of hprof.h works with this library: each structure is smaller, because later
members are missing, or larger. A member that the library does not know is refused if the program sets it."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
CC = os.environ.get("CC", "cc")
C_FLAGS = shlex.split(os.environ.get("HPROF_C_FLAGS", ""))
BUILD = Path(os.environ["HPROF_BUILD"])
HEADER = (SOURCE / "validator/include/hprof/hprof.h").read_text()
STRUCTURE = re.compile(r"(struct (hprof_\w+) \{\n    size_t struct_size;\n)(.*?)(\n\};)", re.DOTALL)
DUMP = SOURCE / "corpus/invalid/OBJ-004/two-instances-102-id8.hprof"

PROGRAM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <hprof/hprof.h>

#define GUARDED(type, name) struct { struct type it; unsigned char guard[512]; } name; memset(&name, 0xa5, sizeof name)

static void check(const unsigned char guard[512])
{
    for (int i = 0; i < 512; i++)
        if (guard[i] != 0xa5)
            puts("bytes after a structure were changed");
}

static int print(void *context, const struct hprof_finding *finding)
{
    (void)context;
    printf("%s at %llu: %s; %s\n", hprof_rule_at(finding->rule)->id, (unsigned long long)finding->offset, finding->path,
           finding->found);
    return 0;
}

int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDONLY), copy = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
    GUARDED(hprof_options, options);
    GUARDED(hprof_summary, summary);
    GUARDED(hprof_show, show);
    GUARDED(hprof_show_result, shown);
    GUARDED(hprof_repair, repair);
    GUARDED(hprof_repair_result, repaired);
    int status;

    hprof_options_init(&options.it);
    hprof_summary_init(&summary.it);
    hprof_show_init(&show.it);
    hprof_show_result_init(&shown.it);
    hprof_repair_init(&repair.it);
    hprof_repair_result_init(&repaired.it);
    options.it.on_finding = print;
#ifdef SET_LATER
    options.it.later = argc;
#endif
    status = hprof_validate_fd(fd, &options.it, &summary.it);
    printf("%d %d '%s' %llu errors, %llu instances\n", status, summary.it.status, summary.it.failure,
           (unsigned long long)summary.it.errors, (unsigned long long)summary.it.instances);
    show.it.offset = 40;
    printf("%d\n", hprof_show_fd(fd, &show.it, &shown.it));
    status = hprof_repair_fd(fd, copy, &repair.it, &repaired.it);
    printf("%d %llu of %llu bytes\n", status, (unsigned long long)repaired.it.bytes_out, (unsigned long long)repaired.it.bytes_in);
    check(options.guard);
    check(summary.guard);
    check(show.guard);
    check(shown.guard);
    check(repair.guard);
    check(repaired.guard);
    return argc < 3;
}
"""


def without_last_member(match: re.Match[str]) -> str:
    """Without the last member, unless it is the only one."""
    lines = match[3].split("\n")
    begins = [i for i, line in enumerate(lines) if re.match(r"    \w", line)]
    return match[0] if len(begins) < 2 else match[1] + "\n".join(lines[: begins[-1]]) + match[4]


def with_another_member(match: re.Match[str]) -> str:
    return match[1] + match[3] + "\n    uint64_t later;" + match[4]


def build(folder: Path, header: str, *flags: str) -> Path:
    (folder / "hprof").mkdir()
    (folder / "hprof/hprof.h").write_text(header)
    (folder / "program.c").write_text(PROGRAM)
    (library,) = [file for file in (BUILD / "validator").glob("libhprof.*") if file.suffix in (".a", ".so")]
    isal = subprocess.run(["pkg-config", "--libs", "libisal"], capture_output=True, text=True, check=True).stdout.split()
    command: list[str | Path] = [CC, *C_FLAGS, "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Werror", *flags]
    libraries: list[str | Path] = [library, f"-Wl,-rpath,{library.parent}", *isal, "-pthread"]
    subprocess.run([*command, "-I", folder, "-o", folder / "program", folder / "program.c", *libraries], check=True)
    return folder / "program"


def output(program: Path) -> list[str]:
    done = subprocess.run([program, DUMP, program.parent / "copy"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return output(build(tmp_path_factory.mktemp("present"), HEADER))


def test_the_program_sees_what_is_there(expected: list[str]) -> None:
    assert expected[0].startswith("OBJ-004 at ")
    assert expected[1].startswith("1 1 '' 1 errors, ")
    assert "changed" not in expected[-1]


def test_an_older_program(expected: list[str], tmp_path: Path) -> None:
    """The last member of each structure did not exist yet."""
    header, changed = STRUCTURE.subn(without_last_member, HEADER)
    assert changed >= 9
    assert "char hint_text" not in header and "bool in_baseline" not in header
    # Without the context of callbacks, which the program does not use.
    assert header.count("void *context;") < HEADER.count("void *context;")
    assert output(build(tmp_path, header)) == expected


def test_a_newer_program(expected: list[str], tmp_path: Path) -> None:
    """A member that the library does not know is 0 in results, and must be 0 in options."""
    header, changed = STRUCTURE.subn(with_another_member, HEADER)
    assert changed >= 9
    (tmp_path / "zero").mkdir()
    assert output(build(tmp_path / "zero", header)) == expected
    (tmp_path / "set").mkdir()
    lines = output(build(tmp_path / "set", header, "-DSET_LATER"))
    assert lines[0].startswith("2 2 'a structure has a member that this version of the library does not know' 0 errors")
    assert lines[1:] == expected[-2:]
