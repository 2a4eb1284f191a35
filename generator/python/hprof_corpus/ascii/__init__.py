"""The text output of the HPROF agent (format=a): its grammar and its rules (TEXT.md H)."""
