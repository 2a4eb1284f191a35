/* Strings and the names that refer to them (SPEC.md 4.1). */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "checks/checker.h"

/* Texts are kept while they are a small share of the bytes read, which is the same on every input. */
static uint64_t text_budget(const struct checker *ck)
{
    return ck->run->sizes.text_room + ck->position->record_at / 128;
}

/* The text of a string, which is read in pieces, because it may have 4 GB. */
struct text {
    uint64_t size;
    struct byte_hash hash;
    const uint8_t *first; /* in the window, or in `kept` */
    uint8_t last[2];
    uint64_t bad_at; /* offset of the first byte that is not UTF-8; 0 for none */
    uint8_t bad_byte;
    size_t looked_at; /* bytes of the next piece that complete a character */
};

/* Checks the piece in the window. Pieces are multiples of 8 bytes for the hash, so they may split a character. A split
 * character is checked in the first piece, with bytes of the next one, which skips them. False if the dump ends within
 * these. */
static bool find_bad_byte(struct checker *ck, struct text *t, size_t size, uint64_t following)
{
    size_t ahead = following < 3 ? (size_t)following : 3, good;

    if (input_need(ck->in, size + ahead) < size + ahead)
        return false;
    good = t->looked_at + utf8_valid(ck->in->at + t->looked_at, size + ahead - t->looked_at);
    t->looked_at = good < size ? 0 : good - size;
    if (good < size) {
        t->bad_at = ck->in->offset + good;
        t->bad_byte = ck->in->at[good];
    }
    return true;
}

/* False if the dump ends within the string. `kept` is for the first bytes of a string of several pieces. */
static bool read_text(struct checker *ck, struct text *t, uint64_t size, uint8_t kept[STRING_KEPT])
{
    *t = (struct text){.size = size};
    byte_hash_begin(&t->hash, &ck->run->key);
    for (uint64_t left = size; left;) {
        size_t piece = left < ck->run->sizes.piece ? (size_t)left : ck->run->sizes.piece;
        const uint8_t *p;

        if (input_need(ck->in, piece) < piece || (!t->bad_at && !find_bad_byte(ck, t, piece, left - piece)))
            return false;
        p = ck->in->at;
        byte_hash_add(&t->hash, &ck->run->key, p, piece);
        if (left == size)
            t->first = piece == size ? p : memcpy(kept, p, STRING_KEPT);
        t->last[0] = piece > 1 ? p[piece - 2] : t->last[1];
        t->last[1] = p[piece - 1];
        input_advance(ck->in, piece);
        left -= piece;
    }
    return true;
}

static void define_string(struct checker *ck, uint64_t id, struct text *t, uint64_t at)
{
    struct finding *f = NULL;
    enum string_state state = strings_define(&ck->file->strings, id, byte_hash_end(&t->hash, &ck->run->key), t->size, t->first,
                                             t->last, text_budget(ck));

    if (is_read_again(ck, at))
        return;
    switch (state) {
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
        findings_want_offset(&ck->run->findings, f, WANTED_STRING, id);
}

/* SPEC.md 4.1 UTF8. The text is checked only when it is complete, because a wrong length makes anything part of it. */
bool check_utf8(struct checker *ck, uint64_t length)
{
    enum { LOWEST_ADDRESS = 1 << 24 };
    struct cursor c = window(ck->in, SIZE_OF(UTF8, ck->file->id_size));
    uint64_t at = ck->in->offset;
    struct UTF8 r;
    struct text t;
    uint8_t kept[STRING_KEPT];

    if (!read_UTF8(&c, ck->file->id_size, &r))
        return false;
    input_advance(ck->in, SIZE_OF(UTF8, ck->file->id_size));
    if (!read_text(ck, &t, length - SIZE_OF(UTF8, ck->file->id_size), kept))
        return false;

    if (t.bad_at)
        report(ck, RULE_STR_005, t.bad_at, "UTF-8, standard or modified", "byte 0x%02x", t.bad_byte);
    else if (t.size && t.last[1] == '\0')
        report(ck, RULE_STR_009, at + length - 1, "the last byte of the string", "a NUL");
    if (!r.id)
        report_shape(ck, RULE_STR_002, t.size ? SHAPE_ANY : SHAPE_EMPTY_STRING, at, "an ID other than 0", "0");
    define_string(ck, r.id, &t, at);
    ck->file->signs.addresses += r.id >= LOWEST_ADDRESS && r.id % ck->file->id_size == 0;
    return true;
}

void use_name_or_none(struct checker *ck, uint64_t id, enum string_role role, uint64_t offset)
{
    if (id && !strings_defined(&ck->file->strings, id))
        pending_uses_add(&ck->file->string_uses, id, role, offset);
}

void use_name(struct checker *ck, uint64_t id, enum string_role role, uint64_t offset)
{
    if (id)
        use_name_or_none(ck, id, role, offset);
    else
        report(ck, RULE_STR_008, offset, "the ID of a string", "0");
}

static void report_use(void *context, uint64_t id, const uint64_t first[USE_ROLES])
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
    bool in_dump = role >= NAME_OF_STATIC_FIELD;
    unsigned other;
    bool only_source = uses_first(first, 0, SOURCE_OF_METHOD - 1, &other) == NEVER_USED &&
                       uses_first(first, SOURCE_OF_METHOD + 1, USE_ROLES - 1, &other) == NEVER_USED;

    if (strings_defined(&ck->file->strings, id))
        (in_dump ? report_within : report_late)(ck, RULE_STR_007, SHAPE_ANY, offset, paths[role],
                                                "a string defined before it is named", "0x%" PRIx64 ", defined later", id);
    else if (!(ck->file->losses.definitions & MAY_DEFINE_STRINGS))
        (in_dump ? report_within : report_late)(ck, RULE_STR_006, only_source ? SHAPE_SOURCE_FILE : SHAPE_ANY, offset,
                                                paths[role], "the ID of a string", "0x%" PRIx64 ", not defined", id);
}

void finish_strings(struct checker *ck)
{
    pending_uses_finish(&ck->file->string_uses, report_use, ck);
}
