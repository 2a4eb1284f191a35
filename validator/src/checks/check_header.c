/* The header (SPEC.md 3.1). */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "checks/checker.h"
#include "format/header.h"
#include "format/tags.h"
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

/* HTML is written in either case. */
static bool begins_with(const uint8_t *p, const char *start, size_t n)
{
    bool any_case = start[0] == '<';

    for (size_t i = 0; i < n; i++)
        if (p[i] != (uint8_t)start[i] && !(any_case && tolower(p[i]) == tolower((unsigned char)start[i])))
            return false;
    return true;
}

enum { ZEROS_LEAST = 16 };

static bool is_zero(const uint8_t *p, size_t n)
{
    size_t i = 0;

    while (i < n && !p[i])
        i++;
    return i == n;
}

enum { TAR_SIZE = 262 }; /* of the beginning of a tar file up to the end of "ustar" */

/* A part of a dump begins with a segment, as HotSpot writes it, and has no header. */
static bool is_part(const uint8_t *p, size_t n)
{
    return n > RECORD_HEADER_SIZE && p[0] == TAG_HEAP_DUMP_SEGMENT && !get_u4(p + RECORD_TIME_AT) &&
           is_subrecord_tag(p[RECORD_HEADER_SIZE]);
}

/* The kind of a file that is often mistaken for a dump, by its first bytes, or NULL. */
static const char *kind_of_file(const uint8_t *p, size_t n)
{
    static const struct {
        const char *start;
        size_t size;
        const char *kind;
    } kinds[] = {
        {"JAVA PROFILE 1.0.1, created ", 28, "text of the HPROF agent (format=a), which 'hprof-ascii check' checks"},
        {"JAVA PROFILE 1.0.2, created ", 28, "text of the HPROF agent (format=a), which 'hprof-ascii check' checks"},
        {"count callee caller time\n", 25, "text of the HPROF agent (cpu=old), which 'hprof-ascii check' checks"},
        {"TRACE 300000:\n", 14, "text of the HPROF agent (cpu=old), which 'hprof-ascii check' checks"},
        {"WAIT: MONITOR L", 15, "text of the HPROF agent (cpu=old), which 'hprof-ascii check' checks"},
        {"PK\3\4", 4, "a zip or jar file"},
        {"\3757zXZ", 5, "an xz file"},
        {"\x28\xb5\x2f\xfd", 4, "a zstd file"},
        {"BZh", 3, "a bzip2 file"},
        {"7z\xbc\xaf\x27\x1c", 6, "a 7z file"},
        {"\x04\x22\x4d\x18", 4, "an lz4 file"},
        {"\x78\x01", 2, "zlib data: inflate it first"},
        {"\x78\x5e", 2, "zlib data: inflate it first"},
        {"\x78\x9c", 2, "zlib data: inflate it first"},
        {"\x78\xda", 2, "zlib data: inflate it first"},
        {"MDMP", 4, "a minidump of Windows, not a heap dump of Java"},
        {"version https://git-lfs", 23, "a pointer of Git LFS in place of the file: 'git lfs pull' fetches it"},
        {"0SECTION       TITLE", 20, "a javacore of OpenJ9, text about threads and memory, not a heap dump"},
        {"// Version: ", 12, "a heap dump of OpenJ9 in its text format"},
        {"HTTP/1.", 7, "an HTTP answer with its headers"},
        {"\xca\xfe\xba\xbe", 4, "a class file"},
        {"\177ELF", 4, "an ELF file, as a core dump is"},
        {"FLR\0", 4, "a recording of Flight Recorder"},
        {"\0\x12portable heap dump", 20, "a portable heap dump (PHD) of OpenJ9"},
        {"H4sI", 4, "base64 text of a gzip file: decode it first"},
        {"SkFWQSBQUk9GSUxF", 16, "base64 text of a dump: decode it first"},
        {"<!DO", 4, "an HTML page: perhaps a login or error page saved in place of the dump"},
        {"<htm", 4, "an HTML page: perhaps a login or error page saved in place of the dump"},
        {"<br ", 4, "an HTML page: perhaps a login or error page saved in place of the dump"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (n >= kinds[i].size && begins_with(p, kinds[i].start, kinds[i].size))
            return kinds[i].kind;
    if (n >= 2 && p[0] == '{' && (p[1] == '"' || p[1] == '\n' || p[1] == '\r' || p[1] == ' ' || p[1] == '}'))
        return "JSON: perhaps an error message saved in place of the dump";
    if (is_part(p, n))
        return "a part of a dump, without its header: FILE.p0, FILE.p1 and so on belong after FILE";
    if (n >= ZEROS_LEAST && is_zero(p, n))
        return "zeros: the file was made, and nothing was written to it";
    if (n >= HEADER_SIZE && is_zero(p, HEADER_SIZE))
        return "zeros in place of the header: the beginning was lost, or never written";
    return n >= TAR_SIZE && memcmp(p + TAR_SIZE - 5, "ustar", 5) == 0 ? "a tar archive" : NULL;
}

/* Describes the start of a file that is not a dump: its kind, or its text, or its bytes. */
static void show_start(char to[NAME_SIZE], const uint8_t *p, size_t n)
{
    enum { TEXT_MOST = 24, BYTES_MOST = 8 };
    const char *kind = kind_of_file(p, n);
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

/* Writes "; a dump begins at offset 32", if one does within the first bytes. */
static void show_later_header(struct checker *ck, char *to, size_t size)
{
    size_t n = input_need(ck->in, TRANSFER_SIGHT), at = transfer_header(ck->in->at, n < TRANSFER_SIGHT ? n : TRANSFER_SIGHT);

    to[0] = '\0';
    if (at == SIZE_MAX)
        return;
    snprintf(to, size, "; a dump begins at offset %zu", at);
    ck->run->sum.transfer |= HPROF_TRANSFER_TEXT_BEFORE;
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
    char shown[NAME_SIZE], later[64];
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
        n = input_need(ck->in, TAR_SIZE);
        show_start(shown, ck->in->at, n);
        ck->run->sum.is_part = is_part(ck->in->at, n);
        show_later_header(ck, later, sizeof later);
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
