"""The conformance matrix: readers of HPROF dumps against the truth, producers against the specification."""

__version__ = "0.3.0"
