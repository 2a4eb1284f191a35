"""What a dump holds and what it asks of a reader."""

from __future__ import annotations

import pytest

from hprof_corpus.assembler import assemble
from hprof_corpus.truth import holds, requires
from hprof_corpus.walk import FramingError

TWO = """hprof "JAVA PROFILE 1.0.2" id-size 4 time 0
utf8 $A "A"
load-class serial 1 class @A name $A
segment {
  class-dump @A super null
  instance-dump @a class @A [ ]
  instance-dump @b class @A [ ]
  primitive-array-dump @c type int [ 1 ]
  root-unknown @a
}
end
"""


def test_what_a_dump_holds() -> None:
    found = holds(memoryview(assemble(TWO).file.to_bytes()))
    assert found.records == {"UTF8": 1, "LOAD_CLASS": 1, "HEAP_DUMP_SEGMENT": 1, "HEAP_DUMP_END": 1}
    assert found.objects_by_class == {"A": 2, "[I": 1}
    assert found.counts() == {
        "strings": 1,
        "classes": 1,
        "instances": 2,
        "object_arrays": 0,
        "primitive_arrays": 1,
        "objects": 3,
        "roots": 1,
    }


def test_a_dump_that_is_cut_holds_what_its_text_writes() -> None:
    assembled = assemble(TWO.replace("end\n", "cut 3\n"))
    data = memoryview(assembled.file.to_bytes())
    found = holds(data, assembled)
    assert (found.sub_records["INSTANCE_DUMP"], found.objects_by_class, found.references) == (2, None, None)
    with pytest.raises(FramingError):
        holds(data)


NO_CLASS = "no-java-lang-class"


def test_requirements() -> None:
    def of(text: str) -> list[str]:
        return requires(memoryview(assemble(text).file.to_bytes()), {"instances": 1, "objects": 2})

    assert of('hprof "JAVA PROFILE 1.0.1" id-size 4 time 0\n') == ["version-1.0.1", "id-size-4", "no-heap-dump", NO_CLASS]
    segments = 'segment {\n}\nutf8 $a "a"\nsegment {\n}\nend\n'
    assert of(f'hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\n{segments}') == ["version-1.0.2", "id-size-8", NO_CLASS]
    two = f'hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\n{segments}{segments}'
    assert of(two) == ["version-1.0.2", "id-size-8", "several-heap-dumps", NO_CLASS]
    gzip = f'gzip {{\nhprof "JAVA PROFILE 1.0.2" id-size 8 time 0\n}}\ngzip {{\n{segments}}}\n'
    assert of(gzip) == ["gzip", "gzip-members", "version-1.0.2", "id-size-8", NO_CLASS]
    empty = memoryview(assemble('hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\n').file.to_bytes())
    lacks = ["no-heap-dump", NO_CLASS, "no-instances", "no-objects"]
    loader = 'utf8 $l "java/lang/ClassLoader"\nload-class serial 2 class 0x18 name $l\n'
    loaded = 'utf8 $c "java/lang/Class"\nload-class serial 1 class 0x10 name $c\n'
    assert of(f'hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\n{loaded}{loader}{segments}') == ["version-1.0.2", "id-size-8"]
    assert NO_CLASS in of(f'hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\n{loaded}{segments}')
    dotted = loaded.replace("/", ".") + loader
    assert NO_CLASS not in of(f'hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\n{dotted}{segments}')
    name_alone = loaded.partition("load-class")[0]
    assert NO_CLASS in of(f'hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\n{name_alone}{loader}{segments}')
    assert requires(empty, {"instances": 0, "objects": 0}) == ["version-1.0.2", "id-size-8", *lacks]
