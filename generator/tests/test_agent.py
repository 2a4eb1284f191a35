"""The agent of generator/agent: its options, and what it writes of programs of known content."""

from __future__ import annotations

import lzma
import os
import random
import re
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

if "HPROF_AGENT" not in os.environ:
    pytest.skip("built without the agent: no jvmti.h", allow_module_level=True)

from agent_dump import Dump
from agent_tool import AGENT8, Java, Jdk, Run, errors_of, facts_of, jdks, ready_java

sys.path.insert(0, str(AGENT8))

from facts import Facts, Site, read_text_data
from truth import SUPERS, MismatchError, check_samples, check_shares, check_threads, our_sites

from hprof_corpus.walk import read_header

# Where Truth.java allocates what, with the method that has the `new`, unlike the agent of JDK 8: there it is Object.<init>, or
# the constructor that calls it. Arrays are counted once, with the arrays within them.
ALLOCATED = {
    ("Truth$Point", "Truth.allocatePoints"): 1000,
    ("Truth$Node", "Truth.allocateNodes"): 500,
    ("Truth$Node[]", "Truth.allocateNodes"): 1,
    ("Truth$Node[]", "Truth.allocateArrays"): 40,
    ("Truth$Node[][]", "Truth.allocateArrays"): 1,
    ("int[]", "Truth.allocateArrays"): 300,
    ("int[][]", "Truth.allocateArrays"): 1,
    ("Truth$Dropped", "Truth.drop"): 2000,
    ("Truth$Gate", "Truth.<clinit>"): 1,
    ("Truth$Contender", "Truth.contend"): 3,
    ("Truth$Waiter", "Truth.park"): 1,
}
CLASS_OBJECT_OF_JDK_8 = 544  # bytes
# Threads that ended are garbage, which a dump of this agent does not have.
INSTANCES = {"Truth$Point": 1000, "Truth$Node": 500, "Truth$Gate": 1, "Truth$Waiter": 1, "Truth$Dropped": 0}
STATICS = {
    ("Truth", "GATE"): "Truth$Gate",
    ("Truth", "points"): "Truth$Point",
    ("Truth", "nodes"): "Truth$Node",
    ("Truth", "rows"): "Truth$Node[][]",
    ("Truth", "ints"): "int[][]",
}


@pytest.fixture(scope="module", params=jdks(), ids=str)
def java(request: pytest.FixtureRequest) -> Iterator[Java]:
    jdk = request.param
    assert isinstance(jdk, Jdk)
    with ready_java(jdk) as ready:
        yield ready


def only_file(run: Run) -> Path:
    assert run.status == 0, run.errors
    assert len(run.files) == 1, run.files
    return next(iter(run.files.values()))


def facts_of_valid(run: Run) -> Facts:
    path = only_file(run)
    assert errors_of(path) == []
    assert not run.said
    return facts_of(path)


# ---- options

HEAP_ERROR = "heap option value must be dump|sites|all"
REFUSED = {
    "heap=none": HEAP_ERROR,
    "heap": HEAP_ERROR,
    "cpu=all": "cpu option value must be samples|times|old",
    "cpu=times,format=b": "cpu=times|old is not supported with format=b",
    "cpu=old,format=b": "cpu=times|old is not supported with format=b",
    "monitor=y,format=b": "monitor=y is not supported with format=b",
    "monitor=": "monitor option value must be y|n",
    "format=c": "format option value must be a|b",
    "file=": "syntax error parsing file=filename",
    "net=127.0.0.1": "net option missing port",
    "net=127.0.0.1:x": "net option port must be a number from 1 to 65535",
    "file=a,net=127.0.0.1:1": "file or net options should only appear once",
    "depth=-1": "depth option value must be decimal and >= 0",
    "depth=65536": "depth option value must be <= 65535",
    "interval=0": "interval option value must be decimal and > 0",
    "interval=1x": "interval option value must be decimal and > 0",
    "cutoff=-1": "cutoff option value must be floating point and >= 0",
    "cutoff=nan": "cutoff option value must be floating point and >= 0",
    "gc_okay=maybe": "gc_okay option value must be y|n",
    "verbose": "verbose option value must be y|n",
    "gz=0": "gz option value must be 1 to 9",
    "gz=1,net=127.0.0.1:1": "gz is not supported with net",
    "sample=0": "sample option value must be a number of bytes, such as 512k, below 2g",
    "colour=y": "Unknown option: colour",
    "doe=n,,heap=dump": "Unknown option: ",
}


@pytest.mark.parametrize("options", REFUSED)
def test_a_wrong_option_ends_the_start_with_one_line(java: Java, options: str) -> None:
    run = java.run(options)
    assert run.status == 1
    assert run.errors == f"HPROF ERROR: hprof option error: {REFUSED[options]} ({options})\n"
    assert not run.output
    assert not run.files


def test_outputs_that_cannot_be_opened(java: Java) -> None:
    run = java.run("file=/no/such/file")
    assert (run.status, run.output) == (1, "")
    assert run.errors == "HPROF ERROR: can't create profile file: /no/such/file (No such file or directory)\n"
    for path in (f"/no/{'such/' * 400}file", "/no/\nsuch/file"):
        errors = java.run(f"file={path}").errors
        assert errors == f"HPROF ERROR: can't create profile file: {path} (No such file or directory)".replace("\n", "?") + "\n"
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        peer = f"127.0.0.1:{taken.getsockname()[1]}"
        run = java.run(f"net={peer}")
    assert (run.status, run.errors, run.files) == (1, f"HPROF ERROR: can't connect to {peer} (Connection refused)\n", {})
    assert java.run("net=host.invalid:1").errors.startswith("HPROF ERROR: can't connect to host.invalid:1 (")


@pytest.mark.parametrize(
    ("options", "blocks"),
    [
        ("heap=dump,heap=sites", {"heap dump", "sites"}),
        ("cpu=times,cpu=samples", {"samples", "times"}),
        ("cpu=samples,cpu=old", {"samples", "old times"}),
        ("cpu=old,cpu=times", {"times"}),
    ],
)
def test_profiles_that_are_asked_for_one_by_one(java: Java, options: str, blocks: set[str]) -> None:
    """As the agent of JDK 8 wrote them."""
    assert set(facts_of_valid(java.run(options)).blocks) == blocks


def test_an_option_without_effect_says_so(java: Java) -> None:
    run = java.run("msa=y,heap=sites", "Lambda")
    assert (run.status, run.said) == (0, ["HPROF: msa=y has no effect: micro state accounting was of Solaris"])


def test_help_prints_each_option_and_the_program_does_not_run(java: Java) -> None:
    run = java.run("help", "Lambda")
    assert run.status == 0
    assert "called" not in run.output
    for name in ("heap=dump|sites|all", "cpu=", "monitor=", "format=", "file=", "net=", "depth=", "interval=", "cutoff=", "lineno=",
                 "thread=", "doe=", "msa=", "force=", "verbose=", "gz=", "sample=", "primfields=", "primarrays="):  # fmt: skip
        assert f"\n{name}" in run.output


# Right and wrong values; names without values, too.
VALUES = {
    "heap": ["dump", "sites", "all", "none", ""],
    "cpu": ["samples", "times", "old", "old,format=a"],
    "monitor": ["y", "n", "maybe"],
    "format": ["a", "b", "c"],
    "file": ["x.txt", "%p", "%", "%%p%p", "/dev/full", "/dev/null", ".", "a" * 300, "\u20ac", "\x01"],
    "net": ["127.0.0.1:1", "127.0.0.1", ":", "[::1]:1"],
    "depth": ["0", "1", "4", "500", "65535", "65536", "-1"],
    "interval": ["1", "5", "0", "9" * 30],
    "cutoff": ["0", "0.5", "1e-9", "2", "inf", "x"],
    "lineno": ["y", "n"],
    "thread": ["y", "n"],
    "doe": ["y", "n"],
    "msa": ["y", "n"],
    "gc_okay": ["y", "n"],
    "force": ["y", "n"],
    "verbose": ["y", "n"],
    "gz": ["1", "9", "10"],
    "sample": ["1", "64k", "512k", "1g", "9g", "k"],
    "primfields": ["y", "n"],
    "primarrays": ["y", "n"],
}
NOISE = ["help", "", "=", "%", "\x01", "\u00ff", "y", "9" * 30, "a" * 500, "heap", "heap==", "Heap=dump", " heap=dump"]


def random_options(draw: random.Random) -> str:
    names = draw.choices(sorted(VALUES), k=draw.randint(0, 5))
    words = [f"{name}={draw.choice(VALUES[name])}" for name in names]
    if draw.random() < 0.2:
        words.insert(draw.randint(0, len(words)), draw.choice(NOISE))
    return ",".join(words)


def test_random_options(java: Java) -> None:
    """The program runs as without the agent, or the start ends with one line."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    for _ in range(int(os.environ.get("HPROF_AGENT_OPTIONS", "12"))):
        options = random_options(draw)
        run = java.run(options, "Lambda")
        assert run.status in (0, 1), (options, run.status, run.errors)
        if run.status == 1:
            assert len(run.said) == 1, (options, run.errors)
            assert "called" not in run.output, options
        else:
            assert "called" in run.output or "help" in options, options
            assert not [line for line in run.said if "ERROR" in line and "/dev/full" not in line], (options, run.errors)
        if not any(path.name == "core" or path.name.startswith("hs_err") for path in run.files.values()):
            continue
        pytest.fail(f"the VM crashes with {options}")


# ---- files


def test_names_of_files(java: Java) -> None:
    assert only_file(java.run("heap=sites", "Lambda")).name == "java.hprof.txt"
    path = only_file(java.run("heap=sites,format=b", "Lambda"))
    assert path.name == "java.hprof"
    assert path.stat().st_mode & 0o777 == 0o600
    run = java.run("heap=sites,file=x-%p.txt", "Lambda")
    assert only_file(run).name[2:-4].isdigit()


def test_force(java: Java) -> None:
    run = java.run("heap=sites,file=dump.txt,force=n", "Lambda", before={"dump.txt": "old"})
    assert run.files["dump.txt"].read_text() == "old"
    (other,) = set(run.files) - {"dump.txt"}
    assert other.startswith("dump.") and other.endswith(".txt") and other[5:-4].isdigit()
    run = java.run("heap=sites,file=dump.txt", "Lambda", before={"dump.txt": "old"})
    assert only_file(run).read_text().startswith("JAVA PROFILE")
    assert only_file(run).stat().st_mode & 0o777 == 0o600  # it was 0644


def test_gz(java: Java) -> None:
    run = java.run("heap=dump,format=b,gz=1,file=t.hprof")
    path = only_file(run)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert errors_of(path) == []


def test_full_disk_is_said_once_and_the_program_goes_on(java: Java) -> None:
    for options in ("heap=all,file=/dev/full", "heap=all,format=b,file=/dev/full"):
        run = java.run(options, "Lambda")
        assert run.status == 0
        assert "called" in run.output
        assert run.said == ["HPROF ERROR: can't write /dev/full: No space left on device; the rest of the profile is lost"]


@pytest.mark.parametrize("name", ["t.txt", "t.hprof"])
def test_a_program_without_memory(java: Java, name: str) -> None:
    binary = ",format=b" if name == "t.hprof" else ""
    run = java.run(f"heap=all,cpu=samples,file={name}{binary}", "Bench", "keep", "20000000", java=("-Xmx32m",))
    assert run.status == 1
    assert "OutOfMemoryError" in run.errors
    assert errors_of(run.files[name]) == []
    assert facts_of(run.files[name]).blocks["heap dump"] == 1


def test_a_vm_that_has_no_memory_to_end(java: Java) -> None:
    """It makes an object to end, and leaves without VMDeath if the heap has no room for it."""
    missing = "HPROF ERROR: the process ends without the event VMDeath: the output at exit is missing"
    run = java.run("heap=sites,file=t.txt", "Lavish", "memory", java=("-Xmx32m",))
    assert run.status == 1
    assert (missing in run.said) != (facts_of(run.files["t.txt"]).blocks["sites"] == 1)
    run = java.run("heap=sites,doe=n,file=t.txt", "Lavish", "memory", java=("-Xmx32m",))
    assert missing not in run.said


def test_a_vm_that_ends_at_the_first_error_of_memory(java: Java) -> None:
    """Before any event. Later VMs do not even leave by exit()."""
    for option, status in (("Exit", 3), ("Crash", 1)):
        ends = ("-Xmx32m", f"-XX:+{option}OnOutOfMemoryError", "-XX:-CreateCoredumpOnCrash")
        run = java.run("heap=sites,file=t.txt", "Lavish", "memory", java=ends)
        assert (run.status, "\nSITES BEGIN" in run.files["t.txt"].read_text()) == (status, False)
        assert bool(run.said) == (option == "Exit" and java.jdk.version < 18)


def test_verbose_and_doe(java: Java) -> None:
    assert java.run("heap=all,file=t.txt", "Lambda").errors == "Dumping Java heap ... allocation sites ... done.\n"
    assert java.run("heap=all,verbose=n,file=t.txt", "Lambda").errors == ""
    run = java.run("heap=all,doe=n,file=t.txt", "Lambda")
    assert not facts_of_valid(run).blocks


def test_times_of_the_header_and_of_records(java: Java) -> None:
    headers = []
    for _ in range(3):
        began, began_running = time.time(), time.monotonic()
        path = only_file(java.run("heap=sites,format=b,file=t.hprof"))
        ended, ran = time.time(), time.monotonic() - began_running
        header = read_header(path.read_bytes())
        assert header is not None
        assert int(began * 1000) <= header.time <= ended * 1000
        headers.append(header.time)
        seconds = Dump(path.read_bytes()).seconds
        assert 0.05 <= seconds[-1] <= ran  # the program sleeps for 50 ms
    assert any(header % 1000 for header in headers)


# ---- heap dump


def check_heap(facts: Facts) -> None:
    assert {name: facts.instances[name] for name in INSTANCES} == INSTANCES
    assert facts.fields["Truth$Point", "next"] == 999
    assert facts.fields["Truth$Node", "left"] == 250
    assert facts.fields["Truth$Node", "right"] == 249
    assert {key: value for key, value in facts.statics.items() if key[0] == "Truth"} == STATICS
    assert facts.arrays["Truth$Node[][]"] == 1
    assert facts.elements["Truth$Node[][]"] == 40
    assert facts.elements["Truth$Node[]"] == 40
    assert facts.supers["Truth$Contender"] == "java.lang.Thread"
    assert facts.supers["Truth$Point"] == "Truth$Base"
    check_threads(facts)


@pytest.mark.parametrize("name", ["t.txt", "t.hprof"])
@pytest.mark.parametrize("heap", ["-Xmx64m", "-Xmx3g", "-Xmx33g"])
def test_heap_of_the_program(java: Java, name: str, heap: str) -> None:
    binary = ",format=b" if name == "t.hprof" else ""
    run = java.run(f"heap=dump,file={name}{binary}", java=(heap,))
    check_heap(facts_of_valid(run))
    if binary:
        header = read_header(only_file(run).read_bytes())
        assert header is not None
        assert header.id_size == (8 if heap == "-Xmx33g" else 4)
        assert header.format == (b"JAVA PROFILE 1.0.1" if heap == "-Xmx64m" else b"JAVA PROFILE 1.0.2")


COLLECTORS = ["Serial", "Parallel", "G1", "Z", "Shenandoah"]


def with_collector(java: Java, collector: str, options: str, *program: str) -> Run:
    run = java.run(options, *program, java=("-XX:+UnlockExperimentalVMOptions", f"-XX:+Use{collector}GC"))
    if "not supported" in run.errors or "Unrecognized" in run.errors:
        pytest.skip("not in this JDK")
    if "HPROF_SANITIZED" in os.environ and re.search("Failed to reserve .*address space", run.output):
        pytest.skip("the sanitizer has the addresses that the collector needs")
    return run


@pytest.mark.parametrize("collector", COLLECTORS)
def test_heap_with_each_collector(java: Java, collector: str) -> None:
    check_heap(facts_of_valid(with_collector(java, collector, "heap=dump,format=b,file=t.hprof")))


def test_each_value(java: Java) -> None:
    path = only_file(java.run("heap=dump,format=b,file=t.hprof", "Graph"))
    assert errors_of(path) == []
    dump = Dump(path.read_bytes())
    assert all(dump.sizes[class_id] == len(values) for class_id, values in dump.instances.values())
    leaf = dump.instance(dump.static("leaf"))
    assert list(leaf) == ["d", "last", "f", "s", "i", "nothing", "z", "c", "b", "first", "l"]
    expected = {"d": struct.pack(">d", -2.5), "f": struct.pack(">f", 1.5), "s": struct.pack(">h", -300),
                "i": struct.pack(">i", -42), "z": b"\1", "c": b"\x20\xac", "b": b"\x12",
                "l": bytes.fromhex("123456789abcdef0")}  # fmt: skip
    assert {name: leaf[name] for name in expected} == expected
    assert not any(leaf["nothing"])
    assert dump.mark(leaf["first"]) == 1
    assert dump.mark(leaf["last"]) == 3
    assert dump.statics["Graph$Base", "shared"] == b"ZZZZ"
    assert dump.mark(dump.statics["Graph$Base", "sharedMark"]) == 2
    assert dump.statics["Graph$Middle", "own"] == b"\xff\xfe"
    assert dump.statics["Graph$Named", "NUMBER"] == b"\0\0\0\7"
    assert dump.names[dump.instances[dump.static("NAME", "Graph$Named")][0]] == "java.lang.String"
    assert dump.names[dump.instances[dump.static("SIZE", "Graph$Sized")][0]] == "java.lang.Object"

    size, elements = dump.objects[dump.static("trailing")]
    ids = [dump.id(elements[i * dump.id_size :]) for i in range(size)]
    assert [bool(id_) for id_ in ids] == [True, False, True, False, False]
    assert [dump.mark(ids[0]), dump.mark(ids[2])] == [4, 5]
    assert dump.objects[dump.static("empty")] == (0, b"")
    assert dump.objects[dump.static("nested")][0] == 3
    primitives = {"booleans": (4, b"\1\0\1"), "chars": (5, b"\0a\x20\xac"), "floats": (6, struct.pack(">2f", 1.5, -0.0)),
                  "doubles": (7, struct.pack(">d", -2.5)), "bytes": (8, b"\1\xff"), "shorts": (9, struct.pack(">2h", -300, 7)),
                  "ints": (10, struct.pack(">3i", 1, -42, -(1 << 31))), "longs": (11, bytes.fromhex("123456789abcdef0")),
                  "none": (11, b"")}  # fmt: skip
    assert {name: dump.primitives[dump.static(name)] for name in primitives} == primitives

    size, elements = dump.objects[dump.static("classes")]
    ids = [dump.id(elements[i * dump.id_size :]) for i in range(size)]
    assert [dump.names[id_] for id_ in ids[2:]] == ["java.lang.String", "Graph$Leaf", "int[]", "Graph$Named"]
    assert {dump.names[dump.instances[id_][0]] for id_ in ids[:2]} == {"java.lang.Class"}
    assert len(set(ids)) == 6


def test_loaders_of_classes(java: Java) -> None:
    """Also of array classes and of those that nobody has linked, of which a walk of the heap shows none."""
    dump = Dump(only_file(java.run("heap=dump,format=b,file=t.hprof", "Graph")).read_bytes())
    ours = {name: loader for name, loader in dump.loaders.items() if name.startswith("Graph")}
    assert {"Graph", "Graph$Leaf", "Graph$Mark", "Graph$Mark[]", "Graph$Unlinked"} <= ours.keys()
    assert set(ours.values()) == {dump.loaders["Graph"]} != {0}
    assert dump.names[dump.instances[dump.loaders["Graph"]][0]] == "jdk.internal.loader.ClassLoaders$AppClassLoader"
    primitives = ("boolean[]", "char[]", "float[]", "double[]", "byte[]", "short[]", "int[]", "long[]")
    assert {dump.loaders[name] for name in ("java.lang.String", "java.lang.String[]", *primitives)} == {0}
    assert dump.types[dump.loaders["Signed"]] == "Graph$Signer"


def test_domains_and_signers_of_classes(java: Java) -> None:
    dump = Dump(only_file(java.run("heap=dump,format=b,file=t.hprof", "Graph")).read_bytes())
    assert {dump.types[dump.domains[name]] for name in ("Graph", "Graph$Leaf", "Signed")} == {"java.security.ProtectionDomain"}
    assert dump.domains["Graph"] == dump.domains["Graph$Leaf"] != dump.domains["Signed"]
    size, elements = dump.objects[dump.signers["Signed"]]
    assert (size, dump.types[dump.id(elements)]) == (1, "Graph$Signer$1")
    assert dump.domains["java.lang.String"] == dump.signers["java.lang.String"] == dump.signers["Graph"] == 0


def test_no_values_on_request(java: Java) -> None:
    dump = Dump(only_file(java.run("heap=dump,format=b,primfields=n,primarrays=n,file=t.hprof", "Graph")).read_bytes())
    leaf = dump.instance(dump.static("leaf"))
    assert not any(any(leaf[name]) for name in ("d", "f", "s", "i", "z", "c", "b", "l"))
    assert any(leaf["first"])
    assert dump.primitives[dump.static("ints")] == (10, b"")


ODD = {
    "t.hprof": "heap=all,thread=y,format=b",
    "t.txt": "heap=all,monitor=y,thread=y,cutoff=0",
    "m.txt": "cpu=times,cutoff=0",
    "o.txt": "cpu=old",
}


@pytest.mark.parametrize("name", ODD)
def test_names_of_any_characters(java: Java, name: str) -> None:
    """The VM takes nearly all in classes, fields, methods and source files, and all in threads and their groups."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    run = java.run(f"{ODD[name]},file={name}", "Odd", str(seed))
    assert "made 200" in run.output, run.errors
    assert errors_of(only_file(run)) == []


# ---- sites


def allocated(facts: Facts) -> dict[tuple[str, str], int]:
    """By type, and the innermost method of the program on the stack, of the types that no library allocates for it there."""
    types = {type_ for type_, _ in ALLOCATED}
    found: dict[tuple[str, str], int] = {}
    for site in facts.sites:
        method = next((frame.method for frame in site.frames if frame.method.startswith("Truth")), "")
        if method and site.type in types and (site.type != "int[]" or method == "Truth.allocateArrays"):
            found[site.type, method] = found.get((site.type, method), 0) + site.allocated
    return found


@pytest.mark.parametrize("name", ["s.txt", "s.hprof"])
def test_sites_are_exact(java: Java, name: str) -> None:
    binary = ",format=b" if name == "s.hprof" else ""
    run = java.run(f"heap=sites,cutoff=0,file={name}{binary}")
    facts = facts_of_valid(run)
    assert allocated(facts) == ALLOCATED
    assert facts.longest_trace == 4
    sizes = {site.allocated_bytes // site.allocated for site in facts.sites if site.type == "int[]" and site.allocated == 300}
    assert sizes in ({16 + 7 * 4 + 4}, {12 + 7 * 4})  # the header is smaller where compact ones are the default, as in JDK 28
    if binary:
        types = dict(Dump(only_file(run).read_bytes()).sites)
        assert {types[class_] for class_ in ("Truth$Node[][]", "Truth$Node[]", "int[][]")} == {2}
        assert (types["int[]"], types["byte[]"], types["Truth$Point"]) == (10, 8, 0)


def at_its_new(site: Site) -> tuple[str, ...]:
    """The trace from the line of the `new` on: the agent of JDK 8 counted in a constructor."""
    lines = [f"{frame.method}:{frame.line}" for frame in site.frames]
    while lines and lines[0].partition(":")[0].endswith(".<init>"):
        del lines[0]
    return tuple(lines)


def rows_of_the_program(facts: Facts, has_sizes: bool) -> dict[tuple[str, tuple[str, ...]], tuple[int, int]]:
    """Objects and bytes allocated. A thread has other fields in each JDK."""
    found: dict[tuple[str, tuple[str, ...]], tuple[int, int]] = {}
    for site in our_sites(facts):
        frames = at_its_new(site)
        if site.type.startswith("Truth$") or (
            site.type.startswith("int[") and any(line.startswith("Truth.allocate") for line in frames[:1])
        ):
            is_alike = has_sizes and SUPERS.get(site.type) != "java.lang.Thread"
            found[site.type, frames] = (site.allocated, site.allocated_bytes if is_alike else 0)
    return found


def heap_of_jdk8() -> Facts:
    """What the agent of JDK 8 wrote of the same program."""
    return read_text_data(lzma.decompress((AGENT8 / "gold/heap.txt.xz").read_bytes()))[0]


def test_sites_are_those_of_the_agent_of_jdk_8(java: Java) -> None:
    """Row by row, apart from what libhprof(7) lists."""
    said = facts_of_valid(java.run("heap=sites,cutoff=0"))
    has_sizes = any(site.type == "Truth$Gate" and site.allocated_bytes == 16 for site in said.sites)  # no compact headers
    theirs = rows_of_the_program(heap_of_jdk8(), has_sizes)
    for type_, frames in list(theirs):
        if type_ in ("Truth$Node[]", "Truth$Node[][]", "int[][]"):  # the class object was counted, as one of its arrays
            objects, size = theirs[type_, frames]
            theirs[type_, frames] = (objects - 1, size - CLASS_OBJECT_OF_JDK_8 if has_sizes else 0)
        if type_ == "Truth$Node[][]":  # the arrays within that of `new Node[40][3]` were not
            theirs["Truth$Node[]", frames] = (40, 40 * 32 if has_sizes else 0)
    assert rows_of_the_program(said, has_sizes) == theirs


def test_sites_without_the_buffers_of_threads(java: Java) -> None:
    facts = facts_of_valid(java.run("heap=sites,cutoff=0,file=s.txt", java=("-XX:-UseTLAB", "-Xint")))
    assert allocated(facts) == ALLOCATED


@pytest.mark.parametrize("collector", COLLECTORS)
def test_sites_of_objects_that_buffers_have_no_room_for(java: Java, collector: str) -> None:
    """What is allocated from the rest of such a buffer JDK 11 would not show."""
    run = with_collector(java, collector, "heap=sites,cutoff=0,file=s.txt", "Bulky")
    found = Counter[str]()
    for site in facts_of_valid(run).sites:
        if any(frame.method == "Bulky.allocate" for frame in site.frames):
            found[site.type] += site.allocated
    assert {type_: found[type_] for type_ in ("Bulky$Small", "long[]")} == {"Bulky$Small": 400_000, "long[]": 4000}


def test_sites_that_several_threads_meet_at_once(java: Java) -> None:
    """The agent keeps each class with each size as a site of its own."""
    facts = facts_of_valid(java.run("heap=sites,cutoff=0,file=s.txt", "Lavish", "sizes"))
    objects, sizes = Counter[str](), Counter[str]()
    for site in facts.sites:  # in compiled code there is no frame of the native method
        if site.type.startswith("int[][]") and any(frame.method == "Lavish.allocateSizes" for frame in site.frames):
            objects[site.type] += site.allocated
            sizes[site.type] += site.allocated_bytes
    assert len(objects) == 64
    assert set(objects.values()) == {4 * 500}
    assert set(sizes.values()) == {4 * sum(16 + 8 * size for size in range(500))}


@pytest.mark.parametrize("depth", [0, 1, 16, 500])
def test_depth(java: Java, depth: int) -> None:
    facts = facts_of_valid(java.run(f"heap=sites,cutoff=0,depth={depth},format=b,file=s.hprof"))
    assert facts.settings == (1, depth)
    assert facts.longest_trace == depth if depth <= 1 else 4 < facts.longest_trace <= depth
    if depth == 0:
        assert len(facts.traces) == 1


def sources_of_truth(facts: Facts) -> set[str]:
    return {frame.source for trace in facts.traces.values() for frame in trace.frames if frame.method.startswith("Truth.")}


def test_lines_and_threads(java: Java) -> None:
    facts = facts_of_valid(java.run("heap=sites,lineno=n,file=s.txt"))
    assert {frame.line for trace in facts.traces.values() for frame in trace.frames} == {-1}
    assert sources_of_truth(facts) == {"Truth.java"}
    for options in ("file=s.txt", "format=b,file=s.hprof"):
        facts = facts_of_valid(java.run(f"heap=sites,thread=y,cutoff=0,{options}"))
        ours = [trace for trace in facts.traces.values() if any(frame.method.startswith("Truth.") for frame in trace.frames)]
        assert ours
        assert all(trace.thread for trace in ours)
        assert sources_of_truth(facts) == {"Truth.java"}
    text = (AGENT8 / "Truth.java").read_text(encoding="utf-8").splitlines()
    lines = {site.frames[0].line for site in facts.sites if site.type == "Truth$Point"}
    assert [text[line - 1].strip() for line in lines] == ["last = new Point(i, last);"]


@pytest.mark.parametrize("cutoff", ["0.0001", "0.01", "0.5"])
def test_cutoff(java: Java, cutoff: str) -> None:
    facts = facts_of_valid(java.run(f"heap=sites,cutoff={cutoff},format=b,file=s.hprof"))
    total = max(sum(site.live_bytes for site in facts.sites), 1)
    assert all(site.live_bytes >= float(cutoff) * total for site in facts.sites)


def test_a_heap_dump_and_sites_have_the_same_sizes(java: Java) -> None:
    run = java.run("heap=all,cutoff=0,file=t.txt")
    sizes = {site.type: site.live_bytes // site.live for site in facts_of_valid(run).sites if site.live}
    text = only_file(run).read_text()
    for type_ in ("Truth$Node[][]", "Truth$Point", "Truth$Gate"):
        found = set(re.findall(rf" \(sz=(\d+), .*{re.escape(type_)}@", text))
        assert found == {str(sizes[type_])}
    assert re.findall(r", nelems=(\d+), elem type=Truth\$Node\[\]\[\]@", text) == ["40"]


def test_a_heap_dump_and_sites_have_the_same_traces(java: Java) -> None:
    """The VM does not report the allocation of some objects that it makes itself: these have the empty trace in a dump. Without the
    archive there are no class objects of classes that nobody loads."""
    run = java.run("heap=all,cutoff=0,file=t.txt", java=("-Xshare:off",))
    facts_of_valid(run)
    text = only_file(run).read_text()
    traces = dict(re.findall(r"^(?:OBJ|ARR|CLS) (\w+) \(.*\btrace=(\d+)", text, re.MULTILINE))
    dumped = Counter(re.findall(r"^(?:OBJ|ARR) \w+ \(.*trace=(\d+), .*(?:class|type)=([^@)]+)", text, re.MULTILINE))
    dumped.update((trace, "java.lang.Class") for trace in re.findall(r"^CLS \w+ \(.*trace=(\d+)", text, re.MULTILINE))
    rows = re.findall(r"^ +\d+ +\S+% +\S+% +\d+ +(\d+) +\d+ +\d+ (\d+) (.+)$", text, re.MULTILINE)
    live = Counter({(trace, type_): int(objects) for objects, trace, type_ in rows})
    assert {trace for trace, _ in dumped - live} <= {"300000"}  # garbage lives until it is collected
    mirrors = "300000", "java.lang.Class"
    assert 0.8 * dumped[mirrors] < live[mirrors]
    kept = ("Truth$Point", "Truth$Node", "Truth$Node[][]", "int[][]")
    assert Counter({key: count for key, count in live.items() if key[1] in kept and count}) == Counter(
        {key: count for key, count in dumped.items() if key[1] in kept}
    )
    assert 300 in {count for (trace, type_), count in dumped.items() if type_ == "int[]"}
    assert len({trace for trace, type_ in dumped if type_ == "java.lang.Class"}) > 1
    globals_ = re.findall(r"^ROOT (\w+) \(kind=<JNI global ref>, id=\w+, trace=(\d+)\)$", text, re.MULTILINE)
    assert globals_
    assert all(traces[id_] == trace for id_, trace in globals_)


def ours(names: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(names.items()) if name.startswith("Truth") and count}


def test_content_is_that_of_the_agent_of_jdk_8(java: Java) -> None:
    """What is different is in libhprof(7): garbage is not dumped, and a class object is an
    object of Class, not of the class that it stands for."""
    theirs = heap_of_jdk8()
    facts = facts_of_valid(java.run("heap=all,cutoff=0,file=t.txt"))
    garbage = {"Truth$Contender", "Truth$Dropped"}
    ended = {key: count for key, count in theirs.fields.items() if key[0] in garbage}
    inherited = {key for key in theirs.fields if key[0] == "Truth$Waiter"}  # fields of Thread, which are others today
    assert {
        key: count for key, count in theirs.fields.items() if key[0].startswith("Truth") and key not in ended.keys() | inherited
    } == {key: count for key, count in facts.fields.items() if key[0].startswith("Truth") and key[0] != "Truth$Waiter"}
    assert {key: value for key, value in theirs.statics.items() if key[0].startswith("Truth")} == {
        key: value for key, value in facts.statics.items() if key[0].startswith("Truth")
    }
    assert {key: value for key, value in theirs.supers.items() if key.startswith("Truth")} == {
        key: value for key, value in facts.supers.items() if key.startswith("Truth")
    }
    assert {name: count for name, count in ours(theirs.instances).items() if name not in garbage} == ours(facts.instances)
    allocated_then: dict[str, int] = {}
    allocated_now: dict[str, int] = {}
    for totals, sites in ((allocated_then, theirs.sites), (allocated_now, facts.sites)):
        for site in sites:
            totals[site.type] = totals.get(site.type, 0) + site.allocated
    assert ours({name: count - 1 for name, count in allocated_then.items()}) == ours(allocated_now)


def test_estimates(java: Java) -> None:
    count = 30_000_000
    run = java.run("heap=sites,cutoff=0,sample=64k,file=e.txt", "Bench", "allocate", str(count), java=("-XX:-DoEscapeAnalysis",))
    facts = facts_of_valid(run)
    found = sum(site.allocated for site in facts.sites if site.frames and site.frames[0].method == "Bench.allocate")
    assert 0.8 * count < found < 1.2 * count
    rows = [line for line in only_file(run).read_text().splitlines() if " Bench" in line or " java.lang.Object" in line]
    assert all(line.endswith(" (estimate)") for line in rows if "%" in line)


def test_estimates_of_objects_larger_than_the_distance(java: Java) -> None:
    """Each of them is seen."""
    facts = facts_of_valid(java.run("heap=sites,cutoff=0,sample=1k,file=e.txt", "Bulky"))
    assert 3900 < sum(site.allocated for site in facts.sites if site.type == "long[] (estimate)") < 4100


# ---- samples


@pytest.mark.parametrize("name", ["c.txt", "c.hprof"])
def test_samples(java: Java, name: str) -> None:
    binary = ",format=b" if name == "c.hprof" else ""
    facts = facts_of_valid(java.run(f"cpu=samples,cutoff=0,file={name}{binary}"))
    check_samples(facts)
    assert sum(facts.samples.values()) == facts.total_samples
    assert facts.samples
    assert not any(frames[0].method.endswith("waitForReferencePendingList") for frames in facts.samples)


def test_shares_of_samples(java: Java) -> None:
    """Samples are taken by the clock: a run during which the machine does other work may miss the shares, three in a row do not."""
    for attempt in range(3):
        facts = facts_of_valid(java.run("cpu=samples,interval=1,file=c.txt", "Shares"))
        try:
            check_shares(facts)
            return
        except MismatchError as error:
            print(f"attempt {attempt + 1}: {error}")
    pytest.fail("no attempt has the right shares")


def test_the_interval_of_samples(java: Java) -> None:
    """A busy machine may delay samples in one run, but not in three. No sample comes too early."""
    shares = []
    for _ in range(3):
        run = java.run("cpu=samples,interval=20,depth=100,file=c.txt", "Bench", "fibonacci", "43")
        counts = facts_of_valid(run).samples.items()
        taken = sum(count for frames, count in counts if any(frame.method == "Bench.fibonacci" for frame in frames))
        most = int(run.output.split()[0]) / 20e6
        assert taken <= most + 2
        shares.append(taken / most)
        if shares[-1] > 0.75:
            return
    pytest.fail(f"fewer samples than the interval says: {shares}")


def test_the_cutoff_of_each_table(java: Java) -> None:
    facts = facts_of_valid(java.run("cpu=samples,interval=1,cutoff=0.2,file=c.txt", "Shares"))
    assert facts.shares
    assert min(facts.shares) >= 20
    facts = facts_of_valid(java.run("heap=sites,cpu=samples,monitor=y,cutoff=2,file=c.txt"))
    assert (facts.sites, dict(facts.samples), dict(facts.contended)) == ([], {}, {})
    assert facts.total_samples
    assert not facts_of_valid(java.run("cpu=times,cutoff=2,file=m.txt", "Calls")).calls


def test_everything_binary(java: Java) -> None:
    facts = facts_of_valid(java.run("cpu=samples,heap=all,format=b,file=t.hprof"))
    assert facts.settings == (3, 4)
    assert {name: facts.blocks[name] for name in ("heap dump", "sites", "samples")} == {"heap dump": 1, "sites": 1, "samples": 1}
    check_heap(facts)


@pytest.mark.skipif("HPROF_BIG" not in os.environ, reason="10 GiB of memory: ci/full")
def test_an_array_of_more_than_4_gib_is_cut(java: Java) -> None:
    run = java.run("heap=dump,format=b,file=t.hprof", "Giant", java=("-Xmx6g",))
    assert run.status == 0, run.errors
    assert run.said == ["HPROF WARNING: an array of 600000000 elements is cut to 536870910: a segment holds less than 4 GiB"]
    assert errors_of(run.files["t.hprof"]) == []
    run.files["t.hprof"].unlink()
