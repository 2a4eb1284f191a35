"""The notation's grammar: text to statements. It knows nothing of HPROF: what a statement means is up to the assembler.

A statement is a line: a word, then words, values and lists. `{` at its end opens a block of statements, `}` on a line
of its own closes it. A list, `[ ... ]`, may run over several lines. See corpus/README.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class NotationError(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


class Form(Enum):
    WORD = "word"
    SYMBOL = "symbol"  # @object $string %frame
    NUMBER = "number"
    STRING = "string"
    OPEN_LIST = "["
    CLOSE_LIST = "]"
    OPEN_BLOCK = "{"
    CLOSE_BLOCK = "}"
    TIMES = "*"


class Token(NamedTuple):
    form: Form
    text: str  # of a string: its text, with escapes resolved
    line: int
    rule: str | None = None  # the rule that is broken here: the token begins with `!`


class Listing(NamedTuple):
    """The content of `[` and `]`."""

    tokens: tuple[Token, ...]
    line: int


Item = Token | Listing


class Statement(NamedTuple):
    head: Token
    items: tuple[Item, ...]
    block: tuple[Statement, ...] | None = None

    @property
    def word(self) -> str:
        return self.head.text

    @property
    def line(self) -> int:
        return self.head.line


_TOKEN = re.compile(
    r"""[ \t\r]*(?:
        (?P<comment>\#.*)
      | (?P<mark>!)?(?:"(?P<string>(?:[^"\\]|\\.)*)" | (?P<punctuation>[][{}*]) | (?P<word>[^][\s{}*"!]+))
      | (?P<end>\Z))""",
    re.VERBOSE,
)
_SPACE = " \t\r"
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\Z")
_SYMBOL = re.compile(r"[@$%][A-Za-z0-9_.+-]+(?:\([a-z](?:[+-]\d+)?\)[A-Za-z0-9_.]*)*\Z")
_FAULT = re.compile(r"#\s*([A-Z]+-\d{3}(?:, [A-Z]+-\d{3})*):\s*\S")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|(.))")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_VARIABLE = re.compile(r"\(([a-z])([+-]\d+)?\)")
_PUNCTUATION = {form.value: form for form in Form if len(form.value) == 1}


def _unescape(text: str, line: int) -> str:
    if "\\" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        if match[1]:
            number = int(match[1], 16)
            if number > sys.maxunicode:
                raise NotationError(line, f"no character has the number {match[1]}")
            return chr(number)
        if match[2] not in _ESCAPES:
            raise NotationError(line, f"unknown escape \\{match[2]}")
        return _ESCAPES[match[2]]

    return _ESCAPE.sub(one, text)


def _word(text: str, line: int) -> Token:
    first = text[0]
    if first in "@$%":
        if not _SYMBOL.match(text):
            raise NotationError(line, f"bad symbol {text}")
        return Token(Form.SYMBOL, text, line)
    is_number = (first == "-" or first.isdecimal()) and _NUMBER.match(text)
    return Token(Form.NUMBER if is_number else Form.WORD, text, line)


def _line_tokens(text: str, line: int) -> list[Token]:
    tokens: list[Token] = []
    marked: list[int] = []
    rules: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise NotationError(line, f"cannot read {text[at:].lstrip(_SPACE)!r}")
        at = match.end()
        kind = match.lastgroup
        if kind == "comment":
            fault = _FAULT.match(match[kind])
            rules = fault[1].split(", ") if fault else []
            continue
        if kind == "end":
            break
        if match["mark"]:
            marked.append(len(tokens))
        if kind == "word":
            tokens.append(_word(match[kind], line))
        elif kind == "string":
            tokens.append(Token(Form.STRING, _unescape(match[kind], line), line))
        else:
            tokens.append(Token(_PUNCTUATION[match["punctuation"]], match["punctuation"], line))
    if len(marked) != len(rules):
        raise NotationError(line, "a fault needs both: `!` before the word that is wrong, and a comment `# RULE-ID: why`")
    for index, rule in zip(marked, rules, strict=True):
        tokens[index] = tokens[index]._replace(rule=rule)
    return tokens


@dataclass
class _Lines:
    """The tokens of each logical line: an open list continues in the next line."""

    tokens: list[list[Token]]
    at: int = 0


def _logical_lines(text: str) -> list[list[Token]]:
    lines: list[list[Token]] = []
    depth = 0
    # Not splitlines(): a form feed within a string does not end a line.
    for number, line in enumerate(text.split("\n"), 1):
        tokens = _line_tokens(line, number)
        if not tokens:
            continue
        if depth:
            lines[-1] += tokens
        else:
            lines.append(tokens)
        for token in tokens:
            if token.form is Form.OPEN_LIST:
                depth += 1
            elif token.form is Form.CLOSE_LIST:
                depth -= 1
        if depth not in (0, 1):
            raise NotationError(number, "lists do not nest")
    if depth:
        raise NotationError(lines[-1][0].line, "the list is not closed")
    return lines


def _items(tokens: list[Token]) -> Iterator[Item]:
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.form is Form.OPEN_LIST:
            close = next(i for i in range(at, len(tokens)) if tokens[i].form is Form.CLOSE_LIST)
            yield Listing(tuple(tokens[at + 1 : close]), token.line)
            at = close
        elif token.form in (Form.OPEN_BLOCK, Form.CLOSE_BLOCK, Form.CLOSE_LIST):
            raise NotationError(token.line, f"unexpected {token.text}")
        else:
            yield token
        at += 1


def _block(lines: _Lines, opened: int | None) -> tuple[Statement, ...]:
    statements: list[Statement] = []
    while lines.at < len(lines.tokens):
        tokens = lines.tokens[lines.at]
        lines.at += 1
        if tokens[0].form is Form.CLOSE_BLOCK:
            if opened is None or len(tokens) > 1:
                raise NotationError(tokens[0].line, "unexpected }")
            return tuple(statements)
        if tokens[0].form is not Form.WORD:
            raise NotationError(tokens[0].line, f"a statement begins with a word, not {tokens[0].text}")
        opens = tokens[-1].form is Form.OPEN_BLOCK
        items = tuple(_items(tokens[1:-1] if opens else tokens[1:]))
        statements.append(Statement(tokens[0], items, _block(lines, tokens[0].line) if opens else None))
    if opened is not None:
        raise NotationError(opened, "the block is not closed")
    return tuple(statements)


def parse(text: str) -> tuple[Statement, ...]:
    """The statements of a text, with `repeat` not yet expanded."""
    return _block(_Lines(_logical_lines(text)), None)


# ---- repeat


@dataclass
class _Scope:
    variables: dict[str, int] = field(default_factory=dict)

    def text(self, text: str) -> str:
        def one(match: re.Match[str]) -> str:
            value = self.variables.get(match[1])
            return match[0] if value is None else str(value + int(match[2] or 0))

        return _VARIABLE.sub(one, text) if "(" in text else text

    def token(self, token: Token) -> Token:
        text = self.text(token.text)
        if text == token.text:
            return token
        form = Form.NUMBER if token.form is Form.WORD and _NUMBER.match(text) else token.form
        return token._replace(text=text, form=form)

    def item(self, item: Item) -> Item:
        if isinstance(item, Token):
            return self.token(item)
        return Listing(tuple(map(self.token, item.tokens)), item.line)


def integer(token: Item) -> int:
    if not isinstance(token, Token) or token.form is not Form.NUMBER:
        raise NotationError(token.line, "expected a whole number")
    try:
        return int(token.text, 0)
    except ValueError:
        raise NotationError(token.line, f"expected a whole number, not {token.text}") from None


def expand(statements: tuple[Statement, ...], scope: _Scope | None = None) -> Iterator[Statement]:
    """Expands `repeat COUNT [NAME] { ... }`: (NAME), (NAME+1), (NAME-1) in its block are the number of the round, from 0."""
    scope = scope or _Scope()
    for statement in statements:
        if not scope.variables and statement.block is None and statement.word != "repeat":
            yield statement
            continue
        items = tuple(map(scope.item, statement.items))
        if statement.word != "repeat":
            block = None if statement.block is None else tuple(expand(statement.block, scope))
            yield Statement(statement.head, items, block)
            continue
        if statement.block is None or not 1 <= len(items) <= 2:
            raise NotationError(statement.line, "repeat COUNT [NAME] { ... }")
        name = items[1].text if len(items) == 2 and isinstance(items[1], Token) else ""
        for value in range(integer(items[0])):
            yield from expand(statement.block, _Scope({**scope.variables, name: value}))
