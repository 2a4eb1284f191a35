/* Recovery (RULES.md M.2): what to do when plain reading has failed. Pure functions of the bytes around the failure: they
 * allocate nothing, know neither rules nor findings, and see a limited number of bytes beyond the failure. */
#ifndef HPROF_RECOVERY_H
#define HPROF_RECOVERY_H

#include "format/walk.h"

enum { WAY_SIGHT = 1 << 20 /* where the way is sought */ };

/* The length that the body of a record must have, by its kind and its count. LENGTH_ANY if its kind allows any from `least` on
 * (*least is then what its fixed part takes), or if the count is out of sight. `body` are the first bytes of the body. */
#define LENGTH_ANY UINT64_MAX
uint64_t right_length(unsigned tag, const struct sight *body, uint64_t *least);

/* Whether records follow at an offset: up to `count` of them, each with a defined tag and a length that its kind allows, one
 * after the other, that ends within the dump, as far as can be seen; or the end of the dump. */
bool records_follow(const struct sight *s, uint64_t at, unsigned count);

/* Whether sub-records follow at an offset, up to the end of a heap dump record `left` bytes after it. */
bool subrecords_follow(const struct sight *s, uint64_t at, uint64_t left);

/* Whether the segment of `length` bytes that begins the sight begins with the last `rest` bytes of a sub-record, or is shorter than
 * these: its start is not a chain of sub-records, but its bytes after the rest are. If another segment follows, the last sub-record
 * of a chain may cross the end of this one; at the start only after a whole one, because that is less evidence. */
bool segment_continues(const struct sight *segment, uint64_t length, uint64_t rest);

/* Whether a sub-record follows. */
bool subrecord_follows(const struct sight *s);

/* Where checking resumes after a record whose length is not the one of its kind or count; offsets are from the start of its
 * body. */
enum resume {
    RESUME_AT_DECLARED, /* a record follows there */
    RESUME_AT_RIGHT,    /* only there */
    RESUME_UNSEEN,      /* at the declared length, which is out of sight: whether a record follows there is not known */
    RESUME_NOWHERE
};
enum resume resume_after_record(const struct sight *body, uint64_t declared, uint64_t right);

/* Whether anything can follow the declared size of a sub-record. Sizes include the tag; `left` bytes of the heap dump record
 * begin at s->at, with the sub-record. */
bool leads_on(const struct sight *s, uint64_t declared, uint64_t left);
/* Whether checking resumes at the size that its class gives an instance, not at the declared one. Only if nothing can follow the
 * declared size, and sub-records follow the other. */
bool resume_by_class(const struct sight *s, uint64_t declared, uint64_t by_class, uint64_t left);

/* What a skipped record may have defined (enum may_define) if its tag was wrong: by its length; */
unsigned definitions_of_length(uint64_t length, unsigned id_size);
/* by its tag. */
unsigned definitions_of_tag(unsigned tag);

#endif
