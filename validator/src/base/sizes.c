/* See sizes.h. */
#include "base/sizes.h"

const struct sizes usual_sizes = {
#define USUAL(name, usual, least) .name = usual,
    HPROF_SIZES(USUAL) HPROF_LIMITS(USUAL)
#undef USUAL
};

struct sizes sizes_for(const struct hprof_testing *testing)
{
    struct sizes sizes = usual_sizes;

    if (!testing)
        return sizes;
#define TAKE(name, usual, least) \
    if (testing->name) \
        sizes.name = testing->name;
    HPROF_SIZES(TAKE)
    HPROF_LIMITS(TAKE)
#undef TAKE
    sizes.piece -= sizes.piece % 8;
    sizes.trace_piece -= sizes.trace_piece % 2;
    return sizes;
}

bool sizes_are_allowed(const struct hprof_testing *testing)
{
#define IS_ALLOWED(name, usual, least) &&(!testing->name || (testing->name >= (least) && testing->name <= (usual)))
    return testing->block != 1 HPROF_SIZES(IS_ALLOWED) HPROF_LIMITS(IS_ALLOWED);
#undef IS_ALLOWED
}
