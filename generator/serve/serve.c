#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/format.h"
#include "stream/encode.h"
#include "text.h"

enum { LENGTH_AT = 5, PIECE = 64 << 10, SETTINGS_SAMPLING = 2 };

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
    CONTROL_COUNTING_ON = 1,
    CONTROL_COUNTING_OFF = 2,
    CONTROL_SAMPLING_ON = 3,
    CONTROL_SAMPLING_OFF = 4,
    CONTROL_CLEAR_SAMPLES = 5,
    CONTROL_CLEAR_SITES = 6,
    CONTROL_SET_DEPTH = 7
};

enum site_flag { SITES_CHANGED_ONLY = 1, SITES_BY_ALLOCATION = 2, SITES_AFTER_GC = 4 };

/* What the orders make the program do. */
enum {
    DROPPED_OBJECTS = 2000, /* allocated, and garbage immediately */
    DROPPED_OBJECT_SIZE = 16,
    SPIN_SAMPLES = 30,
    CALL_DEPTH = 11 /* frames, unless the depth of traces is less */
};

/* When a kind of records is sent. */
enum part { PART_START, PART_TRACES, PART_HEAP, PART_SITES, PART_SAMPLES, PART_SUMMARY };

/* The program that the agent would observe: what orders made it do, in addition to the dump. */
struct program {
    uint64_t dropped_live, dropped; /* objects since the last collection, and in all */
    uint64_t dropped_since_clear;
    bool dropped_since_sites;
    uint32_t samples;
    bool counts_allocations;
    bool is_sampled;     /* cpu=samples, or turned on */
    bool is_thread_off;  /* its main thread is not sampled */
    uint32_t thread_id;  /* the object of this thread */
    uint32_t depth;      /* of new traces */
    uint32_t call_depth; /* of the last new trace; 0 without one */
    bool call_is_sent;
};

struct server {
    int dump, connection, orders; /* orders: -1 for none */
    const uint8_t *mapped;        /* the dump, if there is a text */
    size_t mapped_size;
    struct text *text; /* NULL for records */
    struct timespec began;
    struct program program;
    bool has_samples; /* the samples of the dump count: the program ran with cpu=samples */
    bool traces_sent, sites_sent;
    bool sites_cleared, samples_cleared;
    bool has_ended; /* the program */
    bool gone;      /* the connection is closed */
    int error;      /* file descriptor of the dump */
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

/* ---- The dump ---- */

/* False at the end of the dump, or if it cannot be read. */
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

static void send_record(struct server *s, uint8_t tag, const uint8_t *body, uint32_t size)
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

static void send_part(struct server *s, enum part part)
{
    walk_part(s, part, NULL, NULL);
}

/* The first four bytes of the body of the first record of a kind: an ID or a serial number. 0 if there is no record. */
static uint32_t first_number(struct server *s, uint8_t tag, uint32_t at)
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

static void send_traces(struct server *s)
{
    if (!s->traces_sent)
        send_part(s, PART_TRACES);
    s->traces_sent = true;
    if (s->program.call_depth && !s->program.call_is_sent)
        send_call(s);
}

/* The body of the only record of a part; NULL if there is none. The caller frees it. */
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

static int by_live_bytes(const void *a, const void *b)
{
    uint32_t x = get_u4((const uint8_t *)a + offsetof(struct SITE_in4, live_bytes));
    uint32_t y = get_u4((const uint8_t *)b + offsetof(struct SITE_in4, live_bytes));

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

static void add_u4(uint8_t *p, uint64_t more)
{
    put_u4(p, (uint32_t)(get_u4(p) + more));
}

static void add_u8(uint8_t *p, uint64_t more)
{
    put_u8(p, get_u8(p) + more);
}

/* The agent ends its list at the first site below the cutoff, whatever the order. Orders make the program drop objects of the
 * first site. */
static void send_sites(struct server *s, uint16_t flags, float cutoff)
{
    struct program *program = &s->program;
    uint64_t live = program->dropped_live, all = s->sites_cleared ? program->dropped_since_clear : program->dropped;
    uint32_t size, count, listed = 0;
    uint8_t *body = read_body(s, PART_SITES, &size), *site;
    double total;

    if (!body)
        return;
    if (flags & SITES_AFTER_GC)
        live = program->dropped_live = 0;
    if (live > all)
        live = all;
    count = (size - SITES_SIZE) / SITE_SIZE;
    site = body + SITES_SIZE;
    add_u4(body + offsetof(struct ALLOC_SITES_in4, live_bytes), live * DROPPED_OBJECT_SIZE);
    add_u4(body + offsetof(struct ALLOC_SITES_in4, live_instances), live);
    add_u8(body + offsetof(struct ALLOC_SITES_in4, allocated_bytes), program->dropped * DROPPED_OBJECT_SIZE);
    add_u8(body + offsetof(struct ALLOC_SITES_in4, allocated_instances), program->dropped);
    if (s->sites_cleared) {
        memset(site + offsetof(struct SITE_in4, live_bytes), 0, SITE_SIZE - offsetof(struct SITE_in4, live_bytes));
        count = all ? 1 : 0;
    }
    if (flags & SITES_CHANGED_ONLY && s->sites_sent)
        count = program->dropped_since_sites ? 1 : 0;
    if (count) {
        add_u4(site + offsetof(struct SITE_in4, live_bytes), live * DROPPED_OBJECT_SIZE);
        add_u4(site + offsetof(struct SITE_in4, live_instances), live);
        add_u4(site + offsetof(struct SITE_in4, allocated_bytes), all * DROPPED_OBJECT_SIZE);
        add_u4(site + offsetof(struct SITE_in4, allocated_instances), all);
    }
    total = get_u4(body + offsetof(struct ALLOC_SITES_in4, live_bytes));
    qsort(site, count, SITE_SIZE, flags & SITES_BY_ALLOCATION ? by_allocated_bytes : by_live_bytes);
    while (listed < count && get_u4(site + listed * SITE_SIZE + offsetof(struct SITE_in4, live_bytes)) >= cutoff * total)
        listed++;
    put_u2(body, flags);
    put_u4(body + offsetof(struct ALLOC_SITES_in4, sites), listed);
    send_record(s, TAG_ALLOC_SITES, body, SITES_SIZE + listed * SITE_SIZE);
    free(body);
    s->sites_sent = true;
    program->dropped_since_sites = false;
}

/* Without cpu=samples, sampling starts when a command turns it on, and samples the trace of the first site. */
static uint8_t *read_samples(struct server *s, uint32_t *size)
{
    uint8_t *body;

    if (s->has_samples)
        return read_body(s, PART_SAMPLES, size);
    *size = SAMPLES_SIZE + SAMPLE_SIZE;
    body = calloc(1, *size);
    if (!body)
        s->error = ENOMEM;
    else
        put_u4(body + SAMPLES_SIZE + offsetof(struct SAMPLE_in4, trace_serial),
               first_number(s, TAG_ALLOC_SITES, SITES_SIZE + offsetof(struct SITE_in4, trace_serial)));
    return body;
}

/* The program runs where most samples are. */
static void send_samples(struct server *s, float cutoff)
{
    uint32_t size, count, listed = 0, total = 0;
    uint8_t *body = read_samples(s, &size), *sample;

    if (!body)
        return;
    sample = body + SAMPLES_SIZE;
    count = (size - SAMPLES_SIZE) / SAMPLE_SIZE;
    qsort(sample, count, SAMPLE_SIZE, by_samples);
    if (s->samples_cleared) {
        put_u4(sample + offsetof(struct SAMPLE_in4, samples), 0);
        count = 1;
    }
    add_u4(sample + offsetof(struct SAMPLE_in4, samples), s->program.samples);
    for (uint32_t i = 0; i < count; i++)
        total += get_u4(sample + i * SAMPLE_SIZE + offsetof(struct SAMPLE_in4, samples));
    while (total && listed < count &&
           get_u4(sample + listed * SAMPLE_SIZE + offsetof(struct SAMPLE_in4, samples)) >= cutoff * (double)total)
        listed++;
    put_u4(body, total);
    put_u4(body + offsetof(struct CPU_SAMPLES_in4, traces), listed);
    send_record(s, TAG_CPU_SAMPLES, body, SAMPLES_SIZE + listed * SAMPLE_SIZE);
    free(body);
}

static void send_summary(struct server *s)
{
    uint32_t size;
    uint8_t *body = read_body(s, PART_SUMMARY, &size);

    if (!body)
        return;
    add_u4(body + offsetof(struct HEAP_SUMMARY_in4, live_bytes), s->program.dropped_live * DROPPED_OBJECT_SIZE);
    add_u4(body + offsetof(struct HEAP_SUMMARY_in4, live_instances), s->program.dropped_live);
    add_u8(body + offsetof(struct HEAP_SUMMARY_in4, allocated_bytes), s->program.dropped * DROPPED_OBJECT_SIZE);
    add_u8(body + offsetof(struct HEAP_SUMMARY_in4, allocated_instances), s->program.dropped);
    send_record(s, TAG_HEAP_SUMMARY, body, size);
    free(body);
}

static void send_heap(struct server *s)
{
    send_traces(s);
    if (s->text)
        text_heap_begin(s->text);
    send_part(s, PART_HEAP);
    if (s->text)
        text_heap_end(s->text);
}

/* ---- Orders ---- */

static void drop_objects(struct program *program)
{
    if (!program->counts_allocations)
        return;
    program->dropped_live += DROPPED_OBJECTS;
    program->dropped += DROPPED_OBJECTS;
    program->dropped_since_clear += DROPPED_OBJECTS;
    program->dropped_since_sites = true;
}

static void answer_order(const char *answer)
{
    size_t size = strlen(answer);

    while (size) {
        ssize_t n = write(STDOUT_FILENO, answer, size);

        if (n < 0 && errno != EINTR)
            return; /* the one who gives orders need not read */
        if (n > 0) {
            answer += n;
            size -= (size_t)n;
        }
    }
}

static void take_order(struct server *s)
{
    struct program *program = &s->program;
    char order;
    ssize_t n;

    do
        n = read(s->orders, &order, 1);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        s->has_ended = true;
        return;
    }
    switch (order) {
    case 'd':
        drop_objects(program);
        answer_order("dropped\n");
        break;
    case 's':
        if (program->is_sampled && !program->is_thread_off)
            program->samples += SPIN_SAMPLES;
        answer_order("spun\n");
        break;
    case 'c':
        program->call_depth = program->depth < CALL_DEPTH ? program->depth : CALL_DEPTH;
        program->call_is_sent = false;
        answer_order("called\n");
        break;
    default:
        break;
    }
}

/* Takes orders until bytes of a command arrive, or the client closes its side. False if the program ends. */
static bool await_command(struct server *s)
{
    struct pollfd both[] = {{.fd = s->connection, .events = POLLIN}, {.fd = s->orders, .events = POLLIN}};

    while (!s->has_ended) {
        if (s->orders < 0)
            return true;
        if (poll(both, 2, -1) < 0 && errno != EINTR)
            return false;
        if (both[1].revents)
            take_order(s);
        else if (both[0].revents)
            return true;
    }
    return false;
}

/* Also between the bytes of a command orders are taken. False if the program ends, or the client has closed its side. */
static bool receive(struct server *s, uint8_t *to, size_t size)
{
    while (size && !s->gone && await_command(s)) {
        ssize_t n = recv(s->connection, to, size, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            s->gone = true;
        } else {
            to += n;
            size -= (size_t)n;
        }
    }
    return !size;
}

/* With --orders, the program runs until the orders end. */
static void await_end(struct server *s)
{
    while (s->orders >= 0 && !s->has_ended)
        take_order(s);
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

/* The agent reads the ID in the byte order of its machine, which is little-endian. */
static uint32_t get_thread(const uint8_t p[4])
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Like the agent, not its manual: 4 with 0 turns nothing off, 6 clears the sites, 7 sets the depth. */
static void take_control(struct server *s)
{
    struct program *program = &s->program;
    uint8_t what[2], rest[4];

    if (!receive(s, what, sizeof what))
        return;
    switch (get_u2(what)) {
    case CONTROL_COUNTING_ON:
    case CONTROL_COUNTING_OFF:
        program->counts_allocations = get_u2(what) == CONTROL_COUNTING_ON;
        break;
    case CONTROL_SAMPLING_ON:
    case CONTROL_SAMPLING_OFF:
        if (!receive(s, rest, 4))
            break;
        if (get_thread(rest) == program->thread_id)
            program->is_thread_off = get_u2(what) == CONTROL_SAMPLING_OFF;
        else if (!get_thread(rest) && get_u2(what) == CONTROL_SAMPLING_ON)
            program->is_sampled = true;
        break;
    case CONTROL_CLEAR_SAMPLES:
        s->samples_cleared = true;
        program->samples = 0;
        break;
    case CONTROL_CLEAR_SITES:
        s->sites_cleared = true;
        program->dropped_since_clear = 0;
        break;
    case CONTROL_SET_DEPTH:
        if (receive(s, rest, 2))
            program->depth = get_u2(rest);
        break;
    default: /* the agent ignores unknown settings */
        break;
    }
}

/* False if the command is unknown. Serial number and length are ignored, as by the agent. */
static bool take_command(struct server *s, uint8_t command)
{
    switch (command) {
    case COMMAND_GC:
        s->program.dropped_live = 0;
        return true;
    case COMMAND_DUMP_HEAP:
        send_heap(s);
        return true;
    case COMMAND_ALLOC_SITES:
        take_sites(s);
        return true;
    case COMMAND_HEAP_SUMMARY:
        send_summary(s);
        return true;
    case COMMAND_EXIT:
        s->gone = s->has_ended = true;
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

/* If a connection is closed with unread bytes, the other side may lose what was sent. */
static void drain(struct server *s)
{
    uint8_t unread[256];

    while (recv(s->connection, unread, sizeof unread, MSG_DONTWAIT) > 0)
        ;
}

static bool put_text(void *context, const uint8_t *bytes, size_t size)
{
    struct server *s = context;

    send_bytes(s, bytes, size);
    return !s->gone;
}

/* The text names what the whole dump defines, so it is mapped. */
static void open_text(struct server *s)
{
    struct stat status;
    void *mapped;

    if (fstat(s->dump, &status) != 0) {
        s->error = errno;
        return;
    }
    mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, s->dump, 0);
    if (mapped == MAP_FAILED) {
        s->error = errno;
        return;
    }
    s->mapped = mapped;
    s->mapped_size = (size_t)status.st_size;
    s->text = text_new(s->mapped, s->mapped_size, put_text, s);
    if (!s->text)
        s->error = ENOMEM;
}

static void close_text(struct server *s)
{
    text_free(s->text);
    if (s->mapped_size)
        munmap((void *)(uintptr_t)s->mapped, s->mapped_size);
}

static void send_start(struct server *s)
{
    uint8_t header[HEADER_SIZE];

    if (s->text)
        text_header(s->text);
    else if (read_dump(s, header, sizeof header, 0))
        send_bytes(s, header, sizeof header);
    send_part(s, PART_START);
}

enum serve_end serve_dump(int dump, int connection, const struct serve_options *options, uint8_t *command)
{
    struct server s = {.dump = dump, .connection = connection, .orders = options->orders, .has_samples = options->is_sampled};
    uint8_t rest[8];
    bool known = true;

    s.program = (struct program){.counts_allocations = true,
                                 .is_sampled = options->is_sampled,
                                 .thread_id = first_number(&s, TAG_START_THREAD, offsetof(struct START_THREAD_in4, thread_id)),
                                 .depth = 4};
    clock_gettime(CLOCK_MONOTONIC, &s.began);
    if (options->is_text)
        open_text(&s);
    if (!s.error)
        send_start(&s);
    while (known && !s.error && receive(&s, command, 1) && *command != COMMAND_END) {
        if (receive(&s, rest, sizeof rest))
            known = take_command(&s, *command);
        else
            *command = COMMAND_END; /* half a command is none */
    }
    if (known && !s.error && *command != COMMAND_EXIT) {
        await_end(&s);
        s.gone = false; /* a client that sends no more commands may still read */
        send_heap(&s);
        drain(&s);
    }
    close_text(&s);
    if (s.error) {
        errno = s.error;
        return SERVE_FAILED;
    }
    return known ? SERVE_DONE : SERVE_UNKNOWN;
}
