/* Prints the strings, static fields, instances and arrays of the first heap dump of a file, a line each, for a test that computes
 * the digests of conformance/PROTOCOL.md from them. The file is read in one of several ways, which must not matter. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hprof/read.h>

enum { CLASS_DUMP = 0x20, INSTANCE = 0x21, OBJECT_ARRAY = 0x22, PRIMITIVE_ARRAY = 0x23, UTF8 = 0x01 };

static void fail(struct hprof_reader *reader, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, hprof_failure(reader));
    exit(1);
}

static void print_bytes(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%02x", (unsigned char)bytes[i]);
}

static void print_body(struct hprof_reader *reader, uint64_t body)
{
    const uint8_t *bytes;
    int64_t n;

    for (uint64_t at = 0; at < body; at += (uint64_t)n) {
        n = hprof_body(reader, at, 1000, &bytes);
        if (n <= 0)
            fail(reader, "a body ends early");
        print_bytes((const char *)bytes, (size_t)n);
    }
}

static void print_value(const struct hprof_value *value)
{
    static const int digits[] = {[4] = 2, [5] = 4, [6] = 8, [7] = 16, [8] = 2, [9] = 4, [10] = 8, [11] = 16};

    if (value->type == 2)
        printf("%016" PRIx64, value->id);
    else if (value->type == 4)
        printf("%02x", value->integer != 0);
    else if (value->type == 6 || value->type == 7)
        printf("%0*" PRIx64, digits[value->type], value->bits);
    else
        printf("%0*" PRIx64, digits[value->type], (uint64_t)value->integer & (UINT64_MAX >> (64 - 4 * digits[value->type])));
}

static void print_name(struct hprof_reader *reader, uint64_t id)
{
    const char *text;
    size_t size;

    hprof_string(reader, id, &text, &size);
    printf("'");
    print_bytes(text, size);
}

static void print_fields(struct hprof_reader *reader, uint64_t class_id, bool is_static)
{
    struct hprof_field field;
    struct hprof_value value;

    hprof_field_init(&field);
    hprof_value_init(&value);
    for (size_t i = 0; hprof_field_at(reader, class_id, is_static, i, &field) == 1; i++) {
        int has_value = hprof_field_value(reader, &field, &value);

        if (has_value < 0)
            fail(reader, "a field that cannot be read");
        if (is_static)
            printf("static %" PRIx64, class_id);
        else
            printf(" %" PRIx64, field.class_id);
        printf(" ");
        print_name(reader, field.name_id);
        printf(" %u ", field.type);
        if (has_value)
            print_value(&value);
        else
            printf("none"); /* damage: the item ends before it */
        if (is_static)
            printf("\n");
    }
}

static void print_item(struct hprof_reader *reader, const struct hprof_item *item)
{
    struct hprof_value value;

    hprof_value_init(&value);
    if (item->kind == HPROF_ITEM_RECORD && item->tag == UTF8) {
        printf("string %" PRIx64 " '", item->id);
        print_body(reader, item->body);
        printf("\n");
    }
    if (item->kind == HPROF_ITEM_DAMAGE)
        printf("damage %" PRIu64 " %" PRIu64 "\n", item->offset, item->size);
    if (item->kind != HPROF_ITEM_SUBRECORD)
        return;
    switch (item->tag) {
    case CLASS_DUMP:
        print_fields(reader, item->id, true);
        break;
    case INSTANCE:
        printf("instance %" PRIx64 " %" PRIx64, item->id, item->class_id);
        print_fields(reader, item->class_id, false);
        printf("\n");
        break;
    case OBJECT_ARRAY:
    case PRIMITIVE_ARRAY:
        printf("%s %" PRIx64 " ", item->tag == OBJECT_ARRAY ? "objects" : "primitives", item->id);
        printf(item->tag == OBJECT_ARRAY ? "%" PRIx64 " '" : "%" PRIu64 " '",
               item->tag == OBJECT_ARRAY ? item->class_id : (uint64_t)item->element_type);
        for (uint64_t i = 0; i < item->elements; i++) {
            if (hprof_element(reader, i, &value) != 1)
                fail(reader, "an element without a value");
            print_value(&value);
        }
        printf("\n");
        break;
    default:
        break;
    }
}

/* ---- Ways to read ---- */

static int64_t read_next(void *context, void *to, size_t size)
{
    ssize_t n = read(*(int *)context, to, size > 7 ? size / 7 : size);

    return n < 0 ? -errno : n;
}

static int64_t read_at(void *context, uint64_t offset, void *to, size_t size)
{
    ssize_t n = pread(*(int *)context, to, size > 7 ? size / 7 : size, (off_t)offset);

    return n < 0 ? -errno : n;
}

static char *bytes; /* of the file, if it is read as memory; until the end */

static enum hprof_status open_as(const char *way, int *fd, struct hprof_reader **reader)
{
    struct hprof_source source;
    off_t size = lseek(*fd, 0, SEEK_END);

    lseek(*fd, 0, SEEK_SET);
    hprof_source_init(&source);
    source.context = fd;
    source.read = read_next;
    if (strcmp(way, "file") == 0)
        return hprof_open_fd(*fd, NULL, reader);
    if (strcmp(way, "memory") == 0) {
        bytes = malloc((size_t)size + 1);

        return pread(*fd, bytes, (size_t)size, 0) == size ? hprof_open_memory(bytes, (size_t)size, NULL, reader) : HPROF_IO;
    }
    if (strcmp(way, "read_at") == 0) {
        source.read_at = read_at;
        source.size = (uint64_t)size;
    }
    return hprof_open_source(&source, NULL, reader);
}

int main(int argc, char **argv)
{
    const char *way = argc == 3 ? argv[2] : "file";
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1, result;
    struct hprof_reader *reader = NULL;
    struct hprof_header header;
    struct hprof_item item;

    hprof_header_init(&header);
    hprof_item_init(&item);
    if (fd < 0 || open_as(way, &fd, &reader) != HPROF_VALID)
        fail(reader, "the dump cannot be opened");
    hprof_read_header(reader, &header);
    if (header.can_seek && hprof_index(reader, 1, 0) < 0) /* then all classes are known */
        fail(reader, "there is no index");
    while ((result = hprof_next(reader, &item)) == 1)
        print_item(reader, &item);
    if (result < 0)
        fail(reader, "the dump cannot be read");
    hprof_close(reader);
    free(bytes);
    return 0;
}
