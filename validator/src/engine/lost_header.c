/* A header that is damaged or lost, of a dump or of the gzip file that holds it. */
#include "engine/go_to_way.h"
#include "format/header.h"
#include "input/file_kind.h"
#include "input/gzip_header.h"
#include "input/gzip_trial.h"
#include "input/transfer.h"

/* Whether records or sub-records with IDs of a size follow these bytes; not the header of another dump. */
static bool items_follow(struct engine *e, struct sight s, unsigned id_size)
{
    struct search search = search_in(e, &s, UINT64_MAX);
    struct way way;

    s.id_size = e->file.id_size = id_size;
    e->file.version = V102;
    file_begin(&e->file, &e->run.memory, &e->run.key);
    way = s.size ? find_way(&search, 1, s.size) : (struct way){.kind = WAY_NONE}; /* after what may have been a header */
    e->file.id_size = 0;                                                          /* none is known */
    return way.kind != WAY_NONE && s.at[way.at] != *HEADER_MAGIC;
}

static bool dump_follows_in(struct engine *e, struct sight s)
{
    return items_follow(e, s, 8) || items_follow(e, s, 4);
}

bool dump_follows(struct engine *e)
{
    size_t size = look_at(&e->in, TRANSFER_SIGHT, UINT64_MAX);

    return !e->run.sum.transfer && !e->run.sum.is_part &&
           dump_follows_in(e, (struct sight){e->in.at, size, size < TRANSFER_SIGHT, 0, V102});
}

bool dump_follows_zeros(struct engine *e)
{
    enum { MOST = 16 << 20 }; /* bytes: zeros may never end */
    uint64_t until = e->in.offset + MOST;
    size_t zeros, n;

    do {
        n = look_at(&e->in, TRANSFER_SIGHT, UINT64_MAX);
        for (zeros = 0; zeros < n && !e->in.at[zeros];)
            zeros++;
        input_advance(&e->in, zeros);
    } while (n && zeros == n && e->in.offset <= until);
    return zeros < n && dump_follows(e);
}

/* ---- In a gzip file --------------------------------------------------------------------------------------------- */

enum {
    SIGHT = 2 * GZIP_TRIAL_SIGHT,
    REACH = 768 << 10, /* bytes in which a member begins: HotSpot compresses a MiB in each, which becomes smaller */
    BUDGET = 4 << 20   /* bytes */
};

/* Whether the file may be damaged gzip: it is no text, and no other kind of file. */
static bool may_be_gzip(struct engine *e)
{
    size_t n = look_at(&e->in, TRANSFER_SIGHT, UINT64_MAX);

    return !e->in.compressed && !e->run.sum.transfer && !e->run.sum.is_part && !e->run.sum.header_lost &&
           !is_text(e->in.at, n) && (!find_file_kind(e->in.at, n).name || begins_with_zeros(e->in.at, n));
}

/* Whether the member holds a dump: its beginning, if only the header of the member is damaged; else what follows it. */
static bool holds_dump(struct engine *e, const struct gzip_made *made, bool is_first)
{
    enum version version;
    unsigned id_size;
    struct sight s = {made->bytes, made->size, false, 0, V102};

    return made->data &&
           ((is_first && made->size >= HEADER_SIZE && parse_header(made->bytes, &version, &id_size)) || dump_follows_in(e, s));
}

/* Passes a byte, and then those in sight that begin no member. False at the end. */
static bool pass_to_sign(struct engine *e, size_t n)
{
    const uint8_t *sign = memchr(e->in.at + 1, 0x1f, n - 1);

    input_advance(&e->in, sign ? (size_t)(sign - e->in.at) : n);
    return sign || n == SIGHT;
}

bool gzip_follows(struct engine *e)
{
    struct gzip_trial *trial = NULL;
    bool is_found = false, goes_on = may_be_gzip(e);

    for (bool is_first = true; goes_on && !is_found && e->in.offset < REACH; is_first = false) {
        size_t n = look_at(&e->in, SIGHT, UINT64_MAX);

        if (is_first ? gzip_may_be_wrong(e->in.at, n) : gzip_may_begin(e->in.at, n)) {
            struct gzip_made made = {0};

            if (!trial)
                trial = gzip_trial_new(&e->run.memory, BUDGET);
            if (trial)
                made = is_first ? gzip_try_wrong(trial, e->in.at, n) : gzip_try(trial, e->in.at, n);
            is_found = holds_dump(e, &made, is_first);
        }
        goes_on = n > 0 && (!trial || gzip_may_try(trial)) && pass_to_sign(e, n);
    }
    gzip_trial_delete(trial, &e->run.memory);
    return is_found;
}
