/* See journal.h. */
#include "journal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "hprof-reduce 3 %" PRIx64 " %d %d %d\n"
#define AT "at %u %u %" SCNu64 " %" SCNu64 " %u %d %" SCNu64 " %" SCNu64 " %" SCNu64

bool journal_read(struct journal *journal, struct failed *failed)
{
    FILE *file = fopen(journal->path, "r");
    struct outcome wanted;
    uint64_t fingerprint, hash;
    char line[160];
    int ending, matched;

    if (file == NULL)
        return true;
    if (fgets(line, sizeof line, file) != NULL && strchr(line, '\n') != NULL) {
        if (sscanf(line, HEAD, &fingerprint, &ending, &wanted.value, &matched) != 4 || fingerprint != journal->fingerprint) {
            fclose(file);
            return false;
        }
        wanted.ending = (enum ending)ending;
        wanted.matched = matched != 0;
        journal->wanted = wanted;
        journal->is_found = true;
    }
    while (fgets(line, sizeof line, file) != NULL && strchr(line, '\n') != NULL) {
        struct position position;
        uint64_t runs, written;
        int is_coarse;

        if (sscanf(line, "f %" SCNx64, &hash) == 1) {
            failed_add(failed, hash);
            journal->runs++;
        } else if (strcmp(line, "found\n") == 0) {
            journal->has_found = true;
        } else if (sscanf(line, AT, &position.links, &position.stage, &position.chunk, &position.pieces, &position.quiet,
                          &is_coarse, &position.size, &runs, &written) == 9) {
            journal->has_found &= position.links == journal->position.links && position.stage == journal->position.stage;
            position.is_coarse = is_coarse != 0;
            journal->position = position;
            journal->runs = runs;
            journal->written = written;
        }
    }
    fclose(file);
    return true;
}

bool journal_open(struct journal *journal, const struct outcome *wanted)
{
    journal->file = fopen(journal->path, journal->is_found ? "a" : "w");
    if (journal->file == NULL)
        return false;
    /* An incomplete last line, if there is one, becomes a line of its own, which means nothing. */
    if (journal->is_found)
        fputc('\n', journal->file);
    else
        fprintf(journal->file, HEAD, journal->fingerprint, (int)wanted->ending, wanted->value, (int)wanted->matched);
    return fflush(journal->file) == 0;
}

void journal_at(struct journal *journal, const struct position *position, uint64_t runs, uint64_t written)
{
    fprintf(journal->file, "at %u %u %" PRIu64 " %" PRIu64 " %u %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", position->links,
            position->stage, position->chunk, position->pieces, position->quiet, (int)position->is_coarse, position->size, runs,
            written);
    fflush(journal->file);
}

void journal_found(struct journal *journal)
{
    fputs("found\n", journal->file);
    fflush(journal->file);
}

void journal_failed(struct journal *journal, uint64_t hash)
{
    fprintf(journal->file, "f %" PRIx64 "\n", hash);
    fflush(journal->file);
}

void journal_close(struct journal *journal, bool is_done)
{
    if (journal->file != NULL)
        fclose(journal->file);
    if (is_done)
        unlink(journal->path);
    free(journal->path);
    *journal = (struct journal){0};
}
