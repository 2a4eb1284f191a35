/* See parts_beside.h. */
#include "parts_beside.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* HotSpot has a part for each thread that dumps, and removes each when it is joined: so any number may be the first. */
enum { PARTS_NAMED = 3 };

/* A part that is shorter has no sub-record: the header of a segment, and a tag. */
enum { PART_LEAST = 10 };

static const char *without_folder(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool is_there(const char *file, unsigned part, bool *is_empty)
{
    char name[PATH_MAX];
    struct stat stat_of;
    int n = snprintf(name, sizeof name, "%s.p%u", file, part);

    if (n <= 0 || (size_t)n >= sizeof name || stat(name, &stat_of) != 0 || !S_ISREG(stat_of.st_mode))
        return false;
    *is_empty &= stat_of.st_size < PART_LEAST;
    return true;
}

size_t part_stem(const char *name)
{
    size_t length = strlen(name), digits = 0;

    while (digits < length && name[length - digits - 1] >= '0' && name[length - digits - 1] <= '9')
        digits++;
    length -= digits;
    return digits > 0 && length > 2 && strncmp(name + length - 2, ".p", 2) == 0 ? length - 2 : 0;
}

static size_t add(char *to, size_t size, size_t used, const char *text)
{
    int n = used < size ? snprintf(to + used, size - used, "%.*s", (int)(size - used - 1), text) : 0;

    return used + (n > 0 ? (size_t)n : 0);
}

/* Whether all of the heap dump is in the file: its series of segments has an end. */
static bool is_whole(const struct hprof_summary *s)
{
    return s->status == HPROF_VALID || (s->status == HPROF_INVALID && s->record_counts[0x2c] != 0);
}

/* The parts beside a file, by what its summary says of it. */
static struct parts_beside find_parts_beside(const char *file, const struct hprof_summary *summary)
{
    struct parts_beside parts = {.is_empty = true, .is_stale = is_whole(summary)};

    for (unsigned part = 0; part < PARTS_SOUGHT; part++)
        if (is_there(file, part, &parts.is_empty))
            parts.numbers |= UINT64_C(1) << part;
    return parts;
}

bool name_part(const char *file, unsigned part, char *to, size_t size)
{
    int n = snprintf(to, size, "%s.p%u", without_folder(file), part);

    return n > 0 && (size_t)n < size;
}

void name_gap(const char *file, unsigned from, unsigned to, char *text, size_t size)
{
    if (from == to)
        snprintf(text, size, "%s.p%u", file, from);
    else
        snprintf(text, size, "%s.p%u to p%u", file, from, to);
}

/* Appends the first parts that are missing between others, in words. */
static void describe_gap(uint64_t numbers, const char *file, char *to, size_t size, size_t used)
{
    char text[PATH_MAX + 32];
    unsigned from = 0, after;

    while (from < PARTS_SOUGHT && !(numbers >> from & 1))
        from++;
    while (from < PARTS_SOUGHT && numbers >> from & 1)
        from++;
    for (after = from; after < PARTS_SOUGHT && !(numbers >> after & 1);)
        after++;
    if (after == PARTS_SOUGHT)
        return;
    name_gap(without_folder(file), from, after - 1, text, sizeof text);
    used = add(to, size, used, "; ");
    used = add(to, size, used, text);
    add(to, size, used, from + 1 == after ? " is not there" : " are not there");
}

/* Writes a sentence about the parts, if there are some. */
static void describe_parts_beside(const struct parts_beside *parts, const char *file, char *to, size_t size)
{
    size_t used =
        add(to, size, 0,
            parts->is_stale   ? "a part of an earlier dump lies beside this one: "
            : parts->is_empty ? "the VM was killed while it dumped, before there was anything in the parts of the dump: "
                              : "the VM was killed while it dumped, and the dump is in parts; the rest is in ");
    unsigned named = 0;

    for (unsigned part = 0; part < PARTS_SOUGHT; part++) {
        char name[PATH_MAX];

        if (!(parts->numbers & UINT64_C(1) << part) || named++ >= PARTS_NAMED || !name_part(file, part, name, sizeof name))
            continue;
        used = add(to, size, used, named > 1 ? ", " : "");
        used = add(to, size, used, name);
    }
    if (named > PARTS_NAMED)
        used = add(to, size, used, " and more");
    if (!parts->is_stale)
        describe_gap(parts->numbers, file, to, size, used);
}

/* Whether a file is a part of another one, by what its summary says of it; or may be one, because it is too short to say. */
static bool may_be_part(const struct hprof_summary *summary)
{
    return summary->is_part || (summary->status == HPROF_INVALID && summary->bytes < PART_LEAST);
}

/* A dump, compressed or not, as far as its first bytes say. */
static bool begins_like_dump(const char *file)
{
    static const char magic[] = "JAVA PROFILE 1.0.";
    char start[sizeof magic - 1] = "";
    FILE *stream = fopen(file, "rb");
    size_t n = stream != NULL ? fread(start, 1, sizeof start, stream) : 0;

    if (stream != NULL)
        fclose(stream);
    return n == sizeof start && (memcmp(start, magic, n) == 0 || memcmp(start, "\x1f\x8b", 2) == 0);
}

/* It is not compressed, and its last bytes are a HEAP_DUMP_END: its parts were joined. */
static bool ends_like_dump(const char *file)
{
    enum { RECORD_HEADER = 9, LENGTH_AT = 5 };
    unsigned char end[RECORD_HEADER] = {0};
    FILE *stream = fopen(file, "rb");
    bool is_read =
        stream != NULL && fseeko(stream, -RECORD_HEADER, SEEK_END) == 0 && fread(end, 1, sizeof end, stream) == sizeof end;

    if (stream != NULL)
        fclose(stream);
    return is_read && end[0] == 0x2c && memcmp(end + LENGTH_AT, "\0\0\0\0", sizeof end - LENGTH_AT) == 0;
}

/* Not a pipe, the bytes of which can be read only once. */
static bool is_regular(const char *file)
{
    struct stat stat_of;

    return stat(file, &stat_of) == 0 && S_ISREG(stat_of.st_mode);
}

/* Writes the name of the file beside a part of which it is one, by its own name; "" if there is none. */
static bool find_whole(const char *part, char whole[PATH_MAX])
{
    size_t length = part_stem(part);

    whole[0] = '\0';
    if (length == 0 || length >= PATH_MAX)
        return false;
    memcpy(whole, part, length);
    whole[length] = '\0';
    if (is_regular(whole))
        return true;
    whole[0] = '\0';
    return false;
}

bool belongs_to_file(const char *part, char whole[PATH_MAX])
{
    return find_whole(part, whole) && begins_like_dump(whole) && !ends_like_dump(whole) && is_regular(part) &&
           !begins_like_dump(part);
}

/* Writes a sentence about such a file, if that other one is beside it; and the name of that one, if a repair of it may take the
 * part. False if there is none. */
static bool describe_part(const char *part, const struct hprof_summary *summary, char whole[PATH_MAX], char *to, size_t size)
{
    size_t used;

    if (!find_whole(part, whole))
        return false;
    if (begins_like_dump(whole) && ends_like_dump(whole)) {
        used = add(to, size, 0, "this is a part of an earlier dump that was not finished: ");
        used = add(to, size, used, without_folder(whole));
        add(to, size, used, " has its end");
        whole[0] = '\0';
        return true;
    }
    used = add(to, size, 0, "the VM was killed while it dumped, and this is ");
    used = add(to, size, used, summary->bytes < PART_LEAST ? "an empty part" : "a part");
    used = add(to, size, used, " of the dump: the beginning is in ");
    add(to, size, used, without_folder(whole));
    if (summary->bytes < PART_LEAST || !begins_like_dump(whole))
        whole[0] = '\0';
    return true;
}

/* Whether nothing is wrong but that the end is missing: with parts beside it, the dump is incomplete. */
static bool ends_early(const struct hprof_summary *summary)
{
    static const char *const rules[] = {"HDR-005", "REC-001", "REC-002", "REC-007", "REC-016", "GZ-005"};
    uint64_t found = 0;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        found += summary->totals[hprof_rule_find(rules[i])];
    return summary->status == HPROF_INVALID && found == summary->errors && !is_whole(summary);
}

/* A dump, perhaps cut within its header. */
static bool begins_dump(const struct hprof_summary *summary)
{
    return summary->version[0] != '\0' || summary->totals[hprof_rule_find("HDR-005")] > 0;
}

void look_beside(const char *file, struct hprof_summary *summary, bool allows_incomplete, struct beside *beside)
{
    *beside = (struct beside){.is_allowed = false};
    if (file == NULL || strcmp(file, "-") == 0)
        return;
    if (begins_dump(summary))
        beside->parts = find_parts_beside(file, summary);
    if (beside->parts.numbers != 0) {
        describe_parts_beside(&beside->parts, file, beside->text, sizeof beside->text);
        summary->incomplete |= ends_early(summary);
    } else if (may_be_part(summary) && describe_part(file, summary, beside->whole, beside->text, sizeof beside->text)) {
        summary->is_part = summary->incomplete = true;
    } else {
        return;
    }
    summary->hint = beside->text; /* it explains what is missing */
    beside->is_allowed = summary->incomplete && summary->status == HPROF_INVALID && allows_incomplete;
    if (beside->is_allowed)
        summary->status = HPROF_VALID;
}
