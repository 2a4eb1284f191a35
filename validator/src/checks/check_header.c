/* The header (SPEC.md 3.1). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "checks/checker.h"
#include "format/header.h"
#include "input/file_kind.h"
#include "input/gzip_header.h"
#include "input/transfer.h"

/* How many of the first n bytes agree with a header. */
static size_t count_good_bytes(const uint8_t *p, size_t n)
{
    size_t fixed = HEADER_MAGIC_SIZE, good = 0;

    while (good < n && good < fixed && p[good] == (uint8_t)HEADER_MAGIC[good])
        good++;
    if (good == fixed && good < n && p[good] >= '1' && p[good] <= '3')
        good++;
    if (good == fixed + 1 && good < n && p[good] == '\0')
        good++;
    return good;
}

/* Describes the start of a file that is not a dump: its kind, or its text, or its bytes. */
static void show_start(char to[NAME_SIZE], const uint8_t *p, size_t n)
{
    enum { TEXT_MOST = 24, BYTES_MOST = 8 };
    const char *kind = find_file_kind(p, n).name;
    const uint8_t *nul = n ? memchr(p, 0, n < TEXT_MOST ? n : TEXT_MOST) : NULL;
    size_t size = nul ? (size_t)(nul - p) : n < TEXT_MOST ? n : TEXT_MOST, used = 0;
    char text[NAME_SIZE];

    if (kind) {
        snprintf(to, NAME_SIZE, "%s", kind);
    } else if (nul && size < 4) {
        for (size_t i = 0; i < n && i < BYTES_MOST; i++)
            used += (size_t)snprintf(to + used, NAME_SIZE - used, "%s%02x", i ? " " : "", p[i]);
    } else {
        utf8_show(text, sizeof text / 2, p, size, !nul && n > TEXT_MOST);
        snprintf(to, NAME_SIZE, "\"%.*s\"%s", NAME_SIZE / 2, text, nul ? " and a NUL" : "");
    }
}

/* Writes "; a dump begins at offset 32", if one does within the first bytes; or a gzip file after the headers of HTTP. */
static void show_later_start(struct checker *ck, char *to, size_t size)
{
    size_t n = input_need(ck->in, TRANSFER_SIGHT), sight = n < TRANSFER_SIGHT ? n : TRANSFER_SIGHT;
    size_t at = transfer_header(ck->in->at, sight), gzip_at = at == SIZE_MAX ? transfer_gzip(ck->in->at, sight) : SIZE_MAX;

    to[0] = '\0';
    if (at != SIZE_MAX) {
        snprintf(to, size, "; a dump begins at offset %zu", at);
        ck->run->sum.transfer |= HPROF_TRANSFER_TEXT_BEFORE;
    } else if (gzip_at != SIZE_MAX) {
        ck->run->sum.transfer |= HPROF_TRANSFER_TEXT_BEFORE | HPROF_TRANSFER_GZIP;
        snprintf(to, size, "; a gzip file begins at offset %zu: 'tail -c +%zu' cuts off what precedes it", gzip_at,
                 gzip_at + 1);
    }
}

size_t header_bytes(struct checker *ck)
{
    size_t n = input_need(ck->in, HEADER_SIZE), good = count_good_bytes(ck->in->at, n);

    return good < HEADER_STRING_SIZE ? good + 1 : HEADER_SIZE;
}

bool check_header(struct checker *ck, bool is_truncated)
{
    size_t n = input_need(ck->in, HEADER_SIZE), good = count_good_bytes(ck->in->at, n);
    const uint8_t *p = ck->in->at;
    char shown[NAME_SIZE], later[128];
    uint64_t latest = UINT64_C(4102444800000);

    /* A file that ends within a valid beginning of a header is truncated; any other is not a dump. */
    if (n < HEADER_SIZE && (good == n || good == HEADER_STRING_SIZE)) {
        end_sound_part(ck->run, 0);
        if (!is_truncated)
            report(ck, RULE_HDR_005, 0, "a header of 31 bytes", "%zu bytes", n);
        return false;
    }
    if (n >= 17 && memcmp(p, "JAVA PROFILE 1.0", 17) == 0) {
        end_sound_part(ck->run, 0);
        report(ck, RULE_HDR_002, 0, "JAVA PROFILE 1.0.1 or 1.0.2", "JAVA PROFILE 1.0");
        return false;
    }
    if (good < HEADER_STRING_SIZE) {
        end_sound_part(ck->run, 0);
        n = input_need(ck->in, TRANSFER_SIGHT);
        n = n < TRANSFER_SIGHT ? n : TRANSFER_SIGHT; /* however many are in memory */
        show_start(shown, ck->in->at, n);
        ck->run->sum.is_part = is_part_of_dump(ck->in->at, n);
        show_later_start(ck, later, sizeof later);
        report(ck, RULE_HDR_001, 0, "\"JAVA PROFILE 1.0.1\" or \"JAVA PROFILE 1.0.2\" and a NUL", "%s%s", shown, later);
        return false;
    }
    ck->file->version = (enum version)(p[HEADER_MAGIC_SIZE] - '0');
    ck->run->sum.version = version_name(ck->file->version);
    if (ck->file->version == V103)
        report(ck, RULE_HDR_003, 0, "JAVA PROFILE 1.0.1 or 1.0.2", "JAVA PROFILE 1.0.3");

    ck->run->sum.id_size = get_u4(p + HEADER_STRING_SIZE);
    ck->run->sum.timestamp = get_u8(p + HEADER_STRING_SIZE + 4);
    if (ck->run->sum.id_size != 4 && ck->run->sum.id_size != 8) {
        end_sound_part(ck->run, 0);
        report(ck, RULE_HDR_004, HEADER_STRING_SIZE, "4 or 8", "%" PRIu32, ck->run->sum.id_size);
        return false;
    }
    ck->file->id_size = (unsigned)ck->run->sum.id_size;
    if (!ck->run->sum.timestamp)
        report_late(ck, RULE_HDR_006, SHAPE_ANY, HEADER_STRING_SIZE + 4, "header", "milliseconds since 1970", "0");
    else if (ck->run->sum.timestamp >= latest)
        report_late(ck, RULE_HDR_007, SHAPE_ANY, HEADER_STRING_SIZE + 4, "header", "a time before 2100: below 4102444800000 ms",
                    "%" PRIu64 " ms", ck->run->sum.timestamp);
    input_advance(ck->in, HEADER_SIZE);
    return true;
}
