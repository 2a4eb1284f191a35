"""What must be known before the first byte is written: the size of IDs, the number of each symbol, the fields of each class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hprof_corpus.arguments import Arguments, is_word
from hprof_corpus.layouts import BASIC_TYPES, Kind
from hprof_corpus.notation import Form, Listing, NotationError, Statement, Token, integer

# The first number of each kind of symbol, and the distance to the next. The kinds are far apart, so that a reader
# that takes one kind for another finds nothing.
NUMBERING = {"$": (0x100001, 1), "%": (0x200001, 1), "@": (0x300008, 8)}
WIDTHS_BY_CODE = dict(BASIC_TYPES.values())  # an ID's is 0
SIGILS = {Kind.STRING: "$", Kind.OBJECT: "@", Kind.FRAME: "%"}


@dataclass(frozen=True)
class _ClassLayout:
    super_id: int
    own_size: int


class ChainSizes:
    """The size of an instance of each class: the fields of the class and of its superclasses."""

    def __init__(self) -> None:
        self._classes: dict[int, _ClassLayout] = {}
        self._sizes: dict[int, int] = {}

    def note(self, class_id: int, super_id: int, own_size: int) -> None:
        """The first definition of a class counts."""
        self._classes.setdefault(class_id, _ClassLayout(super_id, own_size))

    def of(self, class_id: int) -> int:
        """The sum over a class and its superclasses; a cycle counts each class once."""
        chain: list[int] = []
        seen: set[int] = set()
        at = class_id
        while at in self._classes and at not in self._sizes and at not in seen:
            seen.add(at)
            chain.append(at)
            at = self._classes[at].super_id
        size = 0 if at in seen else self._sizes.get(at, 0)
        for one in reversed(chain):
            size += self._classes[one].own_size
            self._sizes[one] = size
        return self._sizes.get(class_id, 0)


class Names:
    """What symbols and types in a text mean."""

    def __init__(self, statements: tuple[Statement, ...]) -> None:
        self._statements = statements
        self.id_size = 8
        self._symbols: dict[str, int] = {}
        self.chain_sizes = ChainSizes()
        self._look_ahead()

    def _walk(self, statements: tuple[Statement, ...]) -> Iterator[Statement]:
        for statement in statements:
            yield statement
            if statement.block:
                yield from self._walk(statement.block)

    def _look_ahead(self) -> None:
        for statement in self._walk(self._statements):
            if statement.word in ("hprof", "id-size"):
                arguments = Arguments(statement)
                found = arguments.keyword("id-size")
                size = found[1] if found else statement.items[0] if statement.word == "id-size" else None
                if size is not None:
                    self.id_size = integer(size)
                break
        counts = dict.fromkeys(NUMBERING, 0)
        for statement in self._walk(self._statements):
            if statement.word == "id":
                arguments = Arguments(statement)
                symbol, value = arguments.positional(), arguments.positional()
                arguments.done()
                if symbol.text in self._symbols:
                    raise NotationError(statement.line, f"{symbol.text} was mentioned before")
                self._symbols[symbol.text] = integer(value)
                continue
            for item in statement.items:
                for token in item.tokens if isinstance(item, Listing) else (item,):
                    if token.form is Form.SYMBOL and token.text not in self._symbols:
                        first, step = NUMBERING[token.text[0]]
                        self._symbols[token.text] = first + step * counts[token.text[0]]
                        counts[token.text[0]] += 1
        for statement in self._walk(self._statements):
            if statement.word == "class-dump":
                self._note_class(statement)

    def _note_class(self, statement: Statement) -> None:
        arguments = Arguments(statement)
        class_id = self.id(arguments.positional(), Kind.OBJECT)
        superclass = arguments.keyword("super")
        own = sum(self._field_size(Arguments(s)) for s in statement.block or () if s.word == "field")
        self.chain_sizes.note(class_id, self.id(superclass[1], Kind.OBJECT) if superclass else 0, own)

    def _field_size(self, arguments: Arguments) -> int:
        arguments.positional()  # its name
        return self.type(arguments.positional())[1]

    def id(self, token: Token, kind: Kind) -> int:
        if token.form is Form.SYMBOL:
            if kind is not Kind.NUMBER and token.text[0] != SIGILS[kind]:
                raise NotationError(token.line, f"{token.text} is no {kind.value}")
            return self._symbols[token.text]
        if is_word(token, "null"):
            return 0
        return integer(token)

    def type(self, token: Token) -> tuple[int, int]:
        """Code and width of a basic type; a number is a code as it is."""
        if token.form is Form.NUMBER:
            code = integer(token)
            width = WIDTHS_BY_CODE.get(code)
            return code, self.id_size if width == 0 else width or 0
        if token.text not in BASIC_TYPES:
            raise NotationError(token.line, f"{token.text} is no basic type")
        code, width = BASIC_TYPES[token.text]
        return code, width or self.id_size
