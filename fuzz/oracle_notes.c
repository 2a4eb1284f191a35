#include "oracle_notes.h"

#include <stdlib.h>

void report(struct oracle *o, const char *rule, uint64_t offset)
{
    ADD(&o->findings, struct oracle_finding, .rule = rule, .offset = offset);
}

void note_failure(struct oracle *o, struct oracle_finding finding, uint64_t read_until)
{
    o->failed = true;
    o->report->failure = finding;
    o->report->read_until = o->report->sound_until = read_until;
}

void note_use(struct list *uses, uint64_t scope, uint64_t id, int role, uint64_t at, const char *rule)
{
    ADD(uses, struct use, .scope = scope, .id = id, .role = role, .at = at, .rule = rule);
}

void close_heap_dump(struct oracle *o, uint64_t at)
{
    uint64_t *end = &((uint64_t *)o->heap_ends.items)[o->heap - 1];
    if (*end == UINT64_MAX)
        *end = at;
}

void note_name(struct oracle *o, uint64_t at)
{
    if (id(o->d, at) == 0)
        report(o, "STR-008", at);
    else
        note_use(&o->name_uses, 0, id(o->d, at), 0, at, "STR-006");
}

void note_name_or_0(struct oracle *o, uint64_t at)
{
    if (id(o->d, at) != 0)
        note_name(o, at);
}

void note_trace(struct oracle *o, uint64_t at, enum trace_role role)
{
    if (u4(o->d, at) != 0)
        note_use(&o->trace_uses, 0, u4(o->d, at), (int)role, at, "STK-012");
}

void note_reference(struct oracle *o, size_t heap, uint64_t at)
{
    if (id(o->d, at) != 0)
        note_use(&o->object_uses, heap, id(o->d, at), ROLE_REFERENCE, at, "REF-002");
}

void note_value(struct oracle *o, size_t heap, uint64_t type, uint64_t at)
{
    if (type == TYPE_OBJECT) {
        o->report->references++;
        note_reference(o, heap, at);
    } else if (type == TYPE_BOOLEAN && u1(o->d, at) > 1) {
        report(o, "OBJ-010", at);
    }
}

static int compare_uses(const void *left, const void *right)
{
    const struct use *a = left, *b = right;
    int order = compare_numbers(a->scope, b->scope);
    if (order == 0)
        order = compare_numbers(a->id, b->id);
    if (order == 0)
        order = a->role - b->role;
    return order ? order : compare_numbers(a->at, b->at);
}

void reduce_uses(struct list *uses)
{
    struct use *items = uses->items;
    size_t kept = 0;
    if (uses->count == 0)
        return;
    qsort(items, uses->count, sizeof *items, compare_uses);
    for (size_t i = 0; i < uses->count; i++)
        if (kept == 0 || items[kept - 1].scope != items[i].scope || items[kept - 1].id != items[i].id)
            items[kept++] = items[i];
    uses->count = kept;
}

void report_uses(struct oracle *o, struct list *uses)
{
    reduce_uses(uses);
    const struct use *items = uses->items;
    for (size_t i = 0; i < uses->count; i++)
        report(o, items[i].rule, items[i].at);
}

void check_defined(struct oracle *o, struct list *uses, const struct list *definitions)
{
    reduce_uses(uses);
    const struct use *items = uses->items;
    for (size_t i = 0; i < uses->count; i++)
        if (!first_definition(definitions, items[i].scope, items[i].id))
            report(o, items[i].rule, items[i].at);
}
