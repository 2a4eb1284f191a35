"""The text output of the HPROF agent (format=a): its grammar and its rules (SPEC.md, Appendix H)."""
