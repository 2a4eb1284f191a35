#include "which.h"

#include <stdlib.h>
#include <string.h>

#include "content/mix.h"
#include "content/parallel.h"

enum {
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE_DUMP = 0x21,
    SUB_OBJECT_ARRAY_DUMP = 0x22,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    SAMPLE = 4096,
    FIRST_OBJECTS = 1 << 20, /* if nearly all of these are shared, the rest is not read */
    NEARLY_ALL = 990
};

/* The objects whose IDs have the lowest hashes: both dumps choose the same IDs, if they have them. */
struct sampled {
    uint64_t hash, what; /* of the ID; of the kind and class */
};

struct sampling {
    struct side *side;
    struct sampled sample[SAMPLE]; /* a heap: the highest hash comes first */
    size_t count;
    uint64_t objects, most;
    bool has_failed, is_over;
};

static void sift_down(struct sampled *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1].hash > heap[child].hash;
        if (heap[at].hash >= heap[child].hash)
            return;
        struct sampled other = heap[at];
        heap[at] = heap[child];
        heap[child] = other;
    }
}

static void keep(struct sampling *s, uint64_t hash, uint64_t what)
{
    if (s->count == SAMPLE) {
        s->sample[0] = (struct sampled){hash, what};
        sift_down(s->sample, SAMPLE, 0);
        return;
    }
    s->sample[s->count++] = (struct sampled){hash, what};
    if (s->count == SAMPLE)
        for (size_t i = SAMPLE / 2; i-- > 0;)
            sift_down(s->sample, SAMPLE, i);
}

static void see_object(struct sampling *s, const struct hprof_item *item)
{
    uint64_t hash = mix(item->id), what;
    struct hprof_class class;

    s->objects++;
    if (s->count == SAMPLE && hash >= s->sample[0].hash)
        return;
    what = mix_two(item->tag, item->element_type);
    hprof_class_init(&class);
    if (hprof_class(s->side->reader, item->tag == SUB_CLASS_DUMP ? item->id : item->class_id, &class) == 1)
        what = mix_bytes(what, class.name, strlen(class.name));
    keep(s, hash, what);
}

static void sample_side(void *context, size_t side)
{
    struct sampling *s = (struct sampling *)context + side;
    struct hprof_item item;
    int result = 1;

    hprof_item_init(&item);
    while (s->objects < s->most && (result = hprof_next(s->side->reader, &item)) == 1)
        if (item.kind == HPROF_ITEM_SUBRECORD && (item.tag == SUB_CLASS_DUMP || item.tag == SUB_INSTANCE_DUMP ||
                                                  item.tag == SUB_OBJECT_ARRAY_DUMP || item.tag == SUB_PRIMITIVE_ARRAY_DUMP))
            see_object(s, &item);
    s->has_failed = result < 0;
    s->is_over = result == 0;
}

static int compare(const void *a, const void *b)
{
    const struct sampled *one = a, *other = b;

    return one->hash != other->hash   ? (one->hash < other->hash ? -1 : 1)
           : one->what != other->what ? (one->what < other->what ? -1 : 1)
                                      : 0;
}

/* Of the hashes that both dumps would have kept. */
static int share_of(const struct sampling sampling[SIDES])
{
    struct sampled *lists[SIDES] = {malloc(sizeof sampling->sample), malloc(sizeof sampling->sample)};
    uint64_t most = UINT64_MAX;
    size_t counts[SIDES], shared = 0, smaller;

    for (unsigned side = 0; side < SIDES && lists[0] != NULL && lists[1] != NULL; side++) {
        counts[side] = sampling[side].count;
        memcpy(lists[side], sampling[side].sample, sizeof sampling->sample);
        qsort(lists[side], counts[side], sizeof **lists, compare);
        if (counts[side] == SAMPLE && lists[side][SAMPLE - 1].hash < most)
            most = lists[side][SAMPLE - 1].hash;
    }
    if (lists[0] == NULL || lists[1] == NULL) {
        free(lists[0]);
        free(lists[1]);
        return -1;
    }
    for (unsigned side = 0; side < SIDES; side++)
        while (counts[side] > 0 && lists[side][counts[side] - 1].hash > most)
            counts[side]--;
    for (size_t a = 0, b = 0; a < counts[0] && b < counts[1];) {
        int order = compare(&lists[0][a], &lists[1][b]);

        shared += order == 0;
        a += order <= 0;
        b += order >= 0;
    }
    smaller = counts[0] < counts[1] ? counts[0] : counts[1];
    free(lists[0]);
    free(lists[1]);
    return smaller > 0 ? (int)(1000 * shared / smaller) : 1000;
}

int permille_shared(struct diff *diff, unsigned jobs)
{
    struct sampling *sampling = calloc(SIDES, sizeof *sampling);
    int share = -1;

    snprintf(diff->failure, sizeof diff->failure, "out of memory");
    for (unsigned side = 0; side < SIDES && sampling != NULL; side++) {
        sampling[side].side = &diff->sides[side];
        sampling[side].most = FIRST_OBJECTS;
    }
    for (unsigned turn = 0; turn < 2 && sampling != NULL; turn++) {
        parallel(jobs, SIDES, sample_side, sampling);
        for (unsigned side = 0; side < SIDES; side++) {
            if (sampling[side].has_failed) {
                snprintf(diff->failure, sizeof diff->failure, "%s", hprof_failure(diff->sides[side].reader));
                free(sampling);
                return -1;
            }
            sampling[side].most = UINT64_MAX;
        }
        share = share_of(sampling);
        if (share < 0 || share >= NEARLY_ALL || (sampling[0].is_over && sampling[1].is_over))
            break;
    }
    free(sampling);
    return share;
}
