/* Frames and stack traces (SPEC.md 4.4, 4.5). */
#include <inttypes.h>

#include "checks/checker.h"
#include "checks/heap.h"

bool trace_depth(const struct checker *ck, uint32_t serial, uint32_t *frames)
{
    uint64_t index;

    if (!keymap_get(&ck->file->traces, serial, &index))
        return false;
    *frames = ((const struct trace *)chunks_at(&ck->file->trace_list, (size_t)index))->frames;
    return true;
}

static bool thread_is_known(struct checker *ck, uint32_t serial)
{
    return keymap_get(&ck->file->threads, serial, NULL) || keymap_get(&ck->heap->thread_roots, serial, NULL) ||
           id_set_get(&ck->file->rooted_threads, serial);
}

/* SPEC.md 4.4 FRAME */
void check_frame(struct checker *ck, const struct FRAME *r, const uint8_t *body, uint64_t at)
{
    struct byte_hash hash;
    uint64_t digest, known;
    struct finding *f = NULL;
    size_t id = ck->file->id_size;

    byte_hash_begin(&hash, &ck->run->key);
    byte_hash_add(&hash, &ck->run->key, body, SIZE_OF(FRAME, id));
    digest = byte_hash_end(&hash, &ck->run->key);
    if (keymap_add(&ck->file->frames, r->id, digest, &known)) {
        if (!r->id)
            report(ck, RULE_STK_013, at, "an ID other than 0", "0");
    } else if (is_read_again(ck, at)) {
        f = NULL;
    } else if (known == digest) {
        f = report(ck, RULE_STK_002, at, "a frame ID not yet used", "0x%" PRIx64 ", defined before in the same way", r->id);
    } else {
        f = report(ck, RULE_STK_003, at, "a frame ID not yet used", "0x%" PRIx64 ", defined before in another way", r->id);
    }
    if (f)
        findings_want_offset(&ck->run->findings, f, WANTED_FRAME, r->id);

    use_name(ck, r->method, NAME_OF_METHOD, at + OFFSET_OF(FRAME, method, id));
    use_name(ck, r->signature, SIGNATURE_OF_METHOD, at + OFFSET_OF(FRAME, signature, id));
    use_name_or_none(ck, r->source, SOURCE_OF_METHOD, at + OFFSET_OF(FRAME, source, id));
    if (r->class_serial)
        use_class_serial(ck, r->class_serial, SERIAL_OF_FRAME, at + OFFSET_OF(FRAME, class_serial, id));
    else
        report(ck, RULE_STK_005, at + OFFSET_OF(FRAME, class_serial, id), "a class serial above 0", "0");
    if (r->line < -3)
        report(ck, RULE_STK_004, at + OFFSET_OF(FRAME, line, id), "a line number of -3 or above", "%" PRId32, r->line);
}

/* SPEC.md 4.5 TRACE: the fixed part, then the frames in pieces. The length was checked. */
bool check_trace(struct checker *ck)
{
    size_t fixed = SIZE_OF(TRACE, ck->file->id_size), per_piece = ck->run->sizes.trace_piece;
    uint64_t at = ck->in->offset, known, digest;
    struct cursor c;
    struct TRACE r;
    struct byte_hash hash;
    struct finding *f = NULL;

    c = window(ck->in, fixed);
    if (!read_TRACE(&c, ck->file->id_size, &r))
        return false;
    byte_hash_begin(&hash, &ck->run->key);
    byte_hash_add(&hash, &ck->run->key, &(uint64_t){r.thread_serial}, sizeof(uint64_t));
    input_advance(ck->in, fixed);

    for (uint32_t left = r.frames; left;) {
        uint32_t n = left < per_piece ? left : (uint32_t)per_piece;
        size_t bytes = (size_t)n * ck->file->id_size;

        if (input_need(ck->in, bytes) < bytes)
            return false;
        byte_hash_add(&hash, &ck->run->key, ck->in->at, bytes);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t frame = get_id(ck->in->at + (size_t)i * ck->file->id_size, ck->file->id_size);

            if (!keymap_get(&ck->file->frames, frame, NULL))
                pending_uses_add(&ck->file->frame_uses, frame, 0, ck->in->offset + (uint64_t)i * ck->file->id_size);
        }
        input_advance(ck->in, bytes);
        left -= n;
    }

    file_note_thread(ck->file, r.thread_serial);
    digest = byte_hash_end(&hash, &ck->run->key);
    ck->file->signs.trace_zero |= !r.trace_serial;
    ck->file->signs.agent_traces += r.trace_serial >= AGENT_FIRST_TRACE;
    if (r.trace_serial == 1 && !r.frames) {
        ck->file->signs.trace_one_empty = true;
        ck->file->signs.trace_one_thread = r.thread_serial;
    }
    if (!keymap_get(&ck->file->traces, r.trace_serial, &known)) {
        struct trace *t = chunks_add(&ck->file->trace_list);

        if (!t || !keymap_put(&ck->file->traces, r.trace_serial, ck->file->trace_list.count - 1))
            return true;
        *t = (struct trace){digest, at, r.frames};
        if (!r.trace_serial)
            report(ck, RULE_STK_014, at, "a serial above 0", "0");
    } else {
        const struct trace *t = chunks_at(&ck->file->trace_list, (size_t)known);

        if (is_read_again(ck, at))
            f = NULL;
        else if (t->hash == digest)
            f = report(ck, RULE_STK_008, at, "a stack trace serial not yet used", "%" PRIu32 ", defined before in the same way",
                       r.trace_serial);
        else
            f = report(ck, RULE_STK_009, at, "a stack trace serial not yet used", "%" PRIu32 ", defined before in another way",
                       r.trace_serial);
        if (f)
            f->related_offset = t->at;
    }
    if (r.thread_serial && !thread_is_known(ck, r.thread_serial))
        pending_uses_add(&ck->file->thread_uses, r.thread_serial, THREAD_OF_TRACE,
                         at + OFFSET_OF(TRACE, thread_serial, ck->file->id_size));
    return true;
}

static void report_frame_use(void *context, uint64_t id, const uint64_t first[USE_ROLES])
{
    struct checker *ck = context;

    if (!keymap_get(&ck->file->frames, id, NULL))
        report_late(ck, RULE_STK_010, SHAPE_ANY, first[0], "TRACE > frame", "the ID of a frame", "0x%" PRIx64 ", not defined",
                    id);
}

static void report_trace_use(void *context, uint64_t serial, const uint64_t first[USE_ROLES])
{
    static const char *const paths[USE_ROLES] = {
        [TRACE_OF_SITE] = "ALLOC_SITES > site",
        [TRACE_OF_SAMPLE] = "CPU_SAMPLES > trace",
        [TRACE_OF_THREAD_ROOT] = "ROOT_THREAD_OBJECT",
        [TRACE_OF_CLASS] = "CLASS_DUMP",
        [TRACE_OF_INSTANCE] = "INSTANCE_DUMP",
        [TRACE_OF_OBJECT_ARRAY] = "OBJECT_ARRAY_DUMP",
        [TRACE_OF_PRIMITIVE_ARRAY] = "PRIMITIVE_ARRAY_DUMP",
        [TRACE_OF_LOAD] = "LOAD_CLASS",
        [TRACE_OF_START] = "START_THREAD",
        [TRACE_OF_UNMARKED_ROOT] = "ROOT_THREAD_OBJECT",
    };
    struct checker *ck = context;
    enum finding_shape shape = SHAPE_ANY;
    unsigned role = 0;
    uint64_t offset;
    bool in_dump;

    if (keymap_get(&ck->file->traces, serial, NULL))
        return;
    offset = uses_first(first, TRACE_OF_SITE, TRACE_OF_PRIMITIVE_ARRAY, &role);
    if (offset != NEVER_USED && role >= TRACE_OF_CLASS && !ck->file->classes.has_other_serials)
        shape = SHAPE_SERIALS_ARE_IDS;
    if (offset == NEVER_USED) {
        shape = SHAPE_LOAD_OR_START;
        offset = uses_first(first, TRACE_OF_LOAD, TRACE_OF_START, &role);
    }
    if (offset == NEVER_USED) {
        shape = SHAPE_NO_TRACE_MARK;
        offset = uses_first(first, TRACE_OF_UNMARKED_ROOT, TRACE_OF_UNMARKED_ROOT, &role);
    }
    in_dump = role != TRACE_OF_SITE && role != TRACE_OF_SAMPLE && role != TRACE_OF_LOAD && role != TRACE_OF_START;
    (in_dump ? report_within : report_late)(ck, RULE_STK_012, shape, offset, paths[role], "0 or the serial of a stack trace",
                                            "%" PRIu32 ", not defined", (uint32_t)serial);
}

static void report_thread_use(void *context, uint64_t serial, const uint64_t first[USE_ROLES])
{
    struct checker *ck = context;
    bool unknown = ck->file->losses.unknown & MAY_DEFINE_THREADS;
    uint64_t ended = first[THREAD_OF_END];

    if (ended == NEVER_USED && !unknown)
        ended = first[THREAD_NEVER_STARTED];
    if (first[THREAD_STARTED_AGAIN] != NEVER_USED && !unknown)
        report_late(ck, RULE_THR_004, SHAPE_ANY, first[THREAD_STARTED_AGAIN], "START_THREAD", "a serial of no living thread",
                    "%" PRIu32 ", started and not ended", (uint32_t)serial);
    if (first[THREAD_ENDED_AGAIN] != NEVER_USED && !unknown)
        report_late(ck, RULE_THR_006, SHAPE_ANY, first[THREAD_ENDED_AGAIN], "END_THREAD", "a thread that has not ended",
                    "%" PRIu32 ", ended before", (uint32_t)serial);
    if (ended != NEVER_USED)
        report_late(ck, RULE_THR_005, SHAPE_ANY, ended, "END_THREAD", "a thread that was started",
                    "%" PRIu32 ", not started so far", (uint32_t)serial);
    else if (first[THREAD_OF_TRACE] != NEVER_USED && !(ck->file->losses.definitions & MAY_DEFINE_THREADS) &&
             !thread_is_known(ck, (uint32_t)serial))
        report_late(ck, RULE_STK_011, serial == 1 ? SHAPE_THREAD_ONE : SHAPE_ANY, first[THREAD_OF_TRACE], "TRACE > thread",
                    "0 or the serial of a thread", "%" PRIu32 ", which no START_THREAD or ROOT_THREAD_OBJECT has",
                    (uint32_t)serial);
}

void finish_stacks(struct checker *ck)
{
    if (!(ck->file->losses.definitions & MAY_DEFINE_FRAMES))
        pending_uses_finish(&ck->file->frame_uses, report_frame_use, ck);
    if (!(ck->file->losses.definitions & MAY_DEFINE_TRACES))
        pending_uses_finish(&ck->file->trace_uses, report_trace_use, ck);
    pending_uses_finish(&ck->file->thread_uses, report_thread_use, ck);
}
