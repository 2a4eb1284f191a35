/* See gunzip_stream.h: the compressed bytes. */
#include "input/gunzip_stream.h"

bool gunzip_grow_buffer(struct gunzip *g)
{
    size_t capacity = g->block + UNUSED_MOST, rest = (size_t)(g->end - g->at);
    uint8_t *grown;

    if (g->capacity >= capacity)
        return true;
    grown = memory_get(g->memory, capacity);
    if (!grown)
        return false;
    memcpy(grown, g->at, rest);
    memory_put(g->memory, g->buffer, g->capacity);
    g->buffer = grown;
    g->capacity = capacity;
    g->at = grown;
    g->end = grown + rest;
    return true;
}

bool gunzip_fetch(struct gunzip *g)
{
    size_t rest = (size_t)(g->end - g->at), size = rest, got;

    if (rest > UNUSED_MOST || (g->end == g->buffer + g->capacity && !gunzip_grow_buffer(g)))
        return false;
    memmove(g->buffer, g->at, rest);
    while (size < g->capacity && (got = source_read(g->source, g->buffer + size, g->capacity - size)) > 0)
        size += got;
    g->at = g->buffer;
    g->end = g->buffer + size;
    return size > rest;
}

void gunzip_go_to(struct gunzip *g, uint64_t offset)
{
    source_seek(g->source, offset);
    g->at = g->end = g->buffer;
    g->now.offset = offset;
}

void gunzip_pass(struct gunzip *g, size_t n)
{
    g->at += n;
    g->now.offset += n;
}

bool gunzip_take(struct gunzip *g, uint8_t *byte)
{
    if (g->at == g->end && !gunzip_fetch(g))
        return false;
    *byte = *g->at;
    gunzip_pass(g, 1);
    return true;
}

size_t gunzip_written(const struct gunzip *g)
{
    size_t n = (size_t)(g->end - g->at);

    if (g->now.offset + n <= g->zeros_from)
        return n;
    return g->now.offset < g->zeros_from ? (size_t)(g->zeros_from - g->now.offset) : 0;
}
