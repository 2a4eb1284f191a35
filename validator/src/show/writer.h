/* Writing an item as lines: what the files of show/ that write them share. */
#ifndef HPROF_WRITER_H
#define HPROF_WRITER_H

#include "show/show.h"

enum {
    LINE_SIZE = 1200,
    PARTS_ALWAYS = 8 /* shown at the start of a list */,
    PARTS_AROUND = 2 /* on each side of the offset */
};

struct writer {
    struct show *show;
    const struct item *item;
    unsigned depth;
    bool was_here; /* a line contained the offset */
    char text[LINE_SIZE], remark[LINE_SIZE];
    size_t text_size, remark_size;
};

/* ---- writer.c: lines and lists ---- */

/* Add to the text, and to the remark. */
__attribute__((format(printf, 2, 3))) void add_text(struct writer *w, const char *format, ...);
__attribute__((format(printf, 2, 3))) void add_remark(struct writer *w, const char *format, ...);
/* Hands out the line, which describes `size` bytes from `offset` on. */
void end_line(struct writer *w, unsigned depth, uint64_t offset, uint64_t size);
void show_line(struct writer *w, const struct hprof_line *line);
void close_bracket(struct writer *w, unsigned depth, const char *bracket);

/* A list of parts of equal size, such as the elements of an array. Parts that are not shown are counted in `hidden`. */
struct parts {
    uint64_t offset, count, per_line, size;
    uint64_t hidden;
};

/* Adds a part, whose bytes are given, to the text. `type` is that of the elements of an array. */
typedef void add_part(struct writer *w, const uint8_t *bytes, unsigned type);
void show_parts(struct writer *w, struct parts *p, add_part *add_one, unsigned type);
/* Ends the line of one of many parts of different sizes, or hides it. */
void end_part(struct writer *w, struct parts *p, uint64_t index, uint64_t offset, uint64_t size);
void end_hidden(struct writer *w, struct parts *p, unsigned depth);

/* ---- show_values.c ---- */

void note_string(struct writer *w, uint64_t id);
void note_class(struct writer *w, uint64_t class_id);
/* Names a class by its object ID. Other objects have no names. */
void note_object(struct writer *w, uint64_t id);
void add_text_id(struct writer *w, uint64_t id);
/* "LOAD_CLASS" as "load-class". */
void add_text_word(struct writer *w, const char *name);
const char *show_type_name(unsigned type);
add_part add_text_value;

/* ---- show_records.c, show_subrecords.c ---- */

void show_record(struct writer *w);
void show_heap(struct writer *w); /* the header of a heap dump record */
void show_subrecord(struct writer *w);

#endif
