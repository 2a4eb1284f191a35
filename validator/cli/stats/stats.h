/* --stats: what is in a dump. collect.c and threads.c count while the dump is read; text.c, json.c and page.c print. All of it uses
 * the public interface of the library. */
#ifndef HPROF_CLI_STATS_H
#define HPROF_CLI_STATS_H

#include <stdatomic.h>

#include "allowance.h"
#include "hprof/read.h"
#include "options.h"

enum {
    MAP_CELLS = 512,       /* of the map of the file, at most */
    HEAP_DUMPS_KEPT = 100, /* that are described one by one */
    FINDINGS_KEPT = 2000,
    DAMAGE_KEPT = 1000,
    FRAMES_SHOWN = 1024,   /* of a thread, for people: as many as Java prints of an exception */
    THREAD_NAME_MOST = 200 /* characters */
};

/* What the bytes of a cell of the map belong to. */
enum map_kind {
    MAP_NAMES,
    MAP_CLASSES,
    MAP_STACKS,
    MAP_INSTANCES,
    MAP_OBJECT_ARRAYS,
    MAP_PRIMITIVE_ARRAYS,
    MAP_ROOTS,
    MAP_OTHER,
    MAP_DAMAGE,
    MAP_KINDS
};
extern const char *const map_kind_names[MAP_KINDS];

struct map {
    uint64_t cell_bytes; /* a power of two, so that all cells reach over the file */
    size_t cells;        /* that are used */
    uint64_t bytes[MAP_CELLS][MAP_KINDS];
};

struct tally_of_bytes {
    uint64_t number, bytes;
};

struct class_stats {
    const char *name;
    uint64_t id; /* 0 for arrays of a primitive type */
    uint64_t instances, arrays;
    uint64_t instance_bytes, array_bytes; /* of fields and of elements, as the dump has them, without headers */
    uint64_t file_bytes;                  /* of the sub-records */
};

struct heap_dump_stats {
    uint64_t offset, records, objects, bytes, roots; /* `bytes` of its sub-records */
};

struct damage_stats {
    uint64_t offset, size;
    const char *what;
};

struct finding_stats {
    size_t rule;
    enum hprof_severity severity;
    uint64_t offset;
    const char *text; /* "expected a; found b" */
};

struct frame_stats {
    uint64_t id, method_id, signature_id, source_id;
    uint32_t class_serial;
    int32_t line;
};

struct trace_stats {
    uint32_t serial, frames;
    size_t first;  /* in frame_ids */
    size_t thread; /* the first one that has it, with which its frames are printed */
};

struct thread_stats {
    uint32_t serial, trace_serial;
    uint64_t object_id; /* 0 for none */
    uint64_t name_id;   /* of a START_THREAD; else 0 */
    const char *name;   /* NULL if it is not known */
    bool is_root;       /* a ROOT_THREAD_OBJECT: it lived when the heap was dumped */
    bool has_ended;     /* an END_THREAD */
    size_t order;       /* in the dump */
};

/* That of most virtual threads is empty. */
static inline bool has_name(const struct thread_stats *thread)
{
    return thread->name != NULL && thread->name[0] != '\0';
}

/* Objects that follow each other in the dump, so that those with certain IDs are found without reading all of it. */
struct stretch {
    struct hprof_item first;
    uint64_t low, high; /* of their IDs */
    uint64_t end;       /* the offset after them */
};

struct named_class {
    uint32_t serial, number;
};

/* Texts that stay, one after the other. */
struct text_block {
    struct text_block *before;
    size_t used;
    char bytes[1 << 16];
};

/* A growing array. */
struct list {
    void *at;
    size_t count, capacity;
};

struct stats {
    struct allowance memory;
    const char *file;
    struct hprof_header header;
    bool has_header;
    struct hprof_summary summary;
    char hint[256];
    uint64_t counted_within; /* see hprof/read.h; 0 if all objects are read one by one */
    bool is_read_by_lengths; /* a pipe: what follows damage is not in the figures */

    struct tally_of_bytes records[256], subrecords[256]; /* by tag; of a heap dump record its header alone */
    struct tally_of_bytes damage;
    struct map map;
    struct list classes;    /* struct class_stats: those that have objects or a CLASS_DUMP; the most bytes first */
    struct list heap_dumps; /* struct heap_dump_stats, of the first ones */
    uint64_t heap_dump_count;
    struct list damaged;  /* struct damage_stats, the first ones */
    struct list findings; /* struct finding_stats, the first ones */
    uint64_t string_bytes, longest_string;

    struct list frames;                       /* struct frame_stats */
    struct list traces;                       /* struct trace_stats */
    struct list frame_ids;                    /* uint64_t */
    struct list threads;                      /* struct thread_stats, by serial number */
    struct list serials;                      /* struct named_class, by serial number */
    struct list stretches;                    /* struct stretch */
    struct text_block *texts, *finding_texts; /* of a pipe, another thread keeps the findings */
    atomic_bool out_of_memory;
};

/* ---- tables.c ---- */
/* Makes room for one more and returns it, zeroed; NULL, and out_of_memory is set, if there is none. */
void *list_add(struct stats *stats, struct list *list, size_t size);
void list_sort(struct stats *stats, struct list *list, size_t size, int (*compare)(const void *, const void *));
void list_free(struct stats *stats, struct list *list, size_t size);
/* A copy of a short text, with a zero at its end; NULL, and out_of_memory is set, if there is no room. */
const char *keep_text(struct stats *stats, struct text_block **texts, const char *text, size_t size);
void stats_free(struct stats *stats);

/* ---- collect.c ---- */
/* The bytes of a cell in the map of a dump. */
uint64_t stats_cell(uint64_t dump_bytes);
/* Reads all of the dump. Returns the status of the reading: HPROF_VALID, HPROF_IO or HPROF_LIMIT. */
enum hprof_status stats_collect(struct stats *stats, struct hprof_reader *reader);
uint64_t stats_objects(const struct stats *stats);
uint64_t stats_classes(const struct stats *stats);
uint64_t stats_roots(const struct stats *stats);

/* ---- classes.c ---- */
uint64_t class_objects(const struct class_stats *class);
/* Of values: of fields and of elements. */
uint64_t class_bytes(const struct class_stats *class);
/* Its name, or what is shown if it has none. */
#define CLASS_LABEL_SIZE 64
const char *class_label(const struct class_stats *class, char text[CLASS_LABEL_SIZE]);
/* The classes with the most bytes, or the most objects, in this order: at most `most`, each with at least one object. Returns how
 * many they are. */
size_t stats_most_bytes(const struct stats *stats, const struct class_stats *top[], size_t most);
size_t stats_most_objects(const struct stats *stats, const struct class_stats *top[], size_t most);

/* ---- visualvm.c ---- */
/* The Java heap that VisualVM's heap library needs to open the dump, in MB; 0 if it may refuse the dump. */
uint64_t stats_visualvm_heap(const struct stats *stats);

/* ---- threads.c ---- */
void stats_see_thread(struct stats *stats, struct hprof_reader *reader, const struct hprof_item *item);
/* Finds the names of the threads, and sorts frames and traces. */
enum hprof_status stats_name_threads(struct stats *stats, struct hprof_reader *reader);
/* The trace of a thread; NULL if it has none. */
const struct trace_stats *stats_trace(const struct stats *stats, const struct thread_stats *thread);
/* "java.lang.Object.wait(Object.java:338)" */
#define FRAME_SIZE 1024
const char *stats_frame(const struct stats *stats, struct hprof_reader *reader, const struct trace_stats *trace, uint32_t index,
                        char text[FRAME_SIZE]);

/* ---- The writers ---- */
void stats_print_text(const struct stats *stats, struct hprof_reader *reader, const struct cli_options *options, FILE *out,
                      size_t width);
void stats_print_threads(const struct stats *stats, struct hprof_reader *reader, FILE *out);
void stats_print_json(const struct stats *stats, struct hprof_reader *reader, bool only_threads, FILE *out);
void stats_print_page(const struct stats *stats, struct hprof_reader *reader, const char *name, FILE *out);

/* The members of the object that --format json prints. */
struct json;
void stats_put(const struct stats *stats, struct hprof_reader *reader, bool only_threads, struct json *json);

/* --stats and --threads */
enum hprof_status stats_file(const struct cli_options *options);

#endif
