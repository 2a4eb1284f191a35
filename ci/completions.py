"""Shell completions: the options are those of the tables in the C sources, the words about them come from the manual pages.

ci/derive writes them.
"""

import argparse
import importlib.util
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = frozenset({"FILE", "OUT", "PART[,PART...]", "REPORT"})
LITERAL = r'"(?:[^"\\]|\\.)*"'


@dataclass(frozen=True)
class Option:
    name: str
    letter: str  # empty if there is none
    argument: str  # as --help prints it; empty if the option takes none
    about: str

    @property
    def is_optional(self) -> bool:
        return self.argument.startswith("[")

    @property
    def is_list(self) -> bool:
        return "[," in self.argument

    @property
    def takes_file(self) -> bool:
        return self.argument in FILES

    def forms(self) -> list[str]:
        return ([f"-{self.letter}"] if self.letter else []) + [f"--{self.name}"]


@dataclass(frozen=True)
class Tool:
    name: str
    options: list[Option]
    values: dict[str, list[str]] = field(default_factory=dict)  # by the name of the option
    operands: str = ""  # pattern of the names of files that the tool takes


def literals(text: str) -> str:
    """Adjacent C string literals, joined."""
    return "".join(found[1:-1] for found in re.findall(LITERAL, text)).replace('\\"', '"')


def first_sentence(manual: str, option: str) -> str:
    """What the manual page says of an option, as short as a menu wants it."""
    found = re.search(rf"^### `[^`\n]*--{option}\b[^`\n]*`\n\n(.*?)\n\n", manual, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"the manual page has no heading for --{option}")
    sentence = re.split(r"(?<=[.:])\s", found[1] + " ")[0].rstrip(".:")
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(sentence.split()))
    return re.sub(r"[`*]", "", text)


def read_options(source: str, manual: str) -> list[Option]:
    letters = dict(re.findall(r"\b(OPTION_\w+) = '(\w)'", source))
    table = re.search(r"option_row (?:option_)?rows\[\] = \{\n(.*?)\n\};", source, re.DOTALL)
    if not table:
        raise ValueError("no table of options")
    row = rf'\{{(OPTION_\w+),\s*"([\w-]+)",\s*(NULL|{LITERAL}),\s*(?:{LITERAL}\s*)+\}}'
    rows = re.findall(row, table[1])
    if len(rows) != table[1].count("{OPTION_"):
        raise ValueError("a row of the table of options is not understood")
    return [
        Option(
            name,
            letters.get(identifier, ""),
            "" if argument == "NULL" else literals(argument),
            first_sentence(manual, name),
        )
        for identifier, name, argument in rows
    ]


def parsed_options(path: str, manual: str) -> list[Option]:
    """Those of a tool in Python, by its parser."""
    spec = importlib.util.spec_from_file_location("options", ROOT / path)
    if not spec or not spec.loader:
        raise ValueError(f"{path} is no module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    parser: argparse.ArgumentParser = module.check_parser("")[1]
    return [
        Option(
            action.option_strings[-1].removeprefix("--"),
            action.option_strings[0][1] if len(action.option_strings) > 1 else "",
            str(action.metavar) if action.nargs is None else "",
            first_sentence(manual, action.option_strings[-1].removeprefix("--")),
        )
        for action in parser._actions
        if action.option_strings
    ]


def alternatives(argument: str) -> list[str]:
    """4|8 and [=1.0.1|1.0.2] list their values."""
    inner = argument.strip("[]").removeprefix("=")
    return inner.split("|") if "|" in inner else []


def read_text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def names_in(folder: str, pattern: str) -> list[str]:
    """What the definitions of producers and shapes are called."""
    found: list[str] = []
    for file in sorted((ROOT / folder).glob(pattern)):
        found += re.findall(r'^    \.name = "([\w-]+)",$', file.read_text(encoding="utf-8"), re.MULTILINE)
    return sorted(found)


def with_values(name: str, options: list[Option], more: dict[str, list[str]], operands: str) -> Tool:
    values = {option.name: alternatives(option.argument) for option in options if alternatives(option.argument)}
    whens = {option.name: ["auto", "always", "never"] for option in options if "WHEN" in option.argument}
    return Tool(name, options, values | whens | more, operands)


def tools() -> list[Tool]:
    rules = re.findall(r"^RULE\((\w+),\s*(\d+)", read_text("validator/src/findings/rules.def"), re.MULTILINE)
    identifiers = ["-".join(rule) for rule in rules]
    profiles = re.findall(r'^PROFILE\(\w+, "([\w-]+)"', read_text("validator/src/findings/profiles.def"), re.MULTILINE)
    validate = read_text("validator/cli/option_rows.h") + read_text("validator/cli/option_rows.c")
    generate = read_text("generator/cli/option_table.h") + read_text("generator/cli/option_table.c")
    serve = read_text("generator/serve/cli/option_table.h") + read_text("generator/serve/cli/option_table.c")
    reduce = read_text("validator/reduce/cli/option_table.h") + read_text("validator/reduce/cli/option_table.c")
    formats = re.findall(r'\[FORMAT_\w+\] = "([\w-]+)"', read_text("validator/cli/option_values.c"))
    records = re.findall(r'"(\w+)"', re.findall(r'words\[\] = \{("heap".*)\};', read_text("generator/cli/option_values.c"))[0])
    load = read_text("generator/src/heap/loads.c") + "".join(
        file.read_text(encoding="utf-8") for file in sorted((ROOT / "generator/src/heap").glob("load_*.c"))
    )
    loads = re.findall(r'\.name = "(\w+)"', load)
    faults = re.findall(r'^FAULT\((\w+), "([\w.-]+)"', read_text("generator/src/faults/faults.def"), re.MULTILINE)
    variants = [f"{rule.replace('_', '-')}/{variant}" for rule, variant in faults]
    damage = re.findall(r'^DAMAGE\(\w+, "([\w-]+)"', read_text("generator/src/damage/kinds.def"), re.MULTILINE)
    families = list(dict.fromkeys(family for family, _ in rules))
    severity = dict.fromkeys(("select", "disable", "ignore", "warn", "error", "explain"), families + identifiers)
    compare = read_text("validator/cli/diff/option_rows.h") + read_text("validator/cli/diff/option_rows.c")
    ignored = re.findall(r"ignored_names\[IGNORED\] = \{(.*?)\}", read_text("validator/cli/diff/content/ignored.c"))
    return [
        with_values(
            "hprof-diff",
            read_options(compare, read_text("validator/cli/diff/hprof-diff.1.md")),
            {"ignore": re.findall(r'"([\w-]+)"', ignored[0])},
            "*.hprof*",
        ),
        with_values(
            "hprof-validate",
            read_options(validate, read_text("validator/cli/hprof-validate.1.md")),
            {"profile": profiles, "format": formats} | severity,
            "*.hprof*",
        ),
        with_values("hprof-serve", read_options(serve, read_text("generator/serve/cli/hprof-serve.1.md")), {}, "*.hprof"),
        with_values(
            "hprof-fleet",
            parsed_options("validator/python/hprof_validate/fleet/options.py", read_text("validator/python/hprof-fleet.1.md")),
            {"profile": profiles},
            "*.hprof*",
        ),
        with_values("hprof-reduce", read_options(reduce, read_text("validator/reduce/cli/hprof-reduce.1.md")), {}, "*.hprof*"),
        with_values(
            "hprof-gen",
            read_options(generate, read_text("generator/cli/hprof-gen.1.md")),
            {
                "like": names_in("generator/src/producers", "*.c"),
                "shape": names_in("generator/src/heap", "shape_*.c"),
                "load": loads,
                "records": records,
                "gz": [str(level) for level in range(1, 10)],
                "violate": variants,
                "damage": damage,
            },
            "",
        ),
    ]


NOTE = "# Derived from the tables of options by ci/derive."


def bash(tool: Tool) -> str:
    function = "_" + tool.name.replace("-", "_")
    cases = []
    for option in tool.options:
        words = tool.values.get(option.name)
        pattern = "|".join(option.forms())
        if option.is_optional or not option.argument:
            continue
        if words:
            cases.append(f"    {pattern})")
            if option.is_list:
                cases.append('        before=${cur%"${cur##*,}"}')
            cases += [f"        words='{' '.join(words)}'", "        ;;"]
        elif option.takes_file:
            cases += [f"    {pattern}) return ;;"]
        else:
            cases += [f"    {pattern}) compopt +o default; return ;;"]
    flags = [f"--{option.name}" + ("=" if option.is_optional else "") for option in tool.options]
    flags += [f"-{option.letter}" for option in tool.options if option.letter]
    lines = [
        NOTE,
        "# shellcheck shell=bash",
        f"{function}() {{",
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words='' before=''",
        "    COMPREPLY=()",
        "    # --option=value is three words: = is in COMP_WORDBREAKS",
        "    if [[ $cur == = ]]; then",
        "        cur=''",
        "    elif [[ $prev == = ]]; then",
        "        prev=${COMP_WORDS[COMP_CWORD - 2]}",
        "    fi",
        "    case $prev in",
        *cases,
        "    *)",
        "        [[ $cur == -* ]] || return",
        f"        words='{' '.join(flags)}'",
        "        ;;",
        "    esac",
        '    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${cur#"$before"}")',
        "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace",
        "}",
        f"complete -o default -F {function} {tool.name}",
    ]
    return "\n".join(lines) + "\n"


def zsh(tool: Tool) -> str:
    def escaped(text: str) -> str:
        return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")

    def action(option: Option) -> str:
        words = " ".join(tool.values.get(option.name, []))
        if words:
            return f"_sequence compadd - {words}" if option.is_list else f"({words})"
        return "_files" if option.takes_file else " "

    lines = [f"#compdef {tool.name}", NOTE, "", "_arguments -s -S \\"]
    for option in tool.options:
        about = f"[{escaped(option.about)}]" if option.about else ""
        what = "value" if alternatives(option.argument) else escaped(option.argument.strip("[=]").split("[")[0])
        long = f"--{option.name}"
        if option.is_optional:
            lines.append(f"    '{long}=-{about}::{what}:{action(option)}' \\")
            if option.letter:
                lines.append(f"    '-{option.letter}{about}' \\")
            continue
        repeated = "*" if option.is_list or option.name == "quiet" else ""
        value = f":{what}:{action(option)}" if option.argument else ""
        for form in option.forms():
            sign = ("=" if form.startswith("--") else "+") if option.argument else ""
            lines.append(f"    '{repeated}{form}{sign}{about}{value}' \\")
    lines.append(f"    '*:dump:_files -g \"{tool.operands}\"'" if tool.operands else "    && return")
    if not tool.operands:
        lines[-2:] = [lines[-2].removesuffix(" \\")]
    return "\n".join(lines) + "\n"


def fish(tool: Tool) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = [NOTE]
    if not tool.operands:
        lines.append(f"complete -c {tool.name} -f")
    for option in tool.options:
        words = " ".join(tool.values.get(option.name, []))
        parts = [f"complete -c {tool.name}"]
        if option.letter:
            parts.append(f"-s {option.letter}")
        parts.append(f"-l {option.name}")
        if option.argument and not option.is_optional:
            parts.append("-r -F" if option.takes_file else "-x")
            if words:
                parts.append("-a " + quoted(f"(__fish_append , {words})" if option.is_list else words))
        if option.about:
            parts.append(f"-d {quoted(option.about)}")
        lines.append(" ".join(parts))
    return "\n".join(lines) + "\n"


# ---- hprof, which runs the tools


def commands() -> list[tuple[str, str, str]]:
    """Name, tool and help of each."""
    row = r'^    \{"(\w+)", "([\w-]+)", [^"]*(?:"--\w+", )?\w+, "(.*)"\},$'
    return re.findall(row, read_text("validator/cli/front/main.c"), re.MULTILINE)


def front_bash() -> str:
    names = [name for name, _, _ in commands()]
    tools = dict.fromkeys(tool for _, tool, _ in commands())
    cases = [f"    {'|'.join(name for name, of, _ in commands() if of == tool)}) tool={tool} ;;" for tool in tools]
    lines = [
        NOTE,
        "# shellcheck shell=bash",
        "_hprof() {",
        "    local cur=${COMP_WORDS[COMP_CWORD]} tool='' file=${BASH_SOURCE[0]}",
        "    COMPREPLY=()",
        "    if ((COMP_CWORD == 1)); then",
        f"        mapfile -t COMPREPLY < <(compgen -W '{' '.join(names)} --help --version' -- \"$cur\")",
        "        return",
        "    fi",
        "    case ${COMP_WORDS[1]} in",
        *cases,
        "    *) return ;;",
        "    esac",
        "    # The completions of the tool lie beside this file.",
        '    if ! declare -F "_${tool//-/_}" > /dev/null; then',
        "        # shellcheck source=/dev/null",
        '        source "${file%/*}/$tool${file##*/hprof}"',
        "    fi",
        '    "_${tool//-/_}"',
        "}",
        "complete -o default -F _hprof hprof",
    ]
    return "\n".join(lines) + "\n"


def front_zsh() -> str:
    tools = dict.fromkeys(tool for _, tool, _ in commands())
    described = " ".join(f"{name}\\:{json.dumps(about.split(':')[0])}" for name, _, about in commands())
    lines = [
        "#compdef hprof",
        NOTE,
        "",
        "local state",
        f"_arguments -C '1:command:(({described}))' '*::argument:->tool'",
        "[[ $state == tool ]] || return",
        "case $words[1] in",
        *[f"{'|'.join(name for name, of, _ in commands() if of == tool)}) _{tool} ;;" for tool in tools],
        "esac",
    ]
    return "\n".join(lines) + "\n"


def front_fish(made: list[Tool]) -> str:
    lines = [NOTE]
    for name, _, about in commands():
        lines.append(f"complete -c hprof -n __fish_use_subcommand -f -a {name} -d '{about.split(':')[0]}'")
    for tool in made:
        names = " ".join(name for name, of, _ in commands() if of == tool.name)
        if not names:
            continue
        given = f"complete -c hprof -n '__fish_seen_subcommand_from {names}'"
        lines += [line.replace(f"complete -c {tool.name}", given, 1) for line in fish(tool).splitlines()[1:]]
    return "\n".join(lines) + "\n"


def completions() -> dict[Path, str]:
    """The files, by name."""
    writers: list[tuple[str, Callable[[Tool], str]]] = [("{}.bash", bash), ("_{}", zsh), ("{}.fish", fish)]
    folders = {
        "hprof-diff": "validator/cli/diff/completions",
        "hprof-fleet": "validator/python/completions",
        "hprof-gen": "generator/cli/completions",
        "hprof-reduce": "validator/reduce/cli/completions",
        "hprof-serve": "generator/serve/cli/completions",
        "hprof-validate": "validator/cli/completions",
    }
    made = tools()
    front = ROOT / "validator/cli/front/completions"
    return {ROOT / folders[tool.name] / pattern.format(tool.name): write(tool) for tool in made for pattern, write in writers} | {
        front / "hprof.bash": front_bash(),
        front / "_hprof": front_zsh(),
        front / "hprof.fish": front_fish(made),
    }
