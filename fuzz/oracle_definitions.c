#include "oracle_definitions.h"

#include <stdlib.h>
#include <string.h>

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

const struct string *string_before(const struct oracle *o, uint64_t string_id, uint64_t at)
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

void check_definitions(struct oracle *o)
{
    check_strings(o);
    check_loaded_classes(o);
    check_stacks(o);
    check_threads(o);
}
