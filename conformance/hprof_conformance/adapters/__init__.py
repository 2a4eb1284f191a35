"""Adapters of programs that read one dump and end; reader.toml names one."""
