/* The kinds of damage, how --damage names them, and what their plans share. */
#include "damage/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- For plans ---- */

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
