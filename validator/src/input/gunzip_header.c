/* See gunzip_stream.h: a member's header (RFC 1952, 2.3), field by field. */
#include <isa-l/crc.h>
#include <stdio.h>

#include "input/gunzip_stream.h"
#include "input/gzip_header.h"

enum { HEADER_SIGHT = 256 /* bytes: gunzip_resume() may go back to them in a pipe */ };

static bool take_header_byte(struct gunzip *g, uint8_t *byte)
{
    if (!gunzip_take(g, byte))
        return false;
    g->header_crc = crc32_gzip_refl(g->header_crc, byte, 1);
    return true;
}

static bool take_header_u16(struct gunzip *g, uint16_t *value)
{
    uint8_t low, high;

    if (!take_header_byte(g, &low) || !take_header_byte(g, &high))
        return false;
    *value = (uint16_t)(low | high << 8);
    return true;
}

static bool pass_header_bytes(struct gunzip *g, unsigned n)
{
    uint8_t byte;

    while (n-- > 0)
        if (!take_header_byte(g, &byte))
            return false;
    return true;
}

static bool pass_header_text(struct gunzip *g)
{
    uint8_t byte;

    do {
        if (!take_header_byte(g, &byte))
            return false;
    } while (byte != 0);
    return true;
}

/* No member begins here. After a member that may have ended elsewhere, that is no fault of its own. */
static void end_without_member(struct gunzip *g, const char *found)
{
    if (g->now.end_is_doubtful) {
        g->now.part = NOTHING;
        g->ended_by_fault = g->ended_after_suspect = true;
        g->now.member--;
    } else {
        gunzip_fault(g, GZIP_TRAILING, g->now.member_offset, "1f 8b, or the end of the file", "%s", found);
    }
}

/* Whether nothing but zeros is left of the file, which is then at its end. */
static bool pass_zeros(struct gunzip *g)
{
    uint8_t byte;

    while (gunzip_take(g, &byte))
        if (byte != 0)
            return false;
    return !g->source->error;
}

/* A zero is where a member should begin. `gzip -t` ignores zeros up to the end of the file, which tapes and block devices leave. */
static void end_at_zero(struct gunzip *g, const char *found)
{
    if (!g->now.end_is_doubtful && pass_zeros(g))
        gunzip_fault(g, GZIP_ZEROS, g->now.member_offset, "the end of the file", "zeros to the end of the file");
    else if (g->source->error)
        g->now.part = NOTHING;
    else
        end_without_member(g, found);
}

/* Whether a member begins here. If not, the stream ends; without a fault if the file ends here. */
static bool read_magic(struct gunzip *g)
{
    uint8_t id1, id2 = 0;
    bool has_both;
    char found[40];

    if (g->may_resume && g->end - g->at < HEADER_SIGHT)
        gunzip_fetch(g);
    g->now.member_offset = g->now.offset;
    g->now.member_output = g->now.output;
    g->header_crc = 0;
    gunzip_take_snapshot(g);
    if (!take_header_byte(g, &id1)) {
        g->now.part = NOTHING;
        return false;
    }
    g->now.member++;
    has_both = take_header_byte(g, &id2);
    if (id1 == 0x1f && id2 == 0x8b)
        return true;
    if (has_both)
        snprintf(found, sizeof found, "%02x %02x", id1, id2);
    else
        snprintf(found, sizeof found, "%02x, then the end of the file", id1);
    if (!has_both && g->source->error)
        g->now.part = NOTHING;
    else if (id1 == 0 && id2 == 0)
        end_at_zero(g, found);
    else
        end_without_member(g, found);
    return false;
}

/* Reads the fields after the magic, up to the first fault. False if the file ends within them. */
static bool read_fields(struct gunzip *g)
{
    uint64_t at = g->now.offset;
    uint8_t method, flags;
    uint16_t extra_length, crc16, right;
    char expected[32];

    if (!take_header_byte(g, &method))
        return false;
    if (method != DEFLATE_METHOD) {
        gunzip_fault(g, GZIP_HEADER, at, "compression method 8", "compression method %u", method);
        return true;
    }
    if (!take_header_byte(g, &flags))
        return false;
    if (flags & RESERVED_FLAGS) {
        gunzip_fault(g, GZIP_HEADER, at + 1, "reserved flags of 0", "flags 0x%02x", flags);
        return true;
    }
    if (!pass_header_bytes(g, 4 /* MTIME */ + 1 /* XFL */ + 1 /* OS */))
        return false;
    if ((flags & FEXTRA) && (!take_header_u16(g, &extra_length) || !pass_header_bytes(g, extra_length)))
        return false;
    if (((flags & FNAME) && !pass_header_text(g)) || ((flags & FCOMMENT) && !pass_header_text(g)))
        return false;
    if (!(flags & FHCRC))
        return true;
    at = g->now.offset;
    right = (uint16_t)g->header_crc;
    if (!take_header_u16(g, &crc16))
        return false;
    if (crc16 != right) {
        snprintf(expected, sizeof expected, "CRC16 0x%04x", right);
        gunzip_fault(g, GZIP_HEADER, at, expected, "CRC16 0x%04x", crc16);
    }
    return true;
}

void gunzip_read_header(struct gunzip *g)
{
    if (!read_magic(g))
        return;
    if (!read_fields(g))
        gunzip_truncated(g, "header");
    if (g->now.part != HEADER)
        return;
    isal_inflate_init(&g->state);
    g->now.data_offset = g->now.offset;
    g->now.crc = 0;
    g->now.size = 0;
    g->member = g->members ? members_find(g->members, g->now.member_offset) : NULL;
    g->now.part = g->member ? INFLATED_DATA : DATA;
}
