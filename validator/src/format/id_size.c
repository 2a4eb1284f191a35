/* See id_size.h. */
#include "format/id_size.h"

#include "format/header.h"
#include "format/tags.h"

/* Records that only IDs of 4 bytes, or of 8, explain. */
struct votes {
    unsigned for_4, for_8;
};

static void vote_by_length(struct votes *votes, uint32_t length, uint32_t with_4, uint32_t with_8)
{
    votes->for_4 += length == with_4;
    votes->for_8 += length == with_8;
}

/* A text of less than 4 bytes leaves no room for an ID of 8. Of two strings that follow each other, the IDs differ: where the
 * first 4 bytes do not, they are no ID. */
static void vote_by_string(struct votes *votes, uint32_t length, const uint8_t *id, const uint8_t *previous)
{
    votes->for_4 += length >= 4 && length < 8;
    votes->for_8 += previous && length >= 8 && memcmp(id, previous, 4) == 0;
}

bool id_size_is_wrong(const uint8_t *p, size_t n)
{
    enum { VOTES_LEAST = 8 };
    const uint8_t *const end = p + n, *previous = NULL;
    struct votes votes = {0, 0};
    enum version version;
    unsigned id_size;

    if (n < HEADER_SIZE || !parse_header(p, &version, &id_size))
        return false;
    for (p += HEADER_SIZE; (size_t)(end - p) > RECORD_HEADER_SIZE + 4;) {
        const uint8_t *const body = p + RECORD_HEADER_SIZE;
        const uint32_t length = get_u4(p + RECORD_LENGTH_AT);

        if (*p == TAG_UTF8)
            vote_by_string(&votes, length, body, previous);
        else if (*p == TAG_LOAD_CLASS)
            vote_by_length(&votes, length, SIZE_OF(LOAD_CLASS, 4), SIZE_OF(LOAD_CLASS, 8));
        else if (*p == TAG_FRAME)
            vote_by_length(&votes, length, SIZE_OF(FRAME, 4), SIZE_OF(FRAME, 8));
        else if (*p == TAG_HEAP_DUMP || *p == TAG_HEAP_DUMP_SEGMENT)
            break;
        previous = *p == TAG_UTF8 ? body : NULL;
        if (length > (size_t)(end - body))
            break;
        p = body + length;
    }
    return id_size == 4 ? !votes.for_4 && votes.for_8 >= VOTES_LEAST : !votes.for_8 && votes.for_4 >= VOTES_LEAST;
}
