/* See file_kind.h. */
#include "input/file_kind.h"

#include <ctype.h>
#include <string.h>

#include "format/format.h"
#include "format/tags.h"
#include "input/transfer.h"

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

bool begins_with_zeros(const uint8_t *p, size_t n)
{
    return n >= ZEROS_LEAST && is_zero(p, ZEROS_LEAST);
}

bool is_part_of_dump(const uint8_t *p, size_t n)
{
    return n > RECORD_HEADER_SIZE && p[0] == TAG_HEAP_DUMP_SEGMENT && !get_u4(p + RECORD_TIME_AT) &&
           is_subrecord_tag(p[RECORD_HEADER_SIZE]);
}

/* An object, or an array; a line of a log may begin with "[ ". */
static bool begins_json(const uint8_t *p, size_t n)
{
    enum { MARK = 3 }; /* the byte order mark of UTF-8 */

    if (n >= MARK && memcmp(p, "\xef\xbb\xbf", MARK) == 0) {
        p += MARK;
        n -= MARK;
    }
    return n >= 2 && p[1] && ((p[0] == '{' && strchr("\"} \n\r", p[1])) || (p[0] == '[' && strchr("{[\"]\n\r", p[1])));
}

bool is_text(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_no_text(p[i]))
            return false;
    return true;
}

/* Whether base64 text of a dump or a gzip file begins in a line after others, the headers of a mail or of PEM. */
static bool has_base64(const uint8_t *p, size_t n)
{
    static const char dump[] = "SkFWQSBQUk9GSUxF", gzip[] = "H4sIA";
    const uint8_t *const end = p + n, *line = p;

    while ((line = memchr(line, '\n', (size_t)(end - line))) != NULL && (size_t)(end - ++line) >= sizeof dump)
        if (memcmp(line, dump, sizeof dump - 1) == 0 || memcmp(line, gzip, sizeof gzip - 1) == 0)
            return is_text(p, (size_t)(line - p));
    return false;
}

struct file_kind find_file_kind(const uint8_t *p, size_t n)
{
    static const struct {
        const char *start;
        size_t size;
        struct file_kind kind;
    } kinds[] = {
        {"JAVA PROFILE 1.0.1, created ", 28, {"text of the HPROF agent (format=a), which 'hprof-ascii check' checks", true}},
        {"JAVA PROFILE 1.0.2, created ", 28, {"text of the HPROF agent (format=a), which 'hprof-ascii check' checks", true}},
        {"count callee caller time\n", 25, {"text of the HPROF agent (cpu=old), which 'hprof-ascii check' checks", true}},
        {"TRACE 300000:\n", 14, {"text of the HPROF agent (cpu=old), which 'hprof-ascii check' checks", true}},
        {"WAIT: MONITOR L", 15, {"text of the HPROF agent (cpu=old), which 'hprof-ascii check' checks", true}},
        {"PK\3\4", 4, {"a zip or jar file: 'unzip' unpacks it", false}},
        {"\3757zXZ", 5, {"an xz file: 'xz -dc' decompresses it", false}},
        {"\x28\xb5\x2f\xfd", 4, {"a zstd file: 'zstd -dc' decompresses it", false}},
        {"BZh", 3, {"a bzip2 file: 'bzip2 -dc' decompresses it", false}},
        {"7z\xbc\xaf\x27\x1c", 6, {"a 7z file: '7z x' unpacks it", false}},
        {"\x04\x22\x4d\x18", 4, {"an lz4 file: 'lz4 -dc' decompresses it", false}},
        {"\x02\x21\x4c\x18", 4, {"an lz4 file: 'lz4 -dc' decompresses it", false}},
        {"\x78\x01", 2, {"zlib data: inflate it first", false}},
        {"\x78\x5e", 2, {"zlib data: inflate it first", false}},
        {"\x78\x9c", 2, {"zlib data: inflate it first", false}},
        {"\x78\xda", 2, {"zlib data: inflate it first", false}},
        {"MDMP", 4, {"a minidump of Windows, not a heap dump of Java", false}},
        {"version https://git-lfs", 23, {"a pointer of Git LFS in place of the file: 'git lfs pull' fetches it", true}},
        {"0SECTION       TITLE", 20, {"a javacore of OpenJ9, text about threads and memory, not a heap dump", true}},
        {"// Version: ", 12, {"a heap dump of OpenJ9 in its text format", true}},
        {"HTTP/1.", 7, {"an HTTP answer with its headers", true}},
        {"\xca\xfe\xba\xbe", 4, {"a class file", false}},
        {"\177ELF", 4, {"an ELF file, as a core dump is", false}},
        {"FLR\0", 4, {"a recording of Flight Recorder", false}},
        {"\0\x12portable heap dump", 20, {"a portable heap dump (PHD) of OpenJ9", false}},
        {"H4sI", 4, {"base64 text of a gzip file: 'base64 -d' decodes it", true}},
        {"SkFWQSBQUk9GSUxF", 16, {"base64 text of a dump: 'base64 -d' decodes it", true}},
        {"JAVA PROFILE 1.0.1=00", 21, {"quoted-printable text of a dump: decode it first", true}},
        {"JAVA PROFILE 1.0.2=00", 21, {"quoted-printable text of a dump: decode it first", true}},
        {"begin 6", 7, {"uuencoded text: 'uudecode' decodes it", true}},
        {"begin-base64 ", 13, {"uuencoded text: 'uudecode' decodes it", true}},
        {"4a4156412050524f46494c45", 24, {"hexadecimal text of a dump: 'xxd -r -p' decodes it", false}},
        {"00000000: 4a41 5641 2050", 24, {"hexadecimal text of a dump: 'xxd -r' decodes it", false}},
        {"00000000  4a 41 56 41 20", 24, {"hexadecimal text of a dump, as hexdump prints it", false}},
        {"\xff\xfeJ\0A\0V\0A\0 \0P\0", 14, {"UTF-16, as '>' of PowerShell writes: bytes of the dump are lost", false}},
        {"<!DO", 4, {"an HTML page: perhaps a login or error page saved in place of the dump", true}},
        {"<htm", 4, {"an HTML page: perhaps a login or error page saved in place of the dump", true}},
        {"<br ", 4, {"an HTML page: perhaps a login or error page saved in place of the dump", true}},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (n >= kinds[i].size && begins_with(p, kinds[i].start, kinds[i].size))
            return kinds[i].kind;
    if (has_base64(p, n))
        return (struct file_kind){"text, and then base64 text of a dump or a gzip file: decode that first", true};
    if (begins_json(p, n))
        return (struct file_kind){"JSON: perhaps an error message saved in place of the dump", true};
    if (is_part_of_dump(p, n))
        return (struct file_kind){"a part of a dump, without its header: FILE.p0, FILE.p1 and so on belong after FILE", false};
    if (n >= ZEROS_LEAST && n < TRANSFER_SIGHT && is_zero(p, n)) /* the whole file */
        return (struct file_kind){"zeros: the file was made, and nothing was written to it", true};
    if (n >= HEADER_SIZE && is_zero(p, HEADER_SIZE))
        return (struct file_kind){"zeros in place of the header: the beginning was lost, or never written", true};
    if (n >= FILE_KIND_SIGHT && memcmp(p + FILE_KIND_SIGHT - 5, "ustar", 5) == 0)
        return (struct file_kind){"a tar archive: 'tar -xf' unpacks it", false};
    return (struct file_kind){NULL, true};
}
