/* Jobs: runs of adjacent heap dump records, about 1 MB each, that threads check at the same time.
 *
 * A thread checks only what is plain (plain_objects.h) and stops its job at anything else. The coordinator, the thread that
 * called the library, reads on in the order of the file and takes over what the jobs have checked where it comes to it; the
 * rest of a job that stopped it checks itself. So there is one code for all that is rare, and nothing depends on which thread
 * was faster.
 *
 * The coordinator adds jobs to a queue, far ahead of what it takes over, and does jobs itself while the next one in the order of
 * the file is not done. The queue pauses while the coordinator checks something itself: no job is done meanwhile, because jobs
 * read the tables that the coordinator may change. So a job is checked against the tables of some moment before the coordinator
 * comes to it, and the report does not depend on which.
 * A job marks IDs before the coordinator has come to its bytes. Where that was wrong, because reading does not lead to the
 * start of a job, the heap dump is rolled back to its first record and checked again without jobs. IDs that are defined twice
 * are reported by the second look, at the end of the heap dump or at a record that is no part of it, because which definition
 * comes later is known only then.
 * Instances whose class is not dumped yet wait for it, as they do without jobs; the threads check them at the end. */
#ifndef HPROF_JOBS_H
#define HPROF_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct jobs;

/* Before the first record. Without threads, or for input that cannot be read anywhere at once, e->jobs stays NULL: then no other
 * function here need be called, and those that may be called do nothing. */
void jobs_init(struct engine *e);
void jobs_clear(struct engine *e);

/* Called before a heap dump record that may begin a heap dump: sets the point to roll back to. */
void jobs_begin_heap_dump(struct engine *e);
/* The same for one whose header was lost: one thread checks it. */
void jobs_pass_heap_dump(struct engine *e);

/* At a record that is no part of the heap dump, but within it: what it defines is not rolled back, so no other jobs are begun
 * in this heap dump. False if some are ahead, or left something for later that may call for a roll-back. */
bool jobs_bar(struct engine *e);

/* Called at a sub-record: if jobs have checked from here on, moves past what they checked and returns true. */
bool jobs_take_over(struct engine *e);
/* The offset up to which the coordinator itself may check. */
uint64_t jobs_border(const struct engine *e);
/* The header of the record here, if jobs were begun with the record: else NULL. */
const uint8_t *jobs_header(const struct engine *e);

/* Checks the instances that waited for their class, at the end of the heap dump. False if the input cannot be read again. */
bool jobs_check_waiting(struct engine *e);

/* Threads may have read what recovery leaves out: has one thread check the heap dump from its beginning. False if that is what
 * it does, or if what was read since does not roll back: a record within the heap dump, or what follows it. */
bool jobs_begin_again(struct engine *e);
/* The heap dump has ended. */
void jobs_end_heap_dump(struct engine *e);
/* Whether there are jobs that the coordinator has not come to, or that failed. */
bool jobs_are_ahead(struct engine *e);
/* The heap dump must be checked again without jobs: checking stops, for jobs_roll_back(). */
void jobs_fail(struct engine *e);
/* When checking has stopped or ended: true if the heap dump was rolled back, and checking must go on. */
bool jobs_roll_back(struct engine *e);

#endif
