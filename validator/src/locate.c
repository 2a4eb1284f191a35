/* The second look: finds the places that one pass cannot keep, of those findings that will be shown. Where a missing object is
 * first referred to (REF-002), and where the object, string, frame, class serial or thread root was defined that a later record
 * defines again. Only for input that can be read again. */
#include <string.h>

#include "checker.h"

/* What is sought, by ID, with a filter in front that lets little else through. */
struct sought {
    struct keymap by_id; /* to 0, and to the offset plus 1 once it is found */
    unsigned id_size;
    uint64_t lowest, span;
    uint64_t filter[1024];
    struct page_filter pages;
    size_t left;
};

struct locate {
    struct sought defined, referred, serials;
};

static void seek_begin(struct sought *s, struct checker *ck)
{
    memset(s, 0, sizeof *s);
    s->id_size = ck->id_size;
    keymap_init(&s->by_id, &ck->memory, &ck->key, sizeof(uint64_t), sizeof(uint64_t));
}

static void seek_add(struct sought *s, uint64_t id)
{
    if (keymap_get(&s->by_id, id, NULL) || !keymap_put(&s->by_id, id, 0))
        return;
    s->filter[id >> 9 & 1023] |= UINT64_C(1) << (id >> 3 & 63);
    page_filter_add(&s->pages, id_to_key(id, s->id_size) >> PAGE_BITS);
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
    uint64_t found;

    if (id - s->lowest > s->span || !(s->filter[id >> 9 & 1023] >> (id >> 3 & 63) & 1))
        return;
    if (keymap_get(&s->by_id, id, &found) && !found) {
        keymap_put(&s->by_id, id, offset + 1);
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

void locate_thread(struct checker *ck, uint32_t serial, uint64_t offset)
{
    seek_look(&ck->locate->serials, serial, offset);
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

/* What top-level records define is sought among them, the rest within one heap dump. */
static bool is_top_level(enum place_kind kind)
{
    return kind == PLACE_OF_STRING || kind == PLACE_OF_FRAME || kind == PLACE_OF_CLASS_SERIAL;
}

/* No two kinds that are sought together share a set. */
static struct sought *set_of(struct locate *l, enum place_kind kind)
{
    if (kind == PLACE_OF_THREAD_ROOT || kind == PLACE_OF_CLASS_SERIAL)
        return &l->serials;
    return kind == PLACE_OF_STRING || kind == PLACE_OF_OBJECT ? &l->defined : &l->referred;
}

static bool may_look_again(const struct checker *ck)
{
    return input_can_reread(&ck->in) && !ck->in.error && !ck->memory.exhausted;
}

/* Seeks the places from index `first` on that are asked for. False if there are none. */
static bool seek_all(struct checker *ck, struct locate *l, size_t first, bool top_level)
{
    const struct chunks *places = &ck->diag.places;
    size_t i = first;

    while (i < places->count && is_top_level(((const struct place *)chunks_at(places, i))->kind) != top_level)
        i++;
    if (i == places->count || !may_look_again(ck))
        return false;
    seek_begin(&l->defined, ck);
    seek_begin(&l->referred, ck);
    seek_begin(&l->serials, ck);
    for (; i < places->count; i++) {
        const struct place *place = chunks_at(places, i);

        if (is_top_level(place->kind) == top_level)
            seek_add(set_of(l, place->kind), place->subject);
    }
    ck->locate = l;
    return true;
}

/* Writes down what was found. */
static void seek_end(struct checker *ck, struct locate *l, size_t first, bool top_level)
{
    for (size_t i = first; i < ck->diag.places.count; i++) {
        struct place *place = chunks_at(&ck->diag.places, i);
        uint64_t found;

        if (is_top_level(place->kind) == top_level && keymap_get(&set_of(l, place->kind)->by_id, place->subject, &found) &&
            found)
            place->at = found - 1;
    }
    keymap_clear(&l->defined.by_id);
    keymap_clear(&l->referred.by_id);
    keymap_clear(&l->serials.by_id);
    ck->locate = NULL;
}

/* Whether all that is referred to and missing is named by elements of arrays alone. */
static bool only_in_arrays(const struct checker *ck)
{
    for (size_t i = ck->dump.first_place; i < ck->diag.places.count; i++)
        if (((const struct place *)chunks_at(&ck->diag.places, i))->kind == PLACE_OF_REFERENCE)
            return false;
    return true;
}

/* Reads the object arrays again that may name what is sought, each where it was noted. */
static void read_arrays(struct checker *ck)
{
    struct array_reader arrays = array_log_read(&ck->dump.arrays, &ck->locate->referred.pages);

    while (ck->locate->referred.left && !ck->in.error && array_reader_next(&arrays)) {
        uint64_t at = arrays.offset - 1; /* of the sub-record's tag */

        if (at < ck->in.offset || at - ck->in.offset > (uint64_t)(ck->in.end - ck->in.at)) {
            if (!input_seek(&ck->in, at))
                return;
        } else {
            input_advance(&ck->in, (size_t)(at - ck->in.offset));
        }
        if (input_need(&ck->in, 1 + SIZE_OF(OBJECT_ARRAY_DUMP, ck->id_size)) < 1 + SIZE_OF(OBJECT_ARRAY_DUMP, ck->id_size) ||
            !check_object_array(ck))
            return;
    }
}

void locate_in_dump(struct checker *ck)
{
    uint64_t back = ck->in.offset;
    struct locate l;

    if (!seek_all(ck, &l, ck->dump.first_place, false))
        return;
    ck->look = LOOK_LOCATE;
    if (!l.defined.left && !l.serials.left && only_in_arrays(ck))
        read_arrays(ck);
    else
        walk_dump_again(ck, back);
    ck->look = LOOK_JUDGE;
    seek_end(ck, &l, ck->dump.first_place, false);
    input_seek(&ck->in, back);
}

void locate_records(struct checker *ck)
{
    unsigned id = ck->id_size;
    struct locate l;

    if (!seek_all(ck, &l, 0, true))
        return;
    if (input_seek(&ck->in, HEADER_SIZE))
        while ((l.defined.left || l.referred.left || l.serials.left) &&
               input_need(&ck->in, RECORD_HEADER_SIZE) >= RECORD_HEADER_SIZE) {
            unsigned tag = get_u1(ck->in.at);
            uint64_t length = get_u4(ck->in.at + RECORD_LENGTH_AT);

            input_advance(&ck->in, RECORD_HEADER_SIZE);
            if (input_need(&ck->in, id) >= id) {
                if (tag == TAG_UTF8 && body_length(ck, TAG_UTF8, length) >= id)
                    seek_look(&l.defined, get_id(ck->in.at, id), ck->in.offset);
                else if (tag == TAG_FRAME && length == SIZE_OF(FRAME, id))
                    seek_look(&l.referred, get_id(ck->in.at, id), ck->in.offset);
                else if (tag == TAG_LOAD_CLASS && length == SIZE_OF(LOAD_CLASS, id))
                    seek_look(&l.serials, get_u4(ck->in.at), ck->in.offset);
            }
            if (!pass_record(ck, (uint8_t)tag, length)) /* as they were judged */
                break;
        }
    seek_end(ck, &l, 0, true);
}
