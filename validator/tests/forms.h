/* A dump as a compressed dump or as a file. Needs _POSIX_C_SOURCE 200809L before any include. */
#ifndef HPROF_TESTS_FORMS_H
#define HPROF_TESTS_FORMS_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "dump.h"

static inline struct bytes compress_gzip(const struct bytes *b)
{
    z_stream z = {.next_in = b->at, .avail_in = (uInt)b->size};
    struct bytes file = {0};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    file.size = file.capacity = deflateBound(&z, b->size);
    file.at = malloc(file.capacity);
    z.next_out = file.at;
    z.avail_out = (uInt)file.size;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    file.size = z.total_out;
    deflateEnd(&z);
    return file;
}

__attribute__((unused)) static int file_of(const struct bytes *b)
{
    FILE *file = tmpfile();
    int fd;

    assert_non_null(file);
    fd = dup(fileno(file));
    fclose(file);
    assert_true(fd >= 0);
    for (size_t at = 0; at < b->size;) {
        ssize_t n = write(fd, b->at + at, b->size - at);

        assert_true(n > 0);
        at += (size_t)n;
    }
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

#endif
