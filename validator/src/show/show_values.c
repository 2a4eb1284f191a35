/* See writer.h. IDs with their names, and values. */
#include <inttypes.h>
#include <string.h>

#include "show/writer.h"

/* ---- Names ---- */

void note_string(struct writer *w, uint64_t id)
{
    char name[NAME_ROOM];

    if (names_string(&w->show->names, id, name))
        add_remark(w, "%s%s", w->remark_size ? " " : "", name);
}

void note_class(struct writer *w, uint64_t class_id)
{
    char name[NAME_ROOM];

    if (names_class(&w->show->names, class_id, name))
        add_remark(w, "%s%s", w->remark_size ? " " : "", name);
}

void note_object(struct writer *w, uint64_t id)
{
    if (keymap_get(&w->show->names.classes, id, NULL)) {
        add_remark(w, "%sclass", w->remark_size ? " " : "");
        note_class(w, id);
    }
}

void add_text_id(struct writer *w, uint64_t id)
{
    if (id)
        add_text(w, " 0x%" PRIx64, id);
    else
        add_text(w, " null");
}

void add_text_word(struct writer *w, const char *name)
{
    for (const char *p = name; *p; p++)
        add_text(w, "%c", *p == '_' ? '-' : *p >= 'A' && *p <= 'Z' ? *p + ('a' - 'A') : *p);
}

/* ---- Values ---- */

const char *show_type_name(unsigned type)
{
    static const char *const names[] = {[TYPE_OBJECT] = "object", [TYPE_BOOLEAN] = "boolean", [TYPE_CHAR] = "char",
                                        [TYPE_FLOAT] = "float",   [TYPE_DOUBLE] = "double",   [TYPE_BYTE] = "byte",
                                        [TYPE_SHORT] = "short",   [TYPE_INT] = "int",         [TYPE_LONG] = "long"};

    return type < sizeof names / sizeof *names && names[type] ? names[type] : "";
}

void add_text_value(struct writer *w, const uint8_t *p, unsigned type)
{
    uint32_t bits4;
    uint64_t bits8;
    float single;
    double real;

    switch (type) {
    case TYPE_OBJECT:
        add_text_id(w, get_id(p, w->show->replay.id_size));
        note_object(w, get_id(p, w->show->replay.id_size));
        break;
    case TYPE_BOOLEAN:
        add_text(w, " %u", *p);
        break;
    case TYPE_BYTE:
        add_text(w, " %d", (int8_t)*p);
        break;
    case TYPE_CHAR:
        add_text(w, *p || p[1] < 0x20 || p[1] > 0x7e || p[1] == '"' || p[1] == '\\' ? " 0x%04x" : " \"%c\"", get_u2(p));
        break;
    case TYPE_SHORT:
        add_text(w, " %d", (int16_t)get_u2(p));
        break;
    case TYPE_INT:
        add_text(w, " %" PRId32, (int32_t)get_u4(p));
        break;
    case TYPE_LONG:
        add_text(w, " %" PRId64, (int64_t)get_u8(p));
        break;
    case TYPE_FLOAT:
        bits4 = get_u4(p);
        memcpy(&single, &bits4, sizeof single);
        if (single - single == 0)
            add_text(w, " %.9g", (double)single);
        else
            add_text(w, " 0x%08" PRIx32, bits4);
        break;
    case TYPE_DOUBLE:
        bits8 = get_u8(p);
        memcpy(&real, &bits8, sizeof real);
        if (real - real == 0)
            add_text(w, " %.17g", real);
        else
            add_text(w, " 0x%016" PRIx64, bits8);
        break;
    default:
        break;
    }
}
