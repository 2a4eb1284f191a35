/* See trial.h. */
#include "repair/trial.h"

#include <stdio.h>

#include "engine/validate.h"

static int keep(void *context, const struct hprof_summary *summary)
{
    struct trial *trial = context;

    trial->errors = summary->errors;
    trial->unchecked = summary->skipped;
    trial->bytes = summary->bytes;
    trial->is_compressed = summary->compressed;
    trial->gzip_faults = count_gzip_faults(summary->totals);
    trial->has_header = summary->id_size == 4 || summary->id_size == 8;
    trial->header_lost = summary->header_lost;
    trial->is_part = summary->is_part;
    trial->has_segments = summary->record_counts[TAG_HEAP_DUMP_SEGMENT];
    trial->has_heap_info = summary->subrecord_counts[SUB_HEAP_DUMP_INFO];
    trial->has_heap_dump = summary->record_counts[TAG_HEAP_DUMP];
    snprintf(trial->failure, sizeof trial->failure, "%s", summary->failure);
    return 0;
}

struct trial try_dump(struct repair *r, struct input_source source)
{
    struct trial trial = {.errors = UINT64_MAX};
    struct hprof_allocator allocator;
    struct hprof_options options;

    hprof_options_init(&options);
    options.profile = r->profile;
    options.severities = r->asked.severities;
    options.on_summary = keep;
    options.context = &trial;
    repair_share_memory(r, &options, &allocator);
    trial.status = validate_with_jumps(source, &options, NULL, WANT_REFERENCES);
    return trial;
}
