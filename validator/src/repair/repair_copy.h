/* How a pass writes the copy: what repair_copy.c, repair_heap.c, repair_records.c, repair_left.c and repair_output.c share. */
#ifndef HPROF_REPAIR_COPY_H
#define HPROF_REPAIR_COPY_H

#include "format/subrecord.h"
#include "repair/repair.h"

enum { LONGEST_SEEN = 1 << 22 /* bytes that are needed together: no CLASS_DUMP is longer */ };

/* ---- repair_output.c: the bytes of the copy ---- */

void copy_flush(struct repair *r);
uint64_t copy_size(const struct repair *r);
void copy_put(struct repair *r, const uint8_t *bytes, size_t n);
/* Removes everything from `position` on. */
void copy_cut(struct repair *r, uint64_t position);
/* Changes a number in the copy. */
void copy_number(struct repair *r, uint64_t at, uint64_t number);
void copy_id(struct repair *r, uint64_t at, uint64_t id);
/* Copies n bytes of the input, or those that are left. Returns how many. */
uint64_t copy_input(struct repair *r, uint64_t n);
/* How many bytes the copy may take before it meets the bytes that are still to be read. */
uint64_t copy_room(const struct repair *r);
/* Moves all of the copy, which was flushed, towards its end. */
bool copy_shift(struct repair *r, uint64_t by);

/* ---- repair_heap.c: heap dump records ---- */

/* A record begins in the copy with this header, which is not put yet. */
void begin_heap(struct repair *r, const uint8_t header[RECORD_HEADER_SIZE]);
/* It takes sub-records from here on, up to an offset of the input. */
void open_heap(struct repair *r, uint64_t end);
/* It is complete, as long as no more sub-records are found. */
void close_heap(struct repair *r);
/* It becomes a segment. Readers would take a HEAP_DUMP for all of the heap dump. */
void make_segment(struct repair *r);
/* It becomes the first of a series: the heap dump goes on in another record. */
void make_series(struct repair *r);
void put_heap_dump_end(struct repair *r);
/* Before a HEAP_DUMP: a series of make_series() ends. There must be room for its end. */
void end_made_series(struct repair *r);

/* ---- repair_left.c: what is left out ---- */

/* `bytes` of the input, those before its present offset. */
void leave_out(struct repair *r, enum left_out_kind kind, uint64_t key, uint64_t bytes);
/* The kind of a sub-record, and its key if its header is complete. */
enum left_out_kind kind_of(const struct repair *r, struct cursor c, uint64_t *key);
/* Whether the next n bytes contain one of the offsets. */
bool is_unwanted(struct repair *r, uint64_t n);
/* Like is_unwanted(), but ignores an error that is only the missing trace. */
bool is_unwanted_without_trace(struct repair *r, uint64_t n, size_t trace);

/* The offset, within the next record or sub-record, of its stack trace serial number; 0 if it has none. */
size_t trace_of_record(const struct repair *r);
size_t trace_of_subrecord(const struct repair *r);
bool has_missing_trace(struct repair *r, size_t trace);
/* Sets the stack trace serial number of what was copied to `start` to 0. */
void clear_trace(struct repair *r, uint64_t start, size_t trace);

/* Whether the next sub-record, which begins with the bytes of `c`, needs a class or a thread that is missing. */
bool needs_what_is_missing(struct repair *r, struct cursor c);

/* ---- repair_stand_ins.c: what is put into the copy although the input lacks it ---- */

/* Once in each pass. */
void stand_ins_put_definitions(struct repair *r);
/* In a segment of their own, if the present heap dump needs some. */
void stand_ins_put_segment(struct repair *r);
/* Into the heap dump record that begins. False if there are none for the present heap dump. */
bool stand_ins_put_subrecords(struct repair *r);

/* ---- repair_records.c: records outside of heap dumps ---- */

/* Whether the version of the dump has records of the tag. */
bool is_record(const struct repair *r, uint8_t tag);
/* Whether the input is at the header of a dump. */
bool is_header(struct repair *r);
/* The length that the kind and the counts of the next record give. False if they give none, or the counts are missing. */
bool length_by_kind(struct repair *r, uint64_t *length);
void drop_record(struct repair *r, uint8_t tag, uint64_t size);
/* `span` are the bytes of the next record, with the header, up to where reading goes on. */
void repair_record(struct repair *r, uint64_t span);

#endif
