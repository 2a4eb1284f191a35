/* A dump as a list of records and sub-records that can be dropped, moved and changed, for the mutator. Any bytes can be split:
 * what is no record is kept as it is. */
#ifndef HPROF_FUZZ_PIECES_H
#define HPROF_FUZZ_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIECES_MAX = 4096, ARENA_SIZE = 1 << 20, RECORD_HEAD = 9, RECORD_LENGTH_AT = 5 };

enum field_type { FIELD_END, FIELD_U1, FIELD_U2, FIELD_U4, FIELD_U8, FIELD_I4, FIELD_ID };
enum tail_form { TAIL_none, TAIL_bytes, TAIL_ids, TAIL_sites, TAIL_traces, TAIL_subrecords, TAIL_class, TAIL_value };

struct field {
    enum field_type type;
    const char *name;
};

enum version { V101, V102, V103 };

/* A row of records.def. */
struct layout {
    uint8_t tag;
    enum version since;
    const struct field *fields; /* up to FIELD_END */
    enum tail_form tail;
};

extern const struct layout record_layouts[], subrecord_layouts[];
extern const size_t record_layout_count, subrecord_layout_count;

enum piece_kind {
    PIECE_HEADER,
    PIECE_RECORD,    /* a record that holds no sub-records, with its body */
    PIECE_HEAP,      /* the head of a HEAP_DUMP or HEAP_DUMP_SEGMENT; its sub-records and raw bytes follow */
    PIECE_SUBRECORD, /* up to the next piece of a higher kind */
    PIECE_RAW,       /* bytes in a heap dump record that are no sub-record */
    PIECE_REST       /* bytes at the end that are no record */
};

struct piece {
    enum piece_kind kind;
    bool keep_length; /* RECORD, HEAP: the length is wrong and stays wrong */
    const uint8_t *bytes;
    size_t size;
};

struct pieces {
    struct piece list[PIECES_MAX];
    size_t count;
    enum version version;
    unsigned id_size; /* 4 or 8 */
    uint8_t *arena;   /* ARENA_SIZE bytes for pieces that were changed */
    size_t arena_used;
};

/* `bytes` must live as long as the pieces. False if they do not start with a header. */
bool split(struct pieces *p, const uint8_t *bytes, size_t size);
/* Joins the pieces, and sets the lengths of records right unless keep_length is set. Returns the size; what exceeds `max` is
 * cut. */
size_t join(const struct pieces *p, uint8_t *out, size_t max);

/* Whether the piece is part of the body of a heap dump record. */
static inline bool is_inner(const struct piece *piece)
{
    return piece->kind == PIECE_SUBRECORD || piece->kind == PIECE_RAW;
}

/* Bytes of the piece that can be changed, of which the first are those it has; NULL if the arena is full. */
uint8_t *own_bytes(struct pieces *p, struct piece *piece, size_t new_size);
/* Room in the arena; NULL if it is full. */
uint8_t *take_bytes(struct pieces *p, size_t size);
/* Adds a copy of `piece` before the piece at `at`. False if there are too many. */
bool insert_piece(struct pieces *p, size_t at, const struct piece *piece);
void remove_pieces(struct pieces *p, size_t at, size_t n);

/* The row of the piece's tag; NULL if it has none. */
const struct layout *layout_of(const struct piece *piece);
/* Where the fields of a record or sub-record start: after the head or the tag. */
size_t fields_at(const struct piece *piece);
unsigned field_width(enum field_type type, unsigned id_size);
/* Size of the fixed fields. */
size_t fields_size(const struct layout *layout, unsigned id_size);
/* Size of a value of a basic type; 0 for an undefined code. */
unsigned value_size(unsigned type, unsigned id_size);
/* The size of the sub-record at `at`, of which `size` bytes are left; 0 if it is none or longer. */
size_t measure(const uint8_t *at, size_t size, unsigned id_size);

static inline uint64_t get_number(const uint8_t *p, unsigned width)
{
    uint64_t value = 0;

    while (width--)
        value = value << 8 | *p++;
    return value;
}

static inline void put_number(uint8_t *p, unsigned width, uint64_t value)
{
    while (width--) {
        p[width] = (uint8_t)value;
        value >>= 8;
    }
}

#endif
