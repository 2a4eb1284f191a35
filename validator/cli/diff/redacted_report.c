/* The report of --assert-redacted. */
#include <inttypes.h>

#include "json.h"
#include "messages.h"
#include "numbers.h"
#include "printable.h"
#include "redacted.h"

static void put_remains(FILE *out, const char *before, uint64_t number, const char *one, const char *several)
{
    char text[NUMBER_SIZE];

    fprintf(out, "%s%s %s", before, format_exact(text, number), number == 1 ? one : several);
}

void redaction_print_text(const struct redaction *r, FILE *out)
{
    char number[NUMBER_SIZE], offset[NUMBER_SIZE];

    for (unsigned kind = 0; kind < LEAKS; kind++) {
        uint64_t shown = 0;

        if (r->counts[kind] == 0)
            continue;
        fprintf(out, "%s in B: %s\n", leak_names[kind], format_exact(number, r->counts[kind]));
        for (size_t i = 0; i < r->leak_count; i++) {
            if (r->leaks[i].kind != kind)
                continue;
            fprintf(out, "  at %s: ", format_offset(offset, r->leaks[i].offset, false));
            print_safely(out, r->leaks[i].text);
            putc('\n', out);
            shown++;
        }
        if (r->counts[kind] > shown)
            fprintf(out, "  and %s more\n", format_exact(number, r->counts[kind] - shown));
    }
    put_remains(out, "remain by design: the names of ", r->remains.classes, "class", "classes");
    put_remains(out, ", ", r->remains.fields, "field", "fields");
    put_remains(out, ", ", r->remains.frames, "stack frame", "stack frames");
    put_remains(out, " and ", r->remains.threads, "thread;\n", "threads;\n");
    put_remains(out, "  the lengths of ", r->remains.arrays, "array", "arrays");
    put_remains(out, ", which have ", r->remains.elements, "element\n", "elements\n");
    for (size_t i = 0; i < r->name_count; i++) {
        fputs("  name ", out);
        print_safely(out, r->names[i]);
        putc('\n', out);
    }
    print_safely(out, r->diff->sides[1].file);
    fputs(redaction_is_clean(r) ? ": redacted\n" : ": NOT redacted\n", out);
}

void redaction_print_json(const struct redaction *r, FILE *out)
{
    struct json json;

    json_begin(&json, out);
    json_put_object(&json, "tool");
    json_put_string(&json, "name", program_name);
    json_put_string(&json, "version", HPROF_VERSION);
    json_close(&json);
    json_put_bool(&json, "redacted", redaction_is_clean(r));
    json_put_object(&json, "counts");
    for (unsigned kind = 0; kind < LEAKS; kind++)
        json_put_uint(&json, leak_keys[kind], r->counts[kind]);
    json_close(&json);
    json_put_array(&json, "leaks");
    for (size_t i = 0; i < r->leak_count; i++) {
        json_put_object(&json, NULL);
        json_put_string(&json, "kind", leak_keys[r->leaks[i].kind]);
        json_put_uint(&json, "offset", r->leaks[i].offset);
        json_put_string(&json, "text", r->leaks[i].text);
        json_close(&json);
    }
    json_close(&json);
    json_put_object(&json, "remains");
    json_put_uint(&json, "classes", r->remains.classes);
    json_put_uint(&json, "fields", r->remains.fields);
    json_put_uint(&json, "frames", r->remains.frames);
    json_put_uint(&json, "threads", r->remains.threads);
    json_put_uint(&json, "arrays", r->remains.arrays);
    json_put_uint(&json, "elements", r->remains.elements);
    if (r->wants_names) {
        json_put_array(&json, "names");
        for (size_t i = 0; i < r->name_count; i++)
            json_put_string(&json, NULL, r->names[i]);
        json_close(&json);
    }
    json_close(&json);
    json_finish(&json);
}
