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
        fprintf(out, ", as %u.%u %% of the objects of the smaller dump have the same ID and class in the other.\n",
                diff->share / 10, diff->share % 10);
        break;
    }
}

void json_put_share(struct json *json, const struct diff *diff)
{
    if (diff->reason == REASON_SHARE)
        json_put_uint(json, "shared_per_thousand", diff->share);
    else
        json_put_null(json, "shared_per_thousand");
}
