#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "vm.h"

enum { OUT_BUFFER = 64 << 10 };

struct out {
    int descriptor;
    bool is_socket;
    bool is_closed;
    bool has_failed; /* what follows is dropped */
    z_stream *gz;
    uint64_t size;
    size_t used;
    uint8_t buffer[OUT_BUFFER];
};

static struct out out = {.descriptor = -1};
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* a dump holds it, and meets classes that are new */
static char name[OPTION_PATH];                                        /* of the file or the peer */

void out_lock(void)
{
    pthread_mutex_lock(&lock);
}

void out_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

struct out *out_main(void)
{
    return &out;
}

bool out_is_socket(void)
{
    return out.is_socket;
}

int out_socket(void)
{
    return out.descriptor;
}

/* The VM may run without some of the three standard streams: what is printed there must not come into the output. */
static int above_standard(int descriptor)
{
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    int above = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(descriptor);
    errno = error;
    return above;
}

static int connect_to(const char *host, const char *port, const char **reason)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int error = getaddrinfo(host, port, &hints, &found), descriptor = -1;
    if (error) {
        *reason = gai_strerror(error);
        return -1;
    }
    for (struct addrinfo *at = found; at && descriptor < 0; at = at->ai_next) {
        descriptor = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (descriptor >= 0 && connect(descriptor, at->ai_addr, at->ai_addrlen)) {
            *reason = strerror(errno);
            close(descriptor);
            descriptor = -1;
        }
    }
    freeaddrinfo(found);
    return above_standard(descriptor);
}

static bool start_gz(unsigned level)
{
    out.gz = calloc(1, sizeof *out.gz);
    enum { WINDOW_WITH_GZIP_HEADER = 15 + 16, DEFAULT_MEMORY = 8 };
    return out.gz &&
           deflateInit2(out.gz, (int)level, Z_DEFLATED, WINDOW_WITH_GZIP_HEADER, DEFAULT_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
}

bool out_open(const struct options *o)
{
    if (o->host[0]) {
        snprintf(name, sizeof name, "%s:%s", o->host, o->port);
        const char *reason = "no socket";
        out.descriptor = connect_to(o->host, o->port, &reason);
        out.is_socket = out.descriptor >= 0;
        if (!out.is_socket)
            say("HPROF ERROR: can't connect to %s (%s)", name, reason);
        return out.is_socket;
    }
    char path[OPTION_PATH];
    if (!options_path(o, (long)getpid(), path, sizeof path)) {
        say("HPROF ERROR: the name of the profile file is too long");
        return false;
    }
    memcpy(name, path, strlen(path) + 1);
    int exclusive = o->force ? 0 : O_EXCL;
    out.descriptor = above_standard(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | exclusive, 0600));
    if (out.descriptor < 0) {
        say("HPROF ERROR: can't create profile file: %s (%s)", path, strerror(errno));
        return false;
    }
    struct stat status;
    if (!fstat(out.descriptor, &status) && S_ISREG(status.st_mode))
        fchmod(out.descriptor, 0600); /* it may be an old file */
    if (o->gz && !start_gz(o->gz)) {
        say("HPROF ERROR: no memory to compress %s", name);
        return false;
    }
    return true;
}

static void fail(struct out *to)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT; /* of the profile, or of the temporary file beside it */
    if (!atomic_flag_test_and_set(&is_said))
        say("HPROF ERROR: can't write %s: %s; the rest of the profile is lost", name, strerror(errno));
    to->has_failed = true;
}

void out_fail_memory(struct out *to)
{
    errno = ENOMEM;
    fail(to);
}

static void send_all(struct out *to, const uint8_t *bytes, size_t size)
{
    while (size && !to->has_failed) {
        ssize_t sent = to->is_socket ? send(to->descriptor, bytes, size, MSG_NOSIGNAL) : write(to->descriptor, bytes, size);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0) {
            fail(to);
            return;
        }
        bytes += sent;
        size -= (size_t)sent;
    }
}

static void deflate_all(struct out *to, int flush)
{
    uint8_t packed[16 << 10];
    do {
        to->gz->next_out = packed;
        to->gz->avail_out = sizeof packed;
        deflate(to->gz, flush);
        send_all(to, packed, sizeof packed - to->gz->avail_out);
    } while (to->gz->avail_out == 0);
}

static void empty(struct out *to, int flush)
{
    if (to->gz) {
        to->gz->next_in = to->buffer;
        to->gz->avail_in = (uInt)to->used;
        deflate_all(to, flush);
    } else {
        send_all(to, to->buffer, to->used);
    }
    to->used = 0;
}

void out_bytes(struct out *to, const void *bytes, size_t size)
{
    if (to->is_closed)
        return;
    to->size += size;
    const uint8_t *from = bytes;
    while (size) {
        size_t part = OUT_BUFFER - to->used < size ? OUT_BUFFER - to->used : size;
        memcpy(to->buffer + to->used, from, part);
        to->used += part;
        from += part;
        size -= part;
        if (to->used == OUT_BUFFER)
            empty(to, Z_NO_FLUSH);
    }
}

void out_format(struct out *to, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size > 0)
        out_bytes(to, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

void out_flush(struct out *to)
{
    if (!to->is_closed)
        empty(to, Z_SYNC_FLUSH);
}

void out_event(void)
{
    if (out.is_socket)
        out_flush(&out);
}

uint64_t out_size(const struct out *from)
{
    return from->size;
}

void out_close(void)
{
    if (out.is_closed || out.descriptor < 0)
        return;
    empty(&out, Z_FINISH);
    if (out.gz)
        deflateEnd(out.gz);
    out.is_closed = true;
    if (out.is_socket)
        shutdown(out.descriptor, SHUT_RDWR); /* a thread may still wait for commands */
    else if (close(out.descriptor) && errno != EINTR)
        fail(&out);
}

/* Beside the profile, where there is room for it too; else where temporary files go. */
static int temporary_file(void)
{
    char directory[OPTION_PATH];
    snprintf(directory, sizeof directory, "%s", out.is_socket ? "/tmp" : name);
    char *slash = strrchr(directory, '/');
    if (!out.is_socket)
        snprintf(slash ? slash + 1 : directory, 2, ".");
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0)
        return descriptor;
    char path[] = "/tmp/hprof.XXXXXX";
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    return descriptor;
}

/* Made once: when a heap dump is wanted, the program may have no descriptor left. */
static struct out spool = {.descriptor = -1};

struct out *out_spool(void)
{
    if (spool.descriptor < 0)
        spool.descriptor = above_standard(temporary_file());
    if (spool.descriptor >= 0)
        return &spool;
    say("HPROF ERROR: can't make a temporary file for the heap dump: %s", strerror(errno));
    return NULL;
}

static void clear_spool(void)
{
    spool.size = spool.used = 0;
    spool.has_failed = false;
    if (ftruncate(spool.descriptor, 0) || lseek(spool.descriptor, 0, SEEK_SET))
        fail(&spool);
}

void out_unspool(struct out *to)
{
    empty(&spool, Z_NO_FLUSH);
    lseek(spool.descriptor, 0, SEEK_SET);
    uint64_t left = spool.size;
    while (left && !spool.has_failed) {
        ssize_t got = read(spool.descriptor, spool.buffer, OUT_BUFFER);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got ? errno : EIO; /* the file has become shorter */
            fail(&spool);
            break;
        }
        out_bytes(to, spool.buffer, (size_t)got);
        left -= (uint64_t)got;
    }
    if (spool.has_failed)
        to->has_failed = true; /* what the sizes promise is lost: the profile ends here */
    clear_spool();
}
