/* A reader with planted crashes, for test_reduce.py. It shares no code with the tools.
 *
 *   planted MODE DUMP [MILLISECONDS]
 *
 * Ends with status 9 if the dump is malformed, else by SIGABRT if
 *   array   there is an Object[] with two elements or more, a root, and an instance with eight bytes of values or more
 *   names   there are three strings of eight characters or more
 *   path    a root leads, by references in Object[], to a byte[] of seven elements
 *   class   there is a class with a static field of type long
 *   constants  there is a class with two constants or more
 *   damage  a heap dump record has the byte 0xde; what else is in these records does not matter then
 * and else with status 0. It waits for some milliseconds first. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint8_t *dump;
static size_t size, id_size;
static unsigned strings, big_arrays, roots, big_instances;
static int wants_damage, has_damage, has_static_long, has_constants;

enum { MOST = 1 << 16 };
static uint64_t root_ids[MOST], seven[MOST], array_ids[MOST];
static size_t seven_count, array_count, array_at[MOST], array_length[MOST];

static void malformed(void)
{
    exit(9);
}

static uint64_t number(size_t at, size_t bytes)
{
    uint64_t value = 0;

    if (bytes > size || at > size - bytes)
        malformed();
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | dump[at + i];
    return value;
}

static size_t value_size(uint64_t type)
{
    static const size_t sizes[] = {0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8};

    if (type != 2 && (type < 4 || type > 11))
        malformed();
    return type == 2 ? id_size : sizes[type];
}

static size_t class_end(size_t at)
{
    uint64_t count;

    at += 1 + id_size + 4 + 6 * id_size + 4;
    for (int list = 0; list < 3; list++) {
        count = number(at, 2);
        at += 2;
        has_constants |= list == 0 && count >= 2;
        for (uint64_t i = 0; i < count; i++) {
            size_t before = list == 0 ? 2 : id_size;

            has_static_long |= list == 1 && number(at + before, 1) == 11;
            at += before + 1 + (list < 2 ? value_size(number(at + before, 1)) : 0);
        }
    }
    return at;
}

static size_t subrecord_end(size_t at)
{
    uint64_t tag = number(at, 1), length;
    size_t end;

    switch (tag) {
    case 0x20:
        return class_end(at);
    case 0x21:
        length = number(at + 1 + 2 * id_size + 4, 4);
        big_instances += length >= 8;
        return at + 1 + 2 * id_size + 8 + length;
    case 0x22:
        length = number(at + 1 + id_size + 4, 4);
        big_arrays += length >= 2;
        if (array_count < MOST) {
            array_ids[array_count] = number(at + 1, id_size);
            array_at[array_count] = at + 1 + 2 * id_size + 8;
            array_length[array_count++] = length;
        }
        return at + 1 + 2 * id_size + 8 + length * id_size;
    case 0x23:
        length = number(at + 1 + id_size + 4, 4);
        if (length == 7 && seven_count < MOST)
            seven[seven_count++] = number(at + 1, id_size);
        return at + 1 + id_size + 9 + length * value_size(number(at + 1 + id_size + 8, 1));
    case 0xff:
    case 0x05:
    case 0x07:
        end = at + 1 + id_size;
        break;
    case 0x01:
        end = at + 1 + 2 * id_size;
        break;
    case 0x02:
    case 0x03:
    case 0x08:
        end = at + 1 + id_size + 8;
        break;
    case 0x04:
    case 0x06:
        end = at + 1 + id_size + 4;
        break;
    default:
        malformed();
        return 0;
    }
    if (roots < MOST)
        root_ids[roots++] = number(at + 1, id_size);
    return end;
}

static void read_dump(void)
{
    size_t at = 31;

    if (size < at || memcmp(dump, "JAVA PROFILE 1.0.", 17) != 0)
        malformed();
    id_size = number(19, 4);
    if (id_size != 4 && id_size != 8)
        malformed();
    while (at < size) {
        uint64_t tag = number(at, 1), length = number(at + 5, 4);
        size_t end = at + 9 + length;

        if (end > size)
            malformed();
        strings += tag == 1 && length >= id_size + 8;
        if (wants_damage) {
            has_damage |= (tag == 0x0c || tag == 0x1c) && memchr(dump + at + 9, 0xde, length) != NULL;
            at = end;
            continue;
        }
        for (at += 9; (tag == 0x0c || tag == 0x1c) && at < end;)
            at = subrecord_end(at);
        if ((tag == 0x0c || tag == 0x1c) && at != end)
            malformed();
        at = end;
    }
}

static int leads_to_seven(uint64_t id, int depth)
{
    for (size_t i = 0; i < seven_count; i++)
        if (seven[i] == id)
            return 1;
    for (size_t i = 0; i < array_count && depth < 100; i++)
        if (array_ids[i] == id)
            for (size_t k = 0; k < array_length[i]; k++)
                if (leads_to_seven(number(array_at[i] + k * id_size, id_size), depth + 1))
                    return 1;
    return 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc >= 3 ? fopen(argv[2], "rb") : NULL;
    long wait = argc >= 4 ? atol(argv[3]) : 0;
    int crashes = 0;

    nanosleep(&(struct timespec){wait / 1000, wait % 1000 * 1000000}, NULL);
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return 8;
    size = (size_t)ftell(file);
    rewind(file);
    dump = malloc(size + 1);
    if (dump == NULL || fread(dump, 1, size, file) != size)
        return 8;
    wants_damage = strcmp(argv[1], "damage") == 0;
    read_dump();
    if (wants_damage)
        crashes = has_damage;
    else if (strcmp(argv[1], "array") == 0)
        crashes = big_arrays > 0 && roots > 0 && big_instances > 0;
    else if (strcmp(argv[1], "class") == 0)
        crashes = has_static_long;
    else if (strcmp(argv[1], "constants") == 0)
        crashes = has_constants;
    else if (strcmp(argv[1], "names") == 0)
        crashes = strings >= 3;
    else
        for (size_t i = 0; i < roots; i++)
            crashes |= leads_to_seven(root_ids[i], 0);
    if (crashes) {
        puts("the planted crash");
        fflush(stdout);
        abort();
    }
    return 0;
}
