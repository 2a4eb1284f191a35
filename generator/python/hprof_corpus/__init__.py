"""HPROF heap dumps as readable text: layouts, the notation, the assembler, the disassembler, a reader that counts, and
the build of the corpus."""

__version__ = "0.3.0"
