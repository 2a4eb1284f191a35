#include <inttypes.h>
#include <string.h>

#include "diff.h"
#include "numbers.h"
#include "printable.h"
#include "report_share.h"

enum { CLASSES_SHOWN = 10, PARTS_SHOWN = 5, COLUMN = 14 };

static void put_column(FILE *out, uint64_t number)
{
    char text[NUMBER_SIZE];

    fprintf(out, " %*s", COLUMN, format_exact(text, number));
}

static void put_counts(FILE *out, const struct counts *counts, bool has_same)
{
    if (has_same)
        put_column(out, counts->same);
    put_column(out, counts->changed);
    put_column(out, counts->only[0]);
    put_column(out, counts->only[1]);
}

static void put_difference(struct diff *diff, const struct difference *difference, FILE *out)
{
    char name[PART_SIZE], offset[NUMBER_SIZE], number[NUMBER_SIZE];

    diff_name(diff, difference, name);
    fputs("  ", out);
    print_safely(out, name);
    for (unsigned side = 0; side < SIDES; side++) {
        if (difference->offsets[1 - side] != HPROF_NO_OFFSET)
            continue;
        fprintf(out, ": only in %c, at %s\n", side == 0 ? 'A' : 'B', format_offset(offset, difference->offsets[side], false));
        return;
    }
    fprintf(out, ", at %s in A", format_offset(offset, difference->offsets[0], false));
    fprintf(out, " and %s in B\n", format_offset(offset, difference->offsets[1], false));
    uint64_t parts = diff_describe(diff, difference, PARTS_SHOWN, print_part, out);
    if (parts > PARTS_SHOWN)
        fprintf(out, "    and %s more\n", format_exact(number, parts - PARTS_SHOWN));
}

void diff_print_text(struct diff *diff, FILE *out)
{
    char number[NUMBER_SIZE];
    bool is_equal = diff_is_equal(diff);

    for (unsigned side = 0; side < SIDES; side++) {
        fprintf(out, "%c: ", side == 0 ? 'A' : 'B');
        print_safely(out, diff->sides[side].file);
        fprintf(out, ", version %s, %s\n", diff->sides[side].header.version,
                format_size(number, diff->sides[side].summary.bytes));
    }
    fputs("\nCompared by ID", out);
    print_reason(out, diff);
    fprintf(out, "\n%-18s %*s %*s %*s %*s\n", "", COLUMN, "same", COLUMN, "changed", COLUMN, "only in A", COLUMN, "only in B");
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const struct counts *c = &diff->kinds[kind];

        if (c->same + c->changed + c->only[0] + c->only[1] == 0)
            continue;
        fprintf(out, "%-18s", kind_names[kind]);
        put_counts(out, c, true);
        putc('\n', out);
    }
    if (diff->class_count > 0)
        fprintf(out, "\n%*s %*s %*s  class\n", COLUMN + 1, "changed", COLUMN, "only in A", COLUMN, "only in B");
    for (size_t i = 0; i < diff->class_count && i < CLASSES_SHOWN; i++) {
        put_counts(out, &diff->classes[i].counts, false);
        fputs("  ", out);
        print_safely(out, diff->classes[i].name);
        putc('\n', out);
    }
    if (diff->class_count > CLASSES_SHOWN)
        fprintf(out, "and %s more classes\n", format_exact(number, diff->class_count - CLASSES_SHOWN));
    if (diff->difference_count > 0)
        fputs("\nThe first differences:\n", out);
    for (size_t i = 0; i < diff->difference_count; i++)
        put_difference(diff, &diff->differences[i], out);
    for (unsigned side = 0; side < SIDES; side++)
        if (diff->sides[side].damage > 0)
            fprintf(out, "\n%c has %s bytes of damage, which were not compared\n", side == 0 ? 'A' : 'B',
                    format_exact(number, diff->sides[side].damage));
    fprintf(out, "\n%s\n",
            !is_equal                                           ? "The dumps differ."
            : diff->sides[0].damage + diff->sides[1].damage > 0 ? "No difference was found in what can be compared."
                                                                : "No difference.");
}
