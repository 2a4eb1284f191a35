# A description of HPROF 1.0.1, 1.0.2 and Android's 1.0.3 for Kaitai Struct (https://kaitai.io), versions 0.9 and later.
# It follows SPEC.md clause by clause. It reads plain files only: decompress a gzip file first.
meta:
  id: hprof
  title: HPROF, the format of Java heap dumps
  file-extension: hprof
  endian: be
  license: Apache-2.0
doc-ref: SPEC.md
seq:
  - id: header
    type: header
  - id: records
    type: record
    repeat: eos
types:
  header: # 3.1
    seq:
      - id: format
        type: strz
        encoding: ASCII
      - id: id_size
        type: u4
        valid:
          any-of: [4, 8]
      - id: timestamp
        doc: milliseconds since 1970
        type: u8
  id: # 2.3
    seq:
      - id: value
        type:
          switch-on: _root.header.id_size
          cases:
            4: u4
            8: u8
  record: # 3.2
    seq:
      - id: tag
        type: u1
        enum: record_tag
      - id: time
        doc: microseconds since the timestamp of the header
        type: u4
      - id: len_body
        type: u4
      - id: body
        size: len_body
        type:
          switch-on: tag
          cases:
            'record_tag::utf8': utf8
            'record_tag::load_class': load_class
            'record_tag::unload_class': unload_class
            'record_tag::frame': frame
            'record_tag::trace': trace
            'record_tag::alloc_sites': alloc_sites
            'record_tag::heap_summary': heap_summary
            'record_tag::start_thread': start_thread
            'record_tag::end_thread': end_thread
            'record_tag::heap_dump': heap_dump
            'record_tag::cpu_samples': cpu_samples
            'record_tag::control_settings': control_settings
            'record_tag::heap_dump_segment': heap_dump
  utf8: # 4.1
    seq:
      - id: id
        type: id
      - id: text
        doc: standard or modified UTF-8, without a NUL at the end
        size-eos: true
  load_class: # 4.2
    seq:
      - id: class_serial
        type: u4
      - id: class_id
        type: id
      - id: trace_serial
        type: u4
      - id: name
        type: id
  unload_class: # 4.3
    seq:
      - id: class_serial
        type: u4
  frame: # 4.4
    seq:
      - id: id
        type: id
      - id: method
        type: id
      - id: signature
        type: id
      - id: source
        type: id
      - id: class_serial
        type: u4
      - id: line
        type: s4
  trace: # 4.5
    seq:
      - id: trace_serial
        type: u4
      - id: thread_serial
        type: u4
      - id: num_frames
        type: u4
      - id: frames
        type: id
        repeat: expr
        repeat-expr: num_frames
  alloc_sites: # 4.6
    seq:
      - id: flags
        type: u2
      - id: cutoff
        type: f4
      - id: live_bytes
        type: u4
      - id: live_instances
        type: u4
      - id: allocated_bytes
        type: u8
      - id: allocated_instances
        type: u8
      - id: num_sites
        type: u4
      - id: sites
        type: site
        repeat: expr
        repeat-expr: num_sites
  site: # 4.6
    seq:
      - id: array_type
        type: u1
      - id: class_serial
        type: u4
      - id: trace_serial
        type: u4
      - id: live_bytes
        type: u4
      - id: live_instances
        type: u4
      - id: allocated_bytes
        type: u4
      - id: allocated_instances
        type: u4
  heap_summary: # 4.7
    seq:
      - id: live_bytes
        type: u4
      - id: live_instances
        type: u4
      - id: allocated_bytes
        type: u8
      - id: allocated_instances
        type: u8
  start_thread: # 4.8
    seq:
      - id: thread_serial
        type: u4
      - id: thread_id
        type: id
      - id: trace_serial
        type: u4
      - id: name
        type: id
      - id: group
        type: id
      - id: parent_group
        type: id
  end_thread: # 4.9
    seq:
      - id: thread_serial
        type: u4
  cpu_samples: # 4.10
    seq:
      - id: samples
        type: u4
      - id: num_traces
        type: u4
      - id: traces
        type: sample
        repeat: expr
        repeat-expr: num_traces
  sample: # 4.10
    seq:
      - id: samples
        type: u4
      - id: trace_serial
        type: u4
  control_settings: # 4.11
    seq:
      - id: flags
        type: u4
      - id: depth
        type: u2
  heap_dump: # 5.1, 5.2
    seq:
      - id: subrecords
        type: subrecord
        repeat: eos
  subrecord: # 6.1
    seq:
      - id: tag
        type: u1
        enum: subrecord_tag
      - id: body
        type:
          switch-on: tag
          cases:
            'subrecord_tag::root_unknown': root_object
            'subrecord_tag::root_jni_global': root_jni_global
            'subrecord_tag::root_jni_local': root_frame
            'subrecord_tag::root_java_frame': root_frame
            'subrecord_tag::root_native_stack': root_thread
            'subrecord_tag::root_sticky_class': root_object
            'subrecord_tag::root_thread_block': root_thread
            'subrecord_tag::root_monitor_used': root_object
            'subrecord_tag::root_thread_object': root_thread_object
            'subrecord_tag::class_dump': class_dump
            'subrecord_tag::instance_dump': instance_dump
            'subrecord_tag::object_array_dump': object_array_dump
            'subrecord_tag::primitive_array_dump': primitive_array_dump(true)
            'subrecord_tag::root_interned_string': root_object
            'subrecord_tag::root_finalizing': root_object
            'subrecord_tag::root_debugger': root_object
            'subrecord_tag::root_reference_cleanup': root_object
            'subrecord_tag::root_vm_internal': root_object
            'subrecord_tag::root_jni_monitor': root_frame
            'subrecord_tag::root_unreachable': root_object
            'subrecord_tag::primitive_array_nodata': primitive_array_dump(false)
            'subrecord_tag::heap_dump_info': heap_dump_info
  root_object: # 6.2.1, 6.2.6, 6.2.9, 6.8
    seq:
      - id: object_id
        type: id
  root_jni_global: # 6.2.2
    seq:
      - id: object_id
        type: id
      - id: reference_id
        type: id
  root_frame: # 6.2.3, 6.2.4; of ROOT_JNI_MONITOR (6.8) the last field is a depth
    seq:
      - id: object_id
        type: id
      - id: thread_serial
        type: u4
      - id: frame
        type: s4
  root_thread: # 6.2.5, 6.2.7
    seq:
      - id: object_id
        type: id
      - id: thread_serial
        type: u4
  root_thread_object: # 6.2.8
    seq:
      - id: object_id
        type: id
      - id: thread_serial
        type: u4
      - id: trace_serial
        type: u4
  class_dump: # 6.3
    seq:
      - id: class_id
        type: id
      - id: trace_serial
        type: u4
      - id: super_id
        type: id
      - id: loader_id
        type: id
      - id: signers_id
        type: id
      - id: domain_id
        type: id
      - id: reserved1
        type: id
      - id: reserved2
        type: id
      - id: instance_size
        type: u4
      - id: num_constants
        type: u2
      - id: constants
        type: constant
        repeat: expr
        repeat-expr: num_constants
      - id: num_statics
        type: u2
      - id: statics
        type: static_field
        repeat: expr
        repeat-expr: num_statics
      - id: num_fields
        type: u2
      - id: fields
        type: instance_field
        repeat: expr
        repeat-expr: num_fields
  constant: # 6.3.3
    seq:
      - id: index
        type: u2
      - id: type
        type: u1
        enum: basic_type
      - id: value
        type: value(type)
  static_field: # 6.3.4
    seq:
      - id: name
        type: id
      - id: type
        type: u1
        enum: basic_type
      - id: value
        type: value(type)
  instance_field: # 6.3.5
    seq:
      - id: name
        type: id
      - id: type
        type: u1
        enum: basic_type
  value: # 2.2
    params:
      - id: type
        type: u1
        enum: basic_type
    seq:
      - id: value
        type:
          switch-on: type
          cases:
            'basic_type::object': id
            'basic_type::boolean': u1
            'basic_type::char': u2
            'basic_type::float': f4
            'basic_type::double': f8
            'basic_type::byte': s1
            'basic_type::short': s2
            'basic_type::int': s4
            'basic_type::long': s8
  instance_dump: # 6.5
    seq:
      - id: object_id
        type: id
      - id: trace_serial
        type: u4
      - id: class_id
        type: id
      - id: len_values
        type: u4
      - id: values
        doc: the fields of the class, then those of its superclass, and so on; their types are in CLASS_DUMP
        size: len_values
  object_array_dump: # 6.6
    seq:
      - id: object_id
        type: id
      - id: trace_serial
        type: u4
      - id: num_elements
        type: u4
      - id: class_id
        type: id
      - id: elements
        type: id
        repeat: expr
        repeat-expr: num_elements
  primitive_array_dump: # 6.7; without elements 6.8
    params:
      - id: has_elements
        type: bool
    seq:
      - id: object_id
        type: id
      - id: trace_serial
        type: u4
      - id: num_elements
        type: u4
      - id: type
        type: u1
        enum: basic_type
      - id: elements
        type: value(type)
        repeat: expr
        repeat-expr: num_elements
        if: has_elements
  heap_dump_info: # 6.8
    seq:
      - id: heap
        type: u4
      - id: name
        type: id
enums:
  record_tag: # 3.2
    0x01: utf8
    0x02: load_class
    0x03: unload_class
    0x04: frame
    0x05: trace
    0x06: alloc_sites
    0x07: heap_summary
    0x0a: start_thread
    0x0b: end_thread
    0x0c: heap_dump
    0x0d: cpu_samples
    0x0e: control_settings
    0x1c: heap_dump_segment
    0x2c: heap_dump_end
  subrecord_tag: # 6.1
    0x01: root_jni_global
    0x02: root_jni_local
    0x03: root_java_frame
    0x04: root_native_stack
    0x05: root_sticky_class
    0x06: root_thread_block
    0x07: root_monitor_used
    0x08: root_thread_object
    0x20: class_dump
    0x21: instance_dump
    0x22: object_array_dump
    0x23: primitive_array_dump
    0x89: root_interned_string
    0x8a: root_finalizing
    0x8b: root_debugger
    0x8c: root_reference_cleanup
    0x8d: root_vm_internal
    0x8e: root_jni_monitor
    0x90: root_unreachable
    0xc3: primitive_array_nodata
    0xfe: heap_dump_info
    0xff: root_unknown
  basic_type: # 2.2
    2: object
    4: boolean
    5: char
    6: float
    7: double
    8: byte
    9: short
    10: int
    11: long
