"""HPROF heap dumps as readable text: layouts, the notation, the assembler, and the build of the corpus."""
