/* Reads HPROF heap dumps: records and sub-records in their order, names, classes, fields, and objects by their IDs.
 *
 * A dump that can be read twice is checked first, so that damage is found before anything is handed out: the reader then reads
 * exactly what the check reads. Structures begin with their size, as hprof/hprof.h says.
 *
 * Functions that return int return 1 for success, 0 if there is nothing (the end, or something that is not known yet), and the
 * negative of an enum hprof_status if they failed; hprof_failure() then has a sentence. After HPROF_IO and HPROF_LIMIT, all
 * later calls fail too.
 *
 * What is known grows while a dump is read. A string is known once its UTF8 record was read, a class once its LOAD_CLASS or
 * CLASS_DUMP was read, and its fields once its CLASS_DUMP was read. HotSpot writes all of these before the first object. Other
 * producers do not: hprof_index() reads all of a dump, so that everything is known, and hprof_seek() then goes back. */
#ifndef HPROF_READ_H
#define HPROF_READ_H

#include "hprof/hprof.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hprof_reader;

/* ---- Opening and closing ---------------------------------------------------------------------------------------- */

struct hprof_read_options {
    size_t struct_size;
    const struct hprof_allocator *allocator; /* NULL for the C library's; must stay valid until the last reader is closed */
    uint64_t max_memory;                     /* bytes, of a reader and its clones; 0 for no limit */
    unsigned threads;                        /* for the check; 0 is 1 */
    /* The dump is known to be well-formed: it is not checked first. It is then read by its lengths alone, and damage ends the
     * reading, as on a pipe. */
    bool unchecked;
    /* How the dump is checked: its callbacks get the summary and the findings while the dump is opened. Its allocator, max_memory
     * and threads are not used. A callback that ends the check makes the opening fail with HPROF_STOPPED. NULL for a check whose
     * result only the reader uses. */
    const struct hprof_options *check;
    /* Instances and arrays are counted while the dump is checked, for hprof_next_counted(): those that begin between two multiples
     * of this, a power of two. 0: they are not counted. */
    uint64_t count_within;
};

static inline void hprof_read_options_init(struct hprof_read_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Opens a dump, plain or compressed with gzip. HPROF_VALID: *reader is to be closed. HPROF_INVALID: the file does not begin with
 * a valid header. With every result but HPROF_USAGE for `reader` NULL and for lack of memory, *reader is set: hprof_failure() says
 * what failed, and hprof_close() must follow. `options` may be NULL. The caller closes the descriptor, after the reader and its
 * clones. Bytes in memory must not change. */
enum hprof_status hprof_open_fd(int fd, const struct hprof_read_options *options, struct hprof_reader **reader);
enum hprof_status hprof_open_memory(const void *bytes, size_t size, const struct hprof_read_options *options,
                                    struct hprof_reader **reader);
enum hprof_status hprof_open_source(const struct hprof_source *source, const struct hprof_read_options *options,
                                    struct hprof_reader **reader);
/* NULL is allowed. */
void hprof_close(struct hprof_reader *reader);

/* Makes a reader of the same dump, at its start, for another thread. A reader and its clones may be used by different threads at
 * the same time, and know what any of them has read. HPROF_USAGE if the dump can be read only once. */
enum hprof_status hprof_clone(struct hprof_reader *reader, struct hprof_reader **clone);

/* Why the last call failed, in one sentence; "" if nothing has failed. */
const char *hprof_failure(const struct hprof_reader *reader);

/* The header of the dump. */
struct hprof_header {
    size_t struct_size;
    const char *version; /* "1.0.2" */
    uint32_t id_size;    /* 4 or 8 */
    uint64_t timestamp;  /* milliseconds since 1970-01-01 UTC */
    bool compressed;     /* the file is gzip */
    bool can_seek;       /* hprof_seek(), hprof_index() and hprof_clone() work: it is no pipe */
};
static inline void hprof_header_init(struct hprof_header *header)
{
    memset(header, 0, sizeof *header);
    header->struct_size = sizeof *header;
}
int hprof_read_header(const struct hprof_reader *reader, struct hprof_header *header);

/* ---- Items ------------------------------------------------------------------------------------------------------ */

enum hprof_item_kind {
    HPROF_ITEM_RECORD = 1, /* a record; the sub-records of a heap dump record follow it as items of their own */
    HPROF_ITEM_SUBRECORD,  /* a sub-record */
    HPROF_ITEM_DAMAGE,     /* bytes that are passed over */
    HPROF_ITEM_OBJECTS     /* of hprof_next_counted() alone: instances and arrays that follow each other */
};

struct hprof_item {
    size_t struct_size;
    enum hprof_item_kind kind;
    uint8_t tag;          /* of a record or sub-record; a record's may be undefined */
    uint8_t element_type; /* of a PRIMITIVE_ARRAY_DUMP: 4 to 11 */
    uint64_t offset;      /* of the tag, or of the damage, in the decompressed dump */
    uint64_t size;        /* of all of it */
    /* Its bytes before the body: 9 of a record, with the ID of a UTF8. Of a sub-record, the tag and the fields of fixed size. */
    uint64_t head;
    uint64_t body;          /* bytes of the body: the values of an instance, the elements of an array, the text of a UTF8 */
    uint64_t heap_dump;     /* the number of the heap dump that contains it, or of the last one before it, from 1; 0 for none */
    uint64_t begun, series; /* for hprof_seek(): heap dumps that began before it, and the one whose segments may go on */
    uint64_t record;        /* of a sub-record: the offset of its heap dump record; 0 if damage hides it */
    uint64_t record_end;    /* where that record ends; UINT64_MAX if damage hides it; 0 for a record */
    uint32_t time;          /* of a record: microseconds since the timestamp */
    uint32_t thread_serial, trace_serial, class_serial; /* 0 if the item has none */
    uint32_t frame;     /* of a root in a frame: its number in the stack trace; UINT32_MAX if empty */
    uint32_t elements;  /* of an array */
    uint64_t id;        /* of an object, class, string or frame that the item defines, or of the object that is a root */
    uint64_t class_id;  /* of an instance or object array; of a LOAD_CLASS, 0 */
    uint64_t name_id;   /* of a LOAD_CLASS: the string with the name of the class */
    const char *damage; /* of damage: what is wrong, in words */
    uint64_t signature_id, source_id; /* of a FRAME, whose name_id is its method */
    int32_t line;                     /* of a FRAME */
    uint32_t frames;                  /* of a TRACE: how many hprof_trace_frame() gives */
};
static inline void hprof_item_init(struct hprof_item *item)
{
    memset(item, 0, sizeof *item);
    item->struct_size = sizeof *item;
}

/* Reads the next item. 1: `item` is filled in. 0: the dump ends. */
int hprof_next(struct hprof_reader *reader, struct hprof_item *item);

/* Goes to an item that this reader or a clone has handed out: hprof_next() reads it again. NULL goes to the start. */
int hprof_seek(struct hprof_reader *reader, const struct hprof_item *item);

/* The instances of a class, or the arrays of a class or a primitive type. */
struct hprof_class_count {
    uint64_t class_id; /* 0 for a primitive type */
    uint64_t size;     /* of the sub-records */
    uint32_t number;
    uint8_t head; /* bytes of each before its body */
    uint8_t tag;
    uint8_t element_type; /* of arrays: 2 for object, 4 to 11 */
};

struct hprof_counted {
    size_t struct_size;
    uint64_t offset, size; /* of all of them */
    uint64_t objects;
    uint64_t low_id, high_id;                /* the lowest and the highest ID of an object */
    uint64_t beyond;                         /* bytes of the last object that lie after the multiple of count_within */
    uint8_t last_tag;                        /* if there are any: the tag of that object */
    const struct hprof_class_count *classes; /* each with its objects; until the last reader of the dump is closed */
    size_t class_count;
};
static inline void hprof_counted_init(struct hprof_counted *counted)
{
    memset(counted, 0, sizeof *counted);
    counted->struct_size = sizeof *counted;
}

/* Reads the next item, like hprof_next(), or passes objects that the check counted (see count_within), without reading them: then
 * the item, of kind HPROF_ITEM_OBJECTS, has nothing but what hprof_seek() needs, and their size; its body is all of their bytes.
 * Many objects are not counted. */
int hprof_next_counted(struct hprof_reader *reader, struct hprof_item *item, struct hprof_counted *counted);

/* Of objects that hprof_next_counted() passed, as hprof_bytes() gives them: the instance or array at `bytes`, of which `size` are
 * there. Its kind, tag, size, head, body, trace_serial, elements, element_type, id and class_id go to `item`, whose other members
 * stay: those of the objects fit, except the offset. 0: there are fewer bytes than those before its body. */
int hprof_counted_object(struct hprof_reader *reader, const uint8_t *bytes, size_t size, struct hprof_item *item);

/* Gives up to `want` bytes of the body of the last item, from the byte `from` on. Returns how many there are at *bytes: fewer at
 * the end of the body, and at most 1 MiB unless the dump is in memory, where nothing is copied. They stay until this reader reads
 * again; to look up names, classes and fields, it does not. Of a pipe, `from` must not decrease by more than 1 MiB. Below 0: it
 * failed. */
int64_t hprof_body(struct hprof_reader *reader, uint64_t from, size_t want, const uint8_t **bytes);

/* The same of all bytes of the last item, from the tag on. Of a sub-record in parts, there are head + body bytes. */
int64_t hprof_bytes(struct hprof_reader *reader, uint64_t from, size_t want, const uint8_t **bytes);

/* ---- Names, classes and fields ---------------------------------------------------------------------------------- */

/* The text of a string, `size` bytes of modified UTF-8 without a terminator, valid until the last reader of the dump is closed.
 * 0: no such string is known yet. Of strings with the same ID the first is known; those of more than 1 MiB are never known. */
int hprof_string(struct hprof_reader *reader, uint64_t id, const char **text, size_t *size);

struct hprof_class {
    size_t struct_size;
    uint64_t id;
    /* From 0, in the order in which this dump's readers came to know the classes: an index for an array of the caller. */
    uint32_t number;
    uint32_t serial;  /* of its LOAD_CLASS; 0 if that is not known yet */
    char name[256];   /* "java.lang.String[]", in UTF-8, shortened if it must be; "" if it is not known yet */
    uint64_t name_id; /* the string with its name; 0 if it is not known yet */
    bool is_dumped;   /* its CLASS_DUMP is known; all that follows is 0 before that */
    uint64_t super_id, loader_id;
    uint32_t instance_size; /* of the fields, with those of superclasses */
    uint16_t fields;        /* that it declares */
    uint16_t static_fields;
};
static inline void hprof_class_init(struct hprof_class *class_)
{
    memset(class_, 0, sizeof *class_);
    class_->struct_size = sizeof *class_;
}

/* 0: no such class is known yet. If several heap dumps have the class, the first CLASS_DUMP is known. */
int hprof_class(struct hprof_reader *reader, uint64_t id, struct hprof_class *class_);

/* The number of the class, as above; UINT32_MAX if it is not known yet. Faster than hprof_class(). */
uint32_t hprof_class_number(struct hprof_reader *reader, uint64_t id);

/* The class with a number. */
int hprof_class_at(struct hprof_reader *reader, uint32_t number, struct hprof_class *class_);

struct hprof_field {
    size_t struct_size;
    uint64_t class_id; /* that declares it */
    uint64_t name_id;
    uint8_t type; /* 2 for object, 4 to 11 */
    bool is_static;
    uint64_t offset; /* in the body of an instance; of a static field, in the body of the CLASS_DUMP */
};
static inline void hprof_field_init(struct hprof_field *field)
{
    memset(field, 0, sizeof *field);
    field->struct_size = sizeof *field;
}

/* A field by its name: an instance field of the class or of the nearest superclass that has one, else a static field of the class.
 * 0: there is none, or the CLASS_DUMP of the class, or of a superclass on the way, is not known yet. */
int hprof_field(struct hprof_reader *reader, uint64_t class_id, const char *name, struct hprof_field *field);

/* The instance field with an index, among those of the class, then of its superclass, and so on, as their values follow in an
 * instance; or, with is_static, a static field of the class. 0: no more, or not known yet. */
int hprof_field_at(struct hprof_reader *reader, uint64_t class_id, bool is_static, size_t index, struct hprof_field *field);

struct hprof_value {
    size_t struct_size;
    uint8_t type;    /* 2 for object, 4 to 11 */
    uint64_t bits;   /* the bytes of the value as a number; a conversion to double changes some kinds of NaN */
    uint64_t id;     /* of an object; 0 for null */
    int64_t integer; /* of boolean, char, byte, short, int, long */
    double real;     /* of float, double */
};
static inline void hprof_value_init(struct hprof_value *value)
{
    memset(value, 0, sizeof *value);
    value->struct_size = sizeof *value;
}

/* The value of a field in the last item: an instance, or for static fields the CLASS_DUMP of field->class_id. 0: the item has no
 * such field, or ends before it. */
int hprof_field_value(struct hprof_reader *reader, const struct hprof_field *field, struct hprof_value *value);

/* An element of the last item, which is an array. 0: it has no such element. */
int hprof_element(struct hprof_reader *reader, uint64_t index, struct hprof_value *value);

/* The ID of a frame of the last item, which is a TRACE; the frame with index 0 is the innermost. 0: it has no such frame. */
int hprof_trace_frame(struct hprof_reader *reader, uint32_t index, uint64_t *frame_id);

/* ---- Objects by ID ---------------------------------------------------------------------------------------------- */

/* Reads all of the dump, twice, and keeps where the objects of a heap dump are, so that hprof_find() works for this reader and
 * all its clones. Takes 8 bytes an object, and little more where IDs are addresses. HPROF_LIMIT, as the negative result, if that
 * is more than max_memory (0 for no limit but that of the reader): the reader can still be used. The position of the reader does
 * not change, and its last item is lost. Must not be called while clones are in use. 0: there is no such heap dump. */
int hprof_index(struct hprof_reader *reader, uint64_t heap_dump, uint64_t max_memory);

/* Goes to an object, class or array of the heap dump that was indexed, and makes it the last item. hprof_next() reads what follows
 * it. 0: there is none with this ID. Of objects with the same ID the first is found. */
int hprof_find(struct hprof_reader *reader, uint64_t id, struct hprof_item *item);

#ifdef __cplusplus
}
#endif

#endif
