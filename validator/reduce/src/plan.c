/* Makes a plan by reading the dump twice: first for the objects that others refer to, then for the edits. See plan.h. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts.h"
#include "store.h"

/* A dump above LARGE is reduced in stretches of bytes: its parts by themselves would not fit into memory. */
enum { LARGE = 64 << 20, MOST_STRETCHES = 1 << 15 };

const char *const stage_names[STAGE_COUNT] = {
    [STAGE_STRETCHES] = "stretches",    [STAGE_HEAP_DUMPS] = "heap dumps", [STAGE_RECORDS] = "records",
    [STAGE_SUBRECORDS] = "sub-records", [STAGE_CLASSES] = "classes",       [STAGE_MEMBERS] = "fields and elements",
    [STAGE_BLANK] = "names and values", [STAGE_BYTES] = "bytes",
};

struct builder {
    struct plan *plan;
    struct hprof_reader *reader;
    enum stage stage;
    bool has_links;
    uint64_t at;     /* what comes before is in the plan */
    uint64_t grain;  /* the least bytes of an edit */
    uint64_t filled; /* bytes of the present edit */
    uint32_t record; /* the last heap dump record */
    uint64_t record_end;
    uint32_t owner; /* the node whose references are read */
    struct members members;
};

/* ---- Entries ---- */

void plan_add(struct plan *plan, enum change_kind kind, uint64_t at, uint64_t size, uint32_t edit, uint32_t value)
{
    struct change *last = plan->change_count != 0 ? &plan->changes[plan->change_count - 1] : NULL;

    if (last != NULL && kind == CHANGE_REMOVE && last->kind == kind && last->edit == edit && last->value == value &&
        last->at + last->size == at) {
        last->size += size;
        return;
    }
    plan->changes = store_grow(plan->changes, plan->change_count, &plan->change_room, sizeof *plan->changes);
    plan->changes[plan->change_count++] = (struct change){at, size, edit, value, kind};
}

uint32_t plan_add_record(struct plan *plan, uint64_t at)
{
    plan->records = store_grow(plan->records, plan->record_count, &plan->record_room, sizeof *plan->records);
    plan->records[plan->record_count] = (struct plan_record){at, 0};
    plan_add(plan, CHANGE_LENGTH, at + 5, 4, NO_EDIT, (uint32_t)plan->record_count);
    return (uint32_t)plan->record_count++;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct node *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (int)x->kind - (int)y->kind;
}

uint32_t plan_find_node(const struct plan *plan, uint64_t id)
{
    size_t low = 0, high = plan->node_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (plan->nodes[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->node_count && plan->nodes[low].id == id ? (uint32_t)low : NO_NODE;
}

/* ---- Edits ---- */

/* The number of the edit that `size` more bytes belong to. */
static uint32_t fill(struct builder *b, uint64_t size)
{
    uint32_t edit = b->plan->edits != 0 && b->filled < b->grain ? b->plan->edits - 1 : b->plan->edits++;

    if (edit == b->plan->edits - 1 && b->filled >= b->grain)
        b->filled = 0;
    b->filled += size;
    return edit;
}

static bool is_heap_record(const struct hprof_item *item)
{
    return item->kind == HPROF_ITEM_RECORD && (item->tag == TAG_HEAP_DUMP || item->tag == TAG_HEAP_DUMP_SEGMENT);
}

static uint32_t edit_of_class(struct builder *b, uint64_t class_id)
{
    uint32_t number = hprof_class_number(b->reader, class_id);

    if (number != UINT32_MAX && number >= b->plan->edits)
        b->plan->edits = number + 1;
    return number;
}

/* Which edit removes an item; NO_EDIT if none does in this stage. */
static uint32_t edit_of(struct builder *b, const struct hprof_item *item, uint64_t size)
{
    switch (b->stage) {
    case STAGE_STRETCHES:
        return is_object(item) ? fill(b, size) : NO_EDIT;
    case STAGE_HEAP_DUMPS:
        if (item->heap_dump == 0 || (item->kind == HPROF_ITEM_RECORD && !is_heap_record(item)))
            return NO_EDIT;
        if (item->heap_dump > b->plan->edits)
            b->plan->edits = (uint32_t)item->heap_dump;
        return (uint32_t)item->heap_dump - 1;
    case STAGE_RECORDS:
        return item->kind != HPROF_ITEM_RECORD && item->offset < b->record_end && b->plan->edits != 0 ? b->plan->edits - 1
                                                                                                      : fill(b, size);
    case STAGE_SUBRECORDS:
        return is_heap_record(item) ? NO_EDIT : fill(b, size);
    case STAGE_CLASSES:
        if (item->kind == HPROF_ITEM_RECORD ? item->tag == TAG_LOAD_CLASS : item->tag == SUB_CLASS_DUMP)
            return edit_of_class(b, item->id);
        return is_object(item) && item->class_id != 0 ? edit_of_class(b, item->class_id) : NO_EDIT;
    default:
        return NO_EDIT;
    }
}

/* ---- References ---- */

static void add_link(void *context, uint64_t at, uint64_t id)
{
    struct builder *b = context;
    uint32_t node = plan_find_node(b->plan, id);

    if (node == NO_NODE)
        return;
    plan_add(b->plan, CHANGE_LINK, at, b->plan->id_size, NO_EDIT, node);
    if (b->owner != NO_NODE && b->plan->nodes[b->owner].next == NO_NODE && node != b->owner)
        b->plan->nodes[b->owner].next = node;
}

/* The class loader, the signers and the protection domain, which are in the head of a CLASS_DUMP. */
static void add_links_of_class(struct builder *b, const struct hprof_item *item)
{
    const unsigned id = b->plan->id_size;
    const uint64_t at = item->offset + 1 + id + 4 + id;
    uint8_t bytes[3 * 8];

    if (pread(b->plan->base, bytes, 3 * id, (off_t)at) != (ssize_t)(3 * id))
        return;
    for (unsigned i = 0; i < 3; i++)
        if (number_at(bytes + i * id, id) != 0)
            add_link(b, at + i * id, number_at(bytes + i * id, id));
}

static void take_links(struct builder *b, const struct hprof_item *item, uint32_t edit)
{
    if (item->kind != HPROF_ITEM_SUBRECORD)
        return;
    b->owner = is_object(item) || item->tag == SUB_CLASS_DUMP ? plan_find_node(b->plan, item->id) : NO_NODE;
    if (b->owner != NO_NODE && b->plan->nodes[b->owner].edit == NO_EDIT)
        b->plan->nodes[b->owner].edit = edit;
    if (is_root(item)) {
        uint32_t node = plan_find_node(b->plan, item->id);

        if (node != NO_NODE)
            plan_add(b->plan, CHANGE_ROOT, item->offset, item->size, NO_EDIT, node);
        return;
    }
    if (item->tag == SUB_CLASS_DUMP)
        add_links_of_class(b, item);
    each_reference(b->reader, item, b->plan->id_size, add_link, b);
}

/* ---- Classes ---- */

struct place {
    uint32_t depth, number;
};

/* The number of the superclass of a class; `most` if that is not known. */
static uint32_t super_of(struct hprof_reader *reader, uint32_t number, uint32_t most)
{
    struct hprof_class class;

    hprof_class_init(&class);
    if (hprof_class_at(reader, number, &class) != 1 || class.super_id == 0)
        return most;
    number = hprof_class_number(reader, class.super_id);
    return number < most ? number : most;
}

/* Notes how many superclasses a class and those above it have, and one more, where that is not noted yet: each is passed twice. */
static void note_depths(struct hprof_reader *reader, struct place *places, uint32_t number, uint32_t most)
{
    uint32_t passed = 0, at = number, above;

    for (; at < most && places[at].depth == 0; at = super_of(reader, at, most), passed++)
        places[at].depth = UINT32_MAX; /* so that a cycle ends here */
    above = at < most && places[at].depth != UINT32_MAX ? places[at].depth : 0;
    for (at = number; passed > 0; at = super_of(reader, at, most), passed--)
        places[at].depth = above + passed;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->depth != y->depth ? (x->depth > y->depth) - (x->depth < y->depth)
                                : (x->number > y->number) - (x->number < y->number);
}

/* Edits are tried from the last: a class that has superclasses comes after them, because they cannot go before it. */
static void order_classes(struct builder *b)
{
    struct plan *plan = b->plan;
    struct place *places = store_zeroed(plan->edits, sizeof *places);
    uint32_t *edits = store_zeroed(plan->edits, sizeof *edits);

    for (uint32_t i = 0; i < plan->edits; i++)
        places[i].number = i;
    for (uint32_t i = 0; i < plan->edits; i++)
        note_depths(b->reader, places, i, plan->edits);
    if (plan->edits != 0)
        qsort(places, plan->edits, sizeof *places, compare_places);
    for (uint32_t i = 0; i < plan->edits; i++)
        edits[places[i].number] = i;
    for (size_t i = 0; i < plan->change_count; i++)
        if (plan->changes[i].edit != NO_EDIT)
            plan->changes[i].edit = edits[plan->changes[i].edit];
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].edit != NO_EDIT)
            plan->nodes[i].edit = edits[plan->nodes[i].edit];
    free(places);
    free(edits);
}

/* ---- Reading ---- */

static void remove_part(struct builder *b, uint64_t at, uint64_t size, uint32_t edit)
{
    bool whole_records = b->stage == STAGE_RECORDS || b->stage == STAGE_HEAP_DUMPS;

    if (edit != NO_EDIT && size != 0)
        plan_add(b->plan, CHANGE_REMOVE, at, size, edit, whole_records || at >= b->record_end ? NO_RECORD : b->record);
}

static void take_members(struct builder *b, const struct hprof_item *item)
{
    if (b->stage == STAGE_MEMBERS)
        members_of(&b->members, item, item->offset < b->record_end ? b->record : NO_RECORD);
}

/* Bytes that no item covers are parts, too. */
static void take_gap(struct builder *b, const struct hprof_item *gap)
{
    remove_part(b, gap->offset, gap->size, edit_of(b, gap, gap->size));
    take_members(b, gap);
}

/* Items overlap if damage begins in one. */
static void take_item(struct builder *b, const struct hprof_item *item)
{
    const struct hprof_item gap = {
        .kind = HPROF_ITEM_DAMAGE, .offset = b->at, .size = item->offset - b->at, .heap_dump = item->heap_dump};
    const uint64_t end = item->size < b->plan->base_size - item->offset ? item->offset + item->size : b->plan->base_size;
    const uint64_t covered = is_heap_record(item) && end > item->offset + RECORD_HEAD ? item->offset + RECORD_HEAD : end;
    const uint64_t from = item->offset > b->at ? item->offset : b->at;
    uint32_t edit;

    if (item->offset > b->at)
        take_gap(b, &gap);
    if (is_heap_record(item)) {
        b->record_end = 0;
        b->record = NO_RECORD;
        if (b->stage != STAGE_RECORDS && b->stage != STAGE_HEAP_DUMPS)
            b->record = plan_add_record(b->plan, item->offset);
    }
    edit = edit_of(b, item, covered > from ? covered - from : 0);
    if (covered > from)
        remove_part(b, from, covered - from, edit);
    if (is_heap_record(item))
        b->record_end = item->size > UINT64_MAX - item->offset ? UINT64_MAX : item->offset + item->size;
    if (b->has_links)
        take_links(b, item, edit);
    take_members(b, item);
    if (b->stage == STAGE_BLANK)
        blanks_of(b->plan, b->reader, item);
    if (covered > b->at)
        b->at = covered;
}

static void take_node(struct builder *b, const struct hprof_item *item)
{
    struct plan *plan = b->plan;

    if (!is_object(item) && !(item->kind == HPROF_ITEM_SUBRECORD && item->tag == SUB_CLASS_DUMP))
        return;
    plan->nodes = store_grow(plan->nodes, plan->node_count, &plan->node_room, sizeof *plan->nodes);
    plan->nodes[plan->node_count++] = (struct node){item->id, NO_EDIT, NO_NODE};
}

static void sort_nodes(struct plan *plan)
{
    size_t kept = 0;

    if (plan->node_count != 0)
        qsort(plan->nodes, plan->node_count, sizeof *plan->nodes, compare_nodes);
    for (size_t i = 0; i < plan->node_count; i++)
        if (kept == 0 || plan->nodes[kept - 1].id != plan->nodes[i].id)
            plan->nodes[kept++] = plan->nodes[i];
    plan->node_count = kept;
}

static bool each_item(struct builder *b, void (*take)(struct builder *b, const struct hprof_item *item), char failure[256])
{
    struct hprof_item item;
    int got;

    hprof_item_init(&item);
    if (hprof_seek(b->reader, NULL) == 1)
        while ((got = hprof_next(b->reader, &item)) == 1)
            take(b, &item);
    else
        got = -1;
    if (got < 0)
        snprintf(failure, 256, "%.255s", hprof_failure(b->reader));
    return got == 0;
}

/* What a stage needs to know fits into memory only if the dump is not large, unless its edits are stretches of bytes. */
static bool is_worth_while(const struct plan *plan, enum stage stage)
{
    const bool is_large = plan->base_size > LARGE;

    return stage == STAGE_STRETCHES ? is_large : !is_large || stage == STAGE_RECORDS || stage == STAGE_SUBRECORDS;
}

static bool read_parts(struct builder *b, char failure[256])
{
    struct plan *plan = b->plan;
    uint64_t header;

    b->grain = plan->base_size > LARGE ? plan->base_size / MOST_STRETCHES : 0;
    b->has_links = plan->links != LINKS_LEFT && plan->base_size <= LARGE &&
                   (b->stage == STAGE_HEAP_DUMPS || b->stage == STAGE_SUBRECORDS || b->stage == STAGE_CLASSES);
    b->record = NO_RECORD;
    b->members = (struct members){.plan = plan, .reader = b->reader};
    if (b->has_links && !each_item(b, take_node, failure))
        return false;
    sort_nodes(plan);
    header = strlen("JAVA PROFILE 1.0.2") + 1 + 4 + 8;
    b->at = header < plan->base_size ? header : plan->base_size;
    if (b->stage == STAGE_BLANK && header <= plan->base_size)
        plan_add(plan, CHANGE_ZERO, header - 8, 8, plan->edits++, 0);
    if (!each_item(b, take_item, failure))
        return false;
    if (b->at < plan->base_size) {
        const struct hprof_item rest = {.kind = HPROF_ITEM_DAMAGE, .offset = b->at, .size = plan->base_size - b->at};

        take_gap(b, &rest);
    }
    members_free(&b->members);
    if (b->stage == STAGE_CLASSES)
        order_classes(b);
    if (b->stage == STAGE_HEAP_DUMPS && plan->edits < 2)
        plan->edits = 0;
    return true;
}

static void plan_bytes(struct plan *plan)
{
    const uint64_t each = 1 + plan->base_size / (MOST_STRETCHES * 2);

    for (uint64_t at = 0; at < plan->base_size; at += each)
        plan_add(plan, CHANGE_REMOVE, at, each < plan->base_size - at ? each : plan->base_size - at, plan->edits++, NO_RECORD);
}

bool plan_make(struct plan *plan, enum stage stage, enum links links, int base, char failure[256])
{
    struct builder b = {.plan = plan, .stage = stage};
    struct hprof_read_options options;
    struct hprof_header header;
    enum hprof_status status;
    struct stat about;
    bool done = true;

    *plan = (struct plan){.base = base, .links = links};
    if (fstat(base, &about) != 0 || lseek(base, 0, SEEK_SET) != 0) {
        snprintf(failure, 256, "the dump cannot be read again");
        return false;
    }
    plan->base_size = (uint64_t)about.st_size;
    if (stage == STAGE_BYTES) {
        plan_bytes(plan);
        return true;
    }
    if (!is_worth_while(plan, stage))
        return true;
    hprof_read_options_init(&options);
    hprof_header_init(&header);
    status = hprof_open_fd(base, &options, &b.reader);
    if (status == HPROF_VALID && hprof_read_header(b.reader, &header) == 1) {
        plan->id_size = header.id_size;
        done = read_parts(&b, failure);
        if (plan->change_count != 0)
            qsort(plan->changes, plan->change_count, sizeof *plan->changes, compare_changes);
    } else if (status != HPROF_INVALID) {
        snprintf(failure, 256, "%.255s", hprof_failure(b.reader));
        done = false;
    }
    hprof_close(b.reader);
    return done;
}

void plan_free(struct plan *plan)
{
    free(plan->changes);
    free(plan->records);
    free(plan->nodes);
    *plan = (struct plan){0};
}
