#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "encode.h"
#include "format/format.h"

enum { LENGTH_AT = 5, PIECE = 64 << 10 };

enum command {
    COMMAND_GC = 0x01,
    COMMAND_DUMP_HEAP = 0x02,
    COMMAND_ALLOC_SITES = 0x03,
    COMMAND_HEAP_SUMMARY = 0x04,
    COMMAND_EXIT = 0x05,
    COMMAND_DUMP_TRACES = 0x06,
    COMMAND_CPU_SAMPLES = 0x07,
    COMMAND_CONTROL = 0x08,
    COMMAND_END = 0xff
};

enum control {
    CONTROL_SAMPLING_ON = 3,
    CONTROL_SAMPLING_OFF = 4,
    CONTROL_CLEAR_SAMPLES = 5,
    CONTROL_CLEAR_SITES = 6,
    CONTROL_SET_DEPTH = 7
};

enum site_flag { SITES_CHANGED_ONLY = 1, SITES_BY_ALLOCATION = 2 };

/* When records of a kind are sent. */
enum part { PART_START, PART_TRACES, PART_HEAP, PART_SITES, PART_SAMPLES, PART_SUMMARY };

struct server {
    int dump, connection;
    struct timespec began;
    bool traces_sent, sites_sent;
    bool sites_cleared, samples_cleared;
    bool gone; /* nobody reads or sends any more */
    int error; /* of the dump */
};

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

static void send_bytes(struct server *s, const uint8_t *data, size_t size)
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

static bool receive(struct server *s, uint8_t *to, size_t size)
{
    while (size && !s->gone) {
        ssize_t n = recv(s->connection, to, size, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            s->gone = true;
        else {
            to += n;
            size -= (size_t)n;
        }
    }
    return !s->gone;
}

/* ---- The dump ---- */

/* False at its end, or when it cannot be read. */
static bool read_dump(struct server *s, uint8_t *to, size_t size, off_t at)
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

/* Times follow the clock, as a stream's do: records are sent in another order than they have in the dump. */
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

static void copy_record(struct server *s, const uint8_t *header, off_t body)
{
    static uint8_t piece[PIECE];
    uint32_t left = get_u4(header + LENGTH_AT);

    send_record_header(s, header[0], left);
    while (left && !s->gone) {
        size_t size = left < PIECE ? left : PIECE;

        if (!read_dump(s, piece, size, body))
            return;
        send_bytes(s, piece, size);
        body += (off_t)size;
        left -= (uint32_t)size;
    }
}

/* Of the first record of the part if `found`; else copies all of them. */
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

static void send_part(struct server *s, enum part part)
{
    walk_part(s, part, NULL, NULL);
}

static void send_traces(struct server *s)
{
    if (!s->traces_sent)
        send_part(s, PART_TRACES);
    s->traces_sent = true;
}

/* The body of the only record of a part; NULL without one. The caller frees it. */
static uint8_t *read_body(struct server *s, enum part part, uint32_t *size)
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

/* ---- Tables ---- */

enum {
    SITE_SIZE = sizeof(struct SITE_in4),
    SITES_SIZE = sizeof(struct ALLOC_SITES_in4),
    SAMPLE_SIZE = sizeof(struct SAMPLE_in4),
    SAMPLES_SIZE = sizeof(struct CPU_SAMPLES_in4)
};

static int by_allocated_bytes(const void *a, const void *b)
{
    uint32_t x = get_u4((const uint8_t *)a + offsetof(struct SITE_in4, allocated_bytes));
    uint32_t y = get_u4((const uint8_t *)b + offsetof(struct SITE_in4, allocated_bytes));

    return x < y ? 1 : x > y ? -1 : 0;
}

static int by_samples(const void *a, const void *b)
{
    uint32_t x = get_u4((const uint8_t *)a + offsetof(struct SAMPLE_in4, samples));
    uint32_t y = get_u4((const uint8_t *)b + offsetof(struct SAMPLE_in4, samples));

    return x < y ? 1 : x > y ? -1 : 0;
}

static float get_float(const uint8_t *p)
{
    uint32_t bits = get_u4(p);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The agent ends its list at the first site below the cutoff, however it is sorted. */
static void send_sites(struct server *s, uint16_t flags, float cutoff)
{
    uint32_t size, count, listed = 0;
    uint8_t *body = read_body(s, PART_SITES, &size), *site;
    double total;

    if (!body)
        return;
    count = (size - SITES_SIZE) / SITE_SIZE;
    if (s->sites_cleared || (flags & SITES_CHANGED_ONLY && s->sites_sent))
        count = 0;
    site = body + SITES_SIZE;
    total = get_u4(body + offsetof(struct ALLOC_SITES_in4, live_bytes));
    if (flags & SITES_BY_ALLOCATION)
        qsort(site, count, SITE_SIZE, by_allocated_bytes);
    while (listed < count && get_u4(site + listed * SITE_SIZE + offsetof(struct SITE_in4, live_bytes)) >= cutoff * total)
        listed++;
    put_u2(body, flags);
    put_u4(body + offsetof(struct ALLOC_SITES_in4, sites), listed);
    send_record_header(s, TAG_ALLOC_SITES, SITES_SIZE + listed * SITE_SIZE);
    send_bytes(s, body, SITES_SIZE + listed * SITE_SIZE);
    free(body);
    s->sites_sent = true;
}

static void send_samples(struct server *s, float cutoff)
{
    uint32_t size, count, listed = 0;
    uint8_t *body = read_body(s, PART_SAMPLES, &size), *sample;
    double total;

    if (!body)
        return;
    count = s->samples_cleared ? 0 : (size - SAMPLES_SIZE) / SAMPLE_SIZE;
    if (s->samples_cleared)
        put_u4(body, 0);
    total = get_u4(body);
    sample = body + SAMPLES_SIZE;
    qsort(sample, count, SAMPLE_SIZE, by_samples);
    while (listed < count && get_u4(sample + listed * SAMPLE_SIZE + offsetof(struct SAMPLE_in4, samples)) >= cutoff * total)
        listed++;
    put_u4(body + offsetof(struct CPU_SAMPLES_in4, traces), listed);
    send_record_header(s, TAG_CPU_SAMPLES, SAMPLES_SIZE + listed * SAMPLE_SIZE);
    send_bytes(s, body, SAMPLES_SIZE + listed * SAMPLE_SIZE);
    free(body);
}

/* ---- Commands ---- */

static void take_sites(struct server *s)
{
    uint8_t body[6];

    if (!receive(s, body, sizeof body))
        return;
    send_traces(s);
    send_sites(s, get_u2(body), get_float(body + 2));
}

static void take_samples(struct server *s)
{
    uint8_t body[6];

    if (!receive(s, body, sizeof body))
        return;
    send_traces(s);
    send_samples(s, get_float(body + 2));
}

/* The heap and the depth of its traces are what they are: only what is cleared shows. */
static void take_control(struct server *s)
{
    uint8_t what[2], rest[4];

    if (!receive(s, what, sizeof what))
        return;
    switch (get_u2(what)) {
    case CONTROL_SAMPLING_ON:
    case CONTROL_SAMPLING_OFF:
        receive(s, rest, 4);
        break;
    case CONTROL_CLEAR_SAMPLES:
        s->samples_cleared = true;
        break;
    case CONTROL_CLEAR_SITES:
        s->sites_cleared = true;
        break;
    case CONTROL_SET_DEPTH:
        receive(s, rest, 2);
        break;
    default: /* the agent ignores what it does not know here */
        break;
    }
}

/* False if it is not known. Serial number and length are ignored, as by the agent. */
static bool take_command(struct server *s, uint8_t command)
{
    switch (command) {
    case COMMAND_GC:
        return true;
    case COMMAND_DUMP_HEAP:
        send_traces(s);
        send_part(s, PART_HEAP);
        return true;
    case COMMAND_ALLOC_SITES:
        take_sites(s);
        return true;
    case COMMAND_HEAP_SUMMARY:
        send_part(s, PART_SUMMARY);
        return true;
    case COMMAND_EXIT:
        s->gone = true;
        return true;
    case COMMAND_DUMP_TRACES:
        send_traces(s);
        return true;
    case COMMAND_CPU_SAMPLES:
        take_samples(s);
        return true;
    case COMMAND_CONTROL:
        take_control(s);
        return true;
    default:
        return false;
    }
}

enum serve_end serve_dump(int dump, int connection, uint8_t *command)
{
    struct server s = {.dump = dump, .connection = connection};
    uint8_t header[HEADER_SIZE], rest[8];
    bool known = true;

    clock_gettime(CLOCK_MONOTONIC, &s.began);
    if (read_dump(&s, header, sizeof header, 0)) {
        send_bytes(&s, header, sizeof header);
        send_part(&s, PART_START);
    }
    while (known && !s.error && receive(&s, command, 1) && *command != COMMAND_END)
        if (receive(&s, rest, sizeof rest))
            known = take_command(&s, *command);
    if (s.error) {
        errno = s.error;
        return SERVE_FAILED;
    }
    return known ? SERVE_DONE : SERVE_UNKNOWN;
}
