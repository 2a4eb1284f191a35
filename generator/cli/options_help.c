/* --help, on one screen, and --help all. */
#include <string.h>

#include "option_table.h"
#include "options.h"
#include "wrap.h"

enum { LIST_INDENT = 30, LIST_COLUMN = 42 };

/* Prints the rows from `first` on, up to that of an option. Returns the next one. */
static size_t print_rows(FILE *out, size_t first, int last, size_t width)
{
    size_t end = first;

    while (end < option_row_count && (!option_rows[end].name || option_rows[end].id != last))
        end++;
    if (end < option_row_count)
        end++;
    command_line_help(out, option_rows + first, end - first, width);
    return end;
}

static void print_value(FILE *out, const char *name, const char *about, size_t width)
{
    fprintf(out, "%*s%-11s ", LIST_INDENT, "", name);
    wrap(out, about, LIST_COLUMN, LIST_COLUMN, width);
}

void options_help_all(FILE *out, size_t width)
{
    size_t row;

    wrap(out, "Usage: hprof-gen [OPTION]... [-o FILE]", 0, 0, width);
    wrap(out,
         "Writes an HPROF heap dump, valid or with chosen faults, and a manifest of what is in it. The same options and seed "
         "give the same dump.",
         0, 0, width);
    row = print_rows(out, 0, OPTION_LIKE, width);
    for (size_t i = 0; producer_at(i); i++)
        print_value(out, producer_name(producer_at(i)), producer_about(producer_at(i)), width);
    row = print_rows(out, row, OPTION_SHAPE, width);
    for (size_t i = 0; shapes[i]; i++)
        print_value(out, shapes[i]->name, shapes[i]->about, width);
    row = print_rows(out, row, OPTION_LOAD, width);
    for (size_t i = 0; load_at(i); i++)
        print_value(out, load_name(load_at(i)), load_about(load_at(i)), width);
    print_rows(out, row, -1, width);
    putc('\n', out);
    wrap(out,
         "Exit status: 0 done, or the reader of a pipe stopped early; 2 wrong usage; 3 a file cannot be read or written; 4 out "
         "of "
         "memory.",
         0, 0, width);
}

/* ---- On one screen ---- */

enum { SHORT_INDENT = 26 };

static const struct option_row *row_of(int id)
{
    const struct option_row *row = option_rows;

    while (!row->name || row->id != id)
        row++;
    return row;
}

/* "  -o, --output FILE", and room for the words. */
static void print_form(FILE *out, int id)
{
    const struct option_row *row = row_of(id);
    char form[64];
    size_t end = row->argument ? strcspn(row->argument, "[") : 0; /* of --violate RULE alone */

    snprintf(form, sizeof form, "--%s%s%.*s", row->name, end ? " " : "", (int)end, row->argument ? row->argument : "");
    fprintf(out, "  %-*s", SHORT_INDENT - 2, form);
}

static void print_short(FILE *out, int id, const char *words, size_t width)
{
    print_form(out, id);
    wrap(out, words, SHORT_INDENT, SHORT_INDENT, width);
}

static void print_names(FILE *out, int id, const char *(*name)(size_t index), size_t width)
{
    char names[256] = "";

    for (size_t i = 0, used = 0; name(i) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "", name(i));
    print_short(out, id, names, width);
}

static const char *name_of_producer(size_t index)
{
    const struct producer *producer = producer_at(index);

    return producer ? producer_name(producer) : NULL;
}

static const char *name_of_load(size_t index)
{
    return load_at(index) ? load_name(load_at(index)) : NULL;
}

static const char *name_of_shape(size_t index)
{
    return shapes[index] ? shapes[index]->name : NULL;
}

void options_help(FILE *out, size_t width)
{
    wrap(out, "Usage: hprof-gen [OPTION]... [-o FILE]", 0, 0, width);
    wrap(out, "Writes an HPROF heap dump, valid or broken, and a manifest of what is in it.", 0, 0, width);
    fputs("\n", out);
    print_short(out, OPTION_OUTPUT, "where; also -o FILE", width);
    print_short(out, OPTION_MANIFEST, "what is in the dump, as JSON", width);
    print_short(out, OPTION_OBJECTS, "how many objects: 1e6, the default", width);
    print_short(out, OPTION_BYTES, "or how many bytes: 512M, 1.5G", width);
    print_short(out, OPTION_SEED, "another dump of this kind", width);
    print_names(out, OPTION_LIKE, name_of_producer, width);
    print_names(out, OPTION_SHAPE, name_of_shape, width);
    print_names(out, OPTION_LOAD, name_of_load, width);
    print_short(out, OPTION_FIT, "a dump without its values, for --from-profile", width);
    print_short(out, OPTION_FROM, "the records of a dump, instead of new ones", width);
    print_short(out, OPTION_VIOLATE, "break a rule; --list-violations lists them", width);
    print_short(out, OPTION_EACH_FAULT, "a dump with each fault", width);
    print_short(out, OPTION_DAMAGE, "damage the dump; --list-damage lists how", width);
    print_short(out, OPTION_GZ, "compress it, 1 (fast) to 9 (small)", width);
    fputs("\n", out);
    wrap(out, "hprof-gen --help all prints all options. For example:", 0, 0, width);
    fputs("  hprof-gen --like hotspot --bytes 16M -o heap.hprof\n", out);
    fputs("  hprof-gen --from heap.hprof --damage lose:64K -o lost.hprof\n", out);
}
