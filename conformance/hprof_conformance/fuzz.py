"""Runs Jazzer on a JVM reader, with the corpus as seeds, and the dictionary and the mutator of fuzz/.

conformance/fuzz-reader NAME --time 600

A find is an error that the reader did not raise on purpose, an input that takes more than 10 s, or memory beyond 1 GB. OUT
then holds the inputs (crash-*, timeout-*, oom-*), the corpus that grew, and jazzer.log.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hprof_conformance import cases, javaproject, jvms, readers
from hprof_conformance.command import RefusedError, run_command
from hprof_conformance.jvms import NotHereError

_MUTATOR = ("engines", "family", "mutator", "pieces", "gzip")  # sources in fuzz/
_FIND = re.compile(r"^== Java Exception: (.*)$", re.MULTILINE)


def _seeds(root: Path, folder: Path) -> Path:
    """Under names of their own: files of several folders share one."""
    folder.mkdir(parents=True, exist_ok=True)
    for dump in sorted((root / "corpus").glob("**/*.hprof")):
        shutil.copyfile(dump, folder / "-".join(dump.relative_to(root / "corpus").parts))
    return folder


def mutator(root: Path, build: Path) -> Path:
    """A library that libFuzzer finds its mutator in if it is preloaded. Raises NotHereError without a C compiler and zlib."""
    made = build / "hprof-mutator.so"
    sources = [*(root / "fuzz" / f"{name}.c" for name in _MUTATOR), root / "conformance" / "fuzz" / "jazzer_mutate.c"]
    options = ["-std=c17", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", f"-I{root / 'validator' / 'src'}"]
    jvms.install([javaproject.need("cc"), *options, *sources, "-lz", "-ldl", "-o", made], root, build / "mutator.log")
    return made


def command(root: Path, reader: readers.Reader, out: Path, seconds: int, finds: int) -> list[str]:
    """What starts Jazzer. Raises NotHereError."""
    home = jvms.any_home(root)
    build = root / "build" / "conformance"
    start = readers.command(root, reader, build / "readers" / reader.name)
    theirs = start[start.index("-cp") + 1]
    fuzz = root / "conformance" / "fuzz"
    jars = [Path(path) for path in theirs.split(os.pathsep)]
    into = build / "fuzz" / reader.name
    class_path = javaproject.build(home, [fuzz / "FuzzReader.java"], fuzz / "pom.xml", into, jars=jars)
    corpus = out / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    return [
        *(str(home / "bin" / "java"), "-Xmx1g", f"-Dhprof.reader={reader.main}", "-cp", class_path),
        *("com.code_intelligence.jazzer.Jazzer", "--target_class=FuzzReader", f"--keep_going={finds}"),
        *(f"--reproducer_path={out}", f"-artifact_prefix={out}/", f"-dict={root / 'fuzz' / 'hprof.dict'}"),
        *(f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=3072", "-max_len=65536"),
        *(str(corpus), str(_seeds(root, out / "seeds"))),
    ]


def main() -> int:
    return run_command("conformance/fuzz-reader", _fuzz)


def _fuzz() -> int:
    parser = argparse.ArgumentParser(
        prog="conformance/fuzz-reader", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reader", metavar="NAME", help="a JVM reader: conformance/run --list")
    parser.add_argument("--time", type=int, default=600, metavar="S", help="600 if not given")
    parser.add_argument("--finds", type=int, default=10, metavar="N", help="ends after N different finds; 10 if not given")
    parser.add_argument("--out", type=Path, metavar="DIR", help="build/conformance/fuzz-finds/NAME if not given")
    asked = parser.parse_args()
    root = cases.source_tree()
    known = {one.name: one for one in readers.read_readers(root) if one.kind == "java"}
    if asked.reader not in known:
        raise RefusedError(f"no JVM reader is called '{asked.reader}'; there are {', '.join(known)}")
    out = (asked.out or root / "build" / "conformance" / "fuzz-finds" / asked.reader).resolve()
    out.mkdir(parents=True, exist_ok=True)
    try:
        start = command(root, known[asked.reader], out, asked.time, asked.finds)
    except NotHereError as error:
        raise RefusedError(str(error)) from error
    try:
        environment = {**os.environ, "LD_PRELOAD": str(mutator(root, root / "build" / "conformance" / "fuzz"))}
    except NotHereError as error:
        print(f"without the mutator of fuzz/: {error}", file=sys.stderr)
        environment = {**os.environ}
    log = out / "jazzer.log"
    with log.open("wb") as stream:
        status = subprocess.run(start, cwd=out, env=environment, stdout=stream, stderr=stream, check=False).returncode
    text = log.read_text(encoding="utf-8", errors="replace")
    if not any(words in text for words in ("INITED", "SUMMARY: libFuzzer")) and not _FIND.search(text):
        raise RefusedError(f"Jazzer did not start; see {log}")
    for find in _FIND.findall(text):
        print(find)
    for file in sorted(path.name for path in out.iterdir() if path.name.startswith(("crash-", "timeout-", "oom-"))):
        print(out / file)
    if status:
        print(f"Jazzer ended with {status}; see {log}")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
