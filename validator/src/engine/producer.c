/* Guesses the producer of a dump from its quirks and class names (PRODUCERS.md A). */
#include <string.h>

#include "engine/engine.h"

/* A class that every dump of a JDK version or a later one has loaded, and no dump of an earlier one; the oldest first. */
static const struct {
    const char *class, *producer;
} versions[] = {{"java/lang/reflect/Executable", "HotSpot 8"},
                {"java/lang/Module", "HotSpot 9 to 16"},
                {"java/util/HexFormat", "HotSpot 17 to 20"},
                {"java/util/SequencedCollection", "HotSpot 21 to 24"},
                {"java/lang/ClassFrameInfo", "HotSpot 25"},
                {"java/lang/LazyConstant", "HotSpot 26 or 27"},
                {"jdk/internal/value/ValueClass", "HotSpot 28 or later"}};

struct names {
    bool slashed, dotted, bracketed, svm;
    size_t version; /* 1 + the last of the versions whose class is there */
};

static void look_at_name(struct names *names, const char *name, size_t n)
{
    names->slashed |= memchr(name, '/', n) != NULL;
    names->dotted |= memchr(name, '.', n) != NULL && !memchr(name, '/', n);
    names->bracketed |= n > 2 && name[0] != '[' && memcmp(name + n - 2, "[]", 2) == 0;
    names->svm |= n > 13 && (memcmp(name, "com.oracle.svm", 14) == 0 || memcmp(name, "com/oracle/svm", 14) == 0);
    for (size_t i = names->version; i < sizeof versions / sizeof *versions; i++)
        if (strlen(versions[i].class) == n && memcmp(versions[i].class, name, n) == 0)
            names->version = i + 1;
}

struct producer guess_producer(const struct run *run, const struct file *file)
{
    const struct producer_signs *signs = &file->signs;
    struct names names = {0};
    bool heap_dump = run->sum.record_counts[TAG_HEAP_DUMP] != 0, segment = run->sum.record_counts[TAG_HEAP_DUMP_SEGMENT] != 0;

    for (size_t i = 0; i < file->classes.loaded.count; i++) {
        const struct class *class = chunks_at(&file->classes.loaded, i);
        struct string_text text;

        if (strings_text(&file->strings, class->name, &text) && text.kept)
            look_at_name(&names, (const char *)text.bytes, text.kept);
    }

    if (file->version == V103)
        return (struct producer){PROFILE_ANDROID, "Android"};
    if (signs->first_tag == TAG_CONTROL_SETTINGS && file->version == V101 && names.slashed && !names.dotted)
        return (struct producer){PROFILE_JVMPI_AGENT, "the HPROF agent of JDK 1.2 to 1.4"};
    if (signs->first_tag == TAG_CONTROL_SETTINGS && file->id_size == 4)
        return (struct producer){PROFILE_JDK8_AGENT, "the HPROF agent of JDK 5 to 8"};
    if (names.svm)
        return (struct producer){PROFILE_GRAALVM, "GraalVM native image"};
    if (!signs->any_time && names.slashed && !names.bracketed && (heap_dump || segment)) {
        /* The serviceability agent begins with the stack trace that HotSpot writes after the classes. HotSpot 5 began with it too,
         * but wrote 1.0.1 and sticky classes; the agent writes sticky classes since 27, and 1.0.2 since 11. */
        if (signs->first_tag == TAG_TRACE && (file->version != V101 || !run->sum.subrecord_counts[SUB_ROOT_STICKY_CLASS]))
            return (struct producer){PROFILE_SA, "the serviceability agent (jhsdb jmap)"};
        if (signs->trace_one_empty)
            return (struct producer){PROFILE_HOTSPOT, names.version ? versions[names.version - 1].producer : "HotSpot"};
    }
    if (names.bracketed && names.dotted && signs->trace_one_empty && signs->trace_one_thread == 1 && segment)
        return (struct producer){PROFILE_MAT, "Eclipse MAT"};
    return (struct producer){PROFILE_STRICT, ""};
}
