"""The Python package: a wheel from the sdist, in a clean virtual environment.

What it says of dumps is compared with the corpus, and with the reader of hprof_corpus, which shares no code with the library.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest
from completions import tools

from hprof_corpus.build import severity_in
from hprof_corpus.digest import Content, HeapDump, Instance, ObjectArray
from hprof_corpus.rules import read_rules

SOURCE = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ["HPROF_BUILD"])
GENERATOR = os.environ["HPROF_GEN"]
README = (SOURCE / "validator/python/README.md").read_text()


def run(*command: str | Path, **kwargs: Any) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **kwargs)
    output = done.stdout.decode()
    assert done.returncode == 0, output
    return str(output)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "HPROF_WHEEL" in os.environ:  # that of ci/wheel
        return Path(os.environ["HPROF_WHEEL"])
    folder = tmp_path_factory.mktemp("package")
    run(sys.executable, "-c", f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})", cwd=SOURCE)
    (sdist,) = folder.glob("*.tar.gz")
    assert sdist.stat().st_size < 5_000_000
    source = BUILD / "package"  # the same each time: a compiler cache then knows the files
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    run("tar", "--extract", "--file", sdist, "--directory", source)
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--no-cache-dir", "--quiet", "--wheel-dir", folder)
    # Compiled in a fraction of the time; ci/full tries the wheel of a release.
    fast = ("--config-settings=cmake.build-type=Debug", "--config-settings=cmake.define.CMAKE_C_FLAGS_DEBUG=-O0")
    run(sys.executable, "-m", "pip", "wheel", *options, *fast, source / sdist.name.removesuffix(".tar.gz"))
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin/python")
    run(*pip, "install", "--no-index", "--quiet", wheel)  # fails if it needs another package
    return folder


@pytest.fixture(scope="module", params=["8", "4"], ids=["ids of 8 bytes", "ids of 4 bytes"])
def dump(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dump") / "heap.hprof"
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    options = ("--like", "hotspot", "--objects", "4000", f"--seed={seed}", f"--id-size={request.param}")
    run(GENERATOR, *options, "--quiet", "--output", path)
    return path


def python(venv: Path, code: str, *args: str | Path, path: str = "") -> str:
    return run(venv / "bin/python", "-c", "import hprof_validate, io, json, sys\n" + code, *args, env={"PYTHONPATH": path})


def ask(venv: Path, code: str, *args: str | Path) -> Any:
    return json.loads(python(venv, code, *args))


# ---- What is in the wheel


def test_the_tools_are_in_the_wheel(venv: Path, dump: Path) -> None:
    version = ask(venv, "print(json.dumps(hprof_validate.__version__))")
    for tool in ("hprof", "hprof-validate", "hprof-diff", "hprof-reduce", "hprof-gen", "hprof-serve"):
        assert version in run(venv / "bin" / tool, "--version")
    assert ": valid (HotSpot" in run(venv / "bin/hprof-validate", dump)
    assert "Threads: " in run(venv / "bin/hprof", "stats", dump, env={"PATH": "/nowhere"})


def test_uvx_runs_a_tool_of_the_wheel(wheel: Path, dump: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environment = os.environ | {"UV_CACHE_DIR": str(tmp_path), "UV_TOOL_DIR": str(tmp_path / "tools"), "UV_PYTHON": sys.executable}
    environment["HOME"] = str(home)
    uvx = Path(sys.executable).with_name("uvx")
    assert ": valid (HotSpot" in run(uvx, "--offline", "--no-config", "--from", wheel, "hprof-validate", dump, env=environment)
    assert not list(home.rglob("*"))


def test_hprof_fleet_says_what_it_needs(venv: Path) -> None:
    done = subprocess.run(
        [venv / "bin/hprof-fleet", "check", "heap.hprof", "--output", "results.jsonl"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'hprof-validate[fleet]'" in done.stderr and len(done.stderr.splitlines()) == 1


def test_each_option_of_hprof_fleet_has_a_heading(venv: Path) -> None:
    (tool,) = [tool for tool in tools() if tool.name == "hprof-fleet"]
    headings = re.findall(r"^### `(-.*)`$", (SOURCE / "validator/python/hprof-fleet.1.md").read_text(), re.MULTILINE)
    assert headings == [f"{', '.join(option.forms())} {option.argument}".strip() for option in tool.options]
    shown = run(venv / "bin/hprof-fleet", "check", "--help")
    assert all(f"--{option.name}" in shown for option in tool.options)
    assert (venv / "share/bash-completion/completions/hprof-fleet").exists()
    assert (venv / "share/man/man1/hprof-fleet.1").exists() or not shutil.which("lowdown")


def test_the_wheel_is_for_all_versions_of_python(wheel: Path) -> None:
    platform = r"manylinux2014_\w+\.manylinux_2_17_\w+" if "HPROF_WHEEL" in os.environ else r"linux_\w+"
    assert re.fullmatch(rf"hprof_validate-[0-9.]+-py3-none-{platform}\.whl", wheel.name)


def test_the_wheel_of_ci_wheel_needs_no_later_glibc_than_it_says(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        binaries = [data for name in archive.namelist() if (data := archive.read(name)).startswith(b"\x7fELF")]
    versions = [tuple(map(int, found)) for data in binaries for found in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", data)]
    assert len(binaries) == 7 and versions  # the module and six tools
    assert max(versions) <= (2, 17) or "HPROF_WHEEL" not in os.environ


def symbols(binary: Path, *options: str) -> dict[str, tuple[int, int]]:
    """The symbols of glibc that a binary uses or defines, with the oldest version of each."""
    found: dict[str, tuple[int, int]] = {}
    for name, *version in re.findall(r" (\w+)@+GLIBC_(\d+)\.(\d+)", run("nm", "-D", "--with-symbol-versions", *options, binary)):
        found[name] = min(found.get(name, (99, 0)), (int(version[0]), int(version[1])))
    return found


@pytest.mark.skipif("HPROF_WHEEL" in os.environ, reason="the wheel of ci/wheel is stripped, and its versions are compared above")
def test_each_function_that_glibc_2_17_lacks_is_in_old_glibc(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        binaries = [Path(archive.extract(name, tmp_path)) for name in archive.namelist() if archive.read(name)[:4] == b"\x7fELF"]
    used = {name for binary in binaries for name, version in symbols(binary, "--undefined-only").items() if version > (2, 17)}
    used = {name.removeprefix("__isoc23_") for name in used}  # headers of glibc 2.38 make that of sscanf()
    libraries = set(re.findall(r"/\S+/lib[cm]\.so\.6", Path("/proc/self/maps").read_text()))
    known = {name for library in libraries for name, version in symbols(Path(library)).items() if version <= (2, 17)}
    assert len(libraries) == 2 and {"pthread_create", "exp"} <= known
    known |= {"fcntl64", "stat64", "fstat64", "lstat64"}  # had other names
    supplied = re.findall(r"^static inline \w+ (\w+)\(", (SOURCE / "validator/python/old_glibc.h").read_text(), re.MULTILINE)
    assert used - known == set(supplied)


# ---- Checking

CHECK = """
reports = []
for name in sys.argv[1:]:
    report = hprof_validate.validate(name, profile="strict", max_findings=0)
    findings = [[f.rule, f.severity.name.lower(), f.offset] for f in report.findings]
    reports.append([report.valid, findings, report.summary.totals, report.summary.errors])
print(json.dumps(reports))
"""


def test_findings_are_those_of_the_corpus(venv: Path) -> None:
    rules = read_rules(SOURCE / "validator/src/findings/rules.def")
    entries = json.loads((SOURCE / "corpus/manifest.json").read_text())["files"]
    entries = random.SystemRandom().sample([entry for entry in entries if entry["checked_in"]], 150)
    found = ask(venv, CHECK, *(SOURCE / "corpus" / entry["file"] for entry in entries))
    for entry, (is_valid, findings, totals, errors) in zip(entries, found, strict=True):
        all_findings = [[f["rule"], severity_in(entry, f, rules[f["rule"]], "strict"), f["offset"]] for f in entry["findings"]]
        expected = sorted(finding for finding in all_findings if finding[1] != "off")
        assert sorted(findings) == expected, entry["file"]
        assert sum(totals.values()) == len(expected)
        assert errors == sum(severity == "error" for _, severity, _ in expected)
        assert is_valid == (errors == 0)


SOURCES = """
import gzip

data = open(sys.argv[1], "rb").read()

class Pipe:
    def __init__(self, data):
        self.file = io.BytesIO(data)
    def read(self, size):
        return self.file.read(min(size, 1000))

open(sys.argv[2], "wb").write(gzip.compress(data))
sources = [sys.argv[1], io.BytesIO(data), Pipe(data), open(sys.argv[1], "rb"), sys.argv[2], gzip.open(sys.argv[2])]
for source in sources:
    summary = hprof_validate.validate(source, jobs=int(sys.argv[3])).summary
    print(summary.objects, summary.references, summary.bytes, summary.profile, summary.errors, summary.records)
"""


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_the_source_makes_no_difference(venv: Path, dump: Path, jobs: str, tmp_path: Path) -> None:
    lines = python(venv, SOURCES, dump, tmp_path / "heap.gz", jobs).splitlines()
    assert len(lines) == 6
    assert len(set(lines)) == 1
    assert lines[0].split()[2] == str(dump.stat().st_size)


FAILURES = """
class Broken:
    def __init__(self, failure):
        self.failure = failure
    def read(self, size):
        raise self.failure

def stop(done, total):
    raise KeyError("stopped")

def name_of(call):
    try:
        call()
    except BaseException as failure:
        return [type(failure).__name__, str(failure)]

validate, read = hprof_validate.validate, hprof_validate.read
with read(sys.argv[1]) as dump:
    first = next(iter(dump))
    next(iter(dump))
    stale = name_of(first.body)
print(json.dumps([
    name_of(lambda: validate(sys.argv[1], profile="hotspit")), name_of(lambda: validate(sys.argv[1], jobs=0)),
    name_of(lambda: validate("/no/such/file")), name_of(lambda: validate(Broken(ZeroDivisionError("mine")))),
    name_of(lambda: validate(sys.argv[1], on_progress=stop)), name_of(lambda: validate(sys.argv[1], max_memory=1)),
    name_of(lambda: validate("/")), name_of(lambda: read("/no/such/file")), name_of(lambda: read(io.BytesIO(b"no dump"))),
    name_of(lambda: read(Broken(ZeroDivisionError("mine")))), name_of(lambda: next(iter(dump))), stale,
]))
"""


def test_failures_are_exceptions(venv: Path, dump: Path) -> None:
    kinds = ["ValueError", "ValueError", "FileNotFoundError", "ZeroDivisionError", "KeyError", "MemoryError", "OSError"]
    kinds += ["FileNotFoundError", "ValueError", "ZeroDivisionError", "ValueError", "ValueError"]
    failures = ask(venv, FAILURES, dump)
    assert [kind for kind, _ in failures] == kinds
    assert all(sentence for _, sentence in failures)
    assert "hotspot" in failures[0][1]


CLOSED = """
dump = hprof_validate.read(sys.argv[1])
id = next(item.id for item in dump if item.name == "CLASS_DUMP")
dump.close()
for call in (lambda: dump.string(id), lambda: dump.class_of(id), lambda: dump.fields(id), lambda: list(dump.classes()),
             lambda: dump.find(id), dump.index, dump.rewind, dump.objects, dump.references, lambda: list(dump)):
    try:
        call()
    except ValueError as failure:
        assert str(failure) == "the dump is closed", failure
    else:
        raise AssertionError("a closed dump was read")
"""


def test_a_closed_dump_is_read_no_more(venv: Path, dump: Path) -> None:
    python(venv, CLOSED, dump)


TOO_LARGE = """
with hprof_validate.read(sys.argv[1]) as dump:
    dump.index()
    id = next(iter(dump.objects().id))
    for call in (dump.find, dump.string, dump.class_of, dump.fields):
        for wrong in (id + (1 << 64), id - (1 << 64), 1 << 64):
            try:
                call(wrong)
            except OverflowError as failure:
                assert str(failure) == f"{wrong} does not fit into 64 bits", failure
            else:
                raise AssertionError(f"{call} takes the lowest bits of {wrong}")
    assert dump.find(id).id == id and dump.find((1 << 64) - 1) is None
"""


def test_an_id_beyond_64_bits_is_no_other_id(venv: Path, dump: Path) -> None:
    python(venv, TOO_LARGE, dump)


WRONG_TYPES = """
class Reader:
    def __init__(self, gives):
        self.gives = gives
    def read(self, size):
        return self.gives

for dump in (None, 3, b"heap.hprof", Reader("JAVA PROFILE"), Reader(None)):
    for call in (hprof_validate.validate, hprof_validate.read):
        try:
            call(dump)
        except TypeError as failure:
            assert str(failure).startswith(("a dump is a path, or an object with read(), not ", "read() gave ")), failure
        else:
            raise AssertionError(dump)
"""


def test_what_is_no_dump_is_a_type_error(venv: Path) -> None:
    python(venv, WRONG_TYPES)


LEFT_OPEN = """
import gc, os
def memory():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def leave_open(times):
    for _ in range(times):
        hprof_validate.read(sys.argv[1], check=False).index()
    gc.collect()
leave_open(20)
before = memory()
leave_open(100)
print(json.dumps([memory() - before, len(os.listdir("/proc/self/fd"))]))
"""


def test_a_dump_that_nobody_closes_is_closed(venv: Path, dump: Path) -> None:
    more, descriptors = ask(venv, LEFT_OPEN, dump)
    assert more < 1 << 20
    assert descriptors < 10


# ---- Reading

THREADS = """
import random, threading
def in_threads(*calls):
    failures = []
    def run(call):
        try:
            call()
        except BaseException as failure:
            failures.append(failure)
    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures

with hprof_validate.read(sys.argv[1]) as dump:
    offsets = [item.offset for item in dump]
for _ in range(5):
    with hprof_validate.read(sys.argv[1]) as dump:
        found = [[], []]
        in_threads(*(lambda own=own: own.extend(item.offset for item in dump) for own in found))
    assert sorted(found[0] + found[1]) == offsets
with hprof_validate.read(sys.argv[1]) as dump:
    dump.index()
    ids = list(dump.objects().id)
    def find():
        for id in random.choices(ids, k=2000):
            assert dump.find(id).id == id
    in_threads(find, find, find)
for _ in range(10):
    dump = hprof_validate.read(sys.argv[1])
    def collect():
        try:
            dump.references()
        except ValueError as failure:
            assert str(failure) == "the dump is closed", failure
    in_threads(collect, collect, dump.close)
"""


def test_several_threads_may_read_one_dump(venv: Path, dump: Path) -> None:
    python(venv, THREADS, dump)


LATER = """
records = []
def record(tag, body):
    records.append(bytes([tag]) + bytes(4) + len(body).to_bytes(4, "big") + body)
def number(value):
    return value.to_bytes(4, "big")
def class_dump(id, super_id, size, field):
    return b"\\x20" + number(id) + number(0) + number(super_id) + bytes(20) + number(size) + bytes(4) + field
def instance(id):
    return b"\\x21" + number(id) + number(0) + number(3) + number(8) + number(5) + number(6)
for id, name in enumerate([b"java/lang/Object", b"Base", b"Derived", b"base", b"derived"], 1):
    record(1, number(id) + name)
for id in range(1, 4):
    record(2, number(id) + number(id) + number(0) + number(id))
first = class_dump(1, 0, 0, bytes(2)) + class_dump(3, 2, 8, b"\\0\\1" + number(5) + b"\\n") + instance(16)
record(0x1c, first + class_dump(2, 1, 4, b"\\0\\1" + number(4) + b"\\n") + instance(32))
record(0x2c, b"")
dump = hprof_validate.read(io.BytesIO(b"JAVA PROFILE 1.0.2\\0" + number(4) + bytes(8) + b"".join(records)))
print(json.dumps([item.fields() for item in dump if item.name == "INSTANCE_DUMP"]))
"""


def test_fields_of_a_superclass_that_comes_later_are_known_then(venv: Path) -> None:
    assert ask(venv, LATER) == [{"derived": 5}, {"derived": 5, "base": 6}]


CONTENT = """
with hprof_validate.read(sys.argv[1]) as dump:
    dump.index()
    instances, arrays, roots = [], [], 0
    for item in dump:
        if item.name == "INSTANCE_DUMP":
            instances.append([item.id, item.class_id, item.body().hex(), len(item.fields()), len(dump.fields(item.class_id))])
        elif item.name == "OBJECT_ARRAY_DUMP":
            arrays.append([item.id, item.class_id, list(item.array())])
        elif item.name == "PRIMITIVE_ARRAY_DUMP":
            array = item.array()
            array.byteswap()
            assert len(array) == item.elements
            arrays.append([item.id, item.element_type, array.tobytes().hex()])
    dump.rewind()
    texts = {item.id: dump.string(item.id) for item in dump if item.name == "UTF8"}
    objects, references = dump.objects(), dump.references()
    print(json.dumps([instances, arrays, texts, list(zip(objects.id, objects.class_id, objects.offset, objects.size)),
                      list(zip(references.source, references.target)), {c.id: c.name for c in dump.classes()}]))
"""
TYPES = {4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int", 11: "long"}


def references_of(content: Content, heap: HeapDump) -> list[list[int]]:
    """Worked out from the classes, field by field."""
    found = []
    width = content._shapes.id_size
    for one in heap.objects:
        if isinstance(one, ObjectArray):
            found += [[one.id, element] for element in one.elements if element]
        elif isinstance(one, Instance):
            at, class_id = 0, one.class_id
            while class_id:
                for _, kind in heap.classes[class_id].fields:
                    size = width if kind == 2 else {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}[kind]
                    target = int.from_bytes(one.bytes[at : at + size], "big") if kind == 2 else 0
                    found += [[one.id, target]] if target else []
                    at += size
                class_id = heap.classes[class_id].super_id
    for one_class in heap.classes.values():
        targets = [int.from_bytes(value.bytes, "big") for value in one_class.statics if value.type == 2]
        found += [[one_class.id, target] for target in targets if target]
    return found


def test_content_is_that_of_another_reader(venv: Path, dump: Path) -> None:
    data = dump.read_bytes()
    content = Content(memoryview(data))
    (heap,) = content.dumps
    instances, arrays, texts, objects, references, classes = ask(venv, CONTENT, dump)
    expected = [one for one in heap.objects if isinstance(one, Instance)]
    assert [entry[:3] for entry in instances] == [[one.id, one.class_id, one.bytes.hex()] for one in expected]
    assert any(fields for *_, fields, _ in instances) and all(0 <= named <= fields for *_, named, fields in instances)
    others = [one for one in heap.objects if not isinstance(one, Instance)]
    for found, other in zip(arrays, others, strict=True):
        if isinstance(other, ObjectArray):
            assert found == [other.id, other.class_id, list(other.elements)]
        else:
            assert other.bytes is not None
            assert found == [other.id, TYPES[other.type], other.bytes.hex()]
    assert {int(key): value for key, value in texts.items()} == content.strings
    assert [entry[0] for entry in objects] == [one.id for one in heap.objects]
    assert all(data[offset] in (0x21, 0x22, 0x23) and size > 0 for _, _, offset, size in objects)
    assert sorted(references) == sorted(references_of(content, heap))
    assert {int(key) for key in classes} >= set(heap.classes)
    names = {class_id: content.name_of_class(heap, class_id) for class_id in heap.classes}
    assert {"int[]", "java.lang.String"} <= set(classes.values())
    plain = {class_id: name.replace("/", ".") for class_id, name in names.items() if not name.startswith("[")}
    assert len(plain) > 10
    assert {class_id: classes[str(class_id)] for class_id in plain} == plain


def test_damage_is_an_item(venv: Path, dump: Path, tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(dump.read_bytes()[:-50])
    code = "print(json.dumps([[i.kind.name, i.offset, i.damage] for i in hprof_validate.read(sys.argv[1])][-1]))"
    kind, offset, damage = ask(venv, code, tmp_path / "cut")
    assert (kind, bool(damage)) == ("DAMAGE", True)
    assert offset < dump.stat().st_size


# ---- The documentation

EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_examples_of_the_documentation_work(venv: Path, dump: Path) -> None:
    path = str(Path(numpy.__file__).parents[1])  # the third needs it; the package does not
    outputs = [python(venv, code, dump, path=path if "numpy" in code else "").splitlines() for code in EXAMPLES]
    assert len(outputs) == 3
    assert outputs[0][0].startswith("valid HotSpot")
    assert len(outputs[1]) == 5 and all(re.fullmatch(r"0x[0-9a-f]+ b['\"].*['\"]", line) for line in outputs[1]), outputs[1]
    counts = [int(line.split()[0]) for line in outputs[2]]
    assert len(counts) == 10 and counts == sorted(counts, reverse=True) and counts[0] > 1
