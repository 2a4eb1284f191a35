/* The second look: finds the places that one pass cannot keep, of those findings that will be shown. Where a missing object is
 * first referred to (REF-002), and where the object or string was defined that a later record defines again. Only for input
 * that can be read again. */
#include <string.h>

#include "checker.h"

struct wanted {
    uint64_t at; /* HPROF_NO_OFFSET: not found yet */
    struct finding *finding;
};

/* What is sought, by ID, with a filter in front that lets little else through. */
struct sought {
    struct keymap by_id; /* to an index in `list`, plus 1 */
    struct chunks list;  /* struct wanted */
    uint64_t lowest, span;
    uint64_t filter[1024];
    size_t left;
};

struct locate {
    struct sought defined, referred;
};

static void seek_begin(struct sought *s, struct checker *ck)
{
    keymap_init(&s->by_id, &ck->memory, &ck->key);
    chunks_init(&s->list, &ck->memory, sizeof(struct wanted));
    s->lowest = UINT64_MAX;
    s->span = 0;
    s->left = 0;
    memset(s->filter, 0, sizeof s->filter);
}

static void seek_end(struct sought *s)
{
    keymap_clear(&s->by_id);
    chunks_clear(&s->list);
}

static void seek_add(struct sought *s, uint64_t id, struct finding *f)
{
    uint64_t *index = keymap_add(&s->by_id, id);
    struct wanted *w;

    if (!index || *index)
        return; /* the same ID defined a third time: fill() asks by ID */
    *index = s->list.count + 1;
    w = chunks_add(&s->list);
    if (!w)
        return;
    *w = (struct wanted){HPROF_NO_OFFSET, f};
    s->filter[id >> 9 & 1023] |= UINT64_C(1) << (id >> 3 & 63);
    if (!s->left++) {
        s->lowest = id;
        s->span = 0;
    } else if (id < s->lowest) {
        s->span += s->lowest - id;
        s->lowest = id;
    } else if (id - s->lowest > s->span) {
        s->span = id - s->lowest;
    }
}

static void seek_look(struct sought *s, uint64_t id, uint64_t offset)
{
    const uint64_t *index;
    struct wanted *w;

    if (id - s->lowest > s->span || !(s->filter[id >> 9 & 1023] >> (id >> 3 & 63) & 1))
        return;
    index = keymap_find(&s->by_id, id);
    if (!index)
        return;
    w = chunks_at(&s->list, (size_t)*index - 1);
    if (w->at == HPROF_NO_OFFSET) {
        w->at = offset;
        s->left--;
    }
}

void locate_defined(struct checker *ck, uint64_t id, uint64_t offset)
{
    seek_look(&ck->locate->defined, id, offset);
}

void locate_referred(struct checker *ck, uint64_t id, uint64_t offset)
{
    seek_look(&ck->locate->referred, id, offset);
}

void locate_elements(struct checker *ck, const uint8_t *p, size_t n, uint64_t offset)
{
    const struct sought *s = &ck->locate->referred;

    /* In blocks: most hold no ID in the range sought, which the compiler finds out for several at a time. */
    for (size_t i = 0, block; i < n; i += block) {
        bool any = false;

        block = n - i < 256 ? n - i : 256;
        for (size_t j = i; j < i + block; j++)
            any |= get_id(p + j * ck->id_size, ck->id_size) - s->lowest <= s->span;
        for (size_t j = i; any && j < i + block; j++)
            locate_referred(ck, get_id(p + j * ck->id_size, ck->id_size), offset + j * ck->id_size);
    }
}

/* Gives each finding of a group that belongs to this heap dump (0: to any) the place that was found. */
static void fill(struct checker *ck, const struct sought *s, enum rule rule, uint32_t dump)
{
    for (unsigned shape = 0; shape < SHAPE_COUNT; shape++) {
        struct diag_group *g = &ck->diag.groups[rule][shape];

        for (size_t i = 0; i < g->count; i++) {
            struct finding *f = &g->kept[i];
            const uint64_t *index = (dump && f->dump != dump) ? NULL : keymap_find(&s->by_id, f->subject);
            const struct wanted *w = index ? chunks_at(&s->list, (size_t)*index - 1) : NULL;

            if (!w || w->at == HPROF_NO_OFFSET)
                continue;
            if (rule == RULE_REF_002)
                f->offset = w->at;
            else if (f->related_offset == HPROF_NO_OFFSET && w->at != f->offset)
                f->related_offset = w->at;
        }
    }
}

static void want(struct checker *ck, struct sought *s, enum rule rule, uint32_t dump)
{
    for (unsigned shape = 0; shape < SHAPE_COUNT; shape++) {
        const struct diag_group *g = &ck->diag.groups[rule][shape];

        for (size_t i = 0; i < g->count; i++) {
            struct finding *f = &g->kept[i];

            if ((dump && f->dump != dump) || (rule != RULE_REF_002 && f->related_offset != HPROF_NO_OFFSET))
                continue;
            seek_add(s, f->subject, f);
        }
    }
}

/* Whether all that is referred to and missing is named by elements of arrays alone. */
static bool only_in_arrays(const struct checker *ck, uint32_t dump)
{
    const struct diag_group *g = &ck->diag.groups[RULE_REF_002][SHAPE_ANY];

    for (size_t i = 0; i < g->count; i++)
        if (g->kept[i].dump == dump)
            return false;
    return true;
}

/* Reads the object arrays again, each where it was noted. */
static void read_arrays(struct checker *ck)
{
    const struct bytelog *arrays = &ck->dump.arrays;
    uint64_t next = 0, at = 0;

    while (next < arrays->size && ck->locate->referred.left && !ck->in.error) {
        at += bytelog_read_number(arrays, &next);
        /* at - 1 is the sub-record */
        if (at - 1 < ck->in.offset || at - 1 - ck->in.offset > (uint64_t)(ck->in.end - ck->in.at)) {
            if (!input_seek(&ck->in, at - 1))
                return;
        } else {
            input_advance(&ck->in, (size_t)(at - 1 - ck->in.offset));
        }
        if (input_need(&ck->in, 1 + SIZE_OF(OBJECT_ARRAY_DUMP, ck->id_size)) < 1 + SIZE_OF(OBJECT_ARRAY_DUMP, ck->id_size) ||
            !check_object_array(ck))
            return;
    }
}

void locate_in_dump(struct checker *ck)
{
    struct locate l;
    uint32_t dump = ck->classes.dump;
    uint64_t back = ck->in.offset;

    if (!input_can_reread(&ck->in) || ck->in.error || ck->memory.exhausted)
        return;
    seek_begin(&l.defined, ck);
    seek_begin(&l.referred, ck);
    want(ck, &l.defined, RULE_OBJ_004, dump);
    want(ck, &l.defined, RULE_OBJ_005, dump);
    want(ck, &l.referred, RULE_REF_002, dump);
    if ((l.defined.left || l.referred.left) && !ck->memory.exhausted) {
        ck->locate = &l;
        ck->look = LOOK_LOCATE;
        if (!l.defined.left && only_in_arrays(ck, dump))
            read_arrays(ck);
        else
            walk_dump_again(ck, back);
        ck->look = LOOK_JUDGE;
        ck->locate = NULL;
        fill(ck, &l.defined, RULE_OBJ_004, dump);
        fill(ck, &l.defined, RULE_OBJ_005, dump);
        fill(ck, &l.referred, RULE_REF_002, dump);
        input_seek(&ck->in, back);
    }
    seek_end(&l.defined);
    seek_end(&l.referred);
}

void locate_strings(struct checker *ck)
{
    struct locate l;

    if (!input_can_reread(&ck->in) || ck->in.error || ck->memory.exhausted)
        return;
    seek_begin(&l.defined, ck);
    want(ck, &l.defined, RULE_STR_003, 0);
    want(ck, &l.defined, RULE_STR_004, 0);
    if (l.defined.left && input_seek(&ck->in, HEADER_SIZE)) {
        ck->locate = &l;
        while (l.defined.left && input_need(&ck->in, RECORD_HEADER_SIZE) >= RECORD_HEADER_SIZE) {
            unsigned tag = get_u1(ck->in.at);
            uint64_t length = get_u4(ck->in.at + RECORD_LENGTH_AT);

            input_advance(&ck->in, RECORD_HEADER_SIZE);
            if (tag == TAG_UTF8 && length >= ck->id_size && input_need(&ck->in, ck->id_size) >= ck->id_size)
                locate_defined(ck, get_id(ck->in.at, ck->id_size), ck->in.offset);
            if (input_skip(&ck->in, length) < length)
                break;
        }
        ck->locate = NULL;
        fill(ck, &l.defined, RULE_STR_003, 0);
        fill(ck, &l.defined, RULE_STR_004, 0);
    }
    seek_end(&l.defined);
}
