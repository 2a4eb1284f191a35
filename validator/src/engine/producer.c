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
    bool lacks_some; /* a class that is loaded has none */
    size_t version;  /* 1 + the last of the versions whose class is there */
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

static struct names look_at_names(const struct file *file)
{
    struct names names = {0};

    for (size_t i = 0; i < file->classes.loaded.count; i++) {
        const struct class *class = chunks_at(&file->classes.loaded, i);
        struct string_text text;

        if (!strings_text(&file->strings, class->name, &text) || string_is_stand_in(&text))
            names.lacks_some = true;
        else if (text.kept)
            look_at_name(&names, (const char *)text.bytes, text.kept);
    }
    return names;
}

/* Whether most string IDs are addresses in a VM, of its own symbols: HotSpot's and the serviceability agent's are. Others count
 * strings, so that few of their IDs are multiples of 4 or 8. */
static bool has_addresses(const struct run *run, const struct file *file)
{
    return file->signs.addresses > run->sum.record_counts[TAG_UTF8] / 2;
}

/* HotSpot writes segments in 1.0.2. Shark's copy of a dump has one HEAP_DUMP (PRODUCERS.md A.7). */
static bool may_be_copy(const struct file *file)
{
    return file->version == V102 && file->heap_index.records && !file->heap_index.segments;
}

/* Whether records have times; not where a few do, because bytes that are no record may look like one. */
static bool has_times(const struct run *run, const struct file *file)
{
    enum { FEW = 8 };
    uint64_t all = 0;

    for (size_t i = 0; i < sizeof run->sum.record_counts / sizeof *run->sum.record_counts; i++)
        all += run->sum.record_counts[i];
    return file->signs.timed * FEW > all;
}

/* HotSpot begins with the strings, the serviceability agent with the stack trace that HotSpot writes after the classes. HotSpot 5
 * began with it too, in 1.0.1, and wrote sticky classes, as the agent does from 27 on, in 1.0.2. Before the heap dump, IDs that are
 * addresses tell both from others. */
static struct producer guess_hotspot_or_agent(const struct run *run, const struct file *file, const struct names *names)
{
    const struct producer_signs *signs = &file->signs;
    /* The newest class tells the version. */
    const bool all_are_seen = signs->loads_ended && signs->loads_are_whole && !names->lacks_some;
    const struct producer hotspot = {PROFILE_HOTSPOT,
                                     all_are_seen && names->version ? versions[names->version - 1].producer : "HotSpot"};
    const struct producer copy = {PROFILE_HOTSPOT, "HotSpot, or a copy of its dump"};
    bool sticky = run->sum.subrecord_counts[SUB_ROOT_STICKY_CLASS] != 0;

    if (signs->first_tag == TAG_TRACE && (file->version == V102 || !sticky))
        return (struct producer){PROFILE_SA, "the serviceability agent (jhsdb jmap)"};
    if (signs->trace_one_empty)
        return may_be_copy(file) ? copy : hotspot;
    if (signs->first_tag == TAG_UTF8 && has_addresses(run, file) && file->classes.loaded.count == 0)
        return copy;
    if (signs->first_tag == TAG_UTF8 && has_addresses(run, file) && !signs->loads_ended)
        return hotspot;
    return (struct producer){PROFILE_STRICT, ""};
}

/* Its dumps begin with a CONTROL_SETTINGS. Where that is lost, the numbers of classes show who wrote them; or of stack traces. */
static bool is_of_agent(const struct run *run, const struct file *file)
{
    const uint64_t *counts = run->sum.record_counts;

    return file->id_size == 4 &&
           (file->signs.first_tag == TAG_CONTROL_SETTINGS || file->signs.agent_loads > counts[TAG_LOAD_CLASS] / 2 ||
            file->signs.agent_traces > counts[TAG_TRACE] / 2);
}

struct producer guess_producer(const struct run *run, const struct file *file)
{
    const struct producer_signs *signs = &file->signs;
    struct names names = look_at_names(file);
    bool segment = file->heap_index.segments != 0, heap = file->heap_index.records != 0;
    bool any_time = has_times(run, file), is_java = names.dotted && names.bracketed; /* java.lang.Object[] */

    if (file->version == V103)
        return (struct producer){PROFILE_ANDROID, "Android"};
    if (signs->first_tag == TAG_CONTROL_SETTINGS && file->version == V101 && names.slashed && !names.dotted)
        return (struct producer){PROFILE_JVMPI_AGENT, "the HPROF agent of JDK 1.2 to 1.4"};
    if (is_of_agent(run, file))
        return (struct producer){PROFILE_JDK8_AGENT, "the HPROF agent"};
    if (names.svm)
        return (struct producer){PROFILE_GRAALVM, "GraalVM native image"};
    if (!any_time && !names.bracketed &&
        ((heap || signs->trace_one_empty) && file->classes.loaded.count
             ? names.slashed
             : has_addresses(run, file) && (names.slashed || !names.dotted)))
        return guess_hotspot_or_agent(run, file, &names);
    if (is_java && signs->trace_one_empty && signs->trace_one_thread == 1 && segment)
        return (struct producer){PROFILE_MAT, "Eclipse MAT"};
    if (is_java && file->version == V102 && file->id_size == 4 && signs->trace_zero && !any_time)
        return (struct producer){PROFILE_ANDROID, "Android, converted to 1.0.2"};
    /* Insight counts strings, classes and objects alike, and gives each class its ID as serial. */
    if (is_java && file->version == V101 && file->id_size == 4 && !signs->trace_one_empty && !file->classes.has_other_serials)
        return (struct producer){PROFILE_GRAALVM, "GraalVM Insight"};
    return (struct producer){PROFILE_STRICT, ""};
}

struct severity_choice choose_severity(const struct engine *e, struct producer producer)
{
    struct severity_choice choice = {.profile = (enum profile)e->run.options->profile,
                                     .changed = e->run.options->severities,
                                     .werror = e->run.options->werror};

    if (choice.profile == PROFILE_AUTO)
        choice.profile = producer.profile;
    return choice;
}
