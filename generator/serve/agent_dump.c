/* See agent_dump.h. The files of the server trust what was checked here. */
#include "agent_dump.h"

#include <stdio.h>
#include <sys/stat.h>

#include "format/format.h"

enum { AGENT_ID_SIZE = 4 };

static enum hprof_status refuse(char failure[HPROF_FAILURE_SIZE], const char *why)
{
    snprintf(failure, HPROF_FAILURE_SIZE, "%s", why);
    return HPROF_INVALID;
}

/* NULL if all of them are there. */
static const char *missing_record(const struct hprof_summary *summary, bool has_samples)
{
    static const uint8_t needed[] = {TAG_START_THREAD, TAG_TRACE, TAG_ALLOC_SITES};

    for (size_t i = 0; i < sizeof needed; i++)
        if (!summary->record_counts[needed[i]])
            return hprof_record_name(needed[i]);
    if (has_samples && !summary->record_counts[TAG_CPU_SAMPLES])
        return hprof_record_name(TAG_CPU_SAMPLES);
    return summary->record_counts[TAG_HEAP_DUMP] || summary->record_counts[TAG_HEAP_DUMP_SEGMENT]
               ? NULL
               : hprof_record_name(TAG_HEAP_DUMP);
}

enum hprof_status agent_dump_check(int fd, bool has_samples, char failure[HPROF_FAILURE_SIZE])
{
    struct hprof_options options;
    struct hprof_summary summary;
    struct stat about;
    const char *missing;

    if (fstat(fd, &about) == 0 && !S_ISREG(about.st_mode))
        return refuse(failure, "no regular file: parts of the dump are sent as commands ask for them");
    hprof_options_init(&options);
    options.profile = hprof_profile_find("jdk8-agent");
    hprof_summary_init(&summary);
    if (hprof_validate_fd(fd, &options, &summary) > HPROF_INVALID) {
        snprintf(failure, HPROF_FAILURE_SIZE, "%s", summary.failure);
        return summary.status;
    }
    if (summary.compressed)
        return refuse(failure, "the dump is compressed: gunzip it first");
    if (summary.status != HPROF_VALID)
        return refuse(failure, "not a valid dump of the agent: hprof-validate --profile jdk8-agent says why");
    if (summary.id_size != AGENT_ID_SIZE)
        return refuse(failure, "its IDs have 8 bytes, those of the agent have 4");
    missing = missing_record(&summary, has_samples);
    if (!missing)
        return HPROF_VALID;
    snprintf(failure, HPROF_FAILURE_SIZE, "it has no %s: the agent writes it with heap=all%s", missing,
             has_samples ? ",cpu=samples" : "");
    return HPROF_INVALID;
}
