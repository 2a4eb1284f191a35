#include <inttypes.h>
#include <stdio.h>

#include <hprof/read.h>

#define CLASSES (1 << 20)

static uint64_t objects[CLASSES], bytes[CLASSES]; /* by the number of the class */

int main(int argc, char **argv)
{
    struct hprof_read_options options;
    struct hprof_reader *reader;
    struct hprof_item item;
    struct hprof_class class;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    hprof_read_options_init(&options);
    hprof_item_init(&item);
    hprof_class_init(&class);
    options.threads = 4;
    if (file == NULL || hprof_open_fd(fileno(file), &options, &reader) != HPROF_VALID)
        return 1;
    while (hprof_next(reader, &item) == 1) {
        uint32_t number = item.class_id != 0 ? hprof_class_number(reader, item.class_id) : UINT32_MAX;
        if (number < CLASSES) {
            objects[number]++;
            bytes[number] += item.body;
        }
    }
    for (uint32_t i = 0; i < CLASSES && hprof_class_at(reader, i, &class) == 1; i++)
        printf("%12" PRIu64 " %14" PRIu64 "  %s\n", objects[i], bytes[i], class.name);
    hprof_close(reader);
}
