"""The command line of hprof-fleet. Imports nothing of the package, as ci/completions.py reads it without the library."""

import argparse


def positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a number from 1 on is expected, not '{text}'")
    return int(text)


def setting(text: str) -> tuple[str, str | bool]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"KEY=VALUE is expected, not '{text}'")
    return key, {"true": True, "false": False}.get(value, value)


def results(text: str) -> str:
    if not text.endswith((".parquet", ".jsonl")):
        raise argparse.ArgumentTypeError(f"a name that ends in .parquet or .jsonl is expected, not '{text}'")
    return text


def check_parser(version: str) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The parser, and that of the command check."""
    about = "Checks the heap dumps of a store on a Dask cluster."
    parser = argparse.ArgumentParser("hprof-fleet", description=about, allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="check", dest="command")
    about = "Checks all objects that the patterns match."
    check = commands.add_parser("check", help="check objects", allow_abbrev=False, add_help=False, description=about)
    check.add_argument("pattern", nargs="+", metavar="PATTERN", help="URL with *, ** and ?: 's3://bucket/**/*.hprof.gz'")
    what = check.add_argument_group("What is checked, and how")
    what.add_argument("--profile", metavar="NAME", default="auto", help="use a profile of hprof-validate; auto by default")
    what.add_argument("--allow-incomplete", action="store_true", help="incomplete dumps do not change the exit status")
    about = "an option of the store, as fsspec has it"
    what.add_argument("--storage", metavar="KEY=VALUE", type=setting, action="append", default=[], help=about)
    where = check.add_argument_group("Where it runs")
    where.add_argument("--scheduler", metavar="ADDRESS", help="the Dask scheduler; by default this machine")
    where.add_argument("-j", "--jobs", metavar="N", type=positive, default=1, help="threads for each object; 1 by default")
    out = check.add_argument_group("Results")
    about = "FILE.parquet or FILE.jsonl, also a URL; results.parquet by default"
    out.add_argument("-o", "--output", metavar="FILE", type=results, default="results.parquet", help=about)
    out.add_argument("--prometheus", metavar="FILE", help="write metrics as Prometheus' text format")
    messages = check.add_argument_group("Messages")
    messages.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    for one in (parser, messages):
        one.add_argument("-V", "--version", action="version", version=f"hprof-fleet {version}", help="print the version")
    messages.add_argument("-h", "--help", action="help", help="print the options")
    return parser, check
