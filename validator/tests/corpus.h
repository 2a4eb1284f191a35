/* The dumps of corpus/ in memory, for tests that check each of them. These tests run in the top directory. */
#ifndef HPROF_TESTS_CORPUS_H
#define HPROF_TESTS_CORPUS_H

#include <glob.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dump.h"

static struct sample {
    char *name;
    struct bytes bytes;
} * corpus;
static size_t corpus_size;

static inline void load_file(struct sample *sample, const char *name)
{
    uint8_t block[4096];
    FILE *file = fopen(name, "rb");
    size_t n;

    assert_non_null(file);
    *sample = (struct sample){.name = strdup(name)};
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        append(&sample->bytes, block, n);
    fclose(file);
}

static inline int load_corpus(void **state)
{
    glob_t found;

    (void)state;
    if (glob("corpus/valid/*.hprof", 0, NULL, &found) || glob("corpus/either/*.hprof", GLOB_APPEND, NULL, &found) ||
        glob("corpus/several/*.hprof", GLOB_APPEND, NULL, &found) ||
        glob("corpus/warning/*/*.hprof", GLOB_APPEND, NULL, &found) ||
        glob("corpus/invalid/*/*.hprof", GLOB_APPEND, NULL, &found))
        return -1;
    corpus = calloc(found.gl_pathc, sizeof *corpus);
    for (size_t i = 0; i < found.gl_pathc; i++)
        load_file(&corpus[corpus_size++], found.gl_pathv[i]);
    globfree(&found);
    return corpus_size > 300 ? 0 : -1;
}

static inline void free_file(struct sample *sample)
{
    free(sample->name);
    free(sample->bytes.at);
}

static inline int free_corpus(void **state)
{
    (void)state;
    for (size_t i = 0; i < corpus_size; i++)
        free_file(&corpus[i]);
    free(corpus);
    return 0;
}

#endif
