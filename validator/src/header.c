/* The header (SPEC.md 3.1). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checker.h"
#include "utf8.h"

static const char magic[] = "JAVA PROFILE 1.0.";

/* A file that breaks off within a header that was good so far was cut; anything else is no dump. */
static bool is_prefix_of_header(const uint8_t *p, size_t n)
{
    size_t fixed = sizeof magic - 1;

    if (n == 0)
        return true;
    if (n <= fixed)
        return memcmp(p, magic, n) == 0;
    if (memcmp(p, magic, fixed) != 0 || p[fixed] < '1' || p[fixed] > '3')
        return false;
    return n <= fixed + 1 || p[fixed + 1] == '\0';
}

static void stop(struct checker *ck)
{
    unsound(ck, 0);
    ck->stopped = true;
}

static const char *const versions[] = {"", "1.0.1", "1.0.2", "1.0.3"};

bool check_header(struct checker *ck)
{
    size_t n = input_need(&ck->in, HEADER_SIZE);
    const uint8_t *p = ck->in.at;
    char shown[NAME_SIZE];
    uint64_t latest = UINT64_C(4102444800000);

    if (n < HEADER_SIZE && is_prefix_of_header(p, n)) {
        stop(ck);
        if (!ck->truncated)
            report(ck, RULE_HDR_005, 0, "a header of 31 bytes", "%zu bytes", n);
        return false;
    }
    if (n >= 17 && memcmp(p, "JAVA PROFILE 1.0", 17) == 0) {
        stop(ck);
        report(ck, RULE_HDR_002, 0, "JAVA PROFILE 1.0.1 or 1.0.2", "JAVA PROFILE 1.0");
        return false;
    }
    if (n < HEADER_STRING_SIZE || !is_prefix_of_header(p, HEADER_STRING_SIZE)) {
        const uint8_t *nul = n ? memchr(p, 0, n < 24 ? n : 24) : NULL;
        size_t shown_bytes = nul ? (size_t)(nul - p) : n < 24 ? n : 24;

        stop(ck);
        utf8_show(shown, sizeof shown, p, shown_bytes, !nul && n > 24);
        report(ck, RULE_HDR_001, 0, "\"JAVA PROFILE 1.0.1\" or \"JAVA PROFILE 1.0.2\" and a NUL", "\"%s\"%s", shown,
               nul ? " and a NUL" : "");
        return false;
    }
    ck->version = (enum version)(p[sizeof magic - 1] - '0');
    ck->sum.version = versions[ck->version];
    if (ck->version == V103)
        report(ck, RULE_HDR_003, 0, "JAVA PROFILE 1.0.1 or 1.0.2", "JAVA PROFILE 1.0.3");

    ck->sum.id_size = get_u4(p + HEADER_STRING_SIZE);
    ck->sum.timestamp = get_u8(p + HEADER_STRING_SIZE + 4);
    if (ck->sum.id_size != 4 && ck->sum.id_size != 8) {
        stop(ck);
        report(ck, RULE_HDR_004, HEADER_STRING_SIZE, "4 or 8", "%" PRIu32, ck->sum.id_size);
        return false;
    }
    ck->id_size = (unsigned)ck->sum.id_size;
    if (!ck->sum.timestamp)
        report(ck, RULE_HDR_006, HEADER_STRING_SIZE + 4, "milliseconds since 1970", "0");
    else if (ck->sum.timestamp >= latest)
        report(ck, RULE_HDR_007, HEADER_STRING_SIZE + 4, "a time before 2100: below 4102444800000 ms", "%" PRIu64 " ms",
               ck->sum.timestamp);
    input_advance(&ck->in, HEADER_SIZE);
    return true;
}
