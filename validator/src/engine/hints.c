/* The hint: one sentence for people about the usual cause of the findings. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/evidence.h"
#include "engine/go_to_way.h"
#include "format/id_size.h"
#include "input/transfer.h"

#define LATIN1 "transferred as text: each byte from 128 on became a character of Latin-1 in UTF-8, which "
#define EARLY_END "the disk was full, the VM was killed, or a copy was cut short"
#define TRUNCATED "the dump was truncated (" EARLY_END ")"
#define BEFORE_OBJECTS TRUNCATED " before its objects: they may be in parts, FILE.p0 and so on"

enum { REPLACED_LEAST = 2 };

/* A program that decodes bytes as UTF-8 and encodes them again replaces invalid bytes by U+FFFD (EF BF BD), so all is valid
 * UTF-8. */
static bool was_transcoded(const uint8_t *p, size_t n)
{
    enum { CHARACTER_MOST = 4 };
    size_t replaced = 0;

    for (size_t i = 0; i + 2 < n; i++)
        replaced += p[i] == 0xef && p[i + 1] == 0xbf && p[i + 2] == 0xbd;
    return replaced >= REPLACED_LEAST && utf8_valid(p, n) + CHARACTER_MOST > n;
}

void look_for_text(struct engine *e)
{
    size_t sample = e->run.sizes.text_sample, n = input_need(&e->in, sample);

    if (n > sample)
        n = sample;
    e->transfer = transfer_of(e->in.at, n);
    e->was_transcoded = was_transcoded(e->in.at, n);
    e->id_size_is_wrong = id_size_is_wrong(e->in.at, n);
}

/* Called after reading: a dump without an error was not transferred as text, whatever its first bytes look like. */
void conclude_transfer(struct engine *e)
{
    struct counts *sum = &e->run.sum;

    if (e->run.memory.exhausted || e->in.error)
        return;
    if (count_gzip_faults(e->run.summary->totals))
        sum->transfer |= e->in.transfer;
    if (sum->sound_until >= sum->bytes)
        return;
    sum->transfer |= e->high_bytes ? e->transfer & ~(unsigned)TRANSFER_WITHOUT_HIGH_BYTES : e->transfer;
    if (!sum->transfer && e->was_transcoded)
        sum->transfer = HPROF_TRANSFER_REPLACED;
}

enum { SECTOR = 512, LEAST_ZEROS = SECTOR };

/* Whether there is a row of zeros in n bytes. */
static bool has_zeros(const uint8_t *p, size_t n)
{
    size_t zeros = 0;

    for (size_t i = 0; i < n && zeros < LEAST_ZEROS; i++)
        zeros = p[i] ? 0 : zeros + 1;
    return zeros == LEAST_ZEROS;
}

void look_for_skipped_zeros(struct engine *e, uint64_t from)
{
    uint64_t here = e->in.offset;
    size_t n;

    if (e->framing.zeros_at || here - from > WAY_SIGHT || !go_to(e, from))
        return;
    n = look_at(&e->in, (size_t)(here - from), here - from);
    e->framing.zeros_at = has_zeros(e->in.at, n) ? from : 0;
    go_to(e, here);
}

static bool are_zeros(const uint8_t *p, size_t n)
{
    return !*p && memcmp(p, p + 1, n - 1) == 0;
}

/* Whether all bytes to the end of the file are zeros, from some bytes on: a file is extended before it is written. */
static bool are_last_zeros(struct engine *e, uint64_t after)
{
    enum { LEAST = RECORD_HEADER_SIZE, SIGHT = 64 << 10 /* or as many follow */ };
    size_t n = look_at(&e->in, (size_t)after + SIGHT, UINT64_MAX);

    return n >= after + LEAST && are_zeros(e->in.at + after, n - (size_t)after);
}

uint64_t zeros_may_begin(struct engine *e, uint8_t tag, uint64_t bad_at)
{
    return tag == SUB_CLASS_DUMP || (e->in.offset + bad_at) % SECTOR < bad_at || are_last_zeros(e, bad_at) ? bad_at : 0;
}

/* How many zeros there are around an offset, if there is one at it; of those before it and after it, as many as are needed. The
 * input stays where it is. */
static uint64_t zeros_around(struct engine *e, uint64_t at)
{
    uint64_t here = e->in.offset, first = at < LEAST_ZEROS ? 0 : at - LEAST_ZEROS, zeros = 0;
    size_t n, middle;

    if (!input_can_go_back(&e->in, first) || !go_to(e, first))
        first = here;
    middle = (size_t)(at - first);
    n = look_at(&e->in, middle + LEAST_ZEROS, UINT64_MAX);
    while (middle + zeros < n && !e->in.at[middle + zeros])
        zeros++;
    while (zeros > 0 && middle > 0 && !e->in.at[middle - 1]) {
        middle--;
        zeros++;
    }
    go_to(e, here);
    return zeros;
}

void look_for_zeros(struct engine *e, uint64_t after)
{
    size_t n;

    if (!e->framing.zeros_at && (zeros_around(e, e->in.offset + after) >= LEAST_ZEROS || are_last_zeros(e, after)))
        e->framing.zeros_at = e->in.offset + after;
    if (!e->high_bytes && (e->transfer & TRANSFER_WITHOUT_HIGH_BYTES)) {
        n = look_at(&e->in, TRANSFER_SIGHT, UINT64_MAX);
        e->high_bytes = has_high_byte(e->in.at, n < TRANSFER_SIGHT ? n : TRANSFER_SIGHT);
    }
}

/* The zeros at a failure end here, where a sub-record begins. If no sector of a disk begins or ends shortly before the one or the
 * other, they may be the last elements of an array whose count is wrong. */
static void doubt_zeros(struct engine *e, uint64_t here)
{
    enum { LAST_BYTES = 16 };
    uint64_t size = here - e->framing.zeros_at;

    if (size > WAY_SIGHT || here % SECTOR < LAST_BYTES || e->framing.zeros_at % SECTOR < LAST_BYTES ||
        !go_to(e, e->framing.zeros_at) || look_at(&e->in, (size_t)size, size) < size)
        return;
    if (are_zeros(e->in.at, (size_t)size))
        e->framing.zeros_at = 0;
}

void look_for_stripped_array(struct engine *e)
{
    enum { OBJECT_BITS = 12 }; /* see evidence.h */
    size_t header = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, e->file.id_size), size = header + HEAD_SIZE;
    uint64_t last = 0;

    if (*e->in.at != SUB_PRIMITIVE_ARRAY_DUMP || e->in.offset < e->framing.stripped.last || input_need(&e->in, size) < size ||
        !get_u4(e->in.at + 1 + OFFSET_OF(PRIMITIVE_ARRAY_DUMP, elements, e->file.id_size)) ||
        bits_of_subrecord(&e->file, e->in.at + header, &last) < OBJECT_BITS)
        return;
    e->framing.stripped.count++;
    e->framing.stripped.last = e->in.offset + 1;
}

void note_left_out(struct engine *e, uint64_t from, uint64_t stated_end)
{
    uint64_t here = e->in.offset;

    if (from <= stated_end && stated_end < here)
        e->framing.left_out_end = stated_end;
    if (e->framing.zeros_at >= from && e->framing.zeros_at < here && input_need(&e->in, 1))
        doubt_zeros(e, here);
    go_to(e, here);
}

/* Whether what is here may follow a heap dump record whose rest is lost. Records that come before heap dumps follow where bytes are
 * there twice. */
static bool ends_heap_record(struct engine *e)
{
    return !input_need(&e->in, 1) || is_heap_dump_record(*e->in.at) || *e->in.at == TAG_HEAP_DUMP_END;
}

void note_gap(struct engine *e, uint64_t record_at, uint64_t stated_end)
{
    const uint64_t here = e->in.offset;
    uint64_t failed_at = e->framing.failed_at;

    /* A sub-record crosses the end of its record also where the record's length is too small. */
    if (here < stated_end && e->framing.crossed_at > failed_at)
        failed_at = e->framing.crossed_at;
    /* A failure here means that the length alone is wrong. */
    if (e->framing.gap.missing || e->framing.gap.extra || here == stated_end || failed_at <= record_at || failed_at >= here ||
        stated_end == e->framing.left_out_end)
        return;
    e->framing.gap.at = record_at;
    e->framing.gap.ends_dump = !input_need(&e->in, 1);
    if (here > stated_end)
        e->framing.gap.extra = here - stated_end;
    else if (ends_heap_record(e))
        e->framing.gap.missing = stated_end - here;
}

/* "8 KB", "700 bytes"; and the verb for them */
static const char *show_size(char to[32], uint64_t bytes)
{
    enum { KIB = 1024 };
    unsigned long long number = bytes < KIB ? bytes : (bytes + KIB / 2) / KIB;

    snprintf(to, 32, bytes >= KIB ? "%llu KB" : number == 1 ? "%llu byte" : "%llu bytes", number);
    return number == 1 ? "is" : "are";
}

/* The dump has its end, or ends with a whole HEAP_DUMP, so it was not truncated. */
static bool end_is_there(const struct engine *e)
{
    const struct framing *f = &e->framing;

    return e->run.sum.bytes && (f->complete_until == e->run.sum.bytes || f->heap_until == e->run.sum.bytes);
}

/* Whether more objects are missing than there were in the bytes that were left out. */
static bool has_lost_more(const struct engine *e)
{
    const uint64_t least = 1 + SIZE_OF(PRIMITIVE_ARRAY_DUMP, e->file.id_size);

    return e->run.summary->missing_objects > e->run.sum.skipped / least;
}

/* What lengths say of a part in the middle; NULL for nothing. A wrong length says the same, if nothing else is wrong. */
static const char *describe_gap(struct engine *e)
{
    enum { LEAST_RECORD = 512 }; /* bytes: few heap dump records are shorter */
    const unsigned long long at = e->framing.gap.at;
    const uint64_t missing = e->framing.gap.missing, extra = e->framing.gap.extra;
    char size[32], *hint = e->run.summary->hint_text;
    const char *verb;

    if ((e->framing.truncated && !end_is_there(e) && !e->framing.gap.ends_dump) || e->framing.within_subrecord ||
        missing > e->run.sum.bytes) /* the length is wrong */
        return NULL;
    verb = show_size(size, missing ? missing : extra);
    if (missing)
        snprintf(hint, HPROF_HINT_SIZE, "about %s %s missing in the heap dump record at 0x%llx: a part in the middle was lost",
                 size, verb, at);
    else if (extra > e->run.sum.skipped && extra >= LEAST_RECORD) /* most of them are sub-records */
        snprintf(hint, HPROF_HINT_SIZE,
                 "the heap dump record at 0x%llx ends %s before another begins: a part in the middle was lost, with the header "
                 "of the next one",
                 at, size);
    else if (extra && !has_lost_more(e))
        snprintf(hint, HPROF_HINT_SIZE,
                 "the heap dump record at 0x%llx has about %s too many: bytes were inserted, or the next header was lost", at,
                 size);
    else
        return NULL;
    return hint;
}

static const char *describe_doubled(struct engine *e)
{
    char size[32], *hint = e->run.summary->hint_text;
    const char *verb;

    if (e->framing.begin) {
        snprintf(hint, HPROF_HINT_SIZE,
                 "the dump begins anew at 0x%llx: a download broke off, and was made again after what was there",
                 (unsigned long long)e->framing.doubled.at);
        return hint;
    }
    verb = show_size(size, e->framing.doubled.size);
    snprintf(hint, HPROF_HINT_SIZE, "the %s before 0x%llx %s there twice, one after the other", size,
             (unsigned long long)e->framing.doubled.at, verb);
    return hint;
}

static const char *describe_second_header(struct engine *e)
{
    char *hint = e->run.summary->hint_text;

    snprintf(hint, HPROF_HINT_SIZE, "another dump begins at 0x%llx: two files were joined; check each by itself",
             (unsigned long long)e->framing.second_header);
    return hint;
}

static const char *describe_wrong_tag(struct engine *e)
{
    char *hint = e->run.summary->hint_text;

    snprintf(hint, HPROF_HINT_SIZE,
             "the tag at 0x%llx is wrong: the segments after this record are of its heap dump, as they refer to what it holds",
             (unsigned long long)e->framing.before_segments);
    return hint;
}

/* The bytes that a damaged member gives were read, although nothing of them is reported. */
static const char *describe_damaged_member(struct engine *e)
{
    uint64_t at = e->checkpoints ? e->checkpoints->failed_at : 0;
    char *hint = e->run.summary->hint_text;

    if (!at)
        return "the compressed data is damaged, as a faulty disk or copy leaves it";
    snprintf(hint, HPROF_HINT_SIZE,
             "the compressed data is damaged: what it gives cannot be read from about 0x%llx of the dump on",
             (unsigned long long)at);
    return hint;
}

/* A heap in which nothing is reachable. A sample of a few objects needs no roots. */
static bool has_objects_without_roots(const struct engine *e)
{
    enum { LEAST = 16 };
    const uint64_t *counts = e->run.sum.subrecord_counts;
    uint64_t objects = counts[SUB_INSTANCE_DUMP] + counts[SUB_OBJECT_ARRAY_DUMP] + counts[SUB_PRIMITIVE_ARRAY_DUMP], all = 0;

    for (size_t tag = 0; tag < 256; tag++)
        all += counts[tag];
    return objects >= LEAST &&
           all == objects + counts[SUB_CLASS_DUMP] + counts[SUB_PRIMITIVE_ARRAY_NODATA] + counts[SUB_HEAP_DUMP_INFO];
}

/* The last record is a heap dump record. */
static bool is_within_heap_dump(const struct engine *e)
{
    return e->framing.last_heap.record_at && e->framing.last_heap.record_at == e->position.record_at;
}

const char *choose_hint(struct engine *e)
{
    /* Of a lost segment; of strings, after more than one wrong byte; of a stripped dump. */
    enum { LEAST_MISSING = 16, LEAST_STRINGS = 4, LEAST_STRIPPED = 2 };
    static const char within[] = "bytes within the dump are wrong, missing or too many, as a faulty disk or copy leaves them";
    bool lost_something = e->file.losses.definitions || e->file.losses.heap_dump;
    bool resumed = lost_something && !e->framing.truncated;
    bool may_have_parts = e->file.version == V102 && !e->framing.last_heap.record_at;
    const char *gap;
    const uint64_t *totals = e->run.summary->totals;
    const struct {
        enum rule rule;
        const char *cause;
    } causes[] = {
        {RULE_REC_012, e->file.version == V101
                           ? "a wrapped length: the heap dump is larger than 4 GiB, too large for one HEAP_DUMP record of 1.0.1"
                           : "a wrapped length: an array is larger than 4 GiB, too large for one HEAP_DUMP_SEGMENT"},
        {RULE_REC_011, "a length that was never filled in: the VM was killed, or the disk was full, while the heap was dumped"},
        {RULE_GZ_005, end_is_there(e)
                          ? "the dump inside is complete, and only the checksum at the end of the gzip file is missing"
                      : e->framing.is_unwritten
                          ? "zeros are where the gzip file should go on: its rest was never written, or a copy was not finished"
                          : EARLY_END},
        {RULE_REC_001, may_have_parts ? BEFORE_OBJECTS : TRUNCATED ", or other bytes were appended"},
        {RULE_REC_002, end_is_there(e)
                           ? "a length is wrong, or a part in the middle is missing or wrong: the end of the dump is there"
                       : resumed                     ? within
                       : e->framing.within_subrecord ? EARLY_END
                       : may_have_parts              ? BEFORE_OBJECTS
                       : is_within_heap_dump(e)      ? TRUNCATED ", a part in the middle was lost, or a length is wrong"
                                                     : TRUNCATED ", or a length is wrong"},
        {RULE_HDR_005, "the disk was full, or the VM was killed at once"},
        {RULE_REC_016, "the VM was killed, or the disk was full, before the heap dump was written"},
        {RULE_REC_007, "a missing HEAP_DUMP_END: the dump was interrupted, or the merge of its parts was not finished"},
    };
    bool is_malformed = e->run.sum.sound_until < e->run.sum.bytes;

    if (e->run.memory.exhausted || e->in.error)
        return NULL;
    if (e->run.sum.is_part)
        return "the VM was killed while it dumped, and this is a part of the dump: FILE.p0, FILE.p1 and so on belong after "
               "FILE";
    if (e->lost_gzip)
        return "the beginning of the gzip file is damaged, or was lost, and the dump follows";
    if (e->run.summary->header_lost && e->file.id_size)
        return e->file.id_size == 4 ? "the header is damaged: it says that IDs have 4 bytes, and in the records they have 8"
                                    : "the header is damaged: it says that IDs have 8 bytes, and in the records they have 4";
    if (e->run.summary->header_lost)
        return "the header is damaged, or the beginning was lost, and the dump follows";
    if (totals[RULE_GZ_007] && !e->file.id_size)
        return "the dump was compressed twice: gunzip it once";
    if (e->run.sum.transfer & HPROF_TRANSFER_TEXT_BEFORE)
        return "text precedes the dump: a message of the tool that wrote it, or the headers of a download";
    if (e->run.sum.transfer & HPROF_TRANSFER_CRLF)
        return "transferred as text: each LF became CR LF, which can be undone exactly";
    if (e->run.sum.transfer & HPROF_TRANSFER_LATIN1)
        return e->file.id_size || (e->run.sum.transfer & HPROF_TRANSFER_GZIP) ? LATIN1 "can be undone exactly"
                                                                              : LATIN1
                   "iconv -f UTF-8 -t ISO-8859-1 undoes exactly";
    if (e->run.sum.transfer & HPROF_TRANSFER_SEVEN_BIT)
        return "transferred as text: the highest bit of each byte was cleared and is lost; transfer the dump again, in binary "
               "mode";
    if (e->run.sum.transfer & HPROF_TRANSFER_ASCII)
        return "transferred as text: each byte from 128 on became '?' and is lost; transfer the dump again, in binary mode";
    if (e->run.sum.transfer & HPROF_TRANSFER_REPLACED)
        return "transferred as text: bytes that are not UTF-8 were replaced by U+FFFD (EF BF BD) and are lost; transfer the "
               "dump again, in binary mode";
    if (totals[RULE_GZ_002] || totals[RULE_GZ_003] || totals[RULE_GZ_004])
        return describe_damaged_member(e);
    if (e->garbage_after && end_is_there(e))
        return "the dump is complete, and other bytes follow its gzip data: something was appended, or it was written over a "
               "longer file";
    if (e->framing.second_header)
        return describe_second_header(e);
    if (e->framing.before_segments && (totals[RULE_OBJ_002] || totals[RULE_REF_001]) && !is_malformed)
        return describe_wrong_tag(e);
    if (is_malformed && e->framing.complete_until && e->run.sum.sound_until == e->framing.complete_until)
        return "bytes follow the end of the dump: something was appended to it, or it was written over a longer file";
    if (e->framing.appended)
        return "bytes follow the end of the dump, which is damaged, too: pieces were joined in the wrong order, or something "
               "was appended";
    if (is_malformed && e->framing.heap_until && e->run.sum.sound_until == e->framing.heap_until)
        return "no whole record follows the last heap dump: the dump was truncated there, something was appended to it, or its "
               "length is wrong";
    if (e->framing.stripped.count >= LEAST_STRIPPED && e->file.version == V103)
        return "perhaps KOOM stripped the dump, which leaves out the contents of arrays: its own tool restores them";
    if (e->framing.doubled.size)
        return describe_doubled(e);
    if (e->framing.zeros_at)
        return "zeros are where records should be: a part of the file was never written, or a copy of it was not finished";
    gap = describe_gap(e);
    if (gap)
        return gap;
    if (e->framing.failed && !end_is_there(e))
        return resumed ? within : NULL;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (totals[causes[i].rule])
            return causes[i].cause;
    if (lost_something)
        return within;
    if (totals[RULE_STR_006] > e->run.summary->quirks[RULE_STR_006] + e->run.summary->quirk_notes[RULE_STR_006])
        return totals[RULE_STR_006] < LEAST_STRINGS
                   ? "strings are missing that names refer to: their records were lost or damaged, or IDs are wrong"
                   : "strings are missing that names refer to: bytes among the UTF8 records were lost or never written, or a "
                     "length there is wrong";
    if (e->run.sum.found_lost)
        return "objects lie within an array, an instance or a class whose count is too large";
    if (heap_dump_is_empty(&e->run.sum) && e->run.summary->incomplete)
        return "the heap dump is empty: its records were lost, or what wrote it left all objects out";
    if (has_objects_without_roots(e))
        return "no GC root is in the heap dump: analysers will drop every object";
    if (e->run.summary->missing_objects >= LEAST_MISSING && e->run.options->profile != PROFILE_STRICT)
        return "a whole segment or part of the heap dump was lost, references in it are wrong, or what wrote the dump left "
               "objects out";
    return NULL;
}
