#include "which.h"

#include <stdlib.h>
#include <string.h>

#include "content/mix.h"
#include "content/parallel.h"
#include "run_objects.h"

enum {
    SUB_CLASS_DUMP = 0x20,
    SUB_INSTANCE_DUMP = 0x21,
    SUB_OBJECT_ARRAY_DUMP = 0x22,
    SUB_PRIMITIVE_ARRAY_DUMP = 0x23,
    SAMPLE = 4096,
    TAG_UTF8 = 0x01,
    SHARED_ENOUGH = 900,
    FIRST_OBJECTS = 1 << 20, /* if nearly all of these are shared, the rest is not read */
    NEARLY_ALL = 990
};

/* The objects whose IDs have the lowest hashes: both dumps choose the same IDs, if they have them. */
struct sampled {
    uint64_t hash, what; /* of the ID; of the kind and class */
};

struct sample {
    struct sampled at[SAMPLE]; /* a heap: the highest hash comes first */
    size_t count;
};

struct sampling {
    struct side *side;
    struct run_objects run;
    struct sample samples[SHARED_KINDS];
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

static bool is_kept(const struct sample *sample, uint64_t hash)
{
    return sample->count < SAMPLE || hash < sample->at[0].hash;
}

static void keep(struct sample *sample, uint64_t hash, uint64_t what)
{
    if (sample->count == SAMPLE) {
        sample->at[0] = (struct sampled){hash, what};
        sift_down(sample->at, SAMPLE, 0);
        return;
    }
    sample->at[sample->count++] = (struct sampled){hash, what};
    if (sample->count == SAMPLE)
        for (size_t i = SAMPLE / 2; i-- > 0;)
            sift_down(sample->at, SAMPLE, i);
}

static void see_object(struct sampling *s, const struct hprof_item *item)
{
    uint64_t hash = mix(item->id), what;
    struct hprof_class class;

    s->objects++;
    if (!is_kept(&s->samples[SHARED_OBJECTS], hash))
        return;
    what = mix_two(item->tag, item->element_type);
    hprof_class_init(&class);
    if (hprof_class(s->side->reader, item->tag == SUB_CLASS_DUMP ? item->id : item->class_id, &class) == 1)
        what = mix_bytes(what, class.name, strlen(class.name));
    keep(&s->samples[SHARED_OBJECTS], hash, what);
}

static void see_item(struct sampling *s, const struct hprof_item *item)
{
    if (item->kind == HPROF_ITEM_SUBRECORD) {
        if (item->tag == SUB_CLASS_DUMP || item->tag == SUB_INSTANCE_DUMP || item->tag == SUB_OBJECT_ARRAY_DUMP ||
            item->tag == SUB_PRIMITIVE_ARRAY_DUMP)
            see_object(s, item);
    } else if (item->kind == HPROF_ITEM_RECORD && item->tag == TAG_UTF8 &&
               is_kept(&s->samples[SHARED_STRINGS], mix(item->id))) {
        keep(&s->samples[SHARED_STRINGS], mix(item->id), 0);
    }
}

/* The next item, or object of a run: what hprof_next() gives, in less time. */
static int next_item(struct sampling *s, struct hprof_item *item)
{
    struct hprof_counted counted;
    int result;

    if (s->run.at == s->run.end) {
        hprof_counted_init(&counted);
        result = hprof_next_counted(s->side->reader, item, &counted);
        if (result != 1 || item->kind != HPROF_ITEM_OBJECTS)
            return result;
        run_objects_begin(&s->run, s->side->reader, item);
    }
    return run_objects_next(&s->run, item) ? 1 : -1;
}

static void sample_side(void *context, size_t side)
{
    struct sampling *s = (struct sampling *)context + side;
    struct hprof_item item;
    int result = 1;

    hprof_item_init(&item);
    while (s->objects < s->most && (result = next_item(s, &item)) == 1)
        see_item(s, &item);
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

/* Sorted, without what the other dump would not have kept. */
static size_t sort_sample(struct sample *sample, uint64_t most)
{
    qsort(sample->at, sample->count, sizeof *sample->at, compare);
    while (sample->count > 0 && sample->at[sample->count - 1].hash > most)
        sample->count--;
    return sample->count;
}

static unsigned share_of(const struct sample *a, const struct sample *b, struct sample spare[SIDES])
{
    uint64_t most = a->count == SAMPLE ? a->at[0].hash : UINT64_MAX;
    size_t counts[SIDES], shared = 0, smaller;

    if (b->count == SAMPLE && b->at[0].hash < most)
        most = b->at[0].hash;
    spare[0] = *a;
    spare[1] = *b;
    counts[0] = sort_sample(&spare[0], most);
    counts[1] = sort_sample(&spare[1], most);
    for (size_t i = 0, k = 0; i < counts[0] && k < counts[1];) {
        int order = compare(&spare[0].at[i], &spare[1].at[k]);

        shared += order == 0;
        i += order <= 0;
        k += order >= 0;
    }
    smaller = counts[0] < counts[1] ? counts[0] : counts[1];
    return smaller > 0 ? (unsigned)(1000 * shared / smaller) : 1000;
}

static bool sample_both(struct diff *diff, unsigned jobs, struct sampling *sampling, struct sample *spare)
{
    bool is_over = true, is_clear = true;

    parallel(jobs, SIDES, sample_side, sampling);
    for (unsigned side = 0; side < SIDES; side++) {
        if (sampling[side].has_failed) {
            snprintf(diff->failure, sizeof diff->failure, "%s", hprof_failure(diff->sides[side].reader));
            diff->failed_side = side;
        }
        is_over &= sampling[side].is_over;
        sampling[side].most = UINT64_MAX;
    }
    for (unsigned kind = 0; kind < SHARED_KINDS; kind++) {
        diff->shared[kind] = share_of(&sampling[0].samples[kind], &sampling[1].samples[kind], spare);
        is_clear &= diff->shared[kind] >= NEARLY_ALL;
    }
    return is_over || is_clear || diff->failure[0] != '\0';
}

bool find_shared(struct diff *diff, unsigned jobs)
{
    struct sampling *sampling = calloc(SIDES, sizeof *sampling);
    struct sample *spare = malloc(SIDES * sizeof *spare);

    if (sampling == NULL || spare == NULL) {
        snprintf(diff->failure, sizeof diff->failure, "out of memory");
    } else {
        for (unsigned side = 0; side < SIDES; side++) {
            sampling[side].side = &diff->sides[side];
            sampling[side].most = FIRST_OBJECTS;
        }
        if (!sample_both(diff, jobs, sampling, spare))
            sample_both(diff, jobs, sampling, spare);
    }
    free(sampling);
    free(spare);
    return diff->failure[0] == '\0';
}

bool shares_ids(const struct diff *diff)
{
    return diff->shared[SHARED_OBJECTS] >= SHARED_ENOUGH && diff->shared[SHARED_STRINGS] >= SHARED_ENOUGH;
}
