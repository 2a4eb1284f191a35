/* See inflate.h. */
#include "inflate.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <unistd.h>

#include "write_all.h"

enum { CHUNK = 1 << 18 };

struct buffers {
    struct inflate_state state;
    uint8_t in[CHUNK], out[CHUNK];
};

bool is_gzip(int fd)
{
    uint8_t magic[2];

    return pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

static void begin_member(struct inflate_state *state)
{
    uint8_t *in = state->next_in;
    uint32_t left = state->avail_in;

    isal_inflate_reset(state);
    state->crc_flag = ISAL_GZIP;
    state->next_in = in;
    state->avail_in = left;
}

static bool inflate_all(int from, int to, struct buffers *b, uint64_t *size)
{
    off_t at = 0;
    ssize_t n = 1;
    int result = ISAL_DECOMP_OK;

    isal_inflate_init(&b->state);
    b->state.crc_flag = ISAL_GZIP;
    while (result == ISAL_DECOMP_OK) {
        if (b->state.avail_in == 0) {
            n = pread(from, b->in, CHUNK, at);
            if (n < 0)
                return false;
            at += n;
            b->state.next_in = b->in;
            b->state.avail_in = (uint32_t)n;
        }
        if (b->state.block_state == ISAL_BLOCK_FINISH) {
            if (b->state.avail_in == 0)
                break;
            begin_member(&b->state);
        }
        b->state.next_out = b->out;
        b->state.avail_out = CHUNK;
        result = isal_inflate(&b->state);
        if (!write_all(to, b->out, CHUNK - b->state.avail_out))
            return false;
        *size += CHUNK - b->state.avail_out;
        if (n == 0 && b->state.avail_out == CHUNK && b->state.block_state != ISAL_BLOCK_FINISH)
            break; /* the file ends within a member */
    }
    return true;
}

bool inflate_file(int from, int to, uint64_t *size)
{
    struct buffers *b = malloc(sizeof *b);
    bool done;

    *size = 0;
    if (b == NULL)
        return false;
    done = inflate_all(from, to, b, size);
    free(b);
    return done;
}
