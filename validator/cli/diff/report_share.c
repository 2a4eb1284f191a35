#include "report_share.h"

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
