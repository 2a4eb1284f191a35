/* See server.h. The connection, and the records of the dump that go over it. */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve.h"
#include "stream/encode.h"

static enum part part_of(uint8_t tag)
{
    switch (tag) {
    case TAG_FRAME:
    case TAG_TRACE:
        return PART_TRACES;
    case TAG_HEAP_DUMP:
    case TAG_HEAP_DUMP_SEGMENT:
    case TAG_HEAP_DUMP_END:
        return PART_HEAP;
    case TAG_ALLOC_SITES:
        return PART_SITES;
    case TAG_CPU_SAMPLES:
        return PART_SAMPLES;
    case TAG_HEAP_SUMMARY:
        return PART_SUMMARY;
    default:
        return PART_START;
    }
}

/* ---- The connection ---- */

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

int serve_connect(const char *host, const char *port, const char **failure)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int error = getaddrinfo(host, port, &hints, &found), connection = -1;

    if (error) {
        *failure = gai_strerror(error);
        return -1;
    }
    *failure = "not a loopback address: this is for tests on one machine";
    for (struct addrinfo *a = found; a && connection < 0; a = a->ai_next) {
        if (!is_loopback(a->ai_addr))
            continue;
        connection = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (connection >= 0 && connect(connection, a->ai_addr, a->ai_addrlen) == 0)
            break;
        *failure = strerror(errno);
        if (connection >= 0)
            close(connection);
        connection = -1;
    }
    freeaddrinfo(found);
    return connection;
}

void send_bytes(struct server *s, const uint8_t *data, size_t size)
{
    while (size && !s->gone) {
        ssize_t n = send(s->connection, data, size, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            s->gone = true;
            return;
        }
        data += n;
        size -= (size_t)n;
    }
}

/* ---- The dump ---- */

/* False at the end of the dump, or if it cannot be read. */
bool read_dump(struct server *s, uint8_t *to, size_t size, off_t at)
{
    while (size) {
        ssize_t n = pread(s->dump, to, size, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            s->error = errno;
        if (n <= 0)
            return false;
        to += n;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Times follow the clock, because records are sent in another order than they have in the dump. */
static void send_record_header(struct server *s, uint8_t tag, uint32_t length)
{
    uint8_t header[RECORD_HEADER_SIZE], *p = header;
    struct timespec now;
    uint64_t milliseconds;

    clock_gettime(CLOCK_MONOTONIC, &now);
    milliseconds = (uint64_t)(now.tv_sec - s->began.tv_sec) * 1000 + (uint64_t)(now.tv_nsec / 1000000) -
                   (uint64_t)(s->began.tv_nsec / 1000000);
    p = put_u1(p, tag);
    p = put_u4(p, (uint32_t)(milliseconds * 1000));
    put_u4(p, length);
    send_bytes(s, header, sizeof header);
}

void send_record(struct server *s, uint8_t tag, const uint8_t *body, uint32_t size)
{
    if (s->text) {
        text_record(s->text, tag, body, size);
        return;
    }
    send_record_header(s, tag, size);
    send_bytes(s, body, size);
}

static void copy_record(struct server *s, const uint8_t *header, off_t body)
{
    static uint8_t piece[PIECE];
    uint32_t left = get_u4(header + LENGTH_AT);

    if (s->text) {
        text_record(s->text, header[0], s->mapped + body, left);
        return;
    }
    send_record_header(s, header[0], left);
    while (left && !s->gone) {
        size_t size = left < PIECE ? left : PIECE;

        if (!read_dump(s, piece, size, body))
            return;
        if (header[0] == TAG_CONTROL_SETTINGS && !s->has_samples)
            put_u4(piece, get_u4(piece) & ~(uint32_t)SETTINGS_SAMPLING);
        send_bytes(s, piece, size);
        body += (off_t)size;
        left -= (uint32_t)size;
    }
}

/* Finds the first record of a part if `found`; else copies all of them. */
static void walk_part(struct server *s, enum part part, uint8_t *found, off_t *found_body)
{
    uint8_t header[RECORD_HEADER_SIZE];
    off_t at = HEADER_SIZE;

    while (!s->gone && !s->error && read_dump(s, header, sizeof header, at)) {
        off_t body = at + RECORD_HEADER_SIZE;

        if (part_of(header[0]) == part) {
            if (found) {
                memcpy(found, header, sizeof header);
                *found_body = body;
                return;
            }
            copy_record(s, header, body);
        }
        at = body + (off_t)get_u4(header + LENGTH_AT);
    }
}

void send_part(struct server *s, enum part part)
{
    walk_part(s, part, NULL, NULL);
}

/* The first four bytes of the body of the first record of a kind: an ID or a serial number. 0 if there is no record. */
uint32_t first_number(struct server *s, uint8_t tag, uint32_t at)
{
    uint8_t header[RECORD_HEADER_SIZE], number[4];
    off_t offset = HEADER_SIZE;

    while (read_dump(s, header, sizeof header, offset)) {
        offset += RECORD_HEADER_SIZE;
        if (header[0] == tag)
            return read_dump(s, number, sizeof number, offset + (off_t)at) ? get_u4(number) : 0;
        offset += (off_t)get_u4(header + LENGTH_AT);
    }
    return 0;
}

/* A new trace: the deepest calls are all of one method. */
static void send_call(struct server *s)
{
    enum { SERIAL = 399999 };
    uint8_t body[sizeof(struct TRACE_in4) + 4 * CALL_DEPTH], *p = body;
    uint32_t frame = first_number(s, TAG_FRAME, 0);

    p = put_u4(p, SERIAL);
    p = put_u4(p, 0);
    p = put_u4(p, s->program.call_depth);
    for (uint32_t i = 0; i < s->program.call_depth; i++)
        p = put_u4(p, frame);
    send_record(s, TAG_TRACE, body, (uint32_t)(p - body));
    s->program.call_is_sent = true;
}

void send_traces(struct server *s)
{
    if (!s->traces_sent)
        send_part(s, PART_TRACES);
    s->traces_sent = true;
    if (s->program.call_depth && !s->program.call_is_sent)
        send_call(s);
}

/* The body of the only record of a part; NULL if there is none. The caller frees it. */
uint8_t *read_body(struct server *s, enum part part, uint32_t *size)
{
    uint8_t header[RECORD_HEADER_SIZE] = {0}, *body;
    off_t at = 0;

    walk_part(s, part, header, &at);
    *size = get_u4(header + LENGTH_AT);
    if (!at)
        return NULL;
    body = malloc(*size);
    if (!body)
        s->error = ENOMEM;
    else if (!read_dump(s, body, *size, at)) {
        free(body);
        body = NULL;
    }
    return body;
}
