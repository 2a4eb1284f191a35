/* Classes of many fields: some hundreds each, and one of as many as a class can have. */
#include "heap/parts.h"

enum {
    DEFAULT_CLASSES = 200,
    MOST_FIELDS = 65535,
    FEW_FIELDS = 100,
    MORE_FIELDS = 600,
    FIELDS_IN_ALL = 1 << 20,     /* a limit of memory: with more classes, each has fewer fields */
    REFERENCES_IN_ALL = 1000000, /* likewise; a class has what is left */
    WIDEST_EACH = 65536,         /* one of this many objects is an instance of the widest class */
};

/* One of four fields is a reference. The first reference leads to the next object. */
static const uint8_t types[] = {TYPE_OBJECT, TYPE_INT, TYPE_LONG,   TYPE_BOOLEAN, TYPE_OBJECT, TYPE_BYTE,
                                TYPE_CHAR,   TYPE_INT, TYPE_OBJECT, TYPE_DOUBLE,  TYPE_FLOAT,  TYPE_SHORT,
                                TYPE_OBJECT, TYPE_INT, TYPE_INT,    TYPE_LONG};

/* Or as many references as requested: they are spread over the fields, and the first field is one. */
static uint8_t type_of(uint32_t f, uint32_t fields, uint64_t references)
{
    uint8_t type = types[f % sizeof types];

    if (references == MODEL_UNSET)
        return type;
    return f * references % fields < references ? TYPE_OBJECT : type == TYPE_OBJECT ? TYPE_INT : type;
}

static bool add(struct model *m, uint32_t name, uint32_t fields, uint64_t references, uint32_t field_names)
{
    if (class_add_named(m, name, CORE_OBJECT) == MODEL_NONE)
        return false;
    if (references != MODEL_UNSET && fields < references)
        fields = (uint32_t)references;
    for (uint32_t f = 0; f < fields; f++)
        if (!field_add(m, field_names + f, type_of(f, fields, references), VALUE_ANY))
            return false;
    return true;
}

/* For class i: the mean rounded down or up, so that the sum is right. */
static uint64_t references_of(const struct model *m, uint64_t i)
{
    uint64_t mean = m->options.references;

    return mean == MODEL_UNSET ? MODEL_UNSET : (i + 1) * mean / MODEL_UNIT - i * mean / MODEL_UNIT;
}

static bool prepare(struct model *m)
{
    uint64_t classes, most;
    uint32_t names, field_names, each;

    if (!option_within(m, &m->options.classes, DEFAULT_CLASSES, CORE_CLASSES + 2, CLASSES_MOST,
                       "--classes of wide: 19 to 10,000,000"))
        return false;
    classes = m->options.classes - CORE_CLASSES;
    most = REFERENCES_IN_ALL / classes < MOST_FIELDS ? REFERENCES_IN_ALL / classes : MOST_FIELDS;
    if (m->options.references != MODEL_UNSET &&
        !option_within(m, &m->options.references, 0, MODEL_UNIT, most * MODEL_UNIT,
                       "--references of wide: 1 to 65,535 of an instance on average, and 1,000,000 in all classes together"))
        return false;
    field_names = string_add(m, NAME_NUMBERED, "field", 0, MOST_FIELDS);
    names = string_add(m, NAME_NUMBERED, "com/example/wide/Record", 0, (uint32_t)classes);
    if (!add(m, names, MOST_FIELDS, references_of(m, 0), field_names))
        return false;
    each = (uint32_t)(FIELDS_IN_ALL / classes);
    for (uint32_t i = 1; i < classes; i++) {
        uint32_t fields = FEW_FIELDS + (uint32_t)below(mix_of(key_of(m), i, 30), MORE_FIELDS - FEW_FIELDS);

        if (!add(m, names + i, fields < each ? fields : each, references_of(m, i), field_names))
            return false;
    }
    return true;
}

static void object(const struct model *m, uint64_t index, struct object *o)
{
    uint64_t bits = mix_of(key_of(m), index, 31);
    uint32_t widest = first_class_of_shape(m);

    if ((index - shape_first(m)) % WIDEST_EACH == 1)
        be_instance(o, widest);
    else
        be_instance(o, widest + 1 + (uint32_t)below(bits, m->class_count - widest - 1));
}

static uint64_t reference(const struct model *m, uint64_t index, const struct object *o, uint64_t slot)
{
    (void)o;
    if (slot > 0)
        return any_or_null(m, index, slot);
    return index + 1 < m->options.objects ? index + 1 : MODEL_NULL;
}

static void reference_ids(const struct model *m, uint64_t index, const struct object *o, uint64_t first, uint64_t count,
                          uint64_t *out)
{
    any_or_null_ids(m, index, first, count, out);
    if (first == 0 && count > 0)
        out[0] = model_object_id(m, reference(m, index, o, 0));
}

const struct shape shape_wide = {
    .name = "wide",
    .about = "classes with hundreds of fields, and one with 65,535",
    .takes = SHAPE_TAKES_REFERENCES,
    .threads = 8,
    .stack_depth = 16,
    .prepare = prepare,
    .object = object,
    .reference = reference,
    .reference_ids = reference_ids,
};
