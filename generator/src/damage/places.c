/* Chooses what --damage hits. One look at the dump counts the candidates, a second finds those that were drawn. Without a FRACTION
 * half of the draws take a byte and half a sub-record, so that short ones are hit, too. */
#include "damage/plan.h"

#include <stdlib.h>

#include "stream/encode.h"

static bool suits(enum damage_target target, const struct item *item)
{
    bool has_type = item->in_heap && (item->tag == SUB_PRIMITIVE_ARRAY_DUMP || item->tag == SUB_PRIMITIVE_ARRAY_NODATA);

    switch (target) {
    case TARGET_BYTE:
    case TARGET_SUBRECORD:
        return item->in_heap;
    case TARGET_TYPE:
        return has_type;
    case TARGET_COUNT:
        return has_type || (item->in_heap && item->tag == SUB_OBJECT_ARRAY_DUMP);
    case TARGET_INSTANCE:
        return item->in_heap && item->tag == SUB_INSTANCE_DUMP;
    case TARGET_RECORD:
        return !item->in_heap && item->tag;
    case TARGET_HEAP_DUMP:
        return !item->in_heap && (item->tag == TAG_HEAP_DUMP || item->tag == TAG_HEAP_DUMP_SEGMENT);
    default:
        return false;
    }
}

static const char *target_words(enum damage_target target)
{
    static const char *const words[TARGETS_FOUND] = {[TARGET_BYTE] = "byte",
                                                     [TARGET_SUBRECORD] = "sub-record",
                                                     [TARGET_TYPE] = "primitive array",
                                                     [TARGET_COUNT] = "array",
                                                     [TARGET_INSTANCE] = "INSTANCE_DUMP",
                                                     [TARGET_RECORD] = "record",
                                                     [TARGET_HEAP_DUMP] = "heap dump record"};

    return words[target];
}

/* ---- The first look ---- */

struct counter {
    struct items items;
    struct item_watch watch;
    struct survey *survey;
    bool in_segment;
};

static void count_item(struct item_watch *watch, const struct item *item)
{
    struct counter *c = (struct counter *)((char *)watch - offsetof(struct counter, watch));

    for (enum damage_target t = 0; t < TARGETS_FOUND; t++)
        c->survey->counts[t] += suits(t, item);
    if (item->in_heap || (item->tag != TAG_HEAP_DUMP && item->tag != TAG_HEAP_DUMP_SEGMENT))
        return;
    c->in_segment = item->tag == TAG_HEAP_DUMP_SEGMENT;
    c->survey->heap_dumps += !c->in_segment;
    if (c->in_segment && !c->survey->segments++)
        c->survey->first_segment = item->at;
}

static void count_end(struct item_watch *watch, uint64_t at)
{
    struct counter *c = (struct counter *)((char *)watch - offsetof(struct counter, watch));

    if (c->in_segment)
        c->survey->segments_end = at;
}

static bool run_to_end(struct source *source, struct stage *first)
{
    static const bool never = false;

    source->detail = DETAIL_BYTES;
    return source->run(source, first, &never);
}

bool damage_survey(struct damage *d, struct source *source, const char **failure)
{
    struct counter c = {.watch = {.item = count_item, .heap_end = count_end}, .survey = &d->survey};

    (void)failure;
    items_init(&c.items, NULL, &c.watch, source->id_size);
    if (!run_to_end(source, &c.items.stage))
        return false;
    d->survey.bytes = c.items.at;
    return true;
}

/* ---- The second look ---- */

struct place {
    enum damage_kind kind;
    uint64_t number;
    bool has_at;
    uint64_t key;

    bool by_item;
    uint64_t wanted; /* the number of the candidate, or an offset in the dump */
    uint64_t passed; /* candidates */
    bool found;
    struct item item; /* that one; until then the last candidate */

    uint64_t record_at, record_end; /* of its heap dump record, if it is one; disk-full: of one that does not end */
    uint64_t subrecords;            /* in it, before the offset */
};

struct finder {
    struct items items;
    struct item_watch watch;
    struct place *places;
    size_t count;
    struct item open; /* the present heap dump record */
    uint64_t subrecords;
};

static enum damage_target target_of(const struct place *p)
{
    return kind_row(p->kind)->target;
}

static void find_item(struct item_watch *watch, const struct item *item)
{
    struct finder *f = (struct finder *)((char *)watch - offsetof(struct finder, watch));

    if (suits(TARGET_HEAP_DUMP, item)) {
        f->open = *item;
        f->subrecords = 0;
    }
    f->subrecords += item->in_heap;
    for (size_t i = 0; i < f->count; i++) {
        struct place *p = &f->places[i];

        if (p->found || !suits(target_of(p), item))
            continue;
        p->item = *item;
        p->found = p->by_item ? p->passed == p->wanted : item->at + item->size > p->wanted;
        p->passed++;
    }
}

static void find_end(struct item_watch *watch, uint64_t at)
{
    struct finder *f = (struct finder *)((char *)watch - offsetof(struct finder, watch));

    for (size_t i = 0; i < f->count; i++) {
        struct place *p = &f->places[i];
        bool hit = p->kind == DAMAGE_DISK_FULL ? f->open.at + RECORD_HEADER_SIZE < p->wanted && p->wanted < at
                                               : target_of(p) == TARGET_HEAP_DUMP && p->item.at == f->open.at;

        if (!hit)
            continue;
        p->record_at = f->open.at;
        p->record_end = at;
        p->subrecords = f->subrecords;
    }
}

static void draw_place(const struct damage *d, struct place *p, uint64_t at)
{
    enum damage_target target = target_of(p);

    p->found = false;
    p->passed = p->record_at = p->record_end = 0;
    p->by_item = target < TARGETS_FOUND && !p->has_at && p->kind != DAMAGE_DISK_FULL && draw(p->key, 0) & 1;
    if (p->has_at)
        p->wanted = share_of(at, d->survey.bytes);
    else
        p->wanted = below(draw(p->key, 1), p->by_item ? d->survey.counts[target] : d->survey.bytes);
    if (p->kind == DAMAGE_DISK_FULL) /* a file grows by pages */
        p->wanted -= p->wanted % PAGE_SIZE_OF_FILES;
}

/* ---- Edits ---- */

static const char *text_of(uint64_t key)
{
    static const char *const texts[] = {
        "Dumping heap to /var/lib/app/heap.hprof ...\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n",
        "------FormBoundary8NMFqk2vQzsDcUwT\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"};

    return texts[below(draw(key, 2), sizeof texts / sizeof *texts)];
}

/* From 1 to 65,537, each power of two as often as the others. */
static uint64_t drawn_size(uint64_t key)
{
    enum { MOST = 65537 };
    uint64_t octave = UINT64_C(1) << below(draw(key, 3), 17), size = octave + below(draw(key, 4), octave);

    return size < MOST ? size : MOST;
}

static uint64_t default_number(const struct place *p, uint64_t bytes)
{
    uint64_t size;

    switch (p->kind) {
    case DAMAGE_LOSE:
        size = drawn_size(p->key);
        return size <= bytes / 2 ? size : bytes / 2 ? bytes / 2 : 1;
    case DAMAGE_INSERT:
        return 3;
    case DAMAGE_DOUBLE:
    case DAMAGE_SWAP:
        return bytes >= 4 * PAGE_SIZE_OF_FILES ? PAGE_SIZE_OF_FILES : bytes / 4;
    default:
        return 1;
    }
}

/* The offset of a drawn byte of the item's 4 from `at`. */
static uint64_t any_of_4(const struct place *p, uint64_t at)
{
    return p->item.at + at + below(draw(p->key, 5), 4);
}

static uint64_t field_at(const struct damage *d, const struct place *p)
{
    unsigned id_size = d->id_size;

    switch (p->kind) {
    case DAMAGE_TYPE:
        return p->item.at + (p->item.tag == SUB_PRIMITIVE_ARRAY_DUMP
                                 ? EVENT_OFFSET_OF(EVENT_SUBRECORD, PRIMITIVE_ARRAY_DUMP, type, id_size)
                                 : EVENT_OFFSET_OF(EVENT_SUBRECORD, PRIMITIVE_ARRAY_NODATA, type, id_size));
    case DAMAGE_COUNT:
        return any_of_4(p, p->item.tag == SUB_OBJECT_ARRAY_DUMP
                               ? EVENT_OFFSET_OF(EVENT_SUBRECORD, OBJECT_ARRAY_DUMP, elements, id_size)
                           : p->item.tag == SUB_PRIMITIVE_ARRAY_DUMP
                               ? EVENT_OFFSET_OF(EVENT_SUBRECORD, PRIMITIVE_ARRAY_DUMP, elements, id_size)
                               : EVENT_OFFSET_OF(EVENT_SUBRECORD, PRIMITIVE_ARRAY_NODATA, elements, id_size));
    case DAMAGE_LENGTH:
        return any_of_4(p, EVENT_OFFSET_OF(EVENT_SUBRECORD, INSTANCE_DUMP, bytes, id_size));
    case DAMAGE_RECORD_LENGTH:
        return any_of_4(p, RECORD_LENGTH_AT);
    default:
        return p->item.at; /* the tag */
    }
}

/* Where a damage of `size` bytes begins, so that it fits in the dump. */
static uint64_t block_at(const struct damage *d, const struct place *p, uint64_t size)
{
    uint64_t at = p->by_item ? p->item.at + below(draw(p->key, 6), p->item.size) : p->wanted;

    if (p->kind == DAMAGE_ZERO_PAGE)
        at -= at % PAGE_SIZE_OF_FILES;
    else if (at + size > d->survey.bytes)
        at = d->survey.bytes - size;
    return at;
}

static bool add_edit(struct damage *d, const struct edit *edit)
{
    struct edit *edits = realloc(d->edits, (d->edit_count + 1) * sizeof *edits);

    if (!edits)
        return false;
    d->edits = edits;
    d->edits[d->edit_count++] = *edit;
    return true;
}

static bool edit_place(struct damage *d, const struct place *p, const char **failure)
{
    enum { WRITTEN_AT_ONCE = 1 << 20 }; /* by HotSpot: a record of several sub-records that is longer gets its length later */
    uint64_t bytes = d->survey.bytes, n = p->number ? p->number : default_number(p, bytes);
    struct edit e = {.kind = p->kind, .key = p->key};

    switch (p->kind) {
    case DAMAGE_TRUNCATE:
        e.op = EDIT_LOSE;
        e.at = p->number ? bytes - (n < bytes ? n : bytes) : block_at(d, p, 0);
        e.size = bytes - e.at;
        break;
    case DAMAGE_DISK_FULL:
        e.op = EDIT_LOSE;
        e.at = p->wanted;
        e.size = bytes - e.at;
        if (p->record_end - p->record_at > WRITTEN_AT_ONCE && p->subrecords > 1 &&
            !add_edit(d, &(struct edit){.op = EDIT_ZERO, .kind = p->kind, .at = p->record_at + RECORD_LENGTH_AT, .size = 4}))
            return false;
        break;
    case DAMAGE_ZERO_PAGE:
        e.op = EDIT_ZERO;
        e.at = block_at(d, p, 0);
        e.size = n * PAGE_SIZE_OF_FILES < bytes - e.at ? n * PAGE_SIZE_OF_FILES : bytes - e.at;
        break;
    case DAMAGE_LOSE:
    case DAMAGE_DOUBLE:
    case DAMAGE_SWAP:
        e.op = p->kind == DAMAGE_LOSE ? EDIT_LOSE : p->kind == DAMAGE_DOUBLE ? EDIT_DOUBLE : EDIT_SWAP;
        e.size = p->kind == DAMAGE_SWAP ? 2 * n : n;
        if (e.size > bytes)
            return damage_refuse(failure, "--damage %s: the dump has only %llu bytes", kind_row(p->kind)->name,
                                 (unsigned long long)bytes);
        e.at = block_at(d, p, e.size);
        break;
    case DAMAGE_INSERT:
        e.op = EDIT_INSERT;
        e.at = block_at(d, p, 0);
        e.more = n;
        break;
    case DAMAGE_LOSE_SEGMENT:
        e.op = EDIT_LOSE;
        e.at = p->record_at;
        e.size = p->record_end - p->record_at;
        break;
    case DAMAGE_TEXT_BEFORE:
        e.op = EDIT_TEXT;
        e.text = text_of(p->key);
        e.more = strlen(e.text);
        break;
    default:
        e.op = EDIT_CHANGE;
        e.at = field_at(d, p);
        e.size = 1;
        e.mask = (uint8_t)(1 + below(draw(p->key, 7), 255));
        break;
    }
    return add_edit(d, &e);
}

static int by_offset(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;

    return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x->size > y->size) - (x->size < y->size);
}

static bool overlap(const struct damage *d)
{
    for (size_t i = 1; i < d->edit_count; i++)
        if (d->edits[i - 1].at + d->edits[i - 1].size > d->edits[i].at)
            return true;
    return false;
}

/* ---- All places ---- */

/* Kinds that count places have as many of them; for the others N is a size. */
static bool counts_places(enum damage_kind kind)
{
    enum damage_target target = kind_row(kind)->target;

    return target > TARGET_BYTE && target < TARGETS_FOUND;
}

static struct place *list_places(const struct damage_spec *specs, size_t count, size_t *places)
{
    struct place *list;
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += counts_places(specs[i].kind) && specs[i].number ? (size_t)specs[i].number : 1;
    list = calloc(n, sizeof *list);
    *places = n;
    for (size_t i = 0, at = 0; list && i < count; i++) {
        bool counts = counts_places(specs[i].kind);

        for (uint64_t k = counts && specs[i].number ? specs[i].number : 1; k; k--)
            list[at++] = (struct place){.kind = specs[i].kind,
                                        .number = counts ? 0 : specs[i].number,
                                        .has_at = specs[i].has_at,
                                        .wanted = specs[i].at};
    }
    return list;
}

static bool check_specs(const struct damage *d, const struct damage_spec *specs, size_t count, const char **failure)
{
    enum { PLACES_MOST = 10000 };
    uint64_t all = 0;

    for (size_t i = 0; i < count; i++) {
        const struct kind_row *row = kind_row(specs[i].kind);

        if (row->target < TARGETS_FOUND && !d->survey.counts[row->target])
            return damage_refuse(failure, "--damage %s: the dump has no %s", row->name, target_words(row->target));
        if (!counts_places(specs[i].kind))
            continue;
        if (specs[i].has_at && specs[i].number > 1)
            return damage_refuse(failure, "--damage %s: N places are drawn, so @FRACTION goes with one", row->name);
        if (specs[i].number > d->survey.counts[row->target])
            return damage_refuse(failure, "--damage %s: the dump has fewer places (%llu)", row->name,
                                 (unsigned long long)d->survey.counts[row->target]);
        all += specs[i].number;
    }
    return all <= PLACES_MOST || damage_refuse(failure, "--damage: %d places are the most", PLACES_MOST);
}

/* Places that overlap are drawn again. */
static bool find_all(struct damage *d, struct place *places, size_t count, struct source *source, const char **failure)
{
    enum { ROUNDS = 20 };
    uint64_t *at = calloc(count, sizeof *at);
    bool good = at != NULL;

    for (size_t i = 0; good && i < count; i++)
        at[i] = places[i].wanted;
    for (unsigned round = 0; good; round++) {
        struct finder f = {.watch = {.item = find_item, .heap_end = find_end}, .places = places, .count = count};

        if (round == ROUNDS) {
            good = damage_refuse(failure, "--damage: the places overlap; take fewer, others, or another --seed");
            break;
        }
        for (size_t i = 0; i < count; i++) {
            places[i].key = mix_of(d->seed, i + 1, round);
            draw_place(d, &places[i], at[i]);
        }
        items_init(&f.items, NULL, &f.watch, source->id_size);
        good = run_to_end(source, &f.items.stage);
        d->edit_count = 0;
        for (size_t i = 0; good && i < count; i++)
            good = edit_place(d, &places[i], failure);
        if (good && d->edit_count)
            qsort(d->edits, d->edit_count, sizeof *d->edits, by_offset);
        if (!good || !overlap(d))
            break;
    }
    free(at);
    return good;
}

static uint64_t written_by(const struct edit *e)
{
    switch (e->op) {
    case EDIT_LOSE:
        return 0;
    case EDIT_DOUBLE:
        return 2 * e->size;
    case EDIT_ZERO:
    case EDIT_CHANGE:
    case EDIT_INSERT:
    case EDIT_TEXT:
    case EDIT_SWAP:
        break;
    }
    return e->size + e->more;
}

/* DOUBLE and SWAP keep bytes back. */
static bool make_room(struct damage *d)
{
    uint64_t most = 0;

    for (size_t i = 0; i < d->edit_count; i++)
        if ((d->edits[i].op == EDIT_DOUBLE || d->edits[i].op == EDIT_SWAP) && d->edits[i].size > most)
            most = d->edits[i].size;
    return !most || (d->block = malloc(most));
}

bool damage_find_places(struct damage *d, const struct damage_spec *specs, size_t count, struct source *source,
                        const char **failure)
{
    size_t place_count;
    struct place *places;
    bool good;

    if (!check_specs(d, specs, count, failure))
        return false;
    places = list_places(specs, count, &place_count);
    good = places && find_all(d, places, place_count, source, failure) && make_room(d);
    free(places);
    for (size_t i = 0; good && i < d->edit_count; i++)
        good = damage_note_place(d, d->edits[i].kind, d->edits[i].at, d->edits[i].size, written_by(&d->edits[i]));
    return good;
}
