/* See stand_in_classes.h. */
#include "heap/stand_in_classes.h"

bool stand_in_classes_add(struct model *m, struct stand_in_classes *stand_ins, const char *name, uint32_t first, uint64_t more,
                          uint64_t classes)
{
    uint32_t others = classes_left(m, classes), names = string_add(m, NAME_NUMBERED, name, 1, others);

    *stand_ins = (struct stand_in_classes){.first = first, .narrow = 1 + others, .part = (uint32_t)((more << 32) / MODEL_UNIT)};
    if (more) {
        stand_ins->wide = (others + 1) / 2;
        stand_ins->narrow -= stand_ins->wide;
    }
    for (uint32_t i = 1; i <= others; i++) {
        bool widest = i == stand_ins->narrow; /* the first of these */

        if (class_add_named(m, names + i - 1, i <= stand_ins->narrow ? first : first + stand_ins->narrow) == MODEL_NONE ||
            (widest && !field_add(m, string_add(m, NAME_TEXT, "reference", sizeof "reference" - 1, 1), TYPE_OBJECT, VALUE_ANY)))
            return false;
    }
    return true;
}
