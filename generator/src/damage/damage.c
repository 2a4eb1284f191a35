/* See damage.h. */
#include "damage/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes_gzip.h"
#include "decimals.h"

static const struct kind_row rows[] = {
#define DAMAGE(NAME, name, target, number, about) {name, target, number, about},
#include "damage/kinds.def"
#undef DAMAGE
};

enum { KINDS = sizeof rows / sizeof *rows };

/* ---- The kinds ---- */

const struct kind_row *kind_row(enum damage_kind kind)
{
    return &rows[kind];
}

const char *damage_name(size_t kind)
{
    return kind < KINDS ? rows[kind].name : NULL;
}

const char *damage_number(size_t kind)
{
    return rows[kind].number;
}

const char *damage_about(size_t kind)
{
    return rows[kind].about;
}

bool damage_is_of_gzip(enum damage_kind kind)
{
    return rows[kind].target == TARGET_GZIP;
}

/* Whether such a damage changes the whole file, or which files there are. */
static bool is_alone(enum damage_kind kind)
{
    return rows[kind].target == TARGET_ALL || rows[kind].target == TARGET_GZIP || rows[kind].target == TARGET_SEGMENTS;
}

/* ---- A specification ---- */

static bool find_kind(const char *text, size_t size, enum damage_kind *kind)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strlen(rows[i].name) == size && memcmp(rows[i].name, text, size) == 0) {
            *kind = (enum damage_kind)i;
            return true;
        }
    return false;
}

static bool parse_number(const char *text, size_t size, uint64_t *number)
{
    enum { NUMBER_MOST = 1 << 30 };
    char copy[32];

    if (size >= sizeof copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return parse_size(copy, number) && *number && *number <= NUMBER_MOST;
}

static bool takes_fraction(const struct damage_spec *spec)
{
    enum damage_target target = rows[spec->kind].target;

    if (spec->kind == DAMAGE_TRUNCATE && spec->number)
        return false; /* that is the end */
    return target != TARGET_ALL && target != TARGET_START && spec->kind != DAMAGE_GZ_NO_TRAILER;
}

static bool parse_share(const char *text, uint64_t *at)
{
    enum { DECIMALS = 9, ONE = 1000000000 };
    uint64_t value;

    if (!parse_decimal(text, DECIMALS, &value) || value > ONE)
        return false;
    *at = value == ONE ? UINT32_MAX : (value << 32) / ONE;
    return true;
}

bool damage_parse(const char *text, struct damage_spec *spec, char wrong[200])
{
    size_t name = strcspn(text, ":@"), number;
    const char *rest = text + name;

    *spec = (struct damage_spec){.number = 0};
    if (!find_kind(text, name, &spec->kind)) {
        snprintf(wrong, 200, "no kind is called '%.*s'; --list-damage lists them all", (int)(name < 60 ? name : 60), text);
        return false;
    }
    if (*rest == ':') {
        number = strcspn(++rest, "@");
        if (!rows[spec->kind].number) {
            snprintf(wrong, 200, "%s takes no number", rows[spec->kind].name);
            return false;
        }
        if (!parse_number(rest, number, &spec->number)) {
            snprintf(wrong, 200, "N of %s:N is a number from 1 to 2^30 (%s)", rows[spec->kind].name, rows[spec->kind].number);
            return false;
        }
        rest += number;
    }
    if (*rest == '@') {
        if (!takes_fraction(spec)) {
            snprintf(wrong, 200, "%s%s takes no @FRACTION", rows[spec->kind].name, spec->number ? ":N" : "");
            return false;
        }
        if (!parse_share(rest + 1, &spec->at)) {
            snprintf(wrong, 200, "FRACTION of %s@FRACTION is a number from 0 to 1, of at most nine decimals",
                     rows[spec->kind].name);
            return false;
        }
        spec->has_at = true;
    }
    return true;
}

/* ---- The plan ---- */

/* Only one refusal is kept: the caller gives up. */
bool damage_refuse(const char **failure, const char *format, ...)
{
    static char sentence[300];
    va_list list;

    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    *failure = sentence;
    return false;
}

uint64_t share_of(uint64_t at, uint64_t n)
{
    return n ? at * ((n - 1) / UINT32_MAX) + at * ((n - 1) % UINT32_MAX) / UINT32_MAX : 0;
}

bool damage_note_place(struct damage *d, enum damage_kind kind, uint64_t at, uint64_t bytes, uint64_t written)
{
    struct damage_done *done = realloc(d->done, (d->done_count + 1) * sizeof *done);

    if (!done)
        return false;
    d->done = done;
    d->done[d->done_count++] = (struct damage_done){kind, at, bytes, written};
    return true;
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
            return damage_refuse(failure, "--damage %s: alone", rows[specs[i].kind].name);
    if (!damage_survey(d, source, failure))
        return false;
    switch (rows[first->kind].target) {
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
    if (d->has_hook)
        return next;
    if (d->file_count)
        damage_divide_bytes(d, next);
    else
        damage_edit_bytes(d, next);
    return &d->bytes;
}

struct gzip_hook *damage_gzip(struct damage *d)
{
    return d->has_hook ? &d->hook : NULL;
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
    if (d->has_hook)
        damage_gzip_finish(d);
    return harm_finish(d->harm) ? d->harm : NULL;
}
