"""The words of a statement, which the assembler takes one by one."""

from __future__ import annotations

from collections.abc import Iterator

from hprof_corpus.notation import Form, Listing, NotationError, Statement, Token, integer


class Arguments:
    """The words of a statement, taken one after the other. Words left at the end are an error."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.line = statement.line
        self._items = list(statement.items)

    def fail(self, message: str) -> NotationError:
        return NotationError(self.line, f"{self.statement.word}: {message}")

    def _at(self, word: str) -> int | None:
        for index, item in enumerate(self._items):
            if isinstance(item, Token) and item.form is Form.WORD and item.text == word:
                return index
        return None

    def keyword(self, word: str) -> tuple[Token, Token] | None:
        """`word value`: both. A mark on the word counts for the value, too."""
        index = self._at(word)
        if index is None:
            return None
        if index + 1 >= len(self._items):
            raise self.fail(f"{word} needs a value")
        key, value = self._items[index : index + 2]
        if not isinstance(key, Token) or not isinstance(value, Token):
            raise self.fail(f"{word} needs a value, not a list")
        del self._items[index : index + 2]
        return key, value

    def flag(self, word: str) -> Token | None:
        index = self._at(word)
        if index is None:
            return None
        token = self._items.pop(index)
        assert isinstance(token, Token)
        return token

    def listing(self, word: str | None = None) -> Listing | None:
        start = 0
        if word is not None:
            index = self._at(word)
            if index is None:
                return None
            del self._items[index]
            start = index
        for index, item in enumerate(self._items[start:], start):
            if isinstance(item, Listing):
                del self._items[index]
                return item
        return None

    def positional(self) -> Token:
        if not self._items or not isinstance(self._items[0], Token):
            raise self.fail("a value is missing")
        token = self._items.pop(0)
        assert isinstance(token, Token)
        return token

    def peek_number(self, word: str) -> bool:
        """Whether a number follows the word."""
        index = self._at(word)
        if index is None or index + 1 >= len(self._items):
            return False
        following = self._items[index + 1]
        return isinstance(following, Token) and following.form is Form.NUMBER

    def rest(self) -> list[Token]:
        items, self._items = self._items, []
        if any(isinstance(item, Listing) for item in items):
            raise self.fail("unexpected list")
        return [item for item in items if isinstance(item, Token)]

    def done(self, block: bool = False) -> None:
        if self._items:
            item = self._items[0]
            raise self.fail(f"unexpected {item.text if isinstance(item, Token) else 'list'}")
        if self.statement.block is not None and not block:
            raise self.fail("takes no block")


def hex_bytes(token: Token) -> bytes:
    if token.form is not Form.NUMBER or not token.text.startswith("0x") or len(token.text) % 2:
        raise NotationError(token.line, f"expected bytes (0x and an even number of digits), not {token.text}")
    return bytes.fromhex(token.text[2:])


def utf8(token: Token) -> bytes:
    try:
        return token.text.encode()
    except UnicodeEncodeError:
        raise NotationError(token.line, "half a character, which UTF-8 has not") from None


def raw_bytes(token: Token) -> bytes:
    return utf8(token) if token.form is Form.STRING else hex_bytes(token)


def repeated(tokens: list[Token]) -> Iterator[tuple[Token, int]]:
    """`value * count` as pairs."""
    at = 0
    while at < len(tokens):
        if at + 2 < len(tokens) and tokens[at + 1].form is Form.TIMES:
            yield tokens[at], integer(tokens[at + 2])
            at += 3
        else:
            yield tokens[at], 1
            at += 1


def is_word(token: Token, text: str) -> bool:
    return token.form is Form.WORD and token.text == text
