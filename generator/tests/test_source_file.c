/* A dump as a source of events, when the file changes between two passes. What comes of files that do not change is in
 * test_violations.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "faults/engine.h"
#include "stream/encode.h"
#include "stream/source_file.h"

enum { STRINGS = 100, LONG = 200000 };

/* Counts events, and wants no more after some. */
struct counter {
    struct stage stage;
    uint64_t events, parts, longest, enough;
    bool stop;
};

static void count(struct stage *stage, struct event *e)
{
    struct counter *c = (struct counter *)stage;

    c->events++;
    c->parts += e->kind == EVENT_PART;
    if (e->body && e->body_size > c->longest)
        c->longest = e->body_size;
    c->stop = c->events == c->enough;
}

/* Strings, and a heap dump with an array of LONG bytes. */
static int make_dump(void)
{
    uint8_t fixed[FIELDS_MOST], *end, text[8] = "string";
    uint8_t *zeros = calloc(1, LONG);
    FILE *file = tmpfile();
    struct event e = event_of(EVENT_HEADER, 0, LAYOUT_ID_NONE),
                 array = SUBRECORD_EVENT(PRIMITIVE_ARRAY_DUMP, PRIMITIVE_ARRAY_DUMP);
    int fd;

    assert_non_null(file);
    assert_non_null(zeros);
    e.header = (struct header){"JAVA PROFILE 1.0.1", HEADER_STRING_SIZE, 8, 1};
    end = put_fixed_part(fixed, &e, 0, 8);
    fwrite(fixed, 1, (size_t)(end - fixed), file);
    for (unsigned i = 1; i <= STRINGS; i++) {
        e = RECORD_EVENT(UTF8);
        e.fields.UTF8.id = i;
        end = put_fixed_part(fixed, &e, 8 + sizeof text, 8);
        fwrite(fixed, 1, (size_t)(end - fixed), file);
        fwrite(text, 1, sizeof text, file);
    }
    array.fields.PRIMITIVE_ARRAY_DUMP = (struct PRIMITIVE_ARRAY_DUMP){.object_id = 8, .elements = LONG, .type = TYPE_BYTE};
    e = event_of(EVENT_OPEN, TAG_HEAP_DUMP, LAYOUT_ID_NONE);
    end = put_fixed_part(fixed, &e, (uint32_t)fixed_part_size(&array, 8) + LONG, 8);
    fwrite(fixed, 1, (size_t)(end - fixed), file);
    end = put_fixed_part(fixed, &array, 0, 8);
    fwrite(fixed, 1, (size_t)(end - fixed), file);
    fwrite(zeros, 1, LONG, file);
    free(zeros);
    assert_int_equal(fflush(file), 0);
    fd = dup(fileno(file));
    fclose(file);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static struct counter run_once(struct source *source, uint64_t enough, bool good)
{
    struct counter c = {.stage = {.take = count, .id_size = 8}, .enough = enough};

    assert_int_equal(source->run(source, &c.stage, &c.stop), good);
    return c;
}

static void test_the_same_each_time(void **state)
{
    const char *failure = NULL;
    int fd = make_dump();
    struct source *source = source_file_new(fd, &failure);
    struct counter c;

    (void)state;
    assert_non_null(source);
    assert_int_equal(source->id_size, 8);
    assert_int_equal(source->version, V101);
    for (int i = 0; i < 3; i++) {
        c = run_once(source, 0, true);
        assert_int_equal(c.parts, 4); /* of 64 KiB at the most */
        assert_int_equal(c.longest, 64 << 10);
        assert_int_equal(c.events, 1 + STRINGS + 3 + c.parts + 1);
    }
    c = run_once(source, 5, true); /* and it ends when nobody wants more */
    assert_int_equal(c.events, 5);
    source->free(source);
    close(fd);
}

static void test_shorter_than_before(void **state)
{
    (void)state;
    for (off_t size = 0; size < 3000; size += 7) {
        const char *failure = NULL;
        int fd = make_dump();
        struct source *source = source_file_new(fd, &failure);

        assert_non_null(source);
        run_once(source, 0, true);
        assert_int_equal(ftruncate(fd, size), 0);
        run_once(source, 0, false); /* even where a record ends */
        assert_non_null(source->failure);
        source->free(source);
        close(fd);
    }
}

static void test_another_than_before(void **state)
{
    const char *failure = NULL;
    int fd = make_dump();
    struct source *source = source_file_new(fd, &failure);

    (void)state;
    assert_non_null(source);
    assert_int_equal(pwrite(fd, "2", 1, 17), 1);
    run_once(source, 0, false);
    assert_string_equal(source->failure, "the file was changed while it was read");
    source->free(source);
    close(fd);
}

/* A valid dump before and after, as one that is still being written. */
static void test_longer_than_before(void **state)
{
    const char *failure = NULL, sound[25] = {TAG_UTF8, [8] = 16};
    int fd = make_dump();
    struct source *source = source_file_new(fd, &failure);

    (void)state;
    assert_non_null(source);
    run_once(source, 0, true);
    assert_int_equal(pwrite(fd, sound, sizeof sound, lseek(fd, 0, SEEK_END)), sizeof sound);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    run_once(source, 0, false);
    assert_string_equal(source->failure, "the file was changed while it was read");
    source->free(source);
    close(fd);
}

/* The places that were counted are gone: nothing is broken, and nothing worse happens. */
static void test_places_that_are_gone(void **state)
{
    static const char *const what[] = {"STR-004", "OBJ-004/other-kind"};
    const struct violate_options options = {.at = UINT32_MAX, .count = 1, .seed = 1};
    const char *failure = NULL;
    bool stop = false;
    int fd = make_dump();
    struct source *source = source_file_new(fd, &failure);
    struct faults *v = faults_new(what, 2, &options, 8, V101, &failure);
    struct counter c = {.stage = {.take = count, .id_size = 8}};

    (void)state;
    assert_non_null(source);
    assert_non_null(v);
    assert_true(source->run(source, faults_look(v), &stop));
    assert_true(faults_settle(v, &failure));
    assert_true(source->run(source, faults_break(v, &c.stage), &stop));
    assert_int_equal(c.events, 1 + STRINGS + 3 + 4 + 1 + 2);
    for (off_t size = 2700; size > 0; size -= 90) {
        assert_int_equal(ftruncate(fd, size), 0);
        source->run(source, faults_break(v, &c.stage), &stop);
    }
    faults_free(v);
    source->free(source);
    close(fd);
}

static void test_no_file(void **state)
{
    const char *failure = NULL;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    assert_null(source_file_new(ends[0], &failure));
    assert_non_null(failure);
    close(ends[0]);
    failure = NULL;
    assert_null(source_file_new(ends[0], &failure));
    assert_non_null(failure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_each_time),   cmocka_unit_test(test_shorter_than_before),
        cmocka_unit_test(test_another_than_before),  cmocka_unit_test(test_longer_than_before),
        cmocka_unit_test(test_places_that_are_gone), cmocka_unit_test(test_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
