/* See gzip_fault.h. */
#include "faults/gzip_fault.h"

#include "findings/rules.h"

enum { METHOD_AT = 2 /* in a member's header (RFC 1952, 2.3) */ };

static void break_member(struct gzip_hook *hook, struct gzip_member *m)
{
    struct gzip_fault *fault = (struct gzip_fault *)hook;
    size_t at = 0;

    if (m->number != fault->member)
        return;
    switch (fault->rule) {
    case RULE_GZ_001:
        at = METHOD_AT;
        m->bytes[at] = 7;
        break;
    case RULE_GZ_002:
        at = m->header;
        m->bytes[at] |= 6; /* a block of type 3 */
        break;
    case RULE_GZ_003:
        at = m->size - GZIP_TRAILER_SIZE;
        m->bytes[at] ^= 0xff;
        break;
    case RULE_GZ_004:
        at = m->size - GZIP_TRAILER_SIZE / 2;
        m->bytes[at] ^= 0xff;
        break;
    case RULE_GZ_005:
        m->size -= GZIP_TRAILER_SIZE + (m->size - GZIP_TRAILER_SIZE - m->header) / 2;
        m->ends = true;
        break;
    default:
        return;
    }
    fault->offset = m->at + at;
}

static size_t add_bytes(struct gzip_hook *hook, uint64_t at, const void **bytes)
{
    static const char garbage[] = "no member";
    static const uint8_t zeros[512];
    struct gzip_fault *fault = (struct gzip_fault *)hook;

    if (fault->rule != RULE_GZ_006 && fault->rule != RULE_GZ_008)
        return 0;
    fault->offset = at;
    *bytes = fault->rule == RULE_GZ_006 ? (const void *)garbage : zeros;
    return fault->rule == RULE_GZ_006 ? sizeof garbage - 1 : sizeof zeros;
}

void gzip_fault_init(struct gzip_fault *fault, int rule, uint64_t member)
{
    *fault = (struct gzip_fault){.hook = {.member = break_member, .end = add_bytes}, .rule = rule, .member = member};
}
