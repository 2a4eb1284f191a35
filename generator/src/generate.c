/* See generate.h. The source gives the same events several times: to find the places where rules can be broken, to measure
 * records that do not fit in memory, to write. */
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/gzip_fault.h"
#include "fit_objects.h"
#include "outcome.h"
#include "stream/bytes_gzip.h"
#include "stream/bytes_hash.h"
#include "stream/sink_dump.h"
#include "stream/sizer.h"
#include "stream/source_converted.h"
#include "stream/source_file.h"
#include "truth/census.h"
#include "truth/class_names.h"
#include "truth/digest.h"
#include "twin/source_profile.h"

enum { DEFAULT_GZIP_LEVEL = 6 };

struct run {
    const struct generate_request *request;
    struct generated *out;
    struct source *source;
    struct faults *faults;
    struct sizer sizer;
    struct chain *chains; /* of the files after the first */
    size_t chain_count;
    uint64_t damaged_bytes;
};

/* ---- The steps ---- */

static enum generate_status open_source(struct run *r, struct source_settings *made)
{
    struct generated *out = r->out;

    if (r->request->from >= 0) {
        r->source = source_file_new(r->request->from, &out->failure);
        if (r->source && r->request->converts && r->source->version == V103)
            r->source = source_converted_new(r->source);
    } else if (r->request->profile >= 0) {
        r->source = source_profile_new(r->request->profile, r->request->twin_objects, made->model.seed, &out->failure);
        made->model.objects = r->source ? source_profile_objects(r->source) : 0;
    } else {
        uint64_t most = source_model_most(made);

        if (!most)
            return GENERATE_NO_MEMORY;
        made->model.objects = made->model.objects < most ? made->model.objects : most;
        if (r->request->bytes) {
            enum generate_status status = fit_objects(made, r->request->bytes, out);

            if (status != GENERATED)
                return status;
        }
        r->source = source_model_new(made, &out->failure);
    }
    if (!r->source)
        return !out->failure                                       ? GENERATE_NO_MEMORY
               : r->request->from >= 0 || r->request->profile >= 0 ? GENERATE_FAILED
                                                                   : GENERATE_REFUSED;
    out->objects = made->model.objects;
    out->id_size = r->source->id_size;
    out->version = r->source->version;
    return GENERATED;
}

static enum generate_status choose_places(struct run *r)
{
    const struct generate_request *q = r->request;
    struct generated *out = r->out;

    if (!q->violate_count)
        return GENERATED;
    r->faults = faults_new(q->violate, q->violate_count, &q->how, r->source->id_size, r->source->version, &out->failure);
    if (!r->faults)
        return refuse(out, out->failure);
    r->source->detail = DETAIL_FIELDS;
    if (!r->source->run(r->source, faults_look(r->faults), faults_seen(r->faults)))
        return give_up(out, r->source);
    return faults_settle(r->faults, &out->failure) ? GENERATED : refuse(out, out->failure);
}

static enum generate_status plan_damage(struct run *r)
{
    const struct generate_request *q = r->request;
    struct generated *out = r->out;

    if (!q->damage_count)
        return GENERATED;
    out->damage = damage_new(q->damage, q->damage_count, q->how.seed, r->source, &out->failure);
    if (out->damage)
        return GENERATED;
    return out->failure ? refuse(out, out->failure) : give_up(out, r->source);
}

static enum generate_status check_lengths(struct run *r)
{
    static const char *const names[] = {[TAG_HEAP_DUMP] = "HEAP_DUMP", [TAG_HEAP_DUMP_SEGMENT] = "HEAP_DUMP_SEGMENT"};
    const struct sizer *s = &r->sizer;
    struct generated *out = r->out;
    const char *name = s->too_long_tag < sizeof names / sizeof *names ? names[s->too_long_tag] : NULL;

    if (s->no_memory)
        return GENERATE_NO_MEMORY;
    if (!s->too_long)
        return GENERATED;
    snprintf(out->sentence, sizeof out->sentence,
             "%s would be longer than 4 GiB, and its length field has 32 bits: take fewer objects%s", name ? name : "a record",
             s->too_long_tag != TAG_HEAP_DUMP ? ", or smaller ones"
             : r->source->version == V101     ? ", or HEAP_DUMP_SEGMENTs, which version 1.0.2 has"
                                              : ", or a --segment-size");
    return refuse(out, out->sentence);
}

/* A filter examines the sub-records of objects. */
static bool needs_fields(const struct run *r)
{
    return r->faults && !faults_are_of_header(r->faults);
}

/* Measures records that do not fit in memory, before they are written. */
static enum generate_status measure_records(struct run *r)
{
    struct stage *first = &r->sizer.stage;

    if (r->faults ? faults_fit(r->faults, r->source->longest_heap_record, RECORD_MOST_BUFFERED)
                  : r->source->longest_heap_record <= RECORD_MOST_BUFFERED)
        return GENERATED;
    if (r->faults)
        first = faults_break(r->faults, first);
    /* A dump that is already too long is not measured further. */
    r->source->detail = needs_fields(r) ? DETAIL_FIELDS : DETAIL_SIZES;
    if (!r->source->run(r->source, first, &r->sizer.too_long))
        return give_up(r->out, r->source);
    return check_lengths(r);
}

/* The consumers of bytes before `last`. */
struct chain {
    struct bytes *first;
    struct bytes_hash *undamaged_hash, *dump_hash, *file_hash;
    struct bytes_gzip *gzip, *inner_gzip;
    struct gzip_fault fault;
};

static bool add_hash(struct chain *c, struct bytes_hash **hash, uint64_t *size, uint8_t sha256[32])
{
    *hash = bytes_hash_new(c->first, size, sha256);
    if (*hash)
        c->first = bytes_hash_bytes(*hash);
    return *hash;
}

static bool add_gzip(struct chain *c, struct bytes_gzip **gzip, int level, struct gzip_hook *hook, unsigned threads)
{
    *gzip = bytes_gzip_new(c->first, level, hook, threads);
    if (*gzip)
        c->first = bytes_gzip_bytes(*gzip);
    return *gzip;
}

/* The consumers that damage needs: the sums are those of the damaged dump. */
static bool add_damage(struct chain *c, struct run *r)
{
    struct generated *out = r->out;
    bool census = r->request->census;

    if (!out->damage)
        return !census || add_hash(c, &c->dump_hash, NULL, out->truth.sha256); /* the sink knows the size */
    if (census && !add_hash(c, &c->dump_hash, &r->damaged_bytes, out->truth.sha256))
        return false;
    c->first = damage_bytes(out->damage, c->first);
    return !census || add_hash(c, &c->undamaged_hash, NULL, out->undamaged_sha256);
}

static bool build_chain(struct chain *c, struct run *r, int rule)
{
    struct generated *out = r->out;
    uint64_t members = r->sizer.bytes ? (r->sizer.bytes - 1) / GZIP_BLOCK + 1 : 1;
    bool nested = rule == RULE_GZ_007;
    struct gzip_hook *hook = out->damage ? damage_gzip_hook(out->damage) : NULL;

    if (rule != NO_RULE && !nested) {
        gzip_fault_init(&c->fault, rule, (members - 1) * r->request->how.at / UINT32_MAX);
        hook = &c->fault.hook;
    }
    if (r->request->census && out->gzip_level && !add_hash(c, &c->file_hash, &out->truth.file_bytes, out->truth.file_sha256))
        return false;
    if (out->gzip_level && !add_gzip(c, &c->gzip, out->gzip_level, hook, r->request->threads))
        return false;
    if (nested && !add_gzip(c, &c->inner_gzip, out->gzip_level, NULL, 1))
        return false;
    return add_damage(c, r);
}

static bool hash_failed(const struct chain *c)
{
    return bytes_hash_failed(c->undamaged_hash) || bytes_hash_failed(c->dump_hash) || bytes_hash_failed(c->file_hash);
}

static void free_chain(struct chain *c)
{
    bytes_hash_free(c->undamaged_hash);
    bytes_hash_free(c->dump_hash);
    bytes_gzip_free(c->inner_gzip);
    bytes_gzip_free(c->gzip);
    bytes_hash_free(c->file_hash);
}

/* ---- A dump in several files ---- */

/* The consumers for all files but the first, whose `last` write_dump() has. */
static enum generate_status open_parts(struct run *r)
{
    struct generated *out = r->out;
    size_t count = out->damage ? damage_file_count(out->damage) : 0;

    if (count < 2)
        return GENERATED;
    r->chains = calloc(count - 1, sizeof *r->chains);
    out->parts = calloc(count - 1, sizeof *out->parts);
    if (!r->chains || !out->parts)
        return GENERATE_NO_MEMORY;
    for (size_t i = 1; i < count; i++) {
        struct chain *c = &r->chains[r->chain_count++];
        struct part_file *part = &out->parts[i - 1];

        c->first = r->request->open_part(r->request->context, damage_file_at(out->damage, i)->number);
        if (!c->first)
            return GENERATE_FAILED;
        if (r->request->census && !add_hash(c, &c->file_hash, &part->bytes, part->sha256))
            return GENERATE_NO_MEMORY;
        if (out->gzip_level && !add_gzip(c, &c->gzip, out->gzip_level, NULL, r->request->threads))
            return GENERATE_NO_MEMORY;
        damage_file_to(out->damage, i, c->first);
    }
    return GENERATED;
}

static void free_parts(struct run *r)
{
    for (size_t i = 0; i < r->chain_count; i++)
        free_chain(&r->chains[i]);
    free(r->chains);
}

static enum generate_status finish_sink(struct sink_dump *sink, struct generated *out)
{
    switch (sink_dump_finish(sink)) {
    case SINK_COMPLETE:
        return GENERATED;
    case SINK_NO_MEMORY:
        return GENERATE_NO_MEMORY;
    case SINK_NOT_AS_MEASURED:
        out->failure = "the records are not as long as they were when measured: the file was changed while it was read";
        break;
    case SINK_OUT_FAILED:
        break;
    }
    return GENERATE_FAILED;
}

static enum generate_status write_events(struct run *r, struct bytes *first)
{
    struct generated *out = r->out;
    bool stop = false;
    struct sink_dump *sink = sink_dump_new(first, r->sizer.longs, r->sizer.long_count, &out->truth.written, &stop);
    struct census *census = NULL;
    struct stage *stage;
    enum generate_status status;

    if (!sink)
        return GENERATE_NO_MEMORY;
    stage = sink_dump_stage(sink);
    stage->id_size = r->source->id_size;
    if (r->request->census) {
        census = census_new(stage, &out->truth);
        if (!census) {
            sink_dump_free(sink);
            return GENERATE_NO_MEMORY;
        }
        stage = census_stage(census);
    }
    if (r->faults)
        stage = faults_break(r->faults, stage);
    if (out->damage)
        stage = damage_watch(out->damage, stage);
    r->source->detail = needs_fields(r) ? DETAIL_FIELDS : census ? DETAIL_COUNTS : DETAIL_BYTES;
    status = r->source->run(r->source, stage, &stop) ? finish_sink(sink, out) : give_up(out, r->source);
    if (status == GENERATED && census && !census_finish(census))
        status = GENERATE_NO_MEMORY;
    census_free(census);
    sink_dump_free(sink);
    return status;
}

/* The census does not know the names of classes from a file. Another pass finds them. */
static enum generate_status name_classes(struct run *r)
{
    bool needed, good;
    struct class_names *names = class_names_new(&r->out->truth, r->source->id_size, &needed);
    struct stage *first;

    if (!names)
        return needed ? GENERATE_NO_MEMORY : GENERATED;
    first = class_names_stage(names);
    if (r->faults)
        first = faults_break(r->faults, first);
    good = run_to_end(r->source, first);
    good &= class_names_finish(names);
    class_names_free(names);
    return good ? GENERATED : give_up(r->out, r->source);
}

/* After the dump is written: if its reader stops early, this work is saved. */
static enum generate_status add_digests(struct run *r)
{
    struct generated *out = r->out;

    switch (digest_source(r->source, &out->truth, &out->failure)) {
    case DIGEST_DONE:
        return GENERATED;
    case DIGEST_NO_MEMORY:
        return GENERATE_NO_MEMORY;
    case DIGEST_SOURCE_FAILED:
        return give_up(out, r->source);
    case DIGEST_REFUSED:
        break;
    }
    return GENERATE_FAILED;
}

static enum generate_status add_answers(struct run *r)
{
    struct generated *out = r->out;

    switch (answers_find(r->source, &out->truth.answers, &out->failure)) {
    case ANSWERED:
        return GENERATED;
    case ANSWERS_NO_MEMORY:
        return GENERATE_NO_MEMORY;
    case ANSWERS_SOURCE_FAILED:
        return give_up(out, r->source);
    case ANSWERS_REFUSED:
        break;
    }
    return GENERATE_FAILED;
}

/* The truth about the dump that was damaged is that of its undamaged form, except for bytes and sums. */
static enum generate_status finish_damage(struct run *r)
{
    struct generated *out = r->out;

    if (!out->damage)
        return GENERATED;
    out->undamaged_bytes = out->truth.written.bytes;
    out->truth.written.bytes = r->damaged_bytes;
    if (damage_harm(out->damage))
        return GENERATED;
    out->failure = "the list of what is not whole finds no room in memory or in the folder for temporary files";
    return GENERATE_FAILED;
}

static enum generate_status write_dump(struct run *r, struct bytes *last)
{
    struct generated *out = r->out;
    const char *variant = NULL;
    int rule = r->faults ? faults_gzip_rule(r->faults, &variant) : NO_RULE;
    bool of_gzip = rule != NO_RULE || (out->damage && damage_gzip_hook(out->damage));
    struct chain chain = {.first = last};
    enum generate_status status;

    out->gzip_level = r->request->gzip_level ? r->request->gzip_level : of_gzip ? DEFAULT_GZIP_LEVEL : 0;
    status = open_parts(r);
    if (status == GENERATED)
        status = build_chain(&chain, r, rule) ? write_events(r, chain.first) : GENERATE_NO_MEMORY;
    if (status == GENERATE_FAILED && hash_failed(&chain))
        out->failure = "its SHA-256 cannot be reckoned: libcrypto fails";
    if (status == GENERATED && rule != NO_RULE &&
        !written_add_fault(&out->truth.written, rule, variant, rule == RULE_GZ_007 ? 0 : chain.fault.offset))
        status = GENERATE_NO_MEMORY;
    free_parts(r);
    free_chain(&chain);
    return status == GENERATED ? finish_damage(r) : status;
}

enum generate_status generate(const struct generate_request *request, struct bytes *last, struct generated *out)
{
    struct source_settings made = request->made;
    struct run r = {.request = request, .out = out};
    enum generate_status status;

    memset(out, 0, sizeof *out);
    out->truth.quirks = out->quirks;
    sizer_init(&r.sizer);
    made.compressed = request->gzip_level != 0 || violate_gzip(request->violate, request->violate_count) ||
                      (request->damage_count && damage_is_of_gzip(request->damage[0].kind));
    status = open_source(&r, &made);
    if (status == GENERATED) {
        r.sizer.stage.id_size = r.source->id_size;
        r.source->unchanged = request->violate_count == 0;
        status = choose_places(&r);
    }
    if (status == GENERATED)
        status = plan_damage(&r);
    if (status == GENERATED)
        status = measure_records(&r);
    if (status == GENERATED)
        status = write_dump(&r, last);
    if (status == GENERATED && request->census && request->from >= 0)
        status = name_classes(&r);
    if (status == GENERATED && request->digests)
        status = add_digests(&r);
    if (status == GENERATED && request->answers)
        status = add_answers(&r);
    faults_free(r.faults);
    sizer_free(&r.sizer);
    /* source->failure may be memory of the source. */
    if (out->failure && out->failure != out->sentence) {
        snprintf(out->sentence, sizeof out->sentence, "%s", out->failure);
        out->failure = out->sentence;
    }
    if (r.source)
        r.source->free(r.source);
    return status;
}

void generated_free(struct generated *out)
{
    truth_clear(&out->truth);
    damage_free(out->damage);
    free(out->parts);
}
