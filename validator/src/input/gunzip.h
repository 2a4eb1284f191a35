/* One stream of bytes from a gzip file of any number of members (RFC 1952). */
#ifndef HPROF_GUNZIP_H
#define HPROF_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "input/input_source.h"

/* A fault of the gzip container. The names are those of the rules GZ-001 to GZ-008. */
enum gzip_fault {
    GZIP_VALID,
    GZIP_HEADER,    /* at the wrong field of the header. The stream ends before the member */
    GZIP_DATA,      /* at the first byte that makes the data invalid. The stream ends after the data before it */
    GZIP_CHECKSUM,  /* at the CRC32 field; ISIZE is then not checked. The stream continues if a member follows */
    GZIP_SIZE,      /* at the ISIZE field. The stream continues if a member follows */
    GZIP_TRUNCATED, /* at the header of the incomplete member. The stream ends after its last byte */
    GZIP_TRAILING,  /* at the first byte after the last member. The stream ends */
    GZIP_NESTED,    /* at the first member's header. The stream is empty */
    GZIP_ZEROS      /* at the first of the zeros that end the file. The stream ends normally */
};

struct gzip_finding {
    enum gzip_fault fault;
    uint64_t member;   /* from 1; for GZIP_TRAILING the one that should begin there */
    uint64_t offset;   /* in the compressed file */
    uint64_t start;    /* of the member's data, in the decompressed stream, */
    uint64_t end;      /* and of what was made of it so far */
    uint64_t data;     /* offset of the member's data in the compressed file */
    bool keeps_size;   /* GZIP_CHECKSUM: the size is right */
    bool data_ended;   /* all of the member's data was there: it is its trailer that is wrong */
    bool is_unwritten; /* GZIP_TRUNCATED: zeros are where the rest of the file should be */
    char expected[96]; /* ready to print */
    char found[96];
};

typedef void gzip_listener(void *context, const struct gzip_finding *finding);

/* Who is called for each fault; on_fault may be NULL. */
struct gzip_listening {
    gzip_listener *on_fault;
    void *context;
};

struct gunzip;

/* Begins with `size` bytes that were read from the source's start already, then reads it in blocks. The source must stay
 * where it is. NULL: no memory. For a seekable source, positions to return to are noted while there is memory. */
struct gunzip *gunzip_open(struct input_source *source, const uint8_t *start, size_t size, size_t block,
                           const struct sizes *sizes, struct memory *memory, gzip_listener *on_fault, void *context);
void gunzip_close(struct gunzip *g, struct memory *memory);

/* Reads up to `room` decompressed bytes. They end where a fault was found, and the next call reports it: so a fault is reported
 * when bytes after it are wanted, and once, however often its bytes are read. The first call must have room for 2. */
size_t gunzip_read(struct gunzip *g, uint8_t *to, size_t room);

/* Whether the stream has ended and all faults are reported. gunzip_read() may return 0 before that: it reports one fault a call. */
bool gunzip_ended(const struct gunzip *g);

/* Where the stream continues after a fault. */
struct gzip_resumption {
    uint64_t damaged; /* number of the member that could not be read to its end */
    uint64_t size;    /* of its data, by its ISIZE; GZIP_SIZE_UNKNOWN if that cannot be right */
    uint64_t made;    /* bytes that it gave */
    bool is_mended;   /* only its header is damaged: the stream continues with all of its data, and those bytes do not count */
};

#define GZIP_SIZE_UNKNOWN UINT64_MAX

/* Before the first read: a member of which both the checksum and the size are wrong then ends the stream, too, because what
 * follows it has other offsets than in the original. */
void gunzip_allow_resume(struct gunzip *g);

/* After a fault ended the stream: lets it continue with the next member, or with the same one, if one of the ten fixed bytes of its
 * header is wrong. Decompressed offsets continue as if nothing were missing;
 * gunzip_rewind() must not be called afterwards. False if no fault ended the stream, or no later member has a valid header. */
bool gunzip_resume(struct gunzip *g, struct gzip_resumption *resumption);

/* Whether a fault ended the stream, other than zeros or a dump that is compressed twice. */
bool gunzip_ended_by_fault(const struct gunzip *g);

/* Sets who is called for faults; returns who was called so far. */
struct gzip_listening gunzip_listen(struct gunzip *g, struct gzip_listening listening);

/* For another thread that reads: takes the memory that gunzip_read() cannot do without. False if there is none. */
bool gunzip_prepare_thread(struct gunzip *g);

/* Has threads inflate members ahead where that may pay: in a file that is seekable and not small. gunzip_end_inflating_ahead() must
 * follow; the stream may then be somewhat before its place. */
void gunzip_inflate_ahead(struct gunzip *g, unsigned threads);
void gunzip_end_inflating_ahead(struct gunzip *g);

/* The faults from a member on were reported to nobody. */
void gunzip_report_again(struct gunzip *g, uint64_t member);

/* The decompressed offset of the present member's first byte, or of the last one's. */
uint64_t gunzip_member_start(const struct gunzip *g);

/* gunzip_rewind() will be called for `target`, a decompressed offset shortly before the present one: its state is kept until the
 * next call. */
void gunzip_keep(struct gunzip *g, uint64_t target);

/* Goes to the nearest noted position at or before `target`: a member start, one in each 8 MiB of a long member, what gunzip_keep()
 * kept, a recent one, or the present one. Returns its decompressed offset. Only if the source is seekable. */
uint64_t gunzip_rewind(struct gunzip *g, uint64_t target);

#endif
