/* See each_fault.h. */
#include "each_fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lists.h"
#include "messages.h"
#include "write.h"

enum { NAME_SIZE = 64, PATH_SIZE = 4096 };

static bool is_named(const struct cli_options *o, const char *rule, const char *what)
{
    for (size_t i = 0; i < o->request.violate_count; i++)
        if (strcmp(o->violate[i], rule) == 0 || strcmp(o->violate[i], what) == 0)
            return true;
    return false;
}

/* DIR/OBJ-004-same-kind.hprof */
static bool name_files(const struct cli_options *o, const char *what, char dump[PATH_SIZE], char manifest[PATH_SIZE])
{
    char name[NAME_SIZE];
    bool is_gzip = o->request.gzip_level || violate_gzip(&what, 1);

    snprintf(name, sizeof name, "%s", what);
    *strchr(name, '/') = '-';
    return snprintf(dump, PATH_SIZE, "%s/%s.hprof%s", o->folder, name, is_gzip ? ".gz" : "") < PATH_SIZE &&
           snprintf(manifest, PATH_SIZE, "%s/%s.json", o->folder, name) < PATH_SIZE;
}

static int write_one(const struct cli_options *o, const struct fault *row)
{
    char what[NAME_SIZE], dump[PATH_SIZE], manifest[PATH_SIZE], refusal[REFUSAL_SIZE] = "";
    const char *wanted = what;
    struct cli_options one = *o;
    int status;

    snprintf(what, sizeof what, "%s/%s", fault_rule(row), fault_variant(row));
    if (!is_named(o, fault_rule(row), what)) {
        if (!o->request.violate_count && fault_is_huge(row))
            printf("%s %s - it takes more than 4 GiB: only if --violate names it\n", fault_rule(row), fault_variant(row));
        if (o->request.violate_count || fault_is_huge(row))
            return STATUS_DONE;
    }
    if (!name_files(o, what, dump, manifest)) {
        say_failure(o->folder, strerror(ENAMETOOLONG));
        return STATUS_IO;
    }
    one.output = dump;
    one.manifest = manifest;
    one.quiet = true;
    one.request.violate = &wanted;
    one.request.violate_count = 1;
    options_note_violate(&one, what);
    status = write_files(&one, refusal);
    if (status == STATUS_USAGE && *refusal) {
        printf("%s %s - %s\n", fault_rule(row), fault_variant(row), refusal);
        return STATUS_DONE;
    }
    if (status == STATUS_DONE)
        printf("%s %s %s\n", fault_rule(row), fault_variant(row), dump + strlen(o->folder) + 1);
    return status;
}

int write_each_fault(const struct cli_options *o)
{
    const struct fault *row;

    if (mkdir(o->folder, 0777) != 0 && errno != EEXIST) {
        say_failure(o->folder, strerror(errno));
        return STATUS_IO;
    }
    for (size_t i = 0; (row = fault_at(i)); i++) {
        int status = write_one(o, row);

        if (status != STATUS_DONE)
            return status;
    }
    return finish_listing();
}
