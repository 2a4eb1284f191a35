"""Dumps like those of a version, beside a real one of it, in conformance/gold: the same verdict of hprof-validate, the same order
of records, the same layouts of classes.
"""

import itertools
import json
import os
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from gen_tool import AGENTS, HOTSPOTS, IS_SLOW
from some_cases import some

from hprof_corpus import layouts
from hprof_corpus.walk import Shapes, read_class_parts, read_header, records, struct_of, subrecords

TOOL = os.environ["HPROF_GEN"]
VALIDATOR = os.environ["HPROF_VALIDATE"]
ROOT = Path(__file__).resolve().parents[2]
GOLD = ROOT / "conformance" / "gold"
NAMES = {f"hotspot-{version}": f"jdk{version}" for version in (8, 11, 17, 21, 25, 28)}
NAMES |= {f"sa-{version}": f"sa{version}" for version in (11, 17, 28)}
PHASES = {"ROOT_JAVA_FRAME": "ROOT_THREAD_OBJECT", "ROOT_JNI_LOCAL": "ROOT_THREAD_OBJECT"}
PHASES |= {"OBJECT_ARRAY_DUMP": "INSTANCE_DUMP", "PRIMITIVE_ARRAY_DUMP": "INSTANCE_DUMP"}


@cache
def gold(name: str) -> bytes:
    with tarfile.open(GOLD / f"{name}.tar.xz") as archive:
        member = archive.extractfile(f"{name}.hprof")
        assert member
        return member.read()


@cache
def made(*options: str) -> bytes:
    return subprocess.run([TOOL, *options], stdout=subprocess.PIPE, check=True).stdout


def verdict(data: bytes) -> Any:
    done = subprocess.run([VALIDATOR, "--format=json", "-"], input=data, stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)["files"][0]


class Look:
    """The kinds of records and sub-records in the order in which they first occur, and the classes by name."""

    def __init__(self, data: bytes) -> None:
        header = read_header(data)
        assert header
        shapes = Shapes(header.id_size)
        tags = {record.tag: record for record in layouts.RECORDS}
        strings: dict[int, bytes] = {}
        names: dict[int, bytes] = {}
        order: list[str] = []
        self.version = header.format
        self.classes: dict[bytes, Any] = {}
        self.loaders: dict[bytes, list[int]] = {}
        self.objects: dict[bytes, list[bytes]] = {}
        self.thread_roots: list[int] = []
        self.class_of: dict[int, bytes] = {}
        self.kinds: dict[str, int] = {}
        for framed in records(data, header.size):
            record = tags[framed.tag]
            order.append(record.name)
            if record.name == "UTF8":
                strings[int.from_bytes(data[framed.body : framed.body + header.id_size])] = data[
                    framed.body + header.id_size : framed.end
                ]
            elif record.name == "LOAD_CLASS":
                _, class_id, _, name = struct_of(record.layout, header.id_size).unpack_from(data, framed.body)
                names[class_id] = strings[name]
            elif framed.length and record.name.startswith("HEAP_DUMP"):
                for shape, _, values, tail, end in subrecords(data, framed.body, framed.end, shapes):
                    order.append(PHASES.get(shape.record.name, shape.record.name))
                    self.kinds[shape.record.name] = self.kinds.get(shape.record.name, 0) + 1
                    if shape.record.name == "CLASS_DUMP":
                        parts = read_class_parts(data, tail, end, shapes)
                        self.loaders.setdefault(names[values[0]], []).append(values[3])
                        self.classes[names[values[0]]] = (
                            names.get(values[2]),
                            [(strings[field], code) for field, code in parts.fields],
                        )
                    elif shape.record.name == "INSTANCE_DUMP":
                        self.objects.setdefault(names[values[2]], []).append(data[tail:end])
                        self.class_of[values[0]] = names[values[2]]
                    elif shape.record.name == "ROOT_THREAD_OBJECT":
                        self.thread_roots.append(values[0])
        self.order = list(dict.fromkeys(order))
        self.strings = len(strings)


@cache
def look(*options: str) -> Look:
    return Look(made(*options))


@cache
def look_at_gold(name: str) -> Look:
    return Look(gold(name))


LIST = ("--shape=list", "--objects=30000")


SIZES = [("--objects=0",), ("--objects=300",), ("--objects=60000",), LIST]


@pytest.mark.parametrize(("like", "options"), some(itertools.product(NAMES, SIZES)))
def test_the_verdict_is_that_of_the_real_dump(like: str, options: tuple[str, ...]) -> None:
    real, ours = verdict(gold(NAMES[like])), verdict(made(f"--like={like}", *options))
    assert (ours["producer"], ours["profile"], ours["valid"]) == (real["producer"], real["profile"], real["valid"])
    assert (ours["errors"], ours["warnings"]) == (real["errors"], real["warnings"])
    if "--objects=0" not in options and not (like == "sa-28" and options == ("--objects=300",)):
        assert set(ours["totals"]) == set(real["totals"])
    assert set(ours["totals"]) <= set(real["totals"])


@pytest.mark.parametrize("like", some([*HOTSPOTS, *AGENTS]))
def test_a_version_can_be_told_by_a_handful_of_objects(like: str) -> None:
    producers = {verdict(made(f"--like={like}", f"--objects={objects}"))["producer"] for objects in (0, 1, 10, 500, 40000)}
    assert len(producers) == 1


@pytest.mark.parametrize("like", some(NAMES))
def test_the_order_is_that_of_the_real_dump(like: str) -> None:
    """Of what both have: the real program has a thread that waits for a monitor, or has not."""
    real, ours = look_at_gold(NAMES[like]), look(f"--like={like}", "--objects=60000")
    both = set(real.order) & set(ours.order)
    assert {"UTF8", "LOAD_CLASS", "FRAME", "TRACE", "CLASS_DUMP", "ROOT_THREAD_OBJECT", "INSTANCE_DUMP"} <= both
    assert [kind for kind in ours.order if kind in both] == [kind for kind in real.order if kind in both]
    assert ours.version == real.version
    assert set(real.order) - both <= {"ROOT_MONITOR_USED"}
    assert set(ours.order) - both <= {"ROOT_MONITOR_USED", "HEAP_DUMP_END"}


@pytest.mark.parametrize("like", some(NAMES))
def test_classes_are_those_of_the_real_dump(like: str) -> None:
    """Each class of an idle VM has the same superclass and fields, also where a load has objects of it."""
    real = look_at_gold(NAMES[like])
    idle, loaded = (look(f"--like={like}", "--objects=60000", f"--shape={shape}") for shape in ("list", "mixed"))
    both = set(real.classes) & set(idle.classes)
    assert len(both) > 300
    assert {b"java/lang/String", b"java/lang/Thread", b"java/util/HashMap$Node"} <= both
    expected = {name: real.classes[name] for name in both}
    assert {name: idle.classes[name] for name in both} == expected
    assert {name: loaded.classes[name] for name in both} == expected


# ---- A program in the VM ----------------------------------------------------------------------------------------------

VIRTUAL, CARRIER = b"java/lang/VirtualThread", b"jdk/internal/misc/CarrierThread"
CONTINUATION, CHUNK = b"java/lang/VirtualThread$VThreadContinuation", b"jdk/internal/vm/StackChunk"
TWIN = b"com/example/plugin/Plugin"


def values_of(seen: Look, name: bytes) -> list[dict[bytes, int]]:
    """The fields of the objects of a class, its own and those of its superclasses, the nearest of one name."""
    widths = {2: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
    found = []
    for body in seen.objects.get(name, []):
        values: dict[bytes, int] = {}
        at, of = 0, name
        while of:
            above, fields = seen.classes[of]
            for field, code in fields:
                values.setdefault(field, int.from_bytes(body[at : at + widths[code]]))
                at += widths[code]
            of = above
        found.append(values)
    return found


@pytest.mark.parametrize("like", some(["hotspot-21", "hotspot-25", "hotspot-28", "sa-21", "sa-25", "sa-28"]))
def test_virtual_threads_are_mounted_or_parked(like: str) -> None:
    """As in a real dump: a mounted one has a carrier that runs its continuation, a parked one a stack on the heap. In a heap dump
    of HotSpot from 24 on, they are roots.
    """
    ours = look(f"--like={like}", "--objects=60000")
    threads, continuations = values_of(ours, VIRTUAL), values_of(ours, CONTINUATION)
    carriers = {carrier[b"cont"] for carrier in values_of(ours, CARRIER)}
    assert (len(threads), len(continuations), len(carriers), len(ours.objects[CHUNK])) == (21, 21, 2, 19)
    assert sorted((bool(t[b"carrierThread"]), t[b"state"]) for t in threads) == [(False, 4)] * 19 + [(True, 2)] * 2
    assert {t[b"cont"] for t in threads if t[b"carrierThread"]} == carriers
    assert sorted((c[b"mounted"], bool(c[b"tail"])) for c in continuations) == [(0, True)] * 19 + [(1, False)] * 2
    assert len({c[b"tail"] for c in continuations}) == 20
    roots = [ours.class_of[root] for root in ours.thread_roots]
    assert roots.count(CARRIER) == 2
    assert roots.count(VIRTUAL) == (21 if like in ("hotspot-25", "hotspot-28") else 0)


def test_virtual_threads_are_as_in_the_real_dump() -> None:
    for like in ("hotspot-21", "hotspot-25", "hotspot-28"):
        real, ours = look_at_gold(NAMES[like]), look(f"--like={like}", "--objects=60000")
        for name in (VIRTUAL, CARRIER):
            assert len(ours.objects[name]) == len(real.objects[name])
            roots = [[seen.class_of[root] for root in seen.thread_roots].count(name) for seen in (ours, real)]
            assert roots[0] == roots[1]
        for name in (VIRTUAL, CARRIER, CONTINUATION, CHUNK):
            assert ours.classes[name] == real.classes[name]


@pytest.mark.parametrize("like", some(HOTSPOTS))
def test_one_class_name_is_in_several_loaders(like: str) -> None:
    ours = look(f"--like={like}", "--objects=60000")
    assert len(set(ours.loaders[TWIN])) == len(ours.loaders[TWIN]) == len(ours.objects[TWIN]) == 3
    assert TWIN not in look(f"--like={like}", "--load=none").loaders


def test_classes_are_hidden_from_jdk_17_on() -> None:
    for like in ("hotspot-17", "hotspot-21", "hotspot-25", "hotspot-28"):
        real, ours = look_at_gold(NAMES[like]), look(f"--like={like}", "--objects=60000", "--shape=list")
        hidden = [{name for name in seen.loaders if b"+0x" in name} for seen in (ours, real)]
        assert 26 <= len(hidden[1]) <= len(hidden[0]) <= 48
        assert sum(name in ours.objects for name in hidden[0]) >= 10
        assert not any(b"+0x" in name for name in look(f"--like={like}", "--load=none").loaders)


@pytest.mark.parametrize("like", ["hotspot-21", "hotspot-25"])
def test_threads_that_are_asked_for_are_as_many(like: str) -> None:
    for threads in (0, 1, 7, 8, 9, 10, 11, 40):
        data = made(f"--like={like}", "--objects=60000", f"--threads={threads}")
        assert len(Look(data).thread_roots) == threads
        assert verdict(data)["valid"]


@pytest.mark.skipif(IS_SLOW, reason="the same in all builds")
@pytest.mark.parametrize("like", some(HOTSPOTS))
def test_what_an_idle_vm_holds_does_not_grow(like: str) -> None:
    """The classes, symbols and roots of a large heap are those of a smaller one."""
    small, large = (json.loads(manifest(f"--like={like}", f"--objects={objects}")) for objects in ("1e6", "4e6"))
    assert small["records"] == large["records"] | {"HEAP_DUMP_SEGMENT": small["records"]["HEAP_DUMP_SEGMENT"]}
    assert small["roots"] == large["roots"]
    assert large["instances"] > 3 * small["instances"]


def manifest(*options: str) -> bytes:
    command = [TOOL, *options, "--output=/dev/null", "--manifest=/dev/stdout"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def test_strings_are_characters_before_jdk_9() -> None:
    for like, type_of_text in (("hotspot-8", "char"), ("hotspot-11", "byte")):
        elements = json.loads(manifest(f"--like={like}", "--objects=1e5", "--shape=strings"))["elements"]
        assert max(elements, key=lambda name: elements[name] if name != "object" else 0) == type_of_text


def test_hotspot_is_the_last_version_with_long_term_support() -> None:
    assert made("--like=hotspot", "--objects=40000") == made("--like=hotspot-25", "--objects=40000")


# ---- Loads ----------------------------------------------------------------------------------------------------------


def shares(*options: str) -> tuple[float, float, int]:
    """Of instances and of primitive arrays, and the number of all objects."""
    counts = json.loads(manifest(*options))
    every = counts["instances"] + counts["object_arrays"] + counts["primitive_arrays"]
    return counts["instances"] / every, counts["primitive_arrays"] / every, every


@pytest.mark.skipif(IS_SLOW, reason="the same in all builds")
@pytest.mark.parametrize(
    ("load", "instances", "arrays"),
    [("javac", 0.96, 0.03), ("web", 0.64, 0.34), ("map", 0.77, 0.23)],
)
def test_the_kinds_of_objects_are_those_of_the_real_heap(load: str, instances: float, arrays: float) -> None:
    """As measured in the dumps that the rows were made from. The idle VM is 1 % of the objects."""
    ours = shares("--like=hotspot-25", f"--load={load}", "--objects=3e6")
    assert ours == pytest.approx((instances, arrays, 3_000_000), abs=0.015)


@pytest.mark.parametrize("like", some(HOTSPOTS))
def test_no_load_leaves_an_idle_vm(like: str) -> None:
    """However many objects are asked for; the real one had 4,059 (JDK 8) to 26,539 (JDK 28)."""
    instances, arrays, every = shares(f"--like={like}", "--load=none")
    assert 4_000 < every < 27_000
    assert 0.5 < instances < 0.65
    assert 0.25 < arrays < 0.45
    assert shares(f"--like={like}", "--load=none", "--objects=1e9") == (instances, arrays, every)
    assert shares(f"--like={like}", "--load=none", "--heap-dumps=2")[2] == 2 * every
    assert shares(f"--like={like}", "--load=none", "--objects=1000")[2] == 1000


LOADED = ["plain", "hotspot-8", "hotspot-25", "sa-28", "graalvm", "android"]


@pytest.mark.parametrize(("like", "load"), some(itertools.product(LOADED, ["javac", "web", "map", "none"])))
def test_every_load_is_valid_in_every_size(like: str, load: str) -> None:
    for objects in (0, 1, 10, 400, 20_000):
        found = verdict(made(f"--like={like}", f"--load={load}", f"--objects={objects}"))
        assert found["valid"]
        assert (found["errors"], found["warnings"]) == (0, 0)
