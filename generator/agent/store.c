#include "store.h"

#include <linux/random.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Chunk k has STORE_FIRST << k records. */
static unsigned chunk_of(uint32_t index, uint32_t *within)
{
    uint64_t scaled = (uint64_t)index / STORE_FIRST + 1;
    unsigned chunk = 63 - (unsigned)__builtin_clzll(scaled);
    *within = index - (uint32_t)STORE_FIRST * ((1u << chunk) - 1);
    return chunk;
}

uint32_t store_add(struct store *store, const void *record)
{
    uint32_t index = atomic_load(&store->count), within;
    unsigned chunk = chunk_of(index, &within);
    if (chunk >= STORE_CHUNKS)
        return 0;
    char *records = atomic_load(&store->chunks[chunk]);
    if (!records) {
        records = calloc((size_t)STORE_FIRST << chunk, store->size);
        if (!records)
            return 0;
        atomic_store(&store->chunks[chunk], records);
    }
    memcpy(records + within * store->size, record, store->size);
    atomic_store(&store->count, index + 1);
    return index + 1;
}

void *store_at(const struct store *store, uint32_t number)
{
    uint32_t within;
    unsigned chunk = chunk_of(number - 1, &within);
    return atomic_load_explicit(&store->chunks[chunk], memory_order_acquire) + within * store->size;
}

/* A slot has the high half of a hash, and below it a number; 0 if it is empty. */
struct map_table {
    size_t room;             /* a power of two */
    struct map_table *older; /* somebody may still read it */
    _Atomic uint64_t slots[];
};

uint32_t map_find(const struct map *map, uint64_t hash, map_equal *equal, const void *key)
{
    const struct map_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    if (!table)
        return 0;
    for (size_t at = hash & (table->room - 1);; at = (at + 1) & (table->room - 1)) {
        uint64_t slot = atomic_load_explicit(&table->slots[at], memory_order_acquire);
        if (!slot)
            return 0;
        if (slot >> 32 == hash >> 32 && equal((uint32_t)slot, key))
            return (uint32_t)slot;
    }
}

static void place(struct map_table *table, uint64_t hash, uint64_t slot)
{
    size_t at = hash & (table->room - 1);
    while (atomic_load_explicit(&table->slots[at], memory_order_relaxed))
        at = (at + 1) & (table->room - 1);
    atomic_store_explicit(&table->slots[at], slot, memory_order_release);
}

/* The low half of a hash is not kept: it is derived from the high half, so that the table can grow. */
static uint64_t whole_hash(uint64_t hash)
{
    return (hash & 0xffffffff00000000) | (hash >> 32);
}

static struct map_table *grow(struct map *map)
{
    struct map_table *old = atomic_load(&map->table);
    size_t room = old ? old->room * 2 : 256;
    struct map_table *table = calloc(1, sizeof *table + room * sizeof *table->slots);
    if (!table)
        return NULL;
    table->room = room;
    table->older = old;
    for (size_t i = 0; old && i < old->room; i++) {
        uint64_t slot = atomic_load(&old->slots[i]);
        if (slot)
            place(table, slot >> 32, slot);
    }
    atomic_store(&map->table, table);
    return table;
}

bool map_add(struct map *map, uint64_t hash, uint32_t number)
{
    struct map_table *table = atomic_load(&map->table);
    if ((!table || map->used * 4 >= table->room * 3) && !(table = grow(map)))
        return false;
    place(table, hash, (hash & 0xffffffff00000000) | number);
    map->used++;
    return true;
}

void map_free(struct map *map)
{
    for (struct map_table *table = map->table, *older; table; table = older) {
        older = table->older;
        free(table);
    }
    *map = (struct map){.used = 0};
}

static uint64_t secret = 0x9e3779b97f4a7c15;

void hash_start(void)
{
    /* An older glibc has no getrandom(). */
    if (syscall(SYS_getrandom, &secret, sizeof secret, GRND_NONBLOCK) != (long)sizeof secret)
        secret ^= (uint64_t)time(NULL);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    return x ^ x >> 32;
}

uint64_t hash_number(uint64_t state, uint64_t number)
{
    return whole_hash(mix(state ^ mix(number ^ secret)));
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
    uint64_t state = size;
    for (const char *at = bytes; size;) {
        uint64_t word = 0;
        size_t part = size < sizeof word ? size : sizeof word;
        memcpy(&word, at, part);
        state = mix(state ^ mix(word ^ secret)) + 1;
        at += part;
        size -= part;
    }
    return whole_hash(mix(state));
}

void *array_with_room(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    size_t more_room = *room * 2 + 16;
    void *more = more_room <= SIZE_MAX / size ? realloc(array, more_room * size) : NULL;
    if (more)
        *room = more_room;
    return more;
}

uint8_t *buffer_extend(struct buffer *buffer, size_t more)
{
    if (more > buffer->room - buffer->size) {
        size_t room = buffer->room + buffer->room / 2 + more + 256;
        uint8_t *data = room > more ? realloc(buffer->data, room) : NULL;
        if (!data) {
            buffer->has_failed = true;
            return NULL;
        }
        buffer->data = data;
        buffer->room = room;
    }
    buffer->size += more;
    return buffer->data + buffer->size - more;
}

void buffer_put(struct buffer *buffer, uint64_t value, unsigned size)
{
    uint8_t *at = buffer_extend(buffer, size);
    for (unsigned i = 0; at && i < size; i++)
        at[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

void buffer_put_most(struct buffer *buffer, uint64_t value)
{
    buffer_put(buffer, value < UINT32_MAX ? value : UINT32_MAX, 4);
}

void buffer_put_float(struct buffer *buffer, double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    buffer_put(buffer, bits, 4);
}

void buffer_put_bytes(struct buffer *buffer, const void *bytes, size_t size)
{
    uint8_t *at = size ? buffer_extend(buffer, size) : NULL;
    if (at)
        memcpy(at, bytes, size);
}

bool bits_set(struct bits *bits, uint64_t number)
{
    size_t word = (size_t)(number / 64);
    if (word >= bits->room) {
        size_t room = word + word / 2 + 1024;
        uint64_t *words = realloc(bits->words, room * sizeof *words);
        if (!words)
            return true;
        memset(words + bits->room, 0, (room - bits->room) * sizeof *words);
        bits->words = words;
        bits->room = room;
    }
    uint64_t bit = (uint64_t)1 << number % 64;
    bool before = (bits->words[word] & bit) != 0;
    bits->words[word] |= bit;
    return before;
}

bool bits_has(const struct bits *bits, uint64_t number)
{
    return number / 64 < bits->room && bits->words[number / 64] >> number % 64 & 1;
}

void bits_free(struct bits *bits)
{
    free(bits->words);
    *bits = (struct bits){0};
}
