/* See patterns.h. */
#include "producers/patterns.h"

#include <stdlib.h>
#include <string.h>

static void fill_places(uint16_t *places, size_t from, size_t to)
{
    while (from < to)
        places[from++] = NOWHERE;
}

/* Lays out the instances of a class. Returns the number of words. */
static size_t make_pattern(const struct emitter *em, uint32_t class, uint64_t *masks)
{
    const struct model *m = em->model;
    const struct model_class *c = &m->classes[class];
    struct hot_class *hot = &em->hot[class];
    uint8_t bits[PATTERN_BYTES_MOST + WORD] = {0}, *p = bits;
    bool is_value[PATTERN_BYTES_MOST + WORD] = {false};
    uint16_t places[PATTERN_REFERENCES_MOST + STEP], words[PATTERN_WORDS_MOST + STEP];
    size_t references = 0, n = 0, all;

    for (;; c = &m->classes[c->next_with_fields]) {
        const struct model_field *f = m->fields + c->first_field;

        for (unsigned i = 0; i < c->fields; i++, f++) {
            if (f->type == TYPE_OBJECT) {
                places[references++] = (uint16_t)(p - bits);
                p += em->id_size;
            } else {
                memset(is_value + (p - bits), true, type_sizes[f->type]);
                p = put_primitive(p, f, UINT64_MAX);
            }
        }
        if (c->next_with_fields == MODEL_NONE)
            break;
    }
    for (size_t at = 0; at < hot->bytes; at += WORD)
        if (memchr(is_value + at, true, WORD)) {
            memcpy(masks + n, bits + at, WORD);
            words[n++] = (uint16_t)at;
        }
    hot->references = (uint16_t)references;
    hot->words = (uint16_t)n;
    hot->patterned = true;
    all = in_steps(n);
    memset(masks + n, 0, (all - n) * WORD);
    fill_places(words, n, all);
    fill_places(places, references, in_steps(references));
    memcpy(masks + all, words, all * sizeof *words);
    memcpy(masks + all + all / PLACES_A_WORD, places, in_steps(references) * sizeof *places);
    return all + (all + in_steps(references)) / PLACES_A_WORD;
}

bool prepare_objects(struct emitter *em)
{
    const struct model *m = em->model;
    size_t used = 0, most = PATTERNS_SIZE / WORD;
    size_t largest = PATTERN_WORDS_MOST + STEP + (PATTERN_WORDS_MOST + PATTERN_REFERENCES_MOST + 2 * STEP) / PLACES_A_WORD;

    em->hot = calloc(m->class_count, sizeof *em->hot);
    em->patterns = malloc(PATTERNS_SIZE);
    if (!em->hot || !em->patterns)
        return false;
    for (uint32_t c = 0; c < m->class_count; c++) {
        struct hot_class *hot = &em->hot[c];

        *hot = (struct hot_class){.id = class_id(em, c), .trace = em->traces[c], .bytes = m->classes[c].instance_bytes};
        if (hot->bytes <= PATTERN_BYTES_MOST && most - used >= largest) {
            hot->pattern = (uint32_t)used;
            used += make_pattern(em, c, em->patterns + used);
        }
    }
    return true;
}
