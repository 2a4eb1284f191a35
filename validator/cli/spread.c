#include "spread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "progress.h"

/* How many files, for each thread, may be ahead of the one to be reported next: their findings take memory. */
#define AHEAD 4

struct kept {
    struct spread_result result;
    struct hprof_summary summary;
    char **texts; /* all strings, to be freed */
    size_t text_count, text_capacity, finding_capacity;
    uint64_t *baseline; /* numbers by rule */
    bool is_done;
    bool ran_out; /* of memory */
};

struct pool {
    const struct spread *spread;
    struct kept *kept; /* of file i in place i % places; a summary alone takes 10 KB */
    int places;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int next, reported; /* the next file to begin, and files reported */
    bool stopped;
};

/* ---- Copies ---- */

static bool grow(void **array, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity * 2 + 16;
    void *larger = realloc(*array, more * size);
    if (larger == NULL)
        return false;
    *array = larger;
    *capacity = more;
    return true;
}

static const char *keep(struct kept *k, const char *text)
{
    if (text == NULL)
        return NULL;
    char *copy = grow((void **)&k->texts, &k->text_capacity, k->text_count, sizeof *k->texts) ? strdup(text) : NULL;
    if (copy == NULL) {
        k->ran_out = true;
        return "";
    }
    k->texts[k->text_count++] = copy;
    return copy;
}

static int on_summary(void *context, const struct hprof_summary *summary)
{
    struct kept *k = context;

    k->summary = *summary;
    k->result.summary = &k->summary;
    return 0;
}

static int on_finding(void *context, const struct hprof_finding *finding)
{
    struct kept *k = context;
    struct spread_result *r = &k->result;

    if (k->ran_out || !grow((void **)&r->findings, &k->finding_capacity, r->finding_count, sizeof *r->findings)) {
        k->ran_out = true;
        return 0;
    }
    struct hprof_finding *copy = &r->findings[r->finding_count++];
    *copy = *finding;
    copy->path = keep(k, finding->path);
    copy->message = keep(k, finding->message);
    copy->expected = keep(k, finding->expected);
    copy->found = keep(k, finding->found);
    copy->quirk = keep(k, finding->quirk);
    return 0;
}

static void free_kept(struct kept *k)
{
    for (size_t i = 0; i < k->text_count; i++)
        free(k->texts[i]);
    free(k->texts);
    free(k->baseline);
    free(k->result.findings);
    *k = (struct kept){.is_done = false};
}

/* ---- Threads ---- */

static void check_file(const struct spread *spread, const char *file, struct kept *k)
{
    struct hprof_options library = *spread->library;
    double began = monotonic_seconds();

    library.on_summary = on_summary;
    library.on_finding = spread->wants_findings ? on_finding : NULL;
    library.on_progress = NULL;
    library.context = k;
    k->baseline = calloc(hprof_rule_count(), sizeof *k->baseline);
    if (k->baseline == NULL)
        k->ran_out = true;
    else
        k->result.baseline_kind = baseline_of(spread->baseline, input_name(file, spread->stdin_name), k->baseline);
    if (k->result.baseline_kind != BASELINE_NONE)
        library.baseline = k->result.baseline = k->baseline;
    const char *failure = NULL;
    int fd = spread->open(file, &failure);
    k->result.failure = keep(k, failure);
    k->result.is_opened = fd >= 0;
    k->result.status = HPROF_IO;
    if (fd >= 0) {
        k->result.status = hprof_validate_fd(fd, &library, NULL);
        if (fd != STDIN_FILENO)
            close(fd);
    }
    if (k->ran_out || (fd >= 0 && k->result.summary == NULL)) {
        k->result.summary = NULL;
        k->result.status = HPROF_LIMIT;
        k->result.failure = "out of memory";
    }
    k->result.seconds = monotonic_seconds() - began;
}

static struct kept *kept_of(const struct pool *pool, int file)
{
    return &pool->kept[file % pool->places];
}

static void *work(void *context)
{
    struct pool *pool = context;
    const struct spread *spread = pool->spread;

    pthread_mutex_lock(&pool->lock);
    while (!pool->stopped && pool->next < spread->file_count) {
        if (pool->next - pool->reported >= pool->places) {
            pthread_cond_wait(&pool->changed, &pool->lock);
            continue;
        }
        int i = pool->next++;
        pthread_mutex_unlock(&pool->lock);
        check_file(spread, spread->files[i], kept_of(pool, i));
        pthread_mutex_lock(&pool->lock);
        kept_of(pool, i)->is_done = true;
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void report_in_order(struct pool *pool)
{
    const struct spread *spread = pool->spread;

    pthread_mutex_lock(&pool->lock);
    while (!pool->stopped && pool->reported < spread->file_count) {
        struct kept *k = kept_of(pool, pool->reported);
        if (!k->is_done) {
            pthread_cond_wait(&pool->changed, &pool->lock);
            continue;
        }
        pthread_mutex_unlock(&pool->lock);
        bool goes_on = spread->report(spread->context, spread->files[pool->reported], &k->result);
        free_kept(k);
        pthread_mutex_lock(&pool->lock);
        pool->reported++;
        pool->stopped = !goes_on;
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
}

bool spread_files(const struct spread *spread)
{
    struct pool pool = {.spread = spread, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    unsigned wanted = spread->jobs < (unsigned)spread->file_count ? spread->jobs : (unsigned)spread->file_count, begun = 0;
    pthread_t *threads = calloc(wanted, sizeof *threads);

    pool.places = (int)wanted * AHEAD;
    pool.kept = calloc((size_t)pool.places, sizeof *pool.kept);
    while (threads != NULL && pool.kept != NULL && begun < wanted && pthread_create(&threads[begun], NULL, work, &pool) == 0)
        begun++;
    if (begun > 0)
        report_in_order(&pool);
    for (unsigned i = 0; i < begun; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; pool.kept != NULL && i < pool.places; i++)
        free_kept(&pool.kept[i]);
    free(pool.kept);
    free(threads);
    return begun > 0;
}
