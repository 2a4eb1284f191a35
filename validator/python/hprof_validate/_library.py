"""The C library as ctypes sees it. The structures are those of hprof/hprof.h and hprof/read.h."""

import ctypes
import os
from ctypes import (
    POINTER,
    Structure,
    c_bool,
    c_char,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any

RULE_ROOM = 256
FAILURE_SIZE = 256
HINT_SIZE = 256
NO_OFFSET = (1 << 64) - 1
VALID, INVALID, USAGE, IO, LIMIT, STOPPED = range(6)

READ = ctypes.CFUNCTYPE(c_int64, c_void_p, c_void_p, c_size_t)
READ_AT = ctypes.CFUNCTYPE(c_int64, c_void_p, c_uint64, c_void_p, c_size_t)


class CRule(Structure):
    _fields_ = [
        ("id", c_char_p), ("family", c_char_p), ("name", c_char_p), ("severity", c_int), ("lax", c_int), ("framing", c_bool),
        ("clause", c_char_p), ("rows", c_char_p), ("summary", c_char_p), ("why", c_char_p), ("producers", c_char_p),
        ("readers", c_char_p), ("example", c_char_p),
    ]


class CProfile(Structure):
    _fields_ = [("name", c_char_p), ("description", c_char_p)]


class CFinding(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("rule", c_size_t), ("severity", c_int), ("offset", c_uint64), ("related_offset", c_uint64),
        ("path", c_char_p), ("message", c_char_p), ("expected", c_char_p), ("found", c_char_p), ("quirk", c_char_p),
        ("in_baseline", c_bool),
    ]


class CSummary(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("status", c_int), ("compressed", c_bool), ("version", c_char_p), ("id_size", c_uint32),
        ("timestamp", c_uint64), ("bytes", c_uint64), ("file_bytes", c_uint64), ("sound_until", c_uint64), ("skipped", c_uint64),
        ("profile", c_size_t), ("producer", c_char_p), ("accepted_by", c_char_p), ("record_counts", c_uint64 * 256),
        ("subrecord_counts", c_uint64 * 256), ("classes", c_uint64), ("instances", c_uint64), ("object_arrays", c_uint64),
        ("primitive_arrays", c_uint64), ("loaded_classes", c_uint64), ("references", c_uint64), ("strings", c_uint64),
        ("errors", c_uint64), ("warnings", c_uint64), ("notes", c_uint64), ("producer_profile", c_size_t),
        ("quirk_errors", c_uint64), ("quirk_warnings", c_uint64), ("incomplete", c_bool), ("missing_objects", c_uint64),
        ("missing_undecided", c_bool), ("memory_needed", c_uint64), ("hint", c_char_p), ("failure", c_char * FAILURE_SIZE),
        ("totals", c_uint64 * RULE_ROOM), ("quirks", c_uint64 * RULE_ROOM), ("quirk_notes", c_uint64 * RULE_ROOM),
        ("transfer", c_uint), ("kindest_profile", c_size_t), ("is_part", c_bool), ("header_lost", c_bool), ("found_lost", c_bool),
        ("hint_text", c_char * HINT_SIZE),
    ]


ON_SUMMARY = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(CSummary))
ON_FINDING = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(CFinding))
ON_PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)


class CSource(Structure):
    _fields_ = [("struct_size", c_size_t), ("read", READ), ("read_at", READ_AT), ("size", c_uint64), ("context", c_void_p)]


class COptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("profile", c_size_t), ("max_errors", c_uint64), ("max_memory", c_uint64), ("werror", c_bool),
        ("allow_incomplete", c_bool), ("threads", c_uint), ("severities", POINTER(c_uint8)), ("baseline", POINTER(c_uint64)),
        ("allocator", c_void_p), ("testing", c_void_p), ("on_summary", ON_SUMMARY), ("on_finding", ON_FINDING),
        ("on_progress", ON_PROGRESS), ("context", c_void_p),
    ]


class CReadOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("allocator", c_void_p), ("max_memory", c_uint64), ("threads", c_uint), ("unchecked", c_bool),
        ("check", c_void_p), ("count_within", c_uint64),
    ]


class CHeader(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("version", c_char_p), ("id_size", c_uint32), ("timestamp", c_uint64), ("compressed", c_bool),
        ("can_seek", c_bool),
    ]


class CItem(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("kind", c_int), ("tag", c_uint8), ("element_type", c_uint8), ("offset", c_uint64),
        ("size", c_uint64), ("head", c_uint64), ("body", c_uint64), ("heap_dump", c_uint64), ("begun", c_uint64),
        ("series", c_uint64), ("record", c_uint64), ("record_end", c_uint64), ("time", c_uint32), ("thread_serial", c_uint32),
        ("trace_serial", c_uint32), ("class_serial", c_uint32), ("frame", c_uint32), ("elements", c_uint32), ("id", c_uint64),
        ("class_id", c_uint64), ("name_id", c_uint64), ("damage", c_char_p), ("signature_id", c_uint64), ("source_id", c_uint64),
        ("line", c_int32), ("frames", c_uint32),
    ]


class CClass(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("id", c_uint64), ("number", c_uint32), ("serial", c_uint32), ("name", c_char * 256),
        ("name_id", c_uint64), ("is_dumped", c_bool), ("super_id", c_uint64), ("loader_id", c_uint64),
        ("instance_size", c_uint32), ("fields", c_uint16), ("static_fields", c_uint16),
    ]


class CField(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("class_id", c_uint64), ("name_id", c_uint64), ("type", c_uint8), ("is_static", c_bool),
        ("offset", c_uint64),
    ]


class CColumns(Structure):
    _fields_ = [
        ("count", c_uint64), ("a", c_void_p), ("b", c_void_p), ("c", c_void_p), ("d", c_void_p), ("kind", c_void_p),
    ]


STRUCTURES: dict[str, type[Structure]] = {
    "hprof_rule": CRule, "hprof_profile": CProfile, "hprof_finding": CFinding, "hprof_summary": CSummary,
    "hprof_source": CSource, "hprof_options": COptions, "hprof_read_options": CReadOptions, "hprof_header": CHeader,
    "hprof_item": CItem, "hprof_class": CClass, "hprof_field": CField, "hprof_python_columns": CColumns,
}
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "hprof_version": (c_char_p, []),
    "hprof_rule_count": (c_size_t, []),
    "hprof_rule_at": (POINTER(CRule), [c_size_t]),
    "hprof_profile_at": (POINTER(CProfile), [c_size_t]),
    "hprof_profile_find": (c_size_t, [c_char_p]),
    "hprof_record_name": (c_char_p, [c_uint8]),
    "hprof_subrecord_name": (c_char_p, [c_uint8]),
    "hprof_options_defaults": (None, [POINTER(COptions), c_size_t]),
    "hprof_validate_fd": (c_int, [c_int, POINTER(COptions), POINTER(CSummary)]),
    "hprof_validate_source": (c_int, [POINTER(CSource), POINTER(COptions), POINTER(CSummary)]),
    "hprof_open_fd": (c_int, [c_int, POINTER(CReadOptions), POINTER(c_void_p)]),
    "hprof_open_source": (c_int, [POINTER(CSource), POINTER(CReadOptions), POINTER(c_void_p)]),
    "hprof_close": (None, [c_void_p]),
    "hprof_failure": (c_char_p, [c_void_p]),
    "hprof_read_header": (c_int, [c_void_p, POINTER(CHeader)]),
    "hprof_next": (c_int, [c_void_p, POINTER(CItem)]),
    "hprof_seek": (c_int, [c_void_p, POINTER(CItem)]),
    "hprof_body": (c_int64, [c_void_p, c_uint64, c_size_t, POINTER(c_void_p)]),
    "hprof_string": (c_int, [c_void_p, c_uint64, POINTER(c_void_p), POINTER(c_size_t)]),
    "hprof_class": (c_int, [c_void_p, c_uint64, POINTER(CClass)]),
    "hprof_class_at": (c_int, [c_void_p, c_uint32, POINTER(CClass)]),
    "hprof_field_at": (c_int, [c_void_p, c_uint64, c_bool, c_size_t, POINTER(CField)]),
    "hprof_index": (c_int, [c_void_p, c_uint64, c_uint64]),
    "hprof_find": (c_int, [c_void_p, c_uint64, POINTER(CItem)]),
    "hprof_python_objects": (c_int, [c_void_p, c_uint64, POINTER(CColumns)]),
    "hprof_python_references": (c_int, [c_void_p, c_uint64, POINTER(CColumns)]),
    "hprof_python_free": (None, [POINTER(CColumns)]),
    "hprof_python_size": (c_size_t, [c_char_p]),
}


def _load() -> Any:
    library = ctypes.CDLL(os.fspath(Path(__file__).with_name("_hprof.so")))
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    for name, structure in STRUCTURES.items():
        if library.hprof_python_size(name.encode()) != ctypes.sizeof(structure):
            raise ImportError(f"the library of hprof_validate has another struct {name}: the installation is mixed")
    return library


LIBRARY = _load()


def text(value: bytes | None) -> str:
    return value.decode() if value is not None else ""


def made(structure: type[Any]) -> Any:
    """A structure with its size, as the library wants it."""
    value = structure()
    value.struct_size = ctypes.sizeof(structure)
    return value


