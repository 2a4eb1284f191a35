"""What depends on where the tree is: hprof-corpus is in no index, so pip takes the one beside this folder."""

from pathlib import Path

from setuptools import setup  # type: ignore[import-untyped, unused-ignore]

CORPUS = Path(__file__).resolve().parents[1] / "generator" / "python"

setup(install_requires=[f"hprof-corpus @ {CORPUS.as_uri()}", "jsonschema>=4.20"])
