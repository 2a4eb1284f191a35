/* See heap_data.h. */
#include "heap/heap_data.h"

enum { ALL_NAMED = 990 /* from this many thousandths on, the rest was too rare to be recorded, and is like the last one */ };

static const struct data_row *end_of(const struct heap_data *data)
{
    return data->rows + data->row_count;
}

static const struct data_row *next_slot(const struct heap_data *data, const struct data_row *row)
{
    do
        row++;
    while (row < end_of(data) && row->row == ROW_TARGET);
    return row;
}

const struct data_row *data_slot(const struct heap_data *data, const struct data_row *slots, uint32_t n)
{
    while (n-- > 0)
        slots = next_slot(data, slots);
    return slots;
}

uint32_t data_target(const struct heap_data *data, const struct data_row *slot, uint64_t bits)
{
    uint32_t at = (uint32_t)below(bits, DATA_THOUSAND), sum = slot->share;
    const struct data_row *end = next_slot(data, slot);

    if (at < sum)
        return target_null(data);
    for (const struct data_row *target = slot + 1; target < end; target++) {
        sum += target->share;
        if (at < sum)
            return target->kind;
    }
    if (sum < ALL_NAMED)
        return kind_rare(data);
    return end == slot + 1 ? target_null(data) : end[-1].kind;
}

uint8_t data_text_type(const struct heap_data *data)
{
    for (const struct data_row *row = data->rows; row < end_of(data); row++)
        if (row->row == ROW_PRIMITIVE_ARRAYS && row->kind == data->text)
            return (uint8_t)row->class;
    return TYPE_BYTE;
}

bool data_core(const struct heap_data *data, uint32_t class, const char **fields, const char **statics)
{
    for (const struct data_row *row = data->rows; row < end_of(data); row++)
        if (row->row == ROW_CORE && row->class == class) {
            *fields = row->fields;
            *statics = row->statics;
            return true;
        }
    return false;
}

/* ---- Loading ---- */

static void load_slots(const struct heap_data *data, struct data_kind *kind, const struct data_row *row)
{
    const struct data_row *slot = row + 1;

    kind->slots = slot;
    for (; slot < end_of(data) && slot->row == ROW_SLOT; slot = next_slot(data, slot))
        kind->slot_count++;
}

static bool is_kind(const struct data_row *row)
{
    return row->row != ROW_SLOT && row->row != ROW_TARGET && row->row != ROW_CORE;
}

/* Rounded so that the sum is right. The rare kinds get the remainder. */
static void count(const struct heap_data *data, struct data_kind *kinds, uint32_t size)
{
    uint64_t sum = 0;
    uint32_t counted = size > 0, most = 0; /* the spine is one of them */

    for (uint32_t k = 0; k < data->kind_count; k++) {
        uint64_t before = sum * size / data->shares;

        sum += kinds[k].share;
        kinds[k].count = (uint32_t)(sum * size / data->shares - before);
        if (kinds[k].count == 0 && kinds[k].share > 0 && size >= ALL_KINDS_FROM)
            kinds[k].count = 1;
        counted += kinds[k].count;
        if (kinds[k].count > kinds[most].count)
            most = k;
    }
    if (counted > size) {
        kinds[most].count -= counted - size;
        counted = size;
    }
    kinds[kind_rare(data)].count = size - counted;
}

void data_kinds(const struct heap_data *data, struct data_kind *kinds, uint32_t size)
{
    for (const struct data_row *row = data->rows; row < end_of(data); row++) {
        struct data_kind *kind = &kinds[row->kind];

        if (!is_kind(row))
            continue;
        *kind = (struct data_kind){.class = MODEL_NONE,
                                   .share = row->row == ROW_ADDED ? 0 : row->share,
                                   .nonnull = row->nonnull,
                                   .array = row->array,
                                   .row = row};
        if (row->row == ROW_OBJECT_ARRAYS) {
            kind->form = FORM_OBJECT_ARRAY;
            kind->type = TYPE_OBJECT;
        } else if (row->row == ROW_PRIMITIVE_ARRAYS) {
            kind->form = FORM_PRIMITIVE_ARRAY;
            kind->type = (uint8_t)row->class;
        }
        load_slots(data, kind, row);
    }
    kinds[kind_rare(data)] = (struct data_kind){.form = FORM_RARE, .class = MODEL_NONE};
    count(data, kinds, size);
}
