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

#include "server.h"
#include "stream/encode.h"

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
        program->spins++;
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

/* If a connection is closed before bytes are read, or while they are on their way, the other side may lose what was sent. */
static void drain(struct server *s)
{
    enum { PATIENCE = 200 }; /* milliseconds, for a client that does not close its side */
    struct pollfd one = {.fd = s->connection, .events = POLLIN};
    uint8_t unread[256];

    shutdown(s->connection, SHUT_WR);
    while (poll(&one, 1, PATIENCE) > 0 && recv(s->connection, unread, sizeof unread, MSG_DONTWAIT) > 0)
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
    if (s->has_monitors)
        text_waits(s->text);
}

enum serve_end serve_dump(int dump, int connection, const struct serve_options *options, uint8_t *command)
{
    struct server s = {.dump = dump,
                       .connection = connection,
                       .orders = options->orders,
                       .cpu = options->cpu,
                       .has_samples = options->cpu == SERVE_CPU_SAMPLES,
                       .has_monitors = options->has_monitors};
    uint8_t rest[8];
    bool known = true;

    s.program = (struct program){.counts_allocations = true,
                                 .is_sampled = s.has_samples,
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
        send_end(&s);
    }
    if (*command != COMMAND_EXIT)
        drain(&s);
    close_text(&s);
    if (s.error) {
        errno = s.error;
        return SERVE_FAILED;
    }
    return known ? SERVE_DONE : SERVE_UNKNOWN;
}
