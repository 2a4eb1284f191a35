/* Strings and the names that refer to them (SPEC.md 4.1). */
#include <inttypes.h>
#include <string.h>

#include "checker.h"
#include "utf8.h"

/* Texts are kept to be shown while they are a small part of what was read: the same on every input. */
static uint64_t text_budget(const struct checker *ck)
{
    return (UINT64_C(12) << 20) + ck->record_at / 128;
}

/* SPEC.md 4.1 UTF8. The string may be 4 GB: it is looked at piece by piece. */
bool check_utf8(struct checker *ck, uint64_t length)
{
    uint64_t left = length - ck->id_size, at = ck->in.offset, size = left, id, bad_at = 0;
    uint8_t text[STRING_KEPT], last[2] = {0};
    size_t kept = 0, skipped = 0;
    uint8_t bad_byte = 0;
    struct byte_hash hash;
    struct finding *f = NULL;
    bool sound = true;

    if (input_need(&ck->in, ck->id_size) < ck->id_size)
        return false;
    id = get_id(ck->in.at, ck->id_size);
    input_advance(&ck->in, ck->id_size);

    byte_hash_begin(&hash, &ck->key);
    while (left) {
        size_t wanted = left < PIECE ? (size_t)left : PIECE, n = input_need(&ck->in, wanted), good;
        bool cut;

        if (n < wanted)
            return false;
        if (kept < STRING_KEPT) {
            size_t more = wanted < STRING_KEPT - kept ? wanted : STRING_KEPT - kept;

            memcpy(text + kept, ck->in.at, more);
            kept += more;
        }
        /* Pieces are multiples of 8 bytes for the hash, and may cut a character. It is looked at where it begins, with bytes of
         * the next piece behind it, which that one skips. */
        if (sound) {
            size_t ahead = left - wanted < 3 ? (size_t)(left - wanted) : 3;

            if (input_need(&ck->in, wanted + ahead) < wanted + ahead)
                return false;
            good = skipped + utf8_sound(ck->in.at + skipped, wanted + ahead - skipped, &cut);
            skipped = good < wanted ? 0 : good - wanted;
            if (good < wanted) {
                sound = false;
                bad_at = ck->in.offset + good;
                bad_byte = ck->in.at[good];
            }
        }
        byte_hash_add(&hash, &ck->key, ck->in.at, wanted);
        last[0] = wanted > 1 ? ck->in.at[wanted - 2] : last[1];
        last[1] = ck->in.at[wanted - 1];
        input_advance(&ck->in, wanted);
        left -= wanted;
    }

    /* Said only now that the string is complete: a wrong length makes anything part of a string. */
    if (!sound) {
        report(ck, RULE_STR_005, bad_at, "UTF-8, standard or modified", "byte 0x%02x", bad_byte);
        ck->doubtful_string = bad_at;
        ck->doubtful_record = ck->record_at;
    }
    if (!id)
        report_shape(ck, RULE_STR_002, size ? SHAPE_ANY : SHAPE_EMPTY_STRING, at, "an ID other than 0", "0");
    switch (strings_define(&ck->strings, id, byte_hash_end(&hash, &ck->key), size, text, last, text_budget(ck))) {
    case STRING_NEW:
        break;
    case STRING_SAME:
        f = report(ck, RULE_STR_003, at, "an ID not yet used", "0x%" PRIx64 ", defined before with the same bytes", id);
        break;
    case STRING_OTHER:
        f = report(ck, RULE_STR_004, at, "an ID not yet used", "0x%" PRIx64 ", defined before with other bytes", id);
        break;
    }
    if (f)
        diag_seek(&ck->diag, f, PLACE_OF_STRING, id);
    return true;
}

void use_name_or_none(struct checker *ck, uint64_t id, enum string_role role, uint64_t offset)
{
    if (id && !strings_defined(&ck->strings, id))
        uselog_add(&ck->string_uses, id, role, offset);
}

void use_name(struct checker *ck, uint64_t id, enum string_role role, uint64_t offset)
{
    if (id)
        use_name_or_none(ck, id, role, offset);
    else
        report(ck, RULE_STR_008, offset, "the ID of a string", "0");
}

static void judge_use(void *context, uint64_t id, const uint64_t first[USE_ROLES])
{
    static const char *const paths[USE_ROLES] = {
        [NAME_OF_CLASS] = "LOAD_CLASS > name",
        [NAME_OF_METHOD] = "FRAME > method",
        [SIGNATURE_OF_METHOD] = "FRAME > signature",
        [SOURCE_OF_METHOD] = "FRAME > source",
        [NAME_OF_THREAD] = "START_THREAD > name",
        [NAME_OF_GROUP] = "START_THREAD > group",
        [NAME_OF_PARENT_GROUP] = "START_THREAD > parent_group",
        [NAME_OF_STATIC_FIELD] = "CLASS_DUMP > static field",
        [NAME_OF_INSTANCE_FIELD] = "CLASS_DUMP > instance field",
        [NAME_OF_HEAP] = "HEAP_DUMP_INFO > name",
    };
    struct checker *ck = context;
    unsigned role = 0;
    uint64_t offset = uses_first(first, 0, USE_ROLES - 1, &role);

    if (strings_defined(&ck->strings, id))
        report_late(ck, RULE_STR_007, SHAPE_ANY, offset, paths[role], "a string defined before it is named",
                    "0x%" PRIx64 ", defined later", id);
    else if (!(ck->lost & LOST_STRINGS))
        report_late(ck, RULE_STR_006, SHAPE_ANY, offset, paths[role], "the ID of a string", "0x%" PRIx64 ", not defined", id);
}

void finish_strings(struct checker *ck)
{
    uselog_finish(&ck->string_uses, judge_use, ck);
}
