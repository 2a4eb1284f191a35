/* The oracle reads a dump twice: first record by record, in the order of SPEC.md 3 to 6, checking each field that needs
 * nothing else and noting all definitions and uses; then, with everything in memory, the rules on how these belong
 * together. */
#include "oracle.h"

#include "oracle_failure.h"
#include "oracle_framing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lists and indexes ------------------------------------------------------------------------------------------------- */

struct list {
    void *items;
    size_t count, capacity;
};

/* Room for one more item of `size` bytes, zeroed. */
static void *append(struct list *list, size_t size)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = realloc(list->items, list->capacity * size);
        if (!list->items) {
            fputs("oracle: out of memory\n", stderr);
            abort();
        }
    }
    return memset((char *)list->items + size * list->count++, 0, size);
}

/* Adds an item of this type, with these members. */
#define ADD(list, type, ...) ((void)(*(type *)append(list, sizeof(type)) = (type){__VA_ARGS__}))

/* Where an ID or serial is defined. What sub-records define is in the scope of their heap dump, numbered from 1; what
 * records define is in scope 0. */
struct definition {
    uint64_t scope, id;
    uint64_t at;
    size_t item; /* in the list of what is defined */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_definitions(const void *left, const void *right)
{
    const struct definition *a = left, *b = right;
    int order = compare_numbers(a->scope, b->scope);
    if (order == 0)
        order = compare_numbers(a->id, b->id);
    return order ? order : compare_numbers(a->at, b->at);
}

static void define(struct list *index, uint64_t scope, uint64_t id, uint64_t at, size_t item)
{
    ADD(index, struct definition, .scope = scope, .id = id, .at = at, .item = item);
}

static void sort_index(struct list *index)
{
    if (index->count)
        qsort(index->items, index->count, sizeof(struct definition), compare_definitions);
}

/* The first definition in the file; NULL if there is none. */
static const struct definition *first_definition(const struct list *index, uint64_t scope, uint64_t id)
{
    const struct definition *items = index->items, wanted = {.scope = scope, .id = id};
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_definitions(&items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && items[low].scope == scope && items[low].id == id ? &items[low] : NULL;
}

/* ---- What a dump holds ------------------------------------------------------------------------------------------------- */

struct string {
    uint64_t id, at; /* `at`: of the ID, here and below */
    const uint8_t *text;
    uint64_t size;
};

struct loaded_class {
    uint64_t serial, serial_at;
    uint64_t id, id_at;
    uint64_t name, name_at;
    bool unloaded;  /* of the first with its serial */
    size_t current; /* of the first with its ID: the latest LOAD_CLASS that gave the ID a meaning */
    bool reused;    /* likewise: the ID has had two names */
};

struct frame {
    uint64_t id, at;
    const uint8_t *body; /* all fields, the ID among them */
};

struct trace {
    uint64_t serial, at;
    uint64_t frame_count, frames_at;
    const uint8_t *body; /* serial, thread, count, frames */
    uint64_t size;
};

struct thread_event {
    bool start;
    uint64_t serial, at;
};

/* 6.2.6, 6.2.8, 6.3.1: what must be an instance of a class, or of a subclass. */
enum kind { KIND_LOADER, KIND_THREAD, KIND_STICKY_CLASS, KINDS };

/* An object or class defined in a heap dump. */
struct object {
    size_t heap;
    uint64_t id, at;
    bool is_class;
};

struct class_dump {
    size_t heap;
    uint64_t id, at;
    uint64_t super_id, super_at;
    uint64_t instance_size, instance_size_at;
    uint64_t fields_at, field_count;
    uint64_t own_size; /* of its instance fields */
    bool untyped;      /* a field has no basic type */
    bool is_named;     /* its name was known when it was dumped, and is that of the class of a kind: */
    enum kind kind;
};

struct instance {
    size_t heap;
    uint64_t tag_at;
    uint64_t id, class_id, bytes, bytes_at, values_at;
};

struct array {
    size_t heap;
    uint64_t class_id, class_at;
};

struct thread_root {
    size_t heap;
    uint64_t serial, at, trace;
};

/* A root that names a frame of its thread's stack. */
struct frame_root {
    size_t heap;
    uint64_t thread;
    int64_t frame;
    uint64_t frame_at;
};

/* Something is named. An undefined thing is one finding, in the gravest role and there at its first use. */
struct use {
    uint64_t scope, id;
    int role; /* 0 is the gravest */
    uint64_t at;
    const char *rule;
};

/* What size_by_class() found when so many classes were read. */
enum { KNOWN_SIZES = 256 };
struct known_size {
    uint64_t class_id;
    size_t classes, heap;
    uint64_t size;
};

struct oracle {
    const struct dump *d;
    struct known_size *known_sizes; /* KNOWN_SIZES of them */
    struct oracle_report *report;
    struct list findings; /* struct oracle_finding */

    /* What is defined and named, each in the order of the file. */
    struct list strings, loaded_classes, unloads, frames, traces, thread_events;
    struct list heap_ends; /* uint64_t: where each heap dump is closed; UINT64_MAX for the end of the file */
    struct list objects, class_dumps, instances, object_arrays, thread_roots, frame_roots;
    struct list name_uses, trace_uses, frame_uses, class_serial_uses, trace_thread_uses; /* struct use, scope 0 */
    struct list kind_uses[KINDS];                                                        /* struct use, without a rule */
    struct list object_uses, root_thread_uses;                                           /* struct use */
    /* Where IDs and serials are defined: struct definition, sorted when all is read. */
    struct list string_ids, class_serials, class_ids, frame_ids, trace_serials; /* scope 0 */
    struct list object_ids, dumped_class_ids;                                   /* objects has the classes, too */

    /* The heap dump at hand. */
    size_t heap;          /* its number, from 1; that of the last one between heap dumps */
    size_t unclosed_heap; /* the one whose end is missing, in which nothing is called undefined (M.2); 0 for none */
    bool series_open;
    uint64_t last_segment_at;
    bool segment_reported;   /* REC-005 */
    uint64_t previous_at[2]; /* the tags of the record just before and the one before it; 0 for none */
    uint64_t closed_until;   /* heap dumps that begin before are complete */
    uint64_t previous_time;
    bool failed;
    uint64_t doubt_at, closed_before_doubt; /* the first item that may be wrong, or 0; heap dumps closed before it */
};

/* ---- Findings ---------------------------------------------------------------------------------------------------------- */

static void report(struct oracle *o, const char *rule, uint64_t offset)
{
    ADD(&o->findings, struct oracle_finding, .rule = rule, .offset = offset);
}

/* Plain reading has failed. Findings before read_until do not depend on it. */
static void fail(struct oracle *o, struct oracle_finding finding, uint64_t read_until)
{
    o->failed = true;
    o->report->failure = finding;
    o->report->read_until = o->report->sound_until = read_until;
}

static void use(struct list *uses, uint64_t scope, uint64_t id, int role, uint64_t at, const char *rule)
{
    ADD(uses, struct use, .scope = scope, .id = id, .role = role, .at = at, .rule = rule);
}

/* The present heap dump ends here, unless it has ended before. */
static void close_heap_dump(struct oracle *o, uint64_t at)
{
    uint64_t *end = &((uint64_t *)o->heap_ends.items)[o->heap - 1];
    if (*end == UINT64_MAX)
        *end = at;
}

/* ---- SPEC.md 2.5: strings ---------------------------------------------------------------------------------------------- */

/* The size of the character at the start of a text, in standard or modified UTF-8; 0 if there is none. */
static uint64_t character_size(const uint8_t *text, uint64_t size)
{
    uint64_t length = text[0] < 0x80             ? 1
                      : (text[0] & 0xe0) == 0xc0 ? 2
                      : (text[0] & 0xf0) == 0xe0 ? 3
                      : (text[0] & 0xf8) == 0xf0 ? 4
                                                 : 0;
    if (length == 0 || length > size)
        return 0;
    if (length == 1)
        return 1;
    uint32_t value = text[0] & (0x7fu >> length);
    for (uint64_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    if (value == 0 && length == 2)
        return length; /* C0 80, the NUL of class files */
    bool longer_than_needed = value < (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
    return longer_than_needed || value > 0x10ffff ? 0 : length;
}

static bool check_encoding(struct oracle *o, uint64_t at, uint64_t size)
{
    while (size) {
        uint64_t character = character_size(o->d->bytes + at, size);
        if (character == 0) {
            report(o, "STR-005", at);
            return false;
        }
        at += character;
        size -= character;
    }
    return true;
}

/* 4.1: the name must not be 0 and must be defined, further up. */
static void use_name(struct oracle *o, uint64_t at)
{
    if (id(o->d, at) == 0)
        report(o, "STR-008", at);
    else
        use(&o->name_uses, 0, id(o->d, at), 0, at, "STR-006");
}

static void use_name_or_0(struct oracle *o, uint64_t at)
{
    if (id(o->d, at) != 0)
        use_name(o, at);
}

/* 4.5: a stack trace serial that is named is 0 or has a TRACE. Where a known producer loses traces, or means none by -1, is a
 * lesser role. */
enum trace_role { TRACE_IS_NEEDED, TRACE_MAY_BE_LOST, TRACE_IS_MINUS_1 };

static void use_trace(struct oracle *o, uint64_t at, enum trace_role role)
{
    if (u4(o->d, at) != 0)
        use(&o->trace_uses, 0, u4(o->d, at), (int)role, at, "STK-012");
}

/* ---- SPEC.md 4: top-level records, each from its body on; the length of the body precedes it ---------------------------- */

/* 4.1 */
static void read_utf8(struct oracle *o, uint64_t at)
{
    uint64_t text_at = at + o->d->id_size, length = u4(o->d, at - 4);
    struct string *string = append(&o->strings, sizeof *string);
    *string = (struct string){.id = id(o->d, at), .at = at, .text = o->d->bytes + text_at, .size = length - o->d->id_size};
    define(&o->string_ids, 0, string->id, at, o->strings.count - 1);
    if (string->id == 0)
        report(o, "STR-002", at);
    if (check_encoding(o, text_at, string->size) && string->size != 0 && u1(o->d, text_at + string->size - 1) == 0)
        report(o, "STR-009", text_at + string->size - 1);
}

/* 4.2 */
static void read_load_class(struct oracle *o, uint64_t at)
{
    uint64_t serial_at = at, id_at = serial_at + 4, trace_at = id_at + o->d->id_size, name_at = trace_at + 4;
    struct loaded_class *loaded = append(&o->loaded_classes, sizeof *loaded);
    *loaded = (struct loaded_class){.serial = u4(o->d, serial_at),
                                    .serial_at = serial_at,
                                    .id = id(o->d, id_at),
                                    .id_at = id_at,
                                    .name = id(o->d, name_at),
                                    .name_at = name_at};
    define(&o->class_serials, 0, loaded->serial, serial_at, o->loaded_classes.count - 1);
    if (loaded->serial == 0)
        report(o, "CLS-002", serial_at);
    if (loaded->id == 0)
        report(o, "CLS-005", id_at);
    else
        define(&o->class_ids, 0, loaded->id, id_at, o->loaded_classes.count - 1);
    use_trace(o, trace_at, TRACE_MAY_BE_LOST);
    use_name(o, name_at);
}

/* 4.3. The gravest role that a class serial has; an unload is also noted apart. */
enum class_role { ROLE_OF_FRAME, ROLE_OF_SITE, ROLE_OF_UNLOAD };

static void read_unload_class(struct oracle *o, uint64_t at)
{
    use(&o->class_serial_uses, 0, u4(o->d, at), ROLE_OF_UNLOAD, at, "CLS-007");
    use(&o->unloads, 0, u4(o->d, at), ROLE_OF_UNLOAD, at, "CLS-007");
}

/* 4.4 */
static void read_frame(struct oracle *o, uint64_t at)
{
    uint64_t method_at = at + o->d->id_size, signature_at = method_at + o->d->id_size, source_at = signature_at + o->d->id_size;
    uint64_t class_at = source_at + o->d->id_size, line_at = class_at + 4;
    struct frame *frame = append(&o->frames, sizeof *frame);
    *frame = (struct frame){.id = id(o->d, at), .at = at, .body = o->d->bytes + at};
    define(&o->frame_ids, 0, frame->id, at, o->frames.count - 1);
    use_name(o, method_at);
    use_name(o, signature_at);
    use_name_or_0(o, source_at);
    if (u4(o->d, class_at) == 0)
        report(o, "STK-005", class_at);
    else
        use(&o->class_serial_uses, 0, u4(o->d, class_at), ROLE_OF_FRAME, class_at, "STK-006");
    if (i4(o->d, line_at) < -3)
        report(o, "STK-004", line_at);
}

/* 4.5 */
static void read_trace(struct oracle *o, uint64_t at)
{
    uint64_t thread_at = at + 4, count_at = thread_at + 4, frames_at = count_at + 4;
    struct trace *trace = append(&o->traces, sizeof *trace);
    *trace = (struct trace){.serial = u4(o->d, at),
                            .at = at,
                            .frame_count = u4(o->d, count_at),
                            .frames_at = frames_at,
                            .body = o->d->bytes + at,
                            .size = u4(o->d, at - 4)};
    define(&o->trace_serials, 0, trace->serial, at, o->traces.count - 1);
    if (u4(o->d, thread_at) != 0)
        use(&o->trace_thread_uses, 0, u4(o->d, thread_at), 0, thread_at, "STK-011");
    for (uint64_t i = 0; i < trace->frame_count; i++) {
        uint64_t frame_at = frames_at + i * o->d->id_size;
        use(&o->frame_uses, 0, id(o->d, frame_at), 0, frame_at, "STK-010");
    }
}

/* 4.6. The sum of the 4 bytes at `offset` of each site. */
static uint64_t sum_of_sites(const struct oracle *o, uint64_t sites_at, uint64_t sites, uint64_t offset)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < sites; i++)
        sum += u4(o->d, sites_at + i * SITE_SIZE + offset);
    return sum;
}

static void check_live(struct oracle *o, uint64_t live_at, uint64_t allocated)
{
    if (u4(o->d, live_at) > allocated)
        report(o, "PRF-011", live_at);
}

static void read_alloc_sites(struct oracle *o, uint64_t at)
{
    uint64_t flags_at = at, live_bytes_at = at + 6, live_instances_at = at + 10, allocated_bytes_at = at + 14;
    uint64_t allocated_instances_at = at + 22, count_at = at + 30, sites_at = at + 34;
    uint64_t sites = u4(o->d, count_at);
    if (u2(o->d, flags_at) & ~(uint64_t)7)
        report(o, "PRF-004", flags_at);
    if (sum_of_sites(o, sites_at, sites, 9) > u4(o->d, live_bytes_at))
        report(o, "PRF-005", live_bytes_at);
    if (sum_of_sites(o, sites_at, sites, 13) > u4(o->d, live_instances_at))
        report(o, "PRF-005", live_instances_at);
    if (sum_of_sites(o, sites_at, sites, 17) > u8(o->d, allocated_bytes_at))
        report(o, "PRF-005", allocated_bytes_at);
    if (sum_of_sites(o, sites_at, sites, 21) > u8(o->d, allocated_instances_at))
        report(o, "PRF-005", allocated_instances_at);
    check_live(o, live_bytes_at, u8(o->d, allocated_bytes_at));
    check_live(o, live_instances_at, u8(o->d, allocated_instances_at));

    for (uint64_t i = 0; i < sites; i++) {
        uint64_t array_at = sites_at + i * SITE_SIZE, class_at = array_at + 1, trace_at = array_at + 5;
        if (u1(o->d, array_at) != 0 && size_of_type(o->d, u1(o->d, array_at)) == 0)
            report(o, "PRF-002", array_at);
        if (u4(o->d, class_at) != 0)
            use(&o->class_serial_uses, 0, u4(o->d, class_at), ROLE_OF_SITE, class_at, "PRF-003");
        use_trace(o, trace_at, TRACE_IS_NEEDED);
        check_live(o, array_at + 9, u4(o->d, array_at + 17));
        check_live(o, array_at + 13, u4(o->d, array_at + 21));
    }
}

/* 4.7 */
static void read_heap_summary(struct oracle *o, uint64_t at)
{
    check_live(o, at, u8(o->d, at + 8));
    check_live(o, at + 4, u8(o->d, at + 16));
}

/* 4.8 */
static void read_start_thread(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + 4 + o->d->id_size, name_at = trace_at + 4, group_at = name_at + o->d->id_size;
    uint64_t parent_at = group_at + o->d->id_size;
    ADD(&o->thread_events, struct thread_event, .start = true, .serial = u4(o->d, at), .at = at);
    if (u4(o->d, at) == 0)
        report(o, "THR-003", at);
    use_trace(o, trace_at, TRACE_MAY_BE_LOST);
    use_name(o, name_at);
    use_name_or_0(o, group_at);
    use_name_or_0(o, parent_at);
}

/* 4.9 */
static void read_end_thread(struct oracle *o, uint64_t at)
{
    ADD(&o->thread_events, struct thread_event, .start = false, .serial = u4(o->d, at), .at = at);
}

/* 4.10 */
static void read_cpu_samples(struct oracle *o, uint64_t at)
{
    uint64_t count_at = at + 4, samples_at = count_at + 4, sum = 0;
    for (uint64_t i = 0; i < u4(o->d, count_at); i++) {
        sum += u4(o->d, samples_at + 8 * i);
        use_trace(o, samples_at + 8 * i + 4, TRACE_IS_NEEDED);
    }
    if (sum > u4(o->d, at))
        report(o, "PRF-008", at);
}

/* 4.11 */
static void read_control_settings(struct oracle *o, uint64_t at)
{
    if (u4(o->d, at) & ~(uint64_t)3)
        report(o, "PRF-010", at);
}

/* ---- SPEC.md 6.2: roots. A sub-record is read from its fields on; its tag precedes them. -------------------------------- */

/* 7.1, the gravest first. A sticky class without an object is a quirk that profiles allow. */
enum object_role { ROLE_CLASS, ROLE_ARRAY_CLASS, ROLE_SUPERCLASS, ROLE_ROOT, ROLE_STICKY_CLASS, ROLE_REFERENCE };

static void read_root(struct oracle *o, uint64_t at)
{
    enum object_role role = u1(o->d, at - 1) == ROOT_STICKY_CLASS ? ROLE_STICKY_CLASS : ROLE_ROOT;
    if (id(o->d, at) == 0)
        report(o, "ROOT-001", at);
    else
        use(&o->object_uses, o->heap, id(o->d, at), (int)role, at, "REF-001");
    if (role == ROLE_STICKY_CLASS && id(o->d, at) != 0)
        use(&o->kind_uses[KIND_STICKY_CLASS], o->heap, id(o->d, at), 0, at, NULL);
}

static void read_thread_root(struct oracle *o, uint64_t at)
{
    uint64_t thread_at = at + o->d->id_size, serial = u4(o->d, thread_at);
    read_root(o, at);
    use(&o->root_thread_uses, o->heap, serial, 0, thread_at, serial ? "ROOT-003" : "ROOT-004");
}

static void read_frame_root(struct oracle *o, uint64_t at)
{
    uint64_t thread_at = at + o->d->id_size, frame_at = thread_at + 4;
    read_thread_root(o, at);
    if (i4(o->d, frame_at) < -1)
        report(o, "ROOT-006", frame_at);
    ADD(&o->frame_roots, struct frame_root, .heap = o->heap, .thread = u4(o->d, thread_at), .frame = i4(o->d, frame_at),
        .frame_at = frame_at);
}

static void read_thread_object(struct oracle *o, uint64_t at)
{
    uint64_t thread_at = at + o->d->id_size, trace_at = thread_at + 4;
    if (id(o->d, at) != 0) {
        read_root(o, at);
        use(&o->kind_uses[KIND_THREAD], o->heap, id(o->d, at), 0, at, NULL);
    }
    if (u4(o->d, thread_at) == 0)
        report(o, "ROOT-007", thread_at);
    else
        ADD(&o->thread_roots, struct thread_root, .heap = o->heap, .serial = u4(o->d, thread_at), .at = thread_at,
            .trace = u4(o->d, trace_at));
    use_trace(o, trace_at, u4(o->d, trace_at) == 0xffffffff ? TRACE_IS_MINUS_1 : TRACE_IS_NEEDED);
}

/* ---- SPEC.md 6.3: CLASS_DUMP ------------------------------------------------------------------------------------------- */

static void use_reference(struct oracle *o, size_t heap, uint64_t at)
{
    if (id(o->d, at) != 0)
        use(&o->object_uses, heap, id(o->d, at), ROLE_REFERENCE, at, "REF-002");
}

/* A value of a field or constant. */
static void check_value(struct oracle *o, size_t heap, uint64_t type, uint64_t at)
{
    if (type == TYPE_OBJECT) {
        o->report->references++;
        use_reference(o, heap, at);
    } else if (type == TYPE_BOOLEAN && u1(o->d, at) > 1) {
        report(o, "OBJ-010", at);
    }
}

/* 6.4.1 and 6.4.2: an object or a class is defined. */
static void define_object(struct oracle *o, uint64_t at, bool is_class)
{
    ADD(&o->objects, struct object, .heap = o->heap, .id = id(o->d, at), .at = at, .is_class = is_class);
    if (id(o->d, at) == 0)
        report(o, "OBJ-001", at);
    else
        define(&o->object_ids, o->heap, id(o->d, at), at, o->objects.count - 1);
}

static void read_instance_fields(struct oracle *o, struct class_dump *class)
{
    uint64_t field_size = o->d->id_size + 1, untyped_at = 0;
    for (uint64_t i = 0; i < class->field_count && !class->untyped; i++) {
        uint64_t type_at = class->fields_at + i * field_size + o->d->id_size;
        class->own_size += size_of_type(o->d, u1(o->d, type_at));
        class->untyped = size_of_type(o->d, u1(o->d, type_at)) == 0;
        untyped_at = type_at;
    }
    if (class->untyped) {
        report(o, "CLS-016", untyped_at);
        return;
    }
    for (uint64_t i = 0; i < class->field_count; i++)
        use_name(o, class->fields_at + i * field_size);
}

static void read_class_dump(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + o->d->id_size, super_at = trace_at + 4, loader_at = super_at + o->d->id_size;
    uint64_t signers_at = loader_at + o->d->id_size, domain_at = signers_at + o->d->id_size;
    uint64_t reserved1_at = domain_at + o->d->id_size, reserved2_at = reserved1_at + o->d->id_size;
    uint64_t size_at = reserved2_at + o->d->id_size, constants_at = size_at + 4;
    struct class_dump *class = append(&o->class_dumps, sizeof *class);
    *class = (struct class_dump){.heap = o->heap,
                                 .id = id(o->d, at),
                                 .at = at,
                                 .super_id = id(o->d, super_at),
                                 .super_at = super_at,
                                 .instance_size = u4(o->d, size_at),
                                 .instance_size_at = size_at};
    define_object(o, at, true);
    if (class->id != 0)
        define(&o->dumped_class_ids, o->heap, class->id, at, o->class_dumps.count - 1);
    use_trace(o, trace_at, TRACE_IS_NEEDED);
    if (class->super_id != 0)
        use(&o->object_uses, o->heap, class->super_id, ROLE_SUPERCLASS, super_at, "CLS-010");
    use_reference(o, o->heap, loader_at);
    if (id(o->d, loader_at) != 0)
        use(&o->kind_uses[KIND_LOADER], o->heap, id(o->d, loader_at), 0, loader_at, NULL);
    use_reference(o, o->heap, signers_at);
    use_reference(o, o->heap, domain_at);
    if (id(o->d, reserved1_at) != 0)
        report(o, "CLS-013", reserved1_at);
    else if (id(o->d, reserved2_at) != 0)
        report(o, "CLS-013", reserved2_at);

    uint64_t constants = u2(o->d, constants_at), next = constants_at + 2;
    for (uint64_t i = 0; i < constants; i++) { /* u2 index, u1 type, value */
        uint64_t type = u1(o->d, next + 2);
        check_value(o, o->heap, type, next + 3);
        next += 3 + size_of_type(o->d, type);
    }
    uint64_t statics = u2(o->d, next);
    next += 2;
    for (uint64_t i = 0; i < statics; i++) { /* ID name, u1 type, value */
        uint64_t type = u1(o->d, next + o->d->id_size);
        use_name(o, next);
        check_value(o, o->heap, type, next + o->d->id_size + 1);
        next += o->d->id_size + 1 + size_of_type(o->d, type);
    }
    class->field_count = u2(o->d, next);
    class->fields_at = next + 2;
    read_instance_fields(o, class);
}

/* ---- SPEC.md 6.4 to 6.8: objects --------------------------------------------------------------------------------------- */

/* 6.5 */
static void read_instance(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + o->d->id_size, class_at = trace_at + 4, bytes_at = class_at + o->d->id_size;
    define_object(o, at, false);
    use_trace(o, trace_at, TRACE_IS_NEEDED);
    use(&o->object_uses, o->heap, id(o->d, class_at), ROLE_CLASS, class_at, "OBJ-002");
    ADD(&o->instances, struct instance, .heap = o->heap, .tag_at = at - 1, .id = id(o->d, at), .class_id = id(o->d, class_at),
        .bytes = u4(o->d, bytes_at), .bytes_at = bytes_at, .values_at = bytes_at + 4);
}

/* 6.6 */
static void read_object_array(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + o->d->id_size, count_at = trace_at + 4, class_at = count_at + 4;
    define_object(o, at, false);
    use_trace(o, trace_at, TRACE_IS_NEEDED);
    use(&o->object_uses, o->heap, id(o->d, class_at), ROLE_ARRAY_CLASS, class_at, "OBJ-003");
    ADD(&o->object_arrays, struct array, .heap = o->heap, .class_id = id(o->d, class_at), .class_at = class_at);
    o->report->references += u4(o->d, count_at);
    for (uint64_t i = 0; i < u4(o->d, count_at); i++)
        if (id(o->d, class_at + (i + 1) * o->d->id_size) != id(o->d, at)) /* by itself alone an array is not named */
            use_reference(o, o->heap, class_at + (i + 1) * o->d->id_size);
}

/* 6.7 and, without elements, 6.8 */
static void read_primitive_array(struct oracle *o, uint64_t at)
{
    uint64_t trace_at = at + o->d->id_size, count_at = trace_at + 4, type_at = count_at + 4;
    bool elements = u1(o->d, at - 1) == PRIMITIVE_ARRAY_DUMP;
    define_object(o, at, false);
    use_trace(o, trace_at, TRACE_IS_NEEDED);
    if (!is_primitive(o->d, u1(o->d, type_at))) /* without elements: nothing depends on it */
        report(o, "OBJ-008", type_at);
    if (!elements || u1(o->d, type_at) != TYPE_BOOLEAN)
        return;
    for (uint64_t i = 0; i < u4(o->d, count_at); i++)
        if (u1(o->d, type_at + 1 + i) > 1) {
            report(o, "OBJ-009", type_at + 1 + i);
            return;
        }
}

static void read_heap_dump_info(struct oracle *o, uint64_t at)
{
    use_name(o, at + 4);
}

/* How each sub-record is read. */
static void (*const read_subrecord[256])(struct oracle *o, uint64_t at) = {
    [ROOT_UNKNOWN] = read_root,
    [ROOT_JNI_GLOBAL] = read_root,
    [ROOT_JNI_LOCAL] = read_frame_root,
    [ROOT_JAVA_FRAME] = read_frame_root,
    [ROOT_NATIVE_STACK] = read_thread_root,
    [ROOT_STICKY_CLASS] = read_root,
    [ROOT_THREAD_BLOCK] = read_thread_root,
    [ROOT_MONITOR_USED] = read_root,
    [ROOT_THREAD_OBJECT] = read_thread_object,
    [CLASS_DUMP] = read_class_dump,
    [INSTANCE_DUMP] = read_instance,
    [OBJECT_ARRAY_DUMP] = read_object_array,
    [PRIMITIVE_ARRAY_DUMP] = read_primitive_array,
    [ROOT_INTERNED_STRING] = read_root,
    [ROOT_FINALIZING] = read_root,
    [ROOT_DEBUGGER] = read_root,
    [ROOT_REFERENCE_CLEANUP] = read_root,
    [ROOT_VM_INTERNAL] = read_root,
    [ROOT_JNI_MONITOR] = read_thread_root,
    [ROOT_UNREACHABLE] = read_root,
    [PRIMITIVE_ARRAY_NODATA] = read_primitive_array,
    [HEAP_DUMP_INFO] = read_heap_dump_info,
};

/* ---- SPEC.md 5: heap dumps --------------------------------------------------------------------------------------------- */

/* The bytes that the values of an instance should take by the classes read so far; UINT64_MAX if that is not known. */
static uint64_t find_size_by_class(const struct oracle *o, uint64_t class_id)
{
    const struct class_dump *classes = o->class_dumps.items;
    uint64_t size = 0;
    for (size_t steps = 0; class_id != 0 && steps <= o->class_dumps.count; steps++) {
        size_t i = 0;
        while (i < o->class_dumps.count && !(classes[i].heap == o->heap && classes[i].id == class_id))
            i++;
        if (i == o->class_dumps.count || classes[i].untyped)
            return UINT64_MAX;
        size += classes[i].own_size;
        class_id = classes[i].super_id;
    }
    return class_id ? UINT64_MAX : size;
}

/* The same. Objects of few classes follow each other, and classes seldom come between them. */
static uint64_t size_by_class(const struct oracle *o, uint64_t class_id)
{
    struct known_size *known = &o->known_sizes[class_id / 8 % KNOWN_SIZES];
    if (class_id == 0)
        return UINT64_MAX;
    if (known->class_id != class_id || known->classes != o->class_dumps.count || known->heap != o->heap)
        *known = (struct known_size){class_id, o->class_dumps.count, o->heap, find_size_by_class(o, class_id)};
    return known->size;
}

/* M.2: an INSTANCE_DUMP may be to blame for a failure if its class gives it another size. */
static struct doubtful_instance doubt_instance(const struct oracle *o, uint64_t tag_at, uint64_t limit)
{
    uint64_t class_at = tag_at + 1 + o->d->id_size + 4, bytes_at = class_at + o->d->id_size, values_at = bytes_at + 4;
    if (!tag_at || values_at > limit || u1(o->d, tag_at) != INSTANCE_DUMP)
        return (struct doubtful_instance){0};
    uint64_t size = size_by_class(o, id(o->d, class_at));
    if (size == UINT64_MAX || size == u4(o->d, bytes_at))
        return (struct doubtful_instance){0};
    return (struct doubtful_instance){tag_at, bytes_at, values_at - tag_at + size};
}

/* M.2: whether an instance is longer than its class says, and sub-records follow that size up to its end or beyond. Then recovery
 * decides whether its length is believed; it is wrong in any case. */
static bool may_be_overlong(const struct oracle *o, uint64_t tag_at, uint64_t size, uint64_t limit)
{
    struct doubtful_instance doubt = doubt_instance(o, tag_at, limit);
    if (!doubt.at || doubt.by_class >= size)
        return false;
    uint64_t at = tag_at + doubt.by_class, end = tag_at + size;
    if (end < limit && !(extent_of_subrecord(o->d, end, limit).kind == EXTENT_KNOWN &&
                         extent_of_subrecord(o->d, end, limit).size <= limit - end))
        return false;
    while (at < limit) {
        struct extent e = extent_of_subrecord(o->d, at, limit);
        if (e.kind != EXTENT_KNOWN || e.size > limit - at)
            return false;
        if (at >= end)
            return true;
        at += e.size;
    }
    return at == limit;
}

/* From here on, recovery may read otherwise. */
static void doubt(struct oracle *o, uint64_t at)
{
    if (o->doubt_at)
        return;
    o->doubt_at = at;
    o->closed_before_doubt = o->closed_until;
}

/* M.2: an instance of more than 1,024 bytes, before its class or one of its superclasses, is wrong if recovery finds the way within
 * it; so is one that is longer than its class says. */
static void doubt_long_instance(struct oracle *o, uint64_t tag_at)
{
    enum { WAITING_MOST = 1024, NO_CHAIN = 64 /* bytes: other sub-records that begin in so few are no evidence */ };
    uint64_t class_at = tag_at + 1 + o->d->id_size + 4, bytes_at = class_at + o->d->id_size;
    if (u1(o->d, tag_at) != INSTANCE_DUMP)
        return;
    uint64_t bytes = u4(o->d, bytes_at), right = size_by_class(o, id(o->d, class_at));
    if (right == UINT64_MAX ? bytes > WAITING_MOST : bytes > right + NO_CHAIN)
        doubt(o, tag_at);
}

/* M.2: an object array whose elements begin with what no ID does, or with the tag of an object, may take other sub-records for its
 * elements. */
static void doubt_elements(struct oracle *o, uint64_t tag_at, uint64_t size)
{
    uint64_t id_size = o->d->id_size;
    if (u1(o->d, tag_at) != OBJECT_ARRAY_DUMP)
        return;
    for (uint64_t at = tag_at + 1 + 2 * id_size + 8; at < tag_at + size; at += id_size) {
        uint64_t first = u1(o->d, at);
        if (id_size == 8 ? first != 0 : first >= CLASS_DUMP && first <= PRIMITIVE_ARRAY_DUMP)
            doubt(o, tag_at);
    }
}

/* M.2: other items may be sought within a long record whose length no count confirms, unless the whole dump is short. A long string
 * that begins with the tag of a sub-record may be a heap dump record. */
static void doubt_long_record(struct oracle *o, uint64_t at)
{
    enum { LONG = 64 << 10, FAR = 512 << 10, LEAST = 256 };
    uint64_t tag = u1(o->d, at), length = u4(o->d, at + LENGTH_AT), body_at = at + RECORD_HEADER_SIZE;
    bool is_counted = is_heap_dump_record(tag) || tag == TRACE || tag == ALLOC_SITES || tag == CPU_SAMPLES;
    if (!is_counted && o->d->size > FAR && length >= LONG)
        doubt(o, at);
    if (tag == UTF8 && length >= LEAST && body_at < o->d->size && is_subrecord_tag(u1(o->d, body_at)))
        doubt(o, at);
}

/* M.2: an empty heap dump record, if it is the last or the last but one. */
static uint64_t empty_heap_dump(const struct oracle *o)
{
    for (size_t i = 0; i < 2; i++) {
        uint64_t at = o->previous_at[i];
        if (at && is_heap_dump_record(u1(o->d, at)) && u4(o->d, at + LENGTH_AT) == 0)
            return at;
    }
    return 0;
}

static void fail_at(struct oracle *o, const struct failure *failure)
{
    uint64_t fault_at;
    struct oracle_finding finding = finding_of_failure(o->d, failure, &fault_at);
    fail(o, finding, fault_at);
    if (!failure->subrecord_at && may_be_heap_dump(o->d, failure->record_at))
        o->report->other_failure = strcmp(finding.rule, "REC-003") == 0
                                       ? (struct oracle_finding){"REC-002", failure->record_at + LENGTH_AT}
                                       : (struct oracle_finding){"REC-003", failure->record_at};
    else if (!failure->subrecord_at && o->d->size - failure->record_at > RECORD_HEADER_SIZE &&
             is_subrecord_tag(u1(o->d, failure->record_at + RECORD_HEADER_SIZE)))
        o->report->other_failure = (struct oracle_finding){"REC-002", failure->record_at + LENGTH_AT}; /* out of sight */
    o->report->failed_in_heap = failure->subrecord_at > 0;
    /* A later failure may show that the empty heap dump record is at fault. */
    if (failure->empty_at && failure->empty_at < fault_at) {
        o->report->read_until = failure->empty_at;
        o->report->sound_until = ORACLE_UNKNOWN;
    }
    /* Sub-records may follow the end of a HEAP_DUMP, and belong to it. */
    if (!failure->subrecord_at && o->previous_at[0] && is_heap_dump_record(u1(o->d, o->previous_at[0])) &&
        o->previous_at[0] < o->closed_until)
        o->closed_until = o->previous_at[0];
    /* Recovery may go back to what was read last: a wrong length there may have led to the failure. */
    if (failure->doubtful_from && failure->doubtful_from < o->report->read_until)
        o->report->read_until = failure->doubtful_from;
    uint64_t last = o->previous_at[0];
    if (last && u1(o->d, last) == UTF8 && last < o->report->read_until) {
        o->report->read_until = last;
        o->report->sound_until = ORACLE_UNKNOWN;
    }
    if (strcmp(finding.rule, "REC-005") == 0) /* M.4: the framing is well-formed up to a later failure */
        o->report->sound_until = ORACLE_UNKNOWN;
}

static void read_subrecords(struct oracle *o, uint64_t record_at, uint64_t end)
{
    uint64_t limit = end > o->d->size ? o->d->size : end; /* the complete sub-records of a truncated record are checked */
    uint64_t at = record_at + RECORD_HEADER_SIZE, previous_at = 0;
    uint64_t last[DOUBTFUL] = {0}, count = 0;
    struct extent e = {0};
    for (; at < limit; previous_at = at, at += e.size) {
        e = extent_of_subrecord(o->d, at, limit);
        if (e.kind != EXTENT_KNOWN || e.size > limit - at)
            break;
        if (may_be_overlong(o, at, e.size, limit)) {
            fail(o, (struct oracle_finding){"OBJ-006", at + 1 + 2 * o->d->id_size + 4}, at);
            o->report->failed_in_heap = true;
            o->report->sound_until = ORACLE_UNKNOWN;
            return;
        }
        doubt_long_instance(o, at);
        doubt_elements(o, at, e.size);
        last[count++ % DOUBTFUL] = at;
        read_subrecord[u1(o->d, at)](o, at + 1);
        o->report->subrecords[u1(o->d, at)]++;
    }
    if (at < end)
        fail_at(o, &(struct failure){.record_at = record_at,
                                     .empty_at = empty_heap_dump(o),
                                     .subrecord_at = at,
                                     .doubtful_from = count < DOUBTFUL ? last[0] : last[count % DOUBTFUL],
                                     .previous = doubt_instance(o, previous_at, limit),
                                     .here = doubt_instance(o, at, limit)});
    if (end > o->d->size && o->report->sound_until > record_at && o->report->sound_until != ORACLE_UNKNOWN)
        o->report->sound_until = record_at;
}

static void report_segments_of_1_0_1(struct oracle *o, uint64_t at)
{
    if (!o->d->segments_allowed && !o->segment_reported)
        report(o, "REC-005", at);
    o->segment_reported = true;
}

static void read_heap_dump_record(struct oracle *o, uint64_t body_at)
{
    uint64_t at = body_at - RECORD_HEADER_SIZE, tag = u1(o->d, at), length = u4(o->d, at + LENGTH_AT);
    if (!o->series_open) {
        o->heap++;
        *(uint64_t *)append(&o->heap_ends, sizeof(uint64_t)) = UINT64_MAX;
    } else if (tag == HEAP_DUMP && o->d->segments_allowed)
        report(o, "REC-006", at);
    if (tag == HEAP_DUMP_SEGMENT) {
        report_segments_of_1_0_1(o, at);
        o->series_open = true;
        o->last_segment_at = at;
    }
    if (length == 0)
        report(o, "REC-010", at);
    read_subrecords(o, at, body_at + length);
}

static void read_heap_dump_end(struct oracle *o, uint64_t body_at)
{
    uint64_t at = body_at - RECORD_HEADER_SIZE;
    report_segments_of_1_0_1(o, at);
    if (!o->series_open && o->d->segments_allowed)
        report(o, "REC-009", at);
    o->series_open = false;
}

/* ---- SPEC.md 3.2: records ---------------------------------------------------------------------------------------------- */

/* How each record is read. */
static void (*const read_record[256])(struct oracle *o, uint64_t at) = {
    [UTF8] = read_utf8,
    [LOAD_CLASS] = read_load_class,
    [UNLOAD_CLASS] = read_unload_class,
    [FRAME] = read_frame,
    [TRACE] = read_trace,
    [ALLOC_SITES] = read_alloc_sites,
    [START_THREAD] = read_start_thread,
    [END_THREAD] = read_end_thread,
    [HEAP_DUMP] = read_heap_dump_record,
    [CPU_SAMPLES] = read_cpu_samples,
    [CONTROL_SETTINGS] = read_control_settings,
    [HEAP_SUMMARY] = read_heap_summary,
    [HEAP_DUMP_SEGMENT] = read_heap_dump_record,
    [HEAP_DUMP_END] = read_heap_dump_end,
};

/* Whether the record at `at` can be read. Of a heap dump record only the header must be complete. */
static bool is_framed(const struct oracle *o, uint64_t at)
{
    uint64_t left = o->d->size - at;
    if (left < RECORD_HEADER_SIZE || !is_record_tag(u1(o->d, at)) || is_of_no_version(o->d, at, !o->segment_reported))
        return false;
    if (is_heap_dump_record(u1(o->d, at)))
        return true;
    return u4(o->d, at + LENGTH_AT) <= left - RECORD_HEADER_SIZE && has_right_length(o->d, at);
}

/* Reads the record at `at`. False if nothing after it can be read. */
static bool read_framed_record(struct oracle *o, uint64_t at)
{
    o->report->record_at = at;
    if (o->d->size - at >= RECORD_HEADER_SIZE)
        doubt_long_record(o, at);
    if (!is_framed(o, at)) {
        fail_at(o, &(struct failure){.record_at = at,
                                     .empty_at = empty_heap_dump(o),
                                     .first_segment = !o->segment_reported,
                                     .doubtful_from =
                                         o->previous_at[0] && u1(o->d, o->previous_at[0]) == UTF8 ? o->previous_at[0] : 0});
        return false;
    }
    uint64_t tag = u1(o->d, at), time = u4(o->d, at + 1), length = u4(o->d, at + LENGTH_AT), body_at = at + RECORD_HEADER_SIZE;
    if (time < o->previous_time && o->previous_time - time < 0x80000000) /* 3.3: else it has wrapped */
        report(o, "REC-004", at + 1);
    o->previous_time = time;
    read_record[tag](o, body_at);
    if (o->failed)
        return false;
    o->report->records[tag]++;
    o->previous_at[1] = o->previous_at[0];
    o->previous_at[0] = at;
    if (!o->series_open) {
        o->closed_until = body_at + length;
        if (o->heap)
            close_heap_dump(o, body_at + length);
    }
    return true;
}

static bool has_only_definitions(const struct oracle *o)
{
    for (size_t tag = 0; tag < 256; tag++)
        if (o->report->records[tag] && tag != UTF8 && tag != LOAD_CLASS && tag != FRAME && tag != TRACE)
            return false;
    return true;
}

static void read_records(struct oracle *o)
{
    uint64_t at = HEADER_SIZE;
    while (at < o->d->size) {
        if (!read_framed_record(o, at))
            return;
        at += RECORD_HEADER_SIZE + u4(o->d, at + LENGTH_AT);
    }
    if (o->series_open && o->d->segments_allowed) {
        report(o, "REC-007", o->last_segment_at);
        o->unclosed_heap = o->heap;
    }
    if (has_only_definitions(o)) /* 5.4 */
        report(o, "REC-016", o->previous_at[0]);
}

/* ---- SPEC.md 3.1: the header ------------------------------------------------------------------------------------------- */

/* Whether the dump begins with `magic` and a NUL, as far as it goes. */
static bool begins_with(const struct dump *d, const char *magic)
{
    size_t size = strlen(magic) + 1;
    return memcmp(d->bytes, magic, d->size < size ? (size_t)d->size : size) == 0;
}

/* Fills the rest of *d, which is that of *o. False if nothing after the header can be trusted. */
static bool read_header(struct oracle *o, struct dump *d)
{
    bool obsolete = begins_with(d, "JAVA PROFILE 1.0");
    d->android = begins_with(d, "JAVA PROFILE 1.0.3");
    d->segments_allowed = begins_with(d, "JAVA PROFILE 1.0.2") || d->android;
    if (!obsolete && !d->segments_allowed && !begins_with(d, "JAVA PROFILE 1.0.1"))
        fail(o, (struct oracle_finding){"HDR-001", 0}, 0);
    else if (obsolete && d->size > strlen("JAVA PROFILE 1.0"))
        fail(o, (struct oracle_finding){"HDR-002", 0}, 0);
    else if (d->size < HEADER_SIZE)
        fail(o, (struct oracle_finding){"HDR-005", 0}, 0);
    else if (u4(d, ID_SIZE_AT) != 4 && u4(d, ID_SIZE_AT) != 8)
        fail(o, (struct oracle_finding){"HDR-004", ID_SIZE_AT}, 0);
    if (o->failed)
        return false;

    d->id_size = u4(d, ID_SIZE_AT);
    if (d->android)
        report(o, "HDR-003", 0);
    if (u8(d, TIMESTAMP_AT) == 0)
        report(o, "HDR-006", TIMESTAMP_AT);
    else if (u8(d, TIMESTAMP_AT) >= 4102444800000)
        report(o, "HDR-007", TIMESTAMP_AT);
    return true;
}

/* ---- Rules on what is defined and what is named ------------------------------------------------------------------------ */

static int compare_uses(const void *left, const void *right)
{
    const struct use *a = left, *b = right;
    int order = compare_numbers(a->scope, b->scope);
    if (order == 0)
        order = compare_numbers(a->id, b->id);
    if (order == 0)
        order = a->role - b->role;
    return order ? order : compare_numbers(a->at, b->at);
}

/* Leaves, of everything that is named, the first use in the gravest role. */
static void reduce_uses(struct list *uses)
{
    struct use *items = uses->items;
    size_t kept = 0;
    if (uses->count == 0)
        return;
    qsort(items, uses->count, sizeof *items, compare_uses);
    for (size_t i = 0; i < uses->count; i++)
        if (kept == 0 || items[kept - 1].scope != items[i].scope || items[kept - 1].id != items[i].id)
            items[kept++] = items[i];
    uses->count = kept;
}

/* Reports the first of all uses of a thing in the gravest role. */
static void report_uses(struct oracle *o, struct list *uses)
{
    reduce_uses(uses);
    const struct use *items = uses->items;
    for (size_t i = 0; i < uses->count; i++)
        report(o, items[i].rule, items[i].at);
}

/* Reports what is named and not defined. */
static void check_defined(struct oracle *o, struct list *uses, const struct list *definitions)
{
    reduce_uses(uses);
    const struct use *items = uses->items;
    for (size_t i = 0; i < uses->count; i++)
        if (!first_definition(definitions, items[i].scope, items[i].id))
            report(o, items[i].rule, items[i].at);
}

/* 4.1 */
static void check_strings(struct oracle *o)
{
    const struct string *strings = o->strings.items;
    for (size_t i = 0; i < o->strings.count; i++) {
        const struct string *s = &strings[i];
        const struct definition *d = first_definition(&o->string_ids, 0, s->id);
        if (d->item != i) {
            const struct string *first = &strings[d->item];
            bool same = s->size == first->size && memcmp(s->text, first->text, (size_t)s->size) == 0;
            report(o, same ? "STR-003" : "STR-004", s->at);
        }
    }
    check_defined(o, &o->name_uses, &o->string_ids);
    const struct use *names = o->name_uses.items;
    for (size_t i = 0; i < o->name_uses.count; i++) {
        const struct definition *d = first_definition(&o->string_ids, 0, names[i].id);
        if (d && d->at > names[i].at)
            report(o, "STR-007", names[i].at);
    }
}

/* A string that is defined before `at`. ID 0 is no name, even if a string has it. */
static const struct string *string_before(const struct oracle *o, uint64_t string_id, uint64_t at)
{
    const struct definition *d = string_id ? first_definition(&o->string_ids, 0, string_id) : NULL;
    return d && d->at < at ? &((const struct string *)o->strings.items)[d->item] : NULL;
}

/* 4.2: a class ID is loaded again under a new serial. After its class was unloaded it may be. */
static void check_reload(struct oracle *o, struct loaded_class *first, size_t again)
{
    struct loaded_class *loaded = o->loaded_classes.items;
    const struct loaded_class *before = &loaded[first->current], *now = &loaded[again];
    const struct string *name = string_before(o, before->name, now->name_at);
    const struct string *new_name = string_before(o, now->name, now->name_at);
    bool both = name && new_name;
    bool same = both && name->size == new_name->size && memcmp(name->text, new_name->text, (size_t)name->size) == 0;
    if (loaded[first_definition(&o->class_serials, 0, before->serial)->item].unloaded) {
        first->reused = first->reused || !(same || before->name == now->name);
        first->current = again;
    } else if (both && !same) {
        report(o, "CLS-018", now->name_at);
    } else {
        report(o, "CLS-004", now->id_at);
    }
}

static bool is_either(const struct string *name, const char *slashed, const char *dotted)
{
    return name->size == strlen(slashed) &&
           (memcmp(name->text, slashed, strlen(slashed)) == 0 || memcmp(name->text, dotted, strlen(dotted)) == 0);
}

/* 6.2.6, 6.2.8, 6.3.1: the name that a class has when it is dumped. Of the LOAD_CLASS records, those before it were seen. */
static void see_name(const struct oracle *o, struct class_dump *c)
{
    static const char *const names[KINDS][2] = {
        [KIND_LOADER] = {"java/lang/ClassLoader", "java.lang.ClassLoader"},
        [KIND_THREAD] = {"java/lang/Thread", "java.lang.Thread"},
        [KIND_STICKY_CLASS] = {"java/lang/Class", "java.lang.Class"},
    };
    const struct loaded_class *loaded = o->loaded_classes.items;
    const struct definition *d = first_definition(&o->class_ids, 0, c->id);
    if (!d || d->at > c->at || loaded[d->item].reused)
        return;
    const struct string *name = string_before(o, loaded[loaded[d->item].current].name, c->at);
    for (unsigned kind = 0; name && kind < KINDS; kind++)
        if (is_either(name, names[kind][0], names[kind][1])) {
            c->is_named = true;
            c->kind = (enum kind)kind;
        }
}

/* 4.2 and 4.3 */
static void check_loaded_classes(struct oracle *o)
{
    struct loaded_class *loaded = o->loaded_classes.items;
    struct class_dump *dumps = o->class_dumps.items;
    const struct use *unloads = o->unloads.items;
    size_t next_unload = 0, next_dump = 0;
    for (size_t i = 0; i <= o->loaded_classes.count; i++) {
        uint64_t until = i < o->loaded_classes.count ? loaded[i].serial_at : UINT64_MAX;
        for (; next_dump < o->class_dumps.count && dumps[next_dump].at < until; next_dump++)
            see_name(o, &dumps[next_dump]);
        for (; next_unload < o->unloads.count && unloads[next_unload].at < until; next_unload++) {
            const struct use *unload = &unloads[next_unload];
            const struct definition *d = first_definition(&o->class_serials, 0, unload->id);
            if (!d || d->at > unload->at)
                continue;
            if (loaded[d->item].unloaded)
                report(o, "CLS-019", unload->at);
            loaded[d->item].unloaded = true;
        }
        if (i == o->loaded_classes.count)
            break;
        struct loaded_class *c = &loaded[i];
        bool new_serial = first_definition(&o->class_serials, 0, c->serial)->item == i;
        if (c->serial && !new_serial)
            report(o, "CLS-003", c->serial_at);
        if (c->id == 0)
            continue;
        struct loaded_class *first = &loaded[first_definition(&o->class_ids, 0, c->id)->item];
        if (first == c)
            c->current = i;
        else if (new_serial)
            check_reload(o, first, i);
    }
    /* A class may be named before it is loaded, but not unloaded. */
    reduce_uses(&o->unloads);
    for (size_t i = 0; i < o->unloads.count; i++) {
        const struct definition *d = first_definition(&o->class_serials, 0, unloads[i].id);
        if (d && d->at > unloads[i].at)
            report(o, "CLS-007", unloads[i].at);
    }
    check_defined(o, &o->class_serial_uses, &o->class_serials);
}

/* 4.4 and 4.5 */
static void check_stacks(struct oracle *o)
{
    const struct frame *frames = o->frames.items;
    for (size_t i = 0; i < o->frames.count; i++) {
        size_t first = first_definition(&o->frame_ids, 0, frames[i].id)->item;
        bool same = memcmp(frames[i].body, frames[first].body, (size_t)(4 * o->d->id_size + 8)) == 0;
        if (first != i)
            report(o, same ? "STK-002" : "STK-003", frames[i].at);
        else if (frames[i].id == 0)
            report(o, "STK-013", frames[i].at);
    }
    const struct trace *traces = o->traces.items;
    for (size_t i = 0; i < o->traces.count; i++) {
        const struct trace *first = &traces[first_definition(&o->trace_serials, 0, traces[i].serial)->item];
        bool same = traces[i].size == first->size && memcmp(traces[i].body, first->body, (size_t)first->size) == 0;
        if (first != &traces[i])
            report(o, same ? "STK-008" : "STK-009", traces[i].at);
        else if (traces[i].serial == 0)
            report(o, "STK-014", traces[i].at);
    }
    check_defined(o, &o->frame_uses, &o->frame_ids);
    check_defined(o, &o->trace_uses, &o->trace_serials);
}

/* 4.8 and 4.9. Threads that end without a start are added to `reported`. */
static void check_thread_lives(struct oracle *o, struct list *events, struct list *reported)
{
    const struct thread_event *e = o->thread_events.items;
    const struct definition *sorted = events->items;
    bool started = false, lives = false, missed = false;
    for (size_t i = 0; i < events->count; i++) {
        const struct thread_event *event = &e[sorted[i].item];
        if (i == 0 || sorted[i].id != sorted[i - 1].id)
            started = lives = missed = false;
        if (event->start) {
            if (lives && event->serial != 0)
                report(o, "THR-004", event->at);
            started = lives = true;
        } else if (!event->start) {
            if (!started && !missed) {
                report(o, "THR-005", event->at);
                define(reported, 0, event->serial, event->at, 0);
                missed = true;
            } else if (started && !lives) {
                report(o, "THR-006", event->at);
            }
            lives = false;
        }
    }
}

/* 6.2 and 6.2.8, and the threads of 4.5 */
static void check_threads(struct oracle *o)
{
    struct list events = {0}, starts = {0}, roots = {0}, known = {0}, reported = {0};
    const struct thread_event *e = o->thread_events.items;
    for (size_t i = 0; i < o->thread_events.count; i++) {
        define(&events, 0, e[i].serial, e[i].at, i);
        if (e[i].start) {
            define(&known, 0, e[i].serial, e[i].at, i);
            define(&starts, 0, e[i].serial, e[i].at, i);
        }
    }
    const struct thread_root *r = o->thread_roots.items;
    for (size_t i = 0; i < o->thread_roots.count; i++) {
        define(&known, 0, r[i].serial, r[i].at, i);
        define(&roots, r[i].heap, r[i].serial, r[i].at, i);
    }
    sort_index(&events);
    sort_index(&starts);
    sort_index(&known);
    sort_index(&roots);
    check_thread_lives(o, &events, &reported);

    for (size_t i = 0; i < o->thread_roots.count; i++)
        if (first_definition(&roots, r[i].heap, r[i].serial)->item != i)
            report(o, "ROOT-002", r[i].at);
    reduce_uses(&o->root_thread_uses);
    const struct use *threads = o->root_thread_uses.items;
    const uint64_t *heap_ends = o->heap_ends.items;
    for (size_t i = 0; i < o->root_thread_uses.count; i++) {
        const struct definition *start = first_definition(&starts, 0, threads[i].id);
        bool started = start && start->at < heap_ends[threads[i].scope - 1];
        if (threads[i].scope == o->unclosed_heap)
            continue;
        if (threads[i].id == 0 || (!started && !first_definition(&roots, threads[i].scope, threads[i].id))) {
            report(o, threads[i].rule, threads[i].at);
            define(&reported, 0, threads[i].id, threads[i].at, 0);
        }
    }
    const struct frame_root *f = o->frame_roots.items;
    const struct trace *traces = o->traces.items;
    for (size_t i = 0; i < o->frame_roots.count; i++) {
        const struct definition *thread = first_definition(&roots, f[i].heap, f[i].thread);
        const struct definition *trace = thread ? first_definition(&o->trace_serials, 0, r[thread->item].trace) : NULL;
        if (trace && r[thread->item].trace != 0 && f[i].frame >= 0 && (uint64_t)f[i].frame >= traces[trace->item].frame_count)
            report(o, "ROOT-005", f[i].frame_at);
    }

    sort_index(&reported);
    reduce_uses(&o->trace_thread_uses);
    const struct use *t = o->trace_thread_uses.items;
    for (size_t i = 0; i < o->trace_thread_uses.count && !o->unclosed_heap; i++)
        if (!first_definition(&known, 0, t[i].id) && !first_definition(&reported, 0, t[i].id))
            report(o, "STK-011", t[i].at);
    free(events.items);
    free(starts.items);
    free(known.items);
    free(roots.items);
    free(reported.items);
}

/* ---- Rules on heap dumps ----------------------------------------------------------------------------------------------- */

/* 6.4.2 and 6.3: within a heap dump an ID is defined once. A class counts more than an object of the same ID. */
static void check_unique_objects(struct oracle *o)
{
    const struct object *objects = o->objects.items;
    for (size_t i = 0; i < o->objects.count; i++) {
        const struct object *later = &objects[i];
        if (later->id == 0 || first_definition(&o->object_ids, later->heap, later->id)->item == i)
            continue;
        const struct definition *class = first_definition(&o->dumped_class_ids, later->heap, later->id);
        bool class_before = class && class->at < later->at;
        if (class_before)
            report(o, later->is_class ? "CLS-009" : "OBJ-005", later->at);
        else
            report(o, later->is_class ? "OBJ-005" : "OBJ-004", later->at);
    }
}

static const struct class_dump *superclass(const struct oracle *o, const struct class_dump *c)
{
    const struct definition *d = c->super_id ? first_definition(&o->dumped_class_ids, c->heap, c->super_id) : NULL;
    return d ? &((const struct class_dump *)o->class_dumps.items)[d->item] : NULL;
}

/* The sum of the fields of a class and its superclasses; UINT64_MAX if the chain is not complete. */
static uint64_t size_of_chain(const struct oracle *o, const struct class_dump *c)
{
    uint64_t size = 0;
    for (size_t steps = 0; steps <= o->class_dumps.count; steps++) {
        if (c->untyped)
            return UINT64_MAX;
        size += c->own_size;
        if (c->super_id == 0)
            return size;
        c = superclass(o, c);
        if (!c)
            return UINT64_MAX;
    }
    return UINT64_MAX; /* a cycle */
}

/* 6.3.2: whether a class is the first in the file of a cycle of superclasses. */
static bool begins_cycle(const struct oracle *o, const struct class_dump *first)
{
    const struct class_dump *c = superclass(o, first);
    for (size_t steps = 0; c && c != first && steps <= o->class_dumps.count; steps++) {
        if (c->at < first->at)
            return false;
        c = superclass(o, c);
    }
    return c == first;
}

static void check_classes(struct oracle *o)
{
    const struct class_dump *c = o->class_dumps.items;
    for (size_t i = 0; i < o->class_dumps.count; i++) {
        if (c[i].id == 0 || first_definition(&o->dumped_class_ids, c[i].heap, c[i].id)->item != i)
            continue; /* not the layout that holds */
        uint64_t size = size_of_chain(o, &c[i]);
        if (size != UINT64_MAX && size != c[i].instance_size)
            report(o, "CLS-017", c[i].instance_size_at);
        if (begins_cycle(o, &c[i]))
            report(o, "CLS-011", c[i].super_at);
    }
}

/* 6.5: the values of an instance, of its class, then of its superclass, and so on. */
static void check_instances(struct oracle *o)
{
    const struct instance *instances = o->instances.items;
    for (size_t i = 0; i < o->instances.count; i++) {
        const struct instance *instance = &instances[i];
        const struct definition *d = first_definition(&o->dumped_class_ids, instance->heap, instance->class_id);
        const struct class_dump *c = d ? &((const struct class_dump *)o->class_dumps.items)[d->item] : NULL;
        uint64_t size = c ? size_of_chain(o, c) : UINT64_MAX, at = instance->values_at;
        if (size == UINT64_MAX)
            continue;
        if (size != instance->bytes) {
            report(o, "OBJ-006", instance->bytes_at);
            continue;
        }
        for (; c; c = superclass(o, c))
            for (uint64_t f = 0; f < c->field_count; f++) {
                uint64_t type = u1(o->d, c->fields_at + f * (o->d->id_size + 1) + o->d->id_size);
                check_value(o, instance->heap, type, at);
                at += size_of_type(o->d, type);
            }
    }
}

/* 6.4.3, 6.3.2, 7: each ID that is named and not defined is one finding. */
static void check_objects_defined(struct oracle *o)
{
    struct list missing = {0};
    const struct use *uses = o->object_uses.items;
    for (size_t i = 0; i < o->object_uses.count; i++) {
        bool needs_class = uses[i].role <= ROLE_SUPERCLASS;
        if (uses[i].scope == o->unclosed_heap)
            continue;
        if (!first_definition(needs_class ? &o->dumped_class_ids : &o->object_ids, uses[i].scope, uses[i].id))
            *(struct use *)append(&missing, sizeof(struct use)) = uses[i];
    }
    report_uses(o, &missing);
    free(o->object_uses.items);
    o->object_uses = missing;
}

/* Whether an instance is one of the class of a kind, or of a subclass. It may be if its class is unknown, or its size is wrong. */
static bool may_be_of_kind(const struct oracle *o, const struct instance *instance, enum kind kind)
{
    const struct definition *d = first_definition(&o->dumped_class_ids, instance->heap, instance->class_id);
    const struct class_dump *c = d ? &((const struct class_dump *)o->class_dumps.items)[d->item] : NULL;
    if (!c || size_of_chain(o, c) != instance->bytes)
        return true;
    for (; c; c = superclass(o, c))
        if (c->is_named && c->kind == kind)
            return true;
    return false;
}

/* 6.2.6, 6.2.8, 6.3.1: what must not be a class, and must be an instance of the class of a kind, if its heap dump has that. */
static void check_kind(struct oracle *o, enum kind kind)
{
    static const char *const for_classes[KINDS] = {[KIND_LOADER] = "CLS-022", [KIND_THREAD] = "ROOT-008"};
    static const char *const for_objects[KINDS] = {
        [KIND_LOADER] = "CLS-023", [KIND_THREAD] = "ROOT-009", [KIND_STICKY_CLASS] = "ROOT-010"};
    struct list wrong = {0}, heaps = {0}, right = {0};
    const struct class_dump *c = o->class_dumps.items;
    for (size_t i = 0; i < o->class_dumps.count; i++)
        if (c[i].is_named && c[i].kind == kind && c[i].id != 0 &&
            first_definition(&o->dumped_class_ids, c[i].heap, c[i].id)->item == i)
            define(&heaps, 0, c[i].heap, c[i].at, i);
    const struct instance *instances = o->instances.items;
    for (size_t i = 0; heaps.count && i < o->instances.count; i++)
        if (may_be_of_kind(o, &instances[i], kind))
            define(&right, instances[i].heap, instances[i].id, instances[i].tag_at, i);
    sort_index(&heaps);
    sort_index(&right);
    const struct use *uses = o->kind_uses[kind].items;
    for (size_t i = 0; i < o->kind_uses[kind].count; i++) {
        const struct use *u = &uses[i];
        const char *rule = NULL;
        if (first_definition(&o->dumped_class_ids, u->scope, u->id))
            rule = for_classes[kind];
        else if (first_definition(&heaps, 0, u->scope) && first_definition(&o->object_ids, u->scope, u->id) &&
                 !first_definition(&right, u->scope, u->id))
            rule = for_objects[kind];
        if (rule && u->scope != o->unclosed_heap)
            use(&wrong, u->scope, u->id, 0, u->at, rule);
    }
    report_uses(o, &wrong);
    free(heaps.items);
    free(right.items);
    free(wrong.items);
}

static bool is_loaded_by_end_of(const struct oracle *o, size_t heap, uint64_t class_id)
{
    const struct definition *d = first_definition(&o->class_ids, 0, class_id);
    return d && d->at < ((const uint64_t *)o->heap_ends.items)[heap - 1];
}

/* M.3: in each heap dump, as many classes may have been dumped under a wrong ID as loaded classes are named and missing. */
static size_t count_missing_loaded_classes(const struct oracle *o, size_t heap)
{
    const struct use *missing = o->object_uses.items; /* what is left of them */
    size_t count = 0;
    for (size_t i = 0; i < o->object_uses.count; i++)
        if (missing[i].scope == heap && missing[i].role <= ROLE_SUPERCLASS &&
            !first_definition(&o->object_ids, heap, missing[i].id) && is_loaded_by_end_of(o, heap, missing[i].id))
            count++;
    return count;
}

/* 6.3: a dumped class has a LOAD_CLASS. */
static void check_dumped_classes_loaded(struct oracle *o, const struct list *named)
{
    const struct class_dump *c = o->class_dumps.items;
    struct list unloaded = {0};
    size_t heap = 0, strays = 0;
    for (size_t i = 0; i < o->class_dumps.count; i++) {
        if (c[i].heap != heap) {
            heap = c[i].heap;
            strays = count_missing_loaded_classes(o, heap);
        }
        if (c[i].id == 0 || first_definition(&o->dumped_class_ids, heap, c[i].id)->item != i)
            continue;
        if (strays && !is_loaded_by_end_of(o, heap, c[i].id) && !first_definition(named, heap, c[i].id))
            strays--;
        else if (!first_definition(&o->class_ids, 0, c[i].id))
            use(&unloaded, 0, c[i].id, 0, c[i].at, "CLS-008");
    }
    report_uses(o, &unloaded);
    free(unloaded.items);
}

/* 2.6 and 6.6 */
static bool is_array_name(const struct string *name)
{
    return (name->size >= 1 && name->text[0] == '[') || (name->size >= 2 && memcmp(name->text + name->size - 2, "[]", 2) == 0);
}

static bool is_primitive_array_name(const struct string *name)
{
    static const char *const names[] = {"[Z",        "[C",     "[F",      "[D",       "[B",     "[S",      "[I",    "[J",
                                        "boolean[]", "char[]", "float[]", "double[]", "byte[]", "short[]", "int[]", "long[]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name->size == strlen(names[i]) && memcmp(name->text, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The name of a class for the whole file; NULL if it is not known or changes. */
static const struct string *name_of_class(const struct oracle *o, uint64_t class_id)
{
    const struct loaded_class *loads = o->loaded_classes.items;
    const struct definition *load = first_definition(&o->class_ids, 0, class_id);
    if (!load || loads[load->item].reused)
        return NULL;
    return string_before(o, loads[loads[load->item].current].name, UINT64_MAX);
}

/* 6.3.2 and 6.3.5: an array class has no fields, and its superclass has no superclass. */
static void check_array_layouts(struct oracle *o)
{
    struct list with_fields = {0}, with_superclass = {0};
    const struct class_dump *c = o->class_dumps.items;
    for (size_t i = 0; i < o->class_dumps.count; i++) {
        const struct string *name = c[i].id ? name_of_class(o, c[i].id) : NULL;
        if (!name || !is_array_name(name) || first_definition(&o->dumped_class_ids, c[i].heap, c[i].id)->item != i)
            continue;
        if (c[i].field_count && !c[i].untyped)
            use(&with_fields, 0, c[i].id, 0, c[i].at, "CLS-020");
        if (size_of_chain(o, &c[i]) != UINT64_MAX && c[i].super_id && superclass(o, &c[i])->super_id)
            use(&with_superclass, 0, c[i].id, 0, c[i].super_at, "CLS-021");
    }
    report_uses(o, &with_fields);
    report_uses(o, &with_superclass);
    free(with_fields.items);
    free(with_superclass.items);
}

/* 6.5 and 6.6: one finding for each class whose name is known and does not go with its objects. */
static void check_array_classes(struct oracle *o)
{
    struct list wrong = {0}, wrong_instances = {0};
    const struct array *arrays = o->object_arrays.items;
    for (size_t i = 0; i < o->object_arrays.count; i++) {
        const struct array *a = &arrays[i];
        const struct string *name = name_of_class(o, a->class_id);
        if (name && !is_array_name(name))
            use(&wrong, 0, a->class_id, 0, a->class_at, "OBJ-007");
        else if (name && is_primitive_array_name(name))
            use(&wrong, 0, a->class_id, 0, a->class_at, "OBJ-012");
    }
    const struct instance *instances = o->instances.items;
    const struct class_dump *dumps = o->class_dumps.items;
    for (size_t i = 0; i < o->instances.count; i++) {
        const struct string *name = name_of_class(o, instances[i].class_id);
        const struct definition *dump = first_definition(&o->dumped_class_ids, instances[i].heap, instances[i].class_id);
        if (name && dump && is_array_name(name))
            use(&wrong_instances, 0, instances[i].class_id, 0, dumps[dump->item].at, "OBJ-011");
    }
    check_array_layouts(o);
    report_uses(o, &wrong_instances);
    report_uses(o, &wrong);
    free(wrong_instances.items);
    free(wrong.items);
}

static void check_heap_dumps(struct oracle *o)
{
    struct list named = {0}; /* the classes of objects, and all that is referred to */
    check_unique_objects(o);
    check_classes(o);
    check_instances(o);
    const struct use *uses = o->object_uses.items;
    for (size_t i = 0; i < o->object_uses.count; i++)
        if (uses[i].role <= ROLE_ARRAY_CLASS || uses[i].role == ROLE_REFERENCE)
            define(&named, uses[i].scope, uses[i].id, uses[i].at, i);
    sort_index(&named);
    check_objects_defined(o);
    for (unsigned kind = 0; kind < KINDS; kind++)
        check_kind(o, (enum kind)kind);
    check_dumped_classes_loaded(o, &named);
    check_array_classes(o);
    free(named.items);
}

static void check_all(struct oracle *o)
{
    struct list *indexes[] = {&o->string_ids,    &o->class_serials, &o->class_ids,       &o->frame_ids,
                              &o->trace_serials, &o->object_ids,    &o->dumped_class_ids};
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
        sort_index(indexes[i]);
    check_strings(o);
    check_loaded_classes(o);
    check_stacks(o);
    check_threads(o);
    check_heap_dumps(o);
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
        free(indexes[i]->items);
}

/* ---- The report -------------------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *rule, const char *const *rules)
{
    while (*rules && strcmp(*rules, rule) != 0)
        rules++;
    return *rules != NULL;
}

/* Severities of the strict profile. */
static bool is_warning(const char *rule)
{
    static const char *const warnings[] = {
        "HDR-006", "HDR-007", "REC-004",  "REC-009", "REC-010",  "STR-002",  "STR-003",  "STR-007",  "STR-009", "CLS-019",
        "STK-013", "STK-014", "ROOT-007", "CLS-004", "CLS-005",  "CLS-007",  "CLS-017",  "STK-002",  "STK-008", "STK-011",
        "THR-005", "PRF-003", "PRF-005",  "PRF-011", "ROOT-001", "ROOT-002", "ROOT-004", "OBJ-009",  "OBJ-010", "REF-001",
        "REF-002", "CLS-020", "CLS-021",  "CLS-022", "ROOT-008", "CLS-023",  "ROOT-009", "ROOT-010", NULL};
    return is_one_of(rule, warnings);
}

bool oracle_settles(const struct oracle_report *r, const struct oracle_finding *finding)
{
    static const char *const by_file[] = {"REC-007", "STR-006", "STR-007", "CLS-007", "CLS-008",  "STK-006",
                                          "STK-010", "STK-011", "STK-012", "PRF-003", "ROOT-005", "OBJ-007",
                                          "OBJ-011", "OBJ-012", "CLS-020", "CLS-021", NULL};
    static const char *const by_heap_dump[] = {"CLS-010",  "CLS-011", "CLS-017",  "ROOT-003", "ROOT-004", "OBJ-002",
                                               "OBJ-003",  "OBJ-006", "OBJ-010",  "REF-001",  "REF-002",  "CLS-022",
                                               "ROOT-008", "CLS-023", "ROOT-009", "ROOT-010", NULL};
    if (!r->failed && !r->in_doubt)
        return true;
    if (is_one_of(finding->rule, by_file) || finding->offset - r->record_at < RECORD_HEADER_SIZE)
        return false;
    return finding->offset < (is_one_of(finding->rule, by_heap_dump) ? r->closed_until : r->read_until);
}

static int compare_findings(const void *left, const void *right)
{
    const struct oracle_finding *a = left, *b = right;
    int order = compare_numbers(a->offset, b->offset);
    return order ? order : strcmp(a->rule, b->rule);
}

/* Keeps the findings that are settled, in order. */
static void finish_report(struct oracle *o)
{
    struct oracle_report *r = o->report;
    if (!o->failed)
        r->read_until = r->closed_until = r->sound_until = o->d->size;
    else
        r->closed_until = o->closed_until < r->read_until ? o->closed_until : r->read_until;
    if (o->doubt_at) {
        r->in_doubt = true;
        r->read_until = o->doubt_at < r->read_until ? o->doubt_at : r->read_until;
        r->closed_until = o->closed_before_doubt < r->closed_until ? o->closed_before_doubt : r->closed_until;
        r->sound_until = ORACLE_UNKNOWN;
    }
    r->failed = o->failed;
    r->valid = !o->failed;
    r->findings = o->findings.items;
    for (size_t i = 0; i < o->findings.count; i++)
        if (oracle_settles(r, &r->findings[i])) {
            r->valid = r->valid && is_warning(r->findings[i].rule);
            r->findings[r->finding_count++] = r->findings[i];
        }
    if (r->finding_count)
        qsort(r->findings, r->finding_count, sizeof *r->findings, compare_findings);
}

struct oracle_report *oracle_validate(const uint8_t *bytes, size_t size)
{
    struct dump dump = {.bytes = bytes, .size = size};
    struct known_size known_sizes[KNOWN_SIZES] = {0};
    struct oracle o = {.d = &dump, .known_sizes = known_sizes, .report = calloc(1, sizeof *o.report)};
    if (!o.report)
        abort();
    if (read_header(&o, &dump)) {
        read_records(&o);
        check_all(&o);
    }
    finish_report(&o);
    struct list *lists[] = {&o.unloads,
                            &o.heap_ends,
                            &o.strings,
                            &o.loaded_classes,
                            &o.frames,
                            &o.traces,
                            &o.thread_events,
                            &o.objects,
                            &o.class_dumps,
                            &o.instances,
                            &o.object_arrays,
                            &o.thread_roots,
                            &o.frame_roots,
                            &o.name_uses,
                            &o.trace_uses,
                            &o.frame_uses,
                            &o.class_serial_uses,
                            &o.trace_thread_uses,
                            &o.object_uses,
                            &o.root_thread_uses,
                            &o.kind_uses[KIND_LOADER],
                            &o.kind_uses[KIND_THREAD],
                            &o.kind_uses[KIND_STICKY_CLASS]};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->items);
    return o.report;
}

void oracle_free(struct oracle_report *report)
{
    if (report)
        free(report->findings);
    free(report);
}
