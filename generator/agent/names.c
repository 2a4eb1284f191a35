#include "names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

static struct store names = {.size = sizeof(struct name)};
static struct map by_text;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct key {
    const char *text;
    size_t size;
};

static bool is_name(uint32_t number, const void *context)
{
    const struct key *key = context;
    const struct name *name = store_at(&names, number);
    return name->size == key->size && !memcmp(name->text, key->text, key->size);
}

static uint32_t add(const struct key *key, uint64_t hash)
{
    struct name name = {.text = strdup(key->text), .size = (uint32_t)key->size};
    uint32_t number = name.text ? store_add(&names, &name) : 0;
    if (!number) {
        free(name.text);
        return 0;
    }
    return map_add(&by_text, hash, number) ? number : 0;
}

uint32_t name_of(const char *text)
{
    if (!text)
        return 0;
    struct key key = {text, strlen(text)};
    uint64_t hash = hash_bytes(text, key.size);
    pthread_mutex_lock(&lock);
    uint32_t number = map_find(&by_text, hash, is_name, &key);
    if (!number)
        number = add(&key, hash);
    pthread_mutex_unlock(&lock);
    return number;
}

struct name *name_at(uint32_t number)
{
    return store_at(&names, number);
}

const char *name_text(uint32_t number)
{
    return number ? name_at(number)->text : "";
}

static const char *primitive_name(char code)
{
    switch (code) {
    case 'Z':
        return "boolean";
    case 'B':
        return "byte";
    case 'C':
        return "char";
    case 'S':
        return "short";
    case 'I':
        return "int";
    case 'J':
        return "long";
    case 'F':
        return "float";
    case 'D':
        return "double";
    case 'V':
        return "void";
    }
    return NULL;
}

uint32_t name_of_signature(const char *signature)
{
    size_t dimensions = strspn(signature, "[");
    const char *element = signature + dimensions, *primitive = primitive_name(*element);
    if (!primitive && *element != 'L')
        return name_of("Unknown_class");
    const char *from = primitive ? primitive : element + 1;
    size_t size = primitive ? strlen(primitive) : strcspn(from, ";");
    char *text = malloc(size + 2 * dimensions + 1);
    if (!text)
        return 0;
    memcpy(text, from, size);
    for (size_t i = 0; i < size; i++)
        if (text[i] == '/')
            text[i] = '.';
    for (size_t i = 0; i < dimensions; i++)
        memcpy(text + size + 2 * i, "[]", 2);
    text[size + 2 * dimensions] = 0;
    uint32_t number = name_of(text);
    free(text);
    return number;
}
