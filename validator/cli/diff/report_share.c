#include "report_share.h"

#include "printable.h"

void print_reason(FILE *out, const struct diff *diff)
{
    switch (diff->reason) {
    case REASON_ASKED:
        fputs(", as asked for.\n", out);
        break;
    case REASON_ID_SIZE:
        fputs(", as the IDs of the two dumps have different sizes.\n", out);
        break;
    case REASON_SHARE:
        fprintf(out,
                ", as %u.%u %% of the objects and %u.%u %% of the strings of the smaller dump have the same ID in the other.\n",
                diff->shared[SHARED_OBJECTS] / 10, diff->shared[SHARED_OBJECTS] % 10, diff->shared[SHARED_STRINGS] / 10,
                diff->shared[SHARED_STRINGS] % 10);
        break;
    }
}

void json_put_share(struct json *json, const struct diff *diff)
{
    if (diff->reason != REASON_SHARE) {
        json_put_null(json, "shared_per_thousand");
        return;
    }
    json_put_object(json, "shared_per_thousand");
    json_put_uint(json, "objects", diff->shared[SHARED_OBJECTS]);
    json_put_uint(json, "strings", diff->shared[SHARED_STRINGS]);
    json_close(json);
}

static void print_shortened(FILE *out, const char *text)
{
    enum { SHOWN = 200 };
    char shown[SHOWN + 1];
    bool is_whole = format_safely(shown, sizeof shown, text);

    fprintf(out, "%s%s", shown, is_whole ? "" : "...");
}

/* JSON has more of a long text. */
void print_part(void *context, const struct part *part)
{
    FILE *out = context;

    fputs("    ", out);
    print_safely(out, part->what);
    fputs(": ", out);
    print_shortened(out, part->texts[0]);
    fputs(" -> ", out);
    print_shortened(out, part->texts[1]);
    putc('\n', out);
}

void json_put_part(void *context, const struct part *part)
{
    struct json *json = context;

    json_put_object(json, NULL);
    json_put_string(json, "what", part->what);
    json_put_string(json, "a", part->texts[0]);
    json_put_string(json, "b", part->texts[1]);
    json_close(json);
}
