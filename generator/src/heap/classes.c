/* A model's classes, as they are added. */
#include "heap/heap_data.h"

#include <stdlib.h>
#include <string.h>

static struct parts *parts(struct model *m)
{
    return (struct parts *)m;
}

bool fail(struct model *m, const char *why)
{
    if (!m->failure)
        m->failure = why;
    return false;
}

uint32_t string_add(struct model *m, enum name_form form, const char *text, uint32_t of, uint32_t count)
{
    return names_add(&parts(m)->names, form, text, of, count);
}

static void *grown(void *block, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count == *capacity) {
        uint32_t wanted = *capacity ? *capacity + *capacity / 2 : 512;

        block = realloc(block, wanted * size);
        if (block)
            *capacity = wanted;
    }
    return block;
}

uint32_t class_add_named(struct model *m, uint32_t name, uint32_t super)
{
    struct model_class *classes = grown(m->classes, &parts(m)->class_capacity, m->class_count, sizeof *classes);

    if (!classes)
        return MODEL_NONE;
    m->classes = classes;
    classes[m->class_count] = (struct model_class){.name = name, .super = super, .first_field = m->field_count};
    return m->class_count++;
}

static bool add_to(struct model *m, uint32_t name, uint8_t type, uint8_t form, uint16_t *count)
{
    struct model_field *fields = grown(m->fields, &parts(m)->field_capacity, m->field_count, sizeof *fields);

    if (!fields)
        return false;
    m->fields = fields;
    fields[m->field_count++] = (struct model_field){name, type, form};
    (*count)++;
    return true;
}

bool field_add(struct model *m, uint32_t name, uint8_t type, uint8_t form)
{
    return add_to(m, name, type, form, &m->classes[m->class_count - 1].fields);
}

bool static_add(struct model *m, uint32_t name, uint8_t type, uint8_t form)
{
    return add_to(m, name, type, form, &m->classes[m->class_count - 1].statics);
}

static uint8_t type_of(char letter)
{
    static const char letters[] = "L.ZCFDBSIJ"; /* in the order of enum basic_type, from TYPE_OBJECT */
    const char *at = strchr(letters, letter);

    return (uint8_t)(TYPE_OBJECT + (at - letters));
}

struct field_text field_next(const char **spec)
{
    struct field_text field = {.type = type_of(*(*spec)++), .form = VALUE_ANY};

    if (**spec == '0')
        field.form = VALUE_ZERO, (*spec)++;
    else if (**spec == 's')
        field.form = VALUE_SMALL, (*spec)++;
    field.name = ++*spec; /* after the colon */
    field.length = strcspn(*spec, " ");
    *spec += field.length;
    *spec += **spec == ' ';
    return field;
}

/* One field of the text of some, and the next one. */
static bool add_one(struct model *m, const char **spec, bool (*add)(struct model *, uint32_t, uint8_t, uint8_t))
{
    struct field_text field = field_next(spec);

    return add(m, names_text(&parts(m)->names, field.name, field.length), field.type, field.form);
}

static bool add_all(struct model *m, const char *spec, bool (*add)(struct model *, uint32_t, uint8_t, uint8_t))
{
    while (*spec)
        if (!add_one(m, &spec, add))
            return false;
    return true;
}

/* From the last one on. */
static bool add_all_turned(struct model *m, const char *spec, bool (*add)(struct model *, uint32_t, uint8_t, uint8_t))
{
    for (const char *at = spec + strlen(spec); at > spec;) {
        const char *one;

        do
            at--;
        while (at > spec && at[-1] != ' ');
        one = at;
        if (!add_one(m, &one, add))
            return false;
    }
    return true;
}

bool references_add(struct model *m, uint64_t count)
{
    uint32_t names = count ? string_add(m, NAME_NUMBERED, "reference", 1, (uint32_t)count) : 0;

    for (uint32_t i = 0; i < count; i++)
        if (!field_add(m, names + i, TYPE_OBJECT, VALUE_ANY))
            return false;
    return true;
}

uint32_t class_add_wider(struct model *m, const char *name, uint32_t super, const char *fields, uint64_t more,
                         const char *statics)
{
    uint32_t class = class_add_named(m, names_text(&parts(m)->names, name, strlen(name)), super);

    if (class == MODEL_NONE || !add_all(m, fields, field_add) || !references_add(m, more) || !add_all(m, statics, static_add))
        return MODEL_NONE;
    return class;
}

uint32_t class_add(struct model *m, const char *name, uint32_t super, const char *fields, const char *statics)
{
    return class_add_wider(m, name, super, fields, 0, statics);
}

uint32_t class_add_turned(struct model *m, const char *name, uint32_t super, const char *fields, const char *statics)
{
    uint32_t class = class_add_named(m, names_text(&parts(m)->names, name, strlen(name)), super);

    if (class == MODEL_NONE || !add_all_turned(m, fields, field_add) || !add_all_turned(m, statics, static_add))
        return MODEL_NONE;
    return class;
}

uint32_t class_find(struct model *m, const char *name)
{
    uint32_t string = names_text(&parts(m)->names, name, strlen(name));

    for (uint32_t c = 0; c < m->class_count; c++)
        if (m->classes[c].name == string)
            return c;
    return MODEL_NONE;
}

/* The class's own first. */
uint32_t slot_named(const struct model *m, uint32_t class, const char *name)
{
    char text[MODEL_STRING_MOST];

    for (uint32_t slot = 0; class != MODEL_NONE; class = m->classes[class].super) {
        const struct model_field *field = m->fields + m->classes[class].first_field, *end = field + m->classes[class].fields;

        for (; field < end; field++) {
            size_t size = names_write(&parts_of(m)->names, field->name, text, sizeof text);

            if (field->type != TYPE_OBJECT)
                continue;
            if (size == strlen(name) && memcmp(text, name, size) == 0)
                return slot;
            slot++;
        }
    }
    return UINT32_MAX;
}

static uint32_t find_array(const struct model *m, uint32_t of)
{
    for (uint32_t c = 0; c < m->class_count; c++)
        if (m->classes[c].element == TYPE_OBJECT && m->classes[c].element_class == of)
            return c;
    return MODEL_NONE;
}

uint32_t class_add_array(struct model *m, uint32_t of)
{
    uint32_t class = find_array(m, of);

    if (class != MODEL_NONE)
        return class;
    class = class_add_named(m, string_add(m, NAME_ARRAY_OF, NULL, m->classes[of].name, 1), CORE_OBJECT);

    if (class != MODEL_NONE) {
        m->classes[class].element = TYPE_OBJECT;
        m->classes[class].element_class = of;
    }
    return class;
}

static bool refit(struct model *m, struct model_class *class, const struct model_field *old, uint32_t wanted, uint32_t names)
{
    uint32_t fields = class->fields, statics = class->statics, have = 0;

    class->first_field = m->field_count;
    class->fields = class->statics = 0;
    for (uint32_t f = 0; f < fields; f++)
        if ((old[f].type != TYPE_OBJECT || have++ < wanted) &&
            !add_to(m, old[f].name, old[f].type, old[f].form, &class->fields))
            return false;
    for (uint32_t f = 0; have < wanted; f++, have++)
        if (!add_to(m, names + f, TYPE_OBJECT, VALUE_ANY, &class->fields))
            return false;
    for (uint32_t f = fields; f < fields + statics; f++)
        if (!add_to(m, old[f].name, old[f].type, old[f].form, &class->statics))
            return false;
    return true;
}

bool references_refit(struct model *m, uint32_t first, const uint32_t *wanted)
{
    uint32_t most = 0, names, from = first < m->class_count ? m->classes[first].first_field : m->field_count;
    size_t size = (m->field_count - from) * sizeof *m->fields;
    struct model_field *old = malloc(size + 1);
    bool done = old != NULL;

    for (uint32_t c = first; c < m->class_count; c++)
        most = wanted[c] > most ? wanted[c] : most;
    names = most ? string_add(m, NAME_NUMBERED, "reference", 1, most) : 0;
    if (done)
        memcpy(old, m->fields + from, size);
    m->field_count = from;
    for (uint32_t c = first; c < m->class_count && done; c++)
        done = refit(m, &m->classes[c], old + (m->classes[c].first_field - from), wanted[c], names);
    free(old);
    return done;
}

/* One pass is enough, because superclasses precede their subclasses. */
void classes_finish(struct model *m)
{
    for (uint32_t i = 0; i < m->class_count; i++) {
        struct model_class *c = &m->classes[i];
        const struct model_class *super = c->super == MODEL_NONE ? NULL : &m->classes[c->super];

        for (uint32_t f = 0; f < c->fields; f++)
            c->instance_bytes += type_size(m->fields[c->first_field + f].type, m->options.id_size);
        c->next_with_fields = MODEL_NONE;
        if (super) {
            c->instance_bytes += super->instance_bytes;
            c->next_with_fields = super->fields ? c->super : super->next_with_fields;
        }
    }
}

bool core_classes_add(struct model *m)
{
    /* As in JDK 17, in the order of its dumps. An idle VM of another version has other fields. */
    static const struct {
        const char *name, *fields, *statics;
    } rows[CORE_CLASSES] = {
        [CORE_OBJECT] = {"java/lang/Object", "", ""},
        [CORE_CLASS] =
            {"java/lang/Class",
             "L:classValueMap L:annotationType L:annotationData L:enumConstantDirectory L:enumConstants L:genericInfo "
             "Is:classRedefinedCount L:reflectionData L:componentType L:packageName L:classData L:classLoader L:module L:name "
             "L:cachedConstructor",
             "L:reflectionFactory L:serialPersistentFields J:serialVersionUID L:EMPTY_CLASS_ARRAY L:allPermDomain Is:SYNTHETIC "
             "Is:ENUM "
             "Is:ANNOTATION"},
        [CORE_STRING] = {"java/lang/String", "Z0:hashIsZero I:hash B0:coder L:value",
                         "Bs:UTF16 B0:LATIN1 L:CASE_INSENSITIVE_ORDER Cs:REPL L:serialPersistentFields Z:COMPACT_STRINGS "
                         "J:serialVersionUID"},
        [CORE_THREAD] =
            {"java/lang/Thread",
             "I:threadLocalRandomSecondarySeed I:threadLocalRandomProbe J:threadLocalRandomSeed L:uncaughtExceptionHandler "
             "L:blockerLock L:blocker L:parkBlocker Is:threadStatus Js:tid J0:stackSize L:inheritableThreadLocals "
             "L:threadLocals "
             "L:inheritedAccessControlContext L:contextClassLoader L:group L:target J:eetop Z0:stillborn Z0:interrupted "
             "Z:daemon "
             "Is:priority L:name",
             "L:defaultUncaughtExceptionHandler L:EMPTY_STACK_TRACE Is:MAX_PRIORITY Is:NORM_PRIORITY Is:MIN_PRIORITY "
             "J:threadSeqNumber Is:threadInitNumber"},
        [CORE_THREAD_GROUP] = {"java/lang/ThreadGroup",
                               "L:groups Is:ngroups L:threads Is:nthreads Is:nUnstartedThreads Z:daemon Z0:destroyed "
                               "Is:maxPriority L:name L:parent",
                               ""},
        [CORE_CLASS_LOADER] =
            {"java/lang/ClassLoader",
             "L:classLoaderValueMap L:classAssertionStatus L:packageAssertionStatus Z0:defaultAssertionStatus L:assertionLock "
             "L:libraries L:packages L:defaultDomain L:classes L:package2certs L:parallelLockMap L:nameAndId L:unnamedModule "
             "L:name "
             "L:parent",
             "Z:$assertionsDisabled L:scl L:nocerts"},
        [CORE_OBJECT_ARRAY] = {"[Ljava/lang/Object;", "", ""},
        [CORE_STRING_ARRAY] = {"[Ljava/lang/String;", "", ""},
        [CORE_BOOLEAN_ARRAY] = {"[Z", "", ""},
        [CORE_CHAR_ARRAY] = {"[C", "", ""},
        [CORE_FLOAT_ARRAY] = {"[F", "", ""},
        [CORE_DOUBLE_ARRAY] = {"[D", "", ""},
        [CORE_BYTE_ARRAY] = {"[B", "", ""},
        [CORE_SHORT_ARRAY] = {"[S", "", ""},
        [CORE_INT_ARRAY] = {"[I", "", ""},
        [CORE_LONG_ARRAY] = {"[J", "", ""},
        [CORE_RUNNABLE] = {"java/lang/Runnable", "", ""},
    };

    for (uint32_t i = 0; i < CORE_CLASSES; i++) {
        const char *fields = rows[i].fields, *statics = rows[i].statics;
        uint32_t class, super = i == CORE_OBJECT ? MODEL_NONE : CORE_OBJECT;

        if (m->options.idle && data_core(m->options.idle, i, &fields, &statics) && data_is_turned(m, m->options.idle))
            class = class_add_turned(m, rows[i].name, super, fields, statics);
        else
            class = class_add(m, rows[i].name, super, fields, statics);

        if (class == MODEL_NONE)
            return false;
        if (rows[i].name[0] == '[')
            m->classes[class].element = i < CORE_BOOLEAN_ARRAY ? TYPE_OBJECT : (uint8_t)(TYPE_BOOLEAN + i - CORE_BOOLEAN_ARRAY);
        for (uint32_t of = 0; m->classes[class].element == TYPE_OBJECT && of < i; of++)
            if (strncmp(rows[i].name + 2, rows[of].name, strlen(rows[of].name)) == 0 &&
                rows[i].name[2 + strlen(rows[of].name)] == ';')
                m->classes[class].element_class = of;
    }
    m->classes[CORE_RUNNABLE].interface = true;
    return true;
}
