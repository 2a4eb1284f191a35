/* The numbers of mixed.def: the kinds of objects, and what they refer to. */
#ifndef HPROF_GEN_MIXED_H
#define HPROF_GEN_MIXED_H

#include "heap/lengths.h"
#include "heap/parts.h"

enum { MIXED_SHARES = 10000000, MIXED_THOUSAND = 1000 };

/* clang-format off */
#define NOTHING(...)
#define KNOWN(symbol, class, share) of_##symbol,
#define CLASS(symbol, super, name, share, fields, statics) of_##symbol,
#define OBJECT_ARRAYS(symbol, of, share, nonnull, lengths) of_##symbol,
#define PRIMITIVE_ARRAYS(symbol, type, share, lengths) of_##symbol,
#define SLOT NOTHING
#define TARGET NOTHING
enum mixed_kind {
#include "heap/mixed.def"
    KIND_RARE,  /* kinds that mixed.def leaves out */
    KINDS,
    TARGET_NULL /* other targets of a reference */
};
#undef KNOWN
#undef CLASS
#undef OBJECT_ARRAYS
#undef PRIMITIVE_ARRAYS

#define KNOWN NOTHING
#define CLASS(symbol, super, name, share, fields, statics) class_##symbol,
#define OBJECT_ARRAYS NOTHING
#define PRIMITIVE_ARRAYS NOTHING
enum mixed_class {
    MIXED_CLASS_BEFORE = CORE_CLASSES - 1,
#include "heap/mixed.def"
    MIXED_FIRST_ARRAY_CLASS
};
#undef OBJECT_ARRAYS
#undef PRIMITIVE_ARRAYS
#undef CLASS

#define CLASS NOTHING
#define OBJECT_ARRAYS(symbol, of, share, nonnull, lengths) array_##symbol,
#define PRIMITIVE_ARRAYS(symbol, type, share, lengths) array_##symbol,
enum mixed_array {
#include "heap/mixed.def"
    MIXED_ARRAYS
};
#undef KNOWN
#undef CLASS
#undef OBJECT_ARRAYS
#undef PRIMITIVE_ARRAYS
#undef SLOT
#undef TARGET
/* clang-format on */

enum mixed_form { FORM_INSTANCE, FORM_OBJECT_ARRAY, FORM_PRIMITIVE_ARRAY, FORM_RARE, FORM_SPINE };

struct mixed_row;

struct mixed_kind_row {
    enum mixed_form form;
    uint32_t share; /* of all objects, in ten millions */
    uint32_t class; /* of an array: its class */
    uint8_t type;
    enum mixed_array array;
    uint32_t nonnull;              /* of an object array: thousandths of its elements */
    const struct mixed_row *slots; /* an instance's references, or what the elements of an array are */
    uint32_t slot_count;
    const uint16_t *slot_at; /* index of each in `slots`, MIXED_SLOT_MORE if mixed.def does not have it; NULL: in order */
};
#define MIXED_SLOT_MORE UINT16_MAX

/* Adds the classes of mixed.def, and fills all kinds except KIND_RARE. */
bool mixed_load(struct model *m, struct mixed_kind_row kinds[KINDS]);
/* Changes the numbers of references of instances, so that 10 million objects have about `wanted` references in fields of the
 * classes of mixed.def. */
bool mixed_refit(struct model *m, struct mixed_kind_row kinds[KINDS], uint64_t wanted);
const struct length_table *mixed_lengths(enum mixed_array array);

/* The n-th slot of a kind; and its number, which no other slot has. */
const struct mixed_row *mixed_slot(const struct mixed_row *slots, uint32_t n);
uint32_t mixed_slot_number(const struct mixed_row *slot);
uint32_t mixed_slot_numbers(void);
/* The target of a reference, from random bits: a kind, KIND_RARE for any object, TARGET_NULL. */
uint32_t mixed_target(const struct mixed_row *slot, uint64_t bits);

#endif
