#include <inttypes.h>
#include <stdlib.h>

#include "content.h"
#include "ignored.h"
#include "numbers.h"
#include "printable.h"
#include "report.h"
#include "report_share.h"

enum { CLASSES_SHOWN = 10, PARTS_SHOWN = 5, COLUMN = 14 };

static void put_column(FILE *out, uint64_t number)
{
    char text[NUMBER_SIZE];

    fprintf(out, " %*s", COLUMN, format_exact(text, number));
}

static void put_kinds(const struct content *content, FILE *out)
{
    fprintf(out, "\n%-18s %*s %*s %*s\n", "", COLUMN, "same", COLUMN, "only in A", COLUMN, "only in B");
    for (unsigned kind = KIND_CLASSES; kind < KINDS; kind++) {
        const struct counts *c = &content->diff->kinds[kind];

        if (c->same + c->only[0] + c->only[1] == 0)
            continue;
        fprintf(out, "%-18s", kind_names[kind]);
        put_column(out, c->same);
        put_column(out, c->only[0]);
        put_column(out, c->only[1]);
        putc('\n', out);
    }
}

static void put_classes(struct content *content, const struct group *const *groups, size_t count, FILE *out)
{
    char name[PART_SIZE], number[NUMBER_SIZE];

    if (count > 0)
        fprintf(out, "\n%*s %*s  class\n", COLUMN + 1, "only in A", COLUMN, "only in B");
    for (size_t i = 0; i < count && i < CLASSES_SHOWN; i++) {
        put_column(out, groups[i]->counts.only[0]);
        put_column(out, groups[i]->counts.only[1]);
        group_name(content, groups[i], name);
        fputs("  ", out);
        print_safely(out, name);
        putc('\n', out);
    }
    if (count > CLASSES_SHOWN)
        fprintf(out, "and %s more classes\n", format_exact(number, count - CLASSES_SHOWN));
}

static void put_pair(struct content *content, const struct pair *pair, FILE *out)
{
    char path[PATH_SIZE], class[PART_SIZE], number[NUMBER_SIZE];

    if (!path_of(content, pair, path))
        return;
    fputs("  ", out);
    print_safely(out, path);
    class_of_pair(content, pair, class);
    fputs(": ", out);
    print_safely(out, class);
    putc('\n', out);
    uint64_t parts = pair_describe(content, pair, PARTS_SHOWN, print_part, out);
    if (parts > PARTS_SHOWN)
        fprintf(out, "    and %s more\n", format_exact(number, parts - PARTS_SHOWN));
}

static void put_pairs(struct content *content, FILE *out)
{
    char number[NUMBER_SIZE];

    if (content->pair_count > 0)
        fputs("\nThe first differences, from the roots and classes on:\n", out);
    else if (content->most > 0)
        fputs("\nNone of what differs is on a way from a root or class that both dumps have.\n", out);
    for (size_t i = 0; i < content->pair_count; i++)
        put_pair(content, &content->pairs[i], out);
    if (content->pair_count > 0 && content->pairs_found > content->pair_count)
        fprintf(out, "  and %s more\n", format_exact(number, content->pairs_found - content->pair_count));
}

static void put_lone_roots(struct content *content, FILE *out)
{
    const struct counts *counts = &content->diff->kinds[KIND_ROOTS];
    char root[PATH_SIZE], object[PART_SIZE], number[NUMBER_SIZE];

    if (content->lone_root_count > 0)
        fputs("\nRoots that only one dump has:\n", out);
    for (size_t i = 0; i < content->lone_root_count; i++) {
        const struct lone_root *lone = &content->lone_roots[i];

        lone_root_name(content, lone, root);
        object_name(content, lone->side, lone->root.object, object);
        fprintf(out, "  only in %c: ", lone->side == 0 ? 'A' : 'B');
        print_safely(out, root);
        fputs(": ", out);
        print_safely(out, object);
        putc('\n', out);
    }
    if (content->lone_root_count > 0 && counts->only[0] + counts->only[1] > content->lone_root_count)
        fprintf(out, "  and %s more\n", format_exact(number, counts->only[0] + counts->only[1] - content->lone_root_count));
}

static void put_beginning(const struct content *content, FILE *out)
{
    const struct diff *diff = content->diff;
    char number[NUMBER_SIZE];

    for (unsigned side = 0; side < SIDES; side++) {
        fprintf(out, "%c: ", side == 0 ? 'A' : 'B');
        print_safely(out, diff->sides[side].file);
        fprintf(out, ", version %s, %s", diff->sides[side].header.version,
                format_size(number, diff->sides[side].summary.bytes));
        if (content->graphs[side].heap_dumps > 1)
            fprintf(out, ", heap dump %" PRIu64 " of %" PRIu64, content->heap_dumps[side], content->graphs[side].heap_dumps);
        putc('\n', out);
    }
    fprintf(out, "\nCompared by content, with %u round%s", content->rounds, plural(content->rounds));
    print_reason(out, diff);
    for (unsigned i = 0, shown = 0; i < IGNORED; i++)
        if ((content->ignored & 1U << i) != 0)
            fprintf(out, "%s%s", shown++ > 0 ? ", " : "Ignored: ", ignored_names[i]);
    if (content->ignored != 0)
        putc('\n', out);
}

void content_print_text(struct content *content, FILE *out)
{
    const struct diff *diff = content->diff;
    const struct group **groups;
    char number[NUMBER_SIZE];
    size_t count;

    put_beginning(content, out);
    put_kinds(content, out);
    groups = differing_groups(content, &count);
    if (groups != NULL)
        put_classes(content, groups, count, out);
    free(groups);
    if (content_is_different(content)) {
        put_pairs(content, out);
        put_lone_roots(content, out);
    }
    for (unsigned side = 0; side < SIDES; side++)
        if (diff->sides[side].damage > 0)
            fprintf(out, "\n%c has %s bytes of damage, which were not compared\n", side == 0 ? 'A' : 'B',
                    format_exact(number, diff->sides[side].damage));
    if (content_is_different(content))
        fputs("\nThe dumps differ.\n", out);
    else
        fprintf(out, "\nNo difference found with %u round%s%s.\n", content->rounds, plural(content->rounds),
                diff->sides[0].damage + diff->sides[1].damage > 0 ? " in what can be compared" : "");
}
