/* The lists of what hprof-gen can do, on standard output. The values are exit statuses. */
#ifndef HPROF_GEN_LISTS_H
#define HPROF_GEN_LISTS_H

enum {
    STATUS_DONE = 0,
    STATUS_USAGE = 2,
    STATUS_IO = 3,
    STATUS_MEMORY = 4,
};

int list_faults(void);
int list_damage(void);
/* After the last line: whether all of them were written. */
int finish_listing(void);

#endif
