/* What may change the members of a gzip file before they are written: a fault or a damage. */
#ifndef HPROF_GEN_GZIP_HOOK_H
#define HPROF_GEN_GZIP_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GZIP_TRAILER_SIZE = 8 }; /* checksum and size (RFC 1952, 2.3) */

struct gzip_member {
    uint8_t *bytes;       /* may be changed */
    size_t size;          /* may be made smaller; 0: the member is left out */
    size_t header;        /* the size of its header */
    uint64_t number, at;  /* from 0; its offset in the file */
    const uint8_t *block; /* what was compressed */
    size_t block_size;
    bool ends; /* set: the file ends after it */
};

struct gzip_hook {
    void (*member)(struct gzip_hook *hook, struct gzip_member *member);
    /* After the last member: returns the number of bytes that follow, which are in *bytes. NULL for none. */
    size_t (*end)(struct gzip_hook *hook, uint64_t at, const void **bytes);
};

#endif
