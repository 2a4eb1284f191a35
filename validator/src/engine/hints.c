/* The hint: one sentence for people about the usual cause of the findings. */
#include <string.h>

#include "base/utf8.h"
#include "engine/engine.h"

#define EARLY_END "the disk was full, the VM was killed, or a copy was cut short"

enum { LINE_ENDS_LEAST = 4, REPLACED_LEAST = 2 };

/* A transfer as text turns each LF into CR LF, so every LF follows a CR, which does not happen by chance. */
static bool line_ends_were_changed(const uint8_t *p, size_t n)
{
    size_t line_ends = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i] != '\n')
            continue;
        if (!i || p[i - 1] != '\r')
            return false;
        line_ends++;
    }
    return line_ends >= LINE_ENDS_LEAST;
}

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
    e->line_ends_changed = line_ends_were_changed(e->in.at, n);
    e->was_transcoded = was_transcoded(e->in.at, n);
}

void look_for_zeros(struct engine *e)
{
    enum { LEAST = 32 };
    size_t n = look_at(&e->in, LEAST, UINT64_MAX), i = 0;

    while (i < n && !e->in.at[i])
        i++;
    e->framing.zeros |= n == LEAST && i == n;
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

const char *choose_hint(const struct engine *e)
{
    const uint64_t *totals = e->run.summary->totals;
    const struct {
        enum rule rule;
        const char *cause;
    } causes[] = {
        {RULE_REC_012, "a wrapped length: the heap dump is larger than 4 GiB, too large for one HEAP_DUMP record of 1.0.1"},
        {RULE_REC_011, "a length that was never filled in: the VM was killed, or the disk was full, while the heap was dumped"},
        {RULE_GZ_005, e->framing.complete_until && e->framing.complete_until == e->run.sum.bytes
                          ? "the dump inside is complete, and only the checksum at the end of the gzip file is missing"
                          : EARLY_END},
        {RULE_REC_001, "the dump was truncated (" EARLY_END "), or other bytes were appended"},
        {RULE_REC_002,
         e->framing.within_subrecord ? EARLY_END : "the dump was truncated (" EARLY_END "), or a length is wrong"},
        {RULE_HDR_005, "the disk was full, or the VM was killed at once"},
        {RULE_REC_007, "a missing HEAP_DUMP_END: the dump was interrupted, or the merge of its parts was not finished"},
    };
    bool is_malformed = e->run.sum.sound_until < e->run.sum.bytes;

    if (e->run.memory.exhausted || e->in.error)
        return NULL;
    if (is_malformed && e->line_ends_changed)
        return "transferred as text: each LF became CR LF; transfer the dump again, in binary mode";
    if (is_malformed && e->was_transcoded)
        return "transferred as text: bytes that are not UTF-8 were replaced by U+FFFD (EF BF BD) and are lost";
    if (e->framing.second_header)
        return "the header of another dump is where a record should be: two files were joined; check each by itself";
    if (is_malformed && e->framing.complete_until && e->run.sum.sound_until == e->framing.complete_until)
        return "bytes follow the end of the dump: something was appended to it";
    if (e->framing.zeros)
        return "zeros are where records should be: a part of the file was never written, or a copy of it was not finished";
    if (totals[RULE_REC_013] && e->file.version == V103)
        return "perhaps KOOM stripped the dump, which leaves out the contents of arrays: its own tool restores them";
    if (e->framing.failed)
        return NULL;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (totals[causes[i].rule])
            return causes[i].cause;
    if (e->file.losses.definitions || e->file.losses.heap_dump)
        return "part of the dump was not checked: what it may define is not reported to be undefined";
    if (has_objects_without_roots(e))
        return "no GC root is in the heap dump: analysers will drop every object";
    return NULL;
}
