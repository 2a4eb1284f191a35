/* See profile.h: the file, and what its lines say of each other. */
#include "twin/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/format.h"

enum {
    TEXT_MOST = 1 << 30,
    CHAIN_MOST = 10000,  /* superclasses */
    BYTES_MOST = 1 << 28 /* of an instance */
};

/* ---- What the lines say of each other ---- */

static bool inconsistent(char *failure, const struct profile_class *class, const char *why)
{
    snprintf(failure, PROFILE_FAILURE_SIZE, "the profile contradicts itself: %.60s%s%s", class ? class->label : "",
             class ? ": " : "", why);
    return false;
}

static int compare_number(const void *number, const void *class)
{
    uint32_t x = *(const uint32_t *)number, y = ((const struct profile_class *)class)->number;

    return (x > y) - (x < y);
}

static int32_t find_class(const struct heap_profile *p, uint32_t n)
{
    const struct profile_class *found =
        p->class_count ? bsearch(&n, p->classes, p->class_count, sizeof *p->classes, compare_number) : NULL;

    return found ? (int32_t)(found - p->classes) : CLASS_NONE_INDEX;
}

static bool resolve(struct heap_profile *p, char *failure)
{
    for (uint32_t c = 0; c < p->class_count; c++)
        if (p->classes[c].super_number) {
            p->classes[c].super = find_class(p, p->classes[c].super_number);
            if (p->classes[c].super == CLASS_NONE_INDEX)
                return inconsistent(failure, &p->classes[c], "its superclass is not described");
        }
    for (uint32_t s = 0; s < p->slot_count; s++)
        for (uint32_t i = 0; i < p->slots[s].to.count; i++) {
            struct profile_number *to = &p->numbers[p->slots[s].to.first + i];
            int32_t class = (int64_t)to->value < 0 ? 0 : find_class(p, (uint32_t)to->value);

            if (class == CLASS_NONE_INDEX)
                to->value = (uint64_t)TO_REST;
            else if ((int64_t)to->value >= 0)
                to->value = (uint64_t) class;
        }
    for (uint32_t i = 0; i < p->sequence_count; i++) {
        int32_t class = find_class(p, p->sequence[i].class);

        if (class == CLASS_NONE_INDEX)
            return inconsistent(failure, NULL, "a class in the order of objects is not described");
        p->sequence[i].class = (uint32_t) class;
    }
    return true;
}

static bool check_class(struct heap_profile *p, char *failure, struct profile_class *class, uint64_t *objects)
{
    const struct profile_class *one = class;
    uint64_t references = 0, lengths = 0;

    for (unsigned depth = 0;; one = &p->classes[one->super], depth++) {
        if (depth > CHAIN_MOST)
            return inconsistent(failure, class, "it is its own superclass");
        for (uint32_t f = 0; f < one->fields; f++) {
            references += p->fields[one->first_field + f].type == TYPE_OBJECT;
            class->bytes += type_size(p->fields[one->first_field + f].type, p->id_size);
        }
        if (one->super == CLASS_NONE_INDEX)
            break;
    }
    if (class->bytes > BYTES_MOST)
        return inconsistent(failure, class, "its instances are too large");
    if (class->instances && class->slots != references)
        return inconsistent(failure, class, "it has other fields than references");
    for (uint32_t s = 0; s < class->slots; s++)
        if (p->slots[class->first_slot + s].set + p->slots[class->first_slot + s].nulls != class->instances)
            return inconsistent(failure, class, "a field has other references than there are instances");
    for (uint32_t i = 0; i < class->lengths.count; i++)
        lengths += p->numbers[class->lengths.first + i].count;
    if (lengths != class->arrays)
        return inconsistent(failure, class, "it has other lengths than arrays");
    if (class->arrays && class->number >= PRIMITIVES && class->element_slot < 0)
        return inconsistent(failure, class, "its elements are not described");
    if (class->instances && class->number < PRIMITIVES)
        return inconsistent(failure, class, "a primitive type has no instances");
    *objects += class->instances + class->arrays;
    return *objects <= COUNT_MOST || inconsistent(failure, NULL, "there are too many objects");
}

static bool check_all(struct heap_profile *p, char *failure)
{
    uint64_t objects = 0;

    if (!p->version || !p->id_size || !p->heap_tag)
        return inconsistent(failure, NULL, "it has no version, no size of IDs, or no heap dump record");
    if (p->version == V101 && p->heap_tag == TAG_HEAP_DUMP_SEGMENT)
        return inconsistent(failure, NULL, "1.0.1 has no segments");
    if (!resolve(p, failure))
        return false;
    for (uint32_t c = 0; c < p->class_count; c++)
        if (!check_class(p, failure, &p->classes[c], &objects))
            return false;
    return objects + p->unknown == p->objects ||
           inconsistent(failure, NULL, "the classes have other objects than all together");
}

bool profile_is_a(const struct heap_profile *p, uint32_t class, const char *label)
{
    for (int32_t c = (int32_t) class; c != CLASS_NONE_INDEX; c = p->classes[c].super)
        if (strcmp(p->classes[c].label, label) == 0)
            return true;
    return false;
}

/* ---- The file ---- */

static char *read_text(int fd, char *failure)
{
    size_t size = 0, capacity = 0;
    char *text = NULL;
    ssize_t got;

    lseek(fd, 0, SEEK_SET); /* of several runs; a pipe is read once */
    do {
        if (size + 1 >= capacity) {
            char *grown = realloc(text, capacity = capacity ? 2 * capacity : 1 << 16);

            if (!grown || size > TEXT_MOST) {
                if (grown)
                    snprintf(failure, PROFILE_FAILURE_SIZE, "it is too long for a profile");
                free(grown ? grown : text);
                return NULL;
            }
            text = grown;
        }
        got = read(fd, text + size, capacity - size - 1);
        if (got > 0)
            size += (size_t)got;
    } while (got > 0);
    text[size] = '\0';
    if (got < 0 || strlen(text) != size) {
        snprintf(failure, PROFILE_FAILURE_SIZE, got < 0 ? "it cannot be read" : "it is no profile, as it holds a NUL");
        free(text);
        return NULL;
    }
    return text;
}

bool profile_read(struct heap_profile *p, int fd, char failure[PROFILE_FAILURE_SIZE])
{
    *p = (struct heap_profile){0};
    *failure = '\0';
    p->text = read_text(fd, failure);
    if (p->text && profile_read_lines(p, p->text, failure) && check_all(p, failure))
        return true;
    profile_free(p);
    return false;
}

void profile_free(struct heap_profile *p)
{
    free(p->text);
    free(p->classes);
    free(p->slots);
    free(p->fields);
    free(p->frames);
    free(p->numbers);
    free(p->sequence);
    *p = (struct heap_profile){0};
}
