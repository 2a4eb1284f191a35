#include "repair_losses.h"

#include <inttypes.h>
#include <string.h>

#include "numbers.h"
#include "wrap.h"

enum {
    INSTANCE = 0x21, /* the tags of sub-records that are objects, */
    OBJECT_ARRAY = 0x22,
    PRIMITIVE_ARRAY = 0x23,
    PRIMITIVE_ARRAY_NODATA = 0xc3,
    THREAD_OBJECT = 0x08, /* and of a root for each thread */
    NEEDS_ROOTS = 16      /* a sample of fewer objects needs no roots */
};

void class_losses_add(struct class_losses *losses, const struct hprof_class_loss *loss)
{
    losses->count++;
    losses->objects += loss->objects;
    losses->bytes += loss->bytes;
    if (losses->shown == LOSSES_SHOWN)
        return;
    struct lost_class *l = &losses->classes[losses->shown++];
    snprintf(l->name, sizeof l->name, "%s", loss->class_name);
    l->objects = loss->objects;
    l->bytes = loss->bytes;
    l->kept = loss->kept;
}

uint64_t count_kept_objects(const struct hprof_repair_result *repair)
{
    const uint64_t *n = repair->subrecords_out;

    return n[INSTANCE] + n[OBJECT_ARRAY] + n[PRIMITIVE_ARRAY] + n[PRIMITIVE_ARRAY_NODATA];
}

/* Roots with this tag that were read, and those of them that the copy has. A thread with a stand-in is lost. */
static void count_roots(const struct hprof_repair_result *repair, unsigned tag, uint64_t *read, uint64_t *kept)
{
    uint64_t in = repair->subrecords_in[tag], out = repair->subrecords_out[tag];
    uint64_t added = tag == THREAD_OBJECT ? repair->stand_in_threads : 0, lost;

    *kept = out > added ? out - added : 0;
    lost = in > *kept ? in - *kept : 0;
    *read = *kept + (lost > added ? lost : added);
}

void each_root_kind(const struct hprof_repair_result *repair,
                    void (*each)(void *context, const char *kind, uint64_t read, uint64_t kept), void *context)
{
    for (unsigned tag = 0; tag < 256; tag++) {
        const char *kind = hprof_subrecord_name((uint8_t)tag);
        uint64_t kept, read;

        count_roots(repair, tag, &read, &kept);
        if (kind != NULL && strncmp(kind, "ROOT_", 5) == 0 && (read > 0 || kept > 0))
            each(context, kind, read, kept);
    }
}

struct roots {
    uint64_t read, kept;
};

static void add_roots(void *context, const char *kind, uint64_t read, uint64_t kept)
{
    struct roots *roots = context;

    (void)kind;
    roots->read += read;
    roots->kept += kept;
}

static struct roots count_roots_of(const struct hprof_repair_result *repair)
{
    struct roots roots = {0, 0};

    each_root_kind(repair, add_roots, &roots);
    return roots;
}

static bool is_damaged(const struct hprof_repair_result *repair)
{
    return repair->left_out > 0 || repair->is_ended || repair->gzip_faults > 0;
}

/* In a damaged dump, one whose root was not read is lost, too. */
uint64_t count_threads(const struct hprof_repair_result *repair, bool kept)
{
    uint64_t in = repair->subrecords_in[THREAD_OBJECT], read, out, lost;

    count_roots(repair, THREAD_OBJECT, &read, &out);
    if (kept)
        return out;
    lost = (in > out ? in - out : 0) + (is_damaged(repair) ? repair->unread_threads : 0);
    return out + lost > read ? out + lost : read;
}

const char *reader_advice(const struct hprof_repair_result *repair)
{
    struct roots roots = count_roots_of(repair);

    if (count_kept_objects(repair) < NEEDS_ROOTS)
        return NULL;
    if (roots.kept == 0)
        return "GC roots: none are left; in MAT set \"keep unreachable objects\"";
    if (roots.kept < roots.read || repair->root_gaps > 0 || (repair->missing_objects > 0 && repair->left_out > 0))
        return "MAT drops what only lost roots and objects reached; to see it, set \"keep unreachable objects\"";
    return NULL;
}

static void print_class(FILE *out, const struct lost_class *l)
{
    char objects[NUMBER_SIZE], all[NUMBER_SIZE], size[NUMBER_SIZE];
    uint64_t total = l->objects + l->kept;

    fprintf(out, "    %s of %s %s (%.*f %%), %s\n", format_exact(objects, l->objects), format_exact(all, total), l->name,
            100 * l->objects < total ? 2 : 0, 100 * (double)l->objects / (double)total, format_size(size, l->bytes));
}

static void print_root_kind(void *context, const char *kind, uint64_t read, uint64_t kept)
{
    char lost[NUMBER_SIZE], all[NUMBER_SIZE];

    if (kept < read)
        fprintf(context, "    %s of %s %s\n", format_exact(lost, read - kept), format_exact(all, read), kind);
}

static void print_objects(FILE *out, const struct hprof_repair_result *repair, const struct class_losses *losses)
{
    char count[NUMBER_SIZE], size[NUMBER_SIZE], missing[NUMBER_SIZE];

    if (losses->objects > 0)
        fprintf(out, "    %s that %s read, %s\n", format_counted(count, losses->objects, "object"),
                losses->objects == 1 ? "was" : "were", format_size(size, losses->bytes));
    if (repair->missing_objects > 0)
        fprintf(out, "    at least %s that others refer to\n", format_counted(missing, repair->missing_objects, "object"));
    for (size_t i = 0; i < losses->shown; i++)
        print_class(out, &losses->classes[i]);
    if (losses->count > losses->shown)
        fprintf(out, "    and objects of %" PRIu64 " other classes\n", losses->count - losses->shown);
}

enum { LOAD_CLASS = 0x02 };

/* Without stand-ins nothing replaces the LOAD_CLASS records of a VM that was killed before they reached the disk. */
static bool has_no_loaded_class(const struct hprof_repair_result *repair)
{
    return count_kept_objects(repair) > 0 && repair->records_out[LOAD_CLASS] == 0;
}

/* Which readers refuse the copy, because a name that they need was lost; NULL for none. */
static const char *refusing_readers(const struct hprof_repair_result *repair)
{
    if (repair->stand_in_classes + repair->stand_in_names == 0)
        return NULL;
    if (repair->lacks_system && repair->lacks_class)
        return "no class is java.lang.System or java.lang.Class any more; VisualVM, which needs the one, and MAT, which needs "
               "the other, refuse the copy; VisualVM's heap library and Shark open it";
    if (repair->lacks_system)
        return "no class is java.lang.System any more, which VisualVM needs: it refuses the copy; its heap library, MAT and "
               "Shark open it";
    if (repair->lacks_class)
        return "no class is java.lang.Class any more, which MAT needs: it refuses the copy; VisualVM and Shark open it";
    return NULL;
}

static void print_advice(FILE *out, size_t width, const char *advice)
{
    static const char head[] = "in the reader:";

    fputs(head, out);
    wrap_hanging(out, advice, 4, sizeof head - 1, width);
}

void print_losses(FILE *out, size_t width, const struct hprof_repair_result *repair, const struct class_losses *losses)
{
    struct roots roots = count_roots_of(repair);
    uint64_t threads = count_threads(repair, false), kept_threads = count_threads(repair, true);
    bool has_no_root = is_damaged(repair) && roots.kept == 0 && count_kept_objects(repair) >= NEEDS_ROOTS;
    const char *advice = reader_advice(repair), *readers = refusing_readers(repair);
    char count[NUMBER_SIZE], all[NUMBER_SIZE];

    if (losses->count > 0 || repair->missing_objects > 0 || roots.kept < roots.read || repair->classes_without_name > 0 ||
        repair->root_gaps > 0 || has_no_root || kept_threads < threads)
        fputs("lost:\n", out);
    print_objects(out, repair, losses);
    each_root_kind(repair, print_root_kind, out);
    if (has_no_root && roots.read == 0)
        fprintf(out, "    all GC roots%s\n", threads > 0 ? "" : ", if there were any");
    else if (repair->root_gaps > 0)
        fprintf(out, "    perhaps GC roots, in %s that cannot be read\n", format_counted(count, repair->root_gaps, "place"));
    if (kept_threads < threads)
        fprintf(out, "    %s of %s threads\n", format_exact(count, threads - kept_threads), format_exact(all, threads));
    if (repair->classes_without_name > 0)
        fprintf(out, "    the names of %s class%s\n", format_exact(count, repair->classes_without_name),
                repair->classes_without_name == 1 ? "" : "es");
    if (advice != NULL)
        print_advice(out, width, advice);
    if (readers != NULL)
        print_advice(out, width, readers);
    if (has_no_loaded_class(repair))
        print_advice(out, width, "no class has its name; VisualVM refuses the copy; repaired without --no-stand-ins, it opens");
}
