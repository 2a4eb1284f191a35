/* What a repair reports of its input, its copy, and what was left out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "findings/rules.h"
#include "repair/repair.h"

void repair_note_input(struct repair *r, const struct hprof_summary *summary)
{
    bool is_whole = !summary->skipped && summary->sound_until >= summary->bytes;

    for (unsigned tag = 0; tag < 256; tag++)
        r->result.subrecords_in[tag] += summary->subrecord_counts[tag];
    r->missing_before = r->asked.part_count || is_whole ? UINT64_MAX : summary->missing_objects;
}

void repair_note_copy(struct repair *r, const struct hprof_summary *summary)
{
    struct hprof_repair_result *result = &r->result;

    memcpy(result->subrecords_out, summary->subrecord_counts, sizeof result->subrecords_out);
    memcpy(result->records_out, summary->record_counts, sizeof result->records_out);
    /* Where bytes cannot be read, what the archive's list of roots may name is not counted, but the copy shows no damage. */
    result->missing_objects = summary->missing_objects < r->missing_before ? summary->missing_objects : r->missing_before;
    r->may_lack_names = summary->totals[RULE_CLS_008] || summary->totals[RULE_STR_006] || summary->totals[RULE_STR_008];
}

/* Names of the first pass may be from damaged members: the fault of a member is found after its records were read. */
static bool has_doubtful_names(const struct repair *r)
{
    return r->is_first_pass && r->damage.part_count > 0;
}

void left_class_name(const struct repair *r, const struct left_out *l, char to[NAME_ROOM])
{
    static const char *const types[] = {[4] = "boolean", "char", "float", "double", "byte", "short", "int", "long"};

    if (l->kind == LEFT_PRIMITIVE_ARRAY)
        snprintf(to, NAME_ROOM, "%s[]", l->key >= 4 && l->key < 12 ? types[l->key] : "?");
    else if (has_doubtful_names(r) || !names_class(&r->names, l->key, to))
        snprintf(to, NAME_ROOM, "class 0x%" PRIx64, l->key);
}

static void describe(const struct repair *r, const struct left_out *l, char *to, size_t size)
{
    const char *name;
    char class[NAME_ROOM];

    switch (l->kind) {
    case LEFT_RECORD:
        name = hprof_record_name((uint8_t)l->key);
        snprintf(to, size, "%s", name ? name : "record");
        break;
    case LEFT_SUBRECORD:
        name = hprof_subrecord_name((uint8_t)l->key);
        snprintf(to, size, "%s", name ? name : "bytes");
        break;
    case LEFT_CLASS:
    case LEFT_INSTANCE:
    case LEFT_OBJECT_ARRAY:
        left_class_name(r, l, class);
        snprintf(to, size, "%s %s",
                 l->kind == LEFT_CLASS      ? "CLASS_DUMP"
                 : l->kind == LEFT_INSTANCE ? "INSTANCE_DUMP"
                                            : "OBJECT_ARRAY_DUMP",
                 class);
        break;
    case LEFT_PRIMITIVE_ARRAY:
        left_class_name(r, l, class);
        snprintf(to, size, "PRIMITIVE_ARRAY_DUMP %s", class);
        break;
    case LEFT_GZIP_MEMBER:
        snprintf(to, size, "%s of gzip member %" PRIu64 " that cannot be decompressed", l->count == 1 ? "range" : "ranges",
                 l->key);
        break;
    case LEFT_TWICE:
        snprintf(to, size, "sub-record%s whose ID is dumped already", l->count == 1 ? "" : "s");
        break;
    case LEFT_DAMAGED:
        snprintf(to, size, "%s that may be wrong: %s damaged", l->count == 1 ? "record or object" : "records and objects",
                 r->damage.part_count == 1 ? "the gzip member is" : "gzip members are");
        break;
    case LEFT_BYTES:
    case LEFT_KINDS:
        snprintf(to, size, "bytes");
        break;
    }
}

_Static_assert(sizeof(struct left_out) <= SORT_SIZE_MAX, "sort_in_place() can move one");

/* What has most bytes first. */
static bool is_shown_before(const void *a, const void *b)
{
    const struct left_out *x = a, *y = b;

    return x->bytes != y->bytes ? x->bytes > y->bytes : x->kind != y->kind ? x->kind < y->kind : x->key < y->key;
}

void repair_report_left(struct repair *r)
{
    if (!r->asked.on_left_out || !r->left_count)
        return;
    sort_in_place(r->left, r->left_count, sizeof *r->left, is_shown_before);
    for (size_t i = 0; i < r->left_count && !r->stopped; i++) {
        char what[NAME_ROOM + 40];
        struct hprof_left_out l = {.struct_size = sizeof l, .what = what, .count = r->left[i].count, .bytes = r->left[i].bytes};

        describe(r, &r->left[i], what, sizeof what);
        r->stopped = r->asked.on_left_out(r->asked.context, &l) != 0;
    }
}
