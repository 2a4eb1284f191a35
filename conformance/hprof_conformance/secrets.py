"""A dump with secrets in all places where a heap keeps them, for filters that should remove what a program held."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from random import Random

from hprof_corpus.assembler import assemble

_DUMP = """hprof "JAVA PROFILE 1.0.2" id-size 8 time 1700000000000
utf8 $Object "java/lang/Object"
utf8 $String "java/lang/String"
utf8 $Holder "Holder"
utf8 $value "value"
utf8 $coder "coder"
utf8 $number "number"
utf8 $share "share"
utf8 $key "key"
utf8 $text "text"
utf8 $literal "{literal}"
load-class serial 1 class @Object name $Object
load-class serial 2 class @String name $String
load-class serial 3 class @Holder name $Holder
trace serial 1 thread 0 [ ]
segment {{
  class-dump @Object super null trace 1
  class-dump @String super @Object trace 1 {{
    field $value object
    field $coder byte
  }}
  class-dump @Holder super @Object trace 1 {{
    constant 1 long {constant}
    static $key long {static}
    field $number long
    field $share double
    field $text object
  }}
  instance-dump @holder trace 1 class @Holder [ long {field} double {double} object @chars ]
  instance-dump @chars trace 1 class @String [ object @char-array byte 0 ]
  instance-dump @latin trace 1 class @String [ object @latin-array byte 0 ]
  instance-dump @utf16 trace 1 class @String [ object @utf16-array byte 1 ]
  primitive-array-dump @char-array trace 1 type char [ "{chars}" ]
  primitive-array-dump @latin-array trace 1 type byte [ 0x{latin} ]
  primitive-array-dump @utf16-array trace 1 type byte [ 0x{utf16} ]
  primitive-array-dump @numbers trace 1 type long [ {numbers} ]
  root-jni-global @holder
  root-jni-global @latin
  root-jni-global @utf16
  root-jni-global @numbers
}}
end
"""


_FORMS = ("latin-1", "utf-16-be", "utf-16-le")
_BYTES = 5  # of a number, in a row: that other bytes are the same by chance is improbable


@dataclass(frozen=True)
class Planted:
    dump: bytes
    words: dict[str, str]  # by the place
    numbers: dict[str, bytes]  # as the dump has them

    def left_in(self, data: bytes) -> list[str]:
        """The places whose secret is there, or the half of it, in an encoding that a dump may have."""
        parts = {
            place: [word[at : at + len(word) // 2].encode(form) for at in range(len(word) // 2 + 1) for form in _FORMS]
            for place, word in self.words.items()
        } | {
            place: [one[at : at + _BYTES] for one in (number, number[::-1]) for at in range(len(number) - _BYTES + 1)]
            for place, number in self.numbers.items()
        }
        return [place for place, some in parts.items() if any(one in data for one in some)]


def planted(seed: int) -> Planted:
    draw = Random(seed)
    word = {name: f"{draw.getrandbits(64):016x}" for name in ("literal", "chars", "latin", "utf16")}
    number = {name: draw.getrandbits(62) | 1 << 61 for name in ("constant", "static", "field", "numbers")}
    double = draw.uniform(1e10, 1e12)
    texts = {"latin": word["latin"].encode("ascii").hex(), "utf16": word["utf16"].encode("utf-16-le").hex()}
    text = _DUMP.format(**{**word, **number, **texts, "double": repr(double)})
    return Planted(
        assemble(text).file.to_bytes(),
        {
            "a string that names nothing": word["literal"],
            "a String of char": word["chars"],
            "a String of bytes in Latin-1": word["latin"],
            "a String of bytes in UTF-16": word["utf16"],
        },
        {
            "a constant": struct.pack(">q", number["constant"]),
            "a static long": struct.pack(">q", number["static"]),
            "a field of type long": struct.pack(">q", number["field"]),
            "a field of type double": struct.pack(">d", double),
            "a long[]": struct.pack(">q", number["numbers"]),
        },
    )
