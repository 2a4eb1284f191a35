/* See damage.h. */
#include "damage/plan.h"

#include <stdlib.h>

/* ---- The plan ---- */

/* Whether such a damage changes the whole file, or which files there are. */
static bool is_alone(enum damage_kind kind)
{
    return kind_row(kind)->target == TARGET_ALL || kind_row(kind)->target == TARGET_GZIP ||
           kind_row(kind)->target == TARGET_SEGMENTS;
}

static void watch_item(struct item_watch *watch, const struct item *item)
{
    struct damage *d = (struct damage *)((char *)watch - offsetof(struct damage, watch));

    harm_item(d->harm, item);
}

static bool plan(struct damage *d, const struct damage_spec *specs, size_t count, struct source *source, const char **failure)
{
    const struct damage_spec *first = specs;

    for (size_t i = 0; i < count; i++)
        if (is_alone(specs[i].kind) && count > 1)
            return damage_refuse(failure, "--damage %s: alone", kind_row(specs[i].kind)->name);
    if (!damage_survey(d, source, failure))
        return false;
    switch (kind_row(first->kind)->target) {
    case TARGET_ALL:
        d->change = first->kind;
        return damage_note_place(d, first->kind, 0, d->survey.bytes, 0);
    case TARGET_GZIP:
        damage_gzip_init(d, first);
        return damage_note_place(d, first->kind, 0, 0, 0); /* the bytes are known when the member is made */
    case TARGET_SEGMENTS:
        return damage_plan_files(d, first, source, failure);
    default:
        return damage_find_places(d, specs, count, source, failure);
    }
}

struct damage *damage_new(const struct damage_spec *specs, size_t count, uint64_t seed, struct source *source,
                          const char **failure)
{
    struct damage *d = calloc(1, sizeof *d);

    *failure = NULL;
    if (!d)
        return NULL;
    d->seed = seed;
    d->id_size = source->id_size;
    d->watch.item = watch_item;
    d->harm = harm_new();
    if (!d->harm || !plan(d, specs, count, source, failure)) {
        damage_free(d);
        return NULL;
    }
    return d;
}

void damage_free(struct damage *d)
{
    if (!d)
        return;
    harm_free(d->harm);
    free(d->edits);
    free(d->done);
    free(d->block);
    free(d->files);
    free(d->outs);
    free(d);
}

/* ---- While the dump is written ---- */

struct stage *damage_watch(struct damage *d, struct stage *next)
{
    items_init(&d->items, next, &d->watch, d->id_size);
    return &d->items.stage;
}

struct bytes *damage_bytes(struct damage *d, struct bytes *next)
{
    if (d->gzip.is_wanted)
        return next;
    if (d->file_count)
        damage_divide_bytes(d, next);
    else
        damage_edit_bytes(d, next);
    return &d->bytes;
}

struct gzip_hook *damage_gzip_hook(struct damage *d)
{
    return d->gzip.is_wanted ? &d->gzip.hook : NULL;
}

size_t damage_done_count(const struct damage *d)
{
    return d->done_count;
}

const struct damage_done *damage_done_at(const struct damage *d, size_t index)
{
    return &d->done[index];
}

size_t damage_file_count(const struct damage *d)
{
    return d->file_count;
}

const struct damage_file *damage_file_at(const struct damage *d, size_t index)
{
    return &d->files[index];
}

void damage_file_to(struct damage *d, size_t index, struct bytes *next)
{
    d->outs[index] = next;
}

struct harm *damage_harm(struct damage *d)
{
    if (d->gzip.is_wanted)
        damage_gzip_finish(d);
    return harm_finish(d->harm) ? d->harm : NULL;
}
