#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <hprof/read.h>

int main(int argc, char **argv)
{
    struct {
        uint64_t objects, bytes;
    } *of = NULL; /* by the number of the class */
    struct hprof_read_options options;
    struct hprof_reader *reader;
    struct hprof_item item;
    struct hprof_class class;
    size_t room = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    hprof_read_options_init(&options);
    hprof_item_init(&item);
    hprof_class_init(&class);
    options.threads = 4;
    if (file == NULL || hprof_open_fd(fileno(file), &options, &reader) != HPROF_VALID)
        return 1;
    while (hprof_next(reader, &item) == 1) {
        uint32_t number = item.class_id ? hprof_class_number(reader, item.class_id) : UINT32_MAX;
        if (number == UINT32_MAX)
            continue;
        for (; number >= room && (of = realloc(of, (2 * room + 64) * sizeof *of)) != NULL; room = 2 * room + 64)
            memset(of + room, 0, (room + 64) * sizeof *of);
        of[number].objects++;
        of[number].bytes += item.body;
    }
    for (uint32_t i = 0; i < room && hprof_class_at(reader, i, &class) == 1; i++)
        printf("%12" PRIu64 " %14" PRIu64 "  %s\n", of[i].objects, of[i].bytes, class.name);
    hprof_close(reader);
}
