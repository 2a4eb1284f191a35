#include "classes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "store.h"
#include "tags.h"
#include "vm.h"
#include "writer.h"

enum { FIRST_SERIAL = 100000, ACCESS_STATIC = 8 };

static struct store classes = {.size = sizeof(struct class)};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jclass mirror_class; /* java.lang.Class */

struct class *class_at(uint32_t number)
{
    return store_at(&classes, number);
}

uint32_t class_count(void)
{
    return atomic_load(&classes.count);
}

struct class *class_of_tag(jlong tag)
{
    return tag_is_class(tag) && tag_index(tag) ? class_at(tag_index(tag)) : NULL;
}

uint32_t class_serial(uint32_t number)
{
    return FIRST_SERIAL + number;
}

static enum type type_of(char code)
{
    static const char codes[] = "ZCFDBSIJ";
    const char *at = code ? strchr(codes, code) : NULL;
    return at ? (enum type)(TYPE_BOOLEAN + (at - codes)) : TYPE_OBJECT;
}

unsigned type_size(enum type type)
{
    switch (type) {
    case TYPE_BOOLEAN:
    case TYPE_BYTE:
        return 1;
    case TYPE_CHAR:
    case TYPE_SHORT:
        return 2;
    case TYPE_FLOAT:
    case TYPE_INT:
        return 4;
    case TYPE_DOUBLE:
    case TYPE_LONG:
        return 8;
    case TYPE_OBJECT:
        break;
    }
    return tags_id_size();
}

static enum class_kind kind_of(const char *signature)
{
    if (signature[0] == '[')
        return signature[1] == '[' || signature[1] == 'L' ? CLASS_OBJECT_ARRAY : CLASS_PRIMITIVE_ARRAY;
    return signature[0] == 'L' ? CLASS_INSTANCES : CLASS_PRIMITIVE;
}

/* Under the lock. */
static uint32_t add(jclass class, jlong tag)
{
    char *signature = NULL;
    if (class_count() >= TAG_INDEX_MOST || !vm_ok((*ti)->GetClassSignature(ti, class, &signature, NULL), "GetClassSignature"))
        return 0;
    enum class_kind kind = kind_of(signature);
    struct class added = {.name = name_of_signature(signature),
                          .signature = name_of(signature),
                          .number = tag_number(tag) ? tag_number(tag) : tags_next_number(),
                          .site = tag_index(tag),
                          .kind = kind,
                          .element = kind == CLASS_PRIMITIVE_ARRAY ? type_of(signature[1]) : TYPE_OBJECT};
    vm_free(signature);
    uint32_t number = store_add(&classes, &added);
    if (number && !vm_ok((*ti)->SetTag(ti, class, tag_make(true, number, added.number)), "SetTag"))
        number = 0;
    return number;
}

uint32_t class_of(jclass class)
{
    jlong tag = 0;
    if (!class || !vm_ok((*ti)->GetTag(ti, class, &tag), "GetTag"))
        return 0;
    if (tag_is_class(tag))
        return tag_index(tag);
    pthread_mutex_lock(&lock);
    tags_lock();
    uint32_t number = 0;
    bool is_new = false;
    if (vm_ok((*ti)->GetTag(ti, class, &tag), "GetTag")) {
        is_new = !tag_is_class(tag);
        number = is_new ? add(class, tag) : tag_index(tag);
    }
    tags_unlock();
    pthread_mutex_unlock(&lock);
    if (is_new && number)
        writer->class_loaded(number);
    return number;
}

uint32_t class_of_object(JNIEnv *env, jobject object)
{
    jclass class = object ? (*env)->GetObjectClass(env, object) : NULL;
    uint32_t number = class_of(class);
    (*env)->DeleteLocalRef(env, class);
    return number;
}

jclass *classes_find_all(jint *count)
{
    jclass *found = NULL;
    uint32_t before = class_count();
    *count = 0;
    if (!vm_ok((*ti)->GetLoadedClasses(ti, count, &found), "GetLoadedClasses"))
        return NULL;
    for (uint32_t i = 1; i <= before; i++)
        class_at(i)->is_found = class_at(i)->kind == CLASS_PRIMITIVE;
    for (jint i = 0; i < *count; i++) {
        uint32_t number = class_of(found[i]);
        if (number)
            class_at(number)->is_found = true;
    }
    for (uint32_t i = 1; i <= before; i++)
        class_at(i)->is_unloaded = !class_at(i)->is_found;
    return found;
}

/* Class objects of primitive types are no loaded classes, but int.class is an object like others. */
static void find_primitive(JNIEnv *env)
{
    static const char *const boxes[] = {"Boolean", "Byte", "Character", "Short", "Integer", "Long", "Float", "Double", "Void"};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        char name[32] = "java/lang/";
        strcat(name, boxes[i]);
        jclass box = (*env)->FindClass(env, name);
        if (!vm_no_exception(env))
            continue;
        jfieldID field = (*env)->GetStaticFieldID(env, box, "TYPE", "Ljava/lang/Class;");
        jobject type = vm_no_exception(env) ? (*env)->GetStaticObjectField(env, box, field) : NULL;
        class_of(type);
        (*env)->DeleteLocalRef(env, type);
        (*env)->DeleteLocalRef(env, box);
    }
}

void classes_start(JNIEnv *env)
{
    mirror_class = vm_find_class(env, "java/lang/Class");
    find_primitive(env);
}

jclass class_of_classes(void)
{
    return mirror_class;
}

static struct class *lay_out(JNIEnv *env, jclass class);

static void add_interface(struct class *class, uint32_t number)
{
    for (uint32_t i = 0; i < class->interface_count; i++)
        if (class->interfaces[i] == number)
            return;
    uint32_t *more = realloc(class->interfaces, (class->interface_count + 1) * sizeof *more);
    if (!more)
        return;
    more[class->interface_count++] = number;
    class->interfaces = more;
    class->interface_fields += class_at(number)->field_count;
}

static void inherit_interfaces(struct class *class, const struct class *from)
{
    for (uint32_t i = 0; i < from->interface_count; i++)
        add_interface(class, from->interfaces[i]);
}

static void lay_out_interfaces(JNIEnv *env, struct class *class, jclass mirror)
{
    jint count = 0;
    jclass *direct = NULL;
    if (!vm_ok((*ti)->GetImplementedInterfaces(ti, mirror, &count, &direct), "GetImplementedInterfaces"))
        return;
    for (jint i = 0; i < count; i++) {
        const struct class *interface = lay_out(env, direct[i]);
        if (interface) {
            add_interface(class, class_of(direct[i]));
            inherit_interfaces(class, interface);
        }
        (*env)->DeleteLocalRef(env, direct[i]);
    }
    vm_free(direct);
}

static void lay_out_field(struct class *class, jclass mirror, jfieldID id, struct field *field)
{
    char *name = NULL, *signature = NULL;
    jint modifiers = 0;
    field->type = TYPE_OBJECT;
    if (vm_ok((*ti)->GetFieldName(ti, mirror, id, &name, &signature, NULL), "GetFieldName")) {
        field->name = name_of(name);
        field->type = type_of(signature[0]);
    }
    vm_ok((*ti)->GetFieldModifiers(ti, mirror, id, &modifiers), "GetFieldModifiers");
    field->is_static = (modifiers & ACCESS_STATIC) != 0;
    uint32_t *bytes = field->is_static ? &class->static_bytes : &class->own_bytes;
    field->offset = *bytes;
    *bytes += type_size(field->type);
    vm_free(name);
    vm_free(signature);
}

static void lay_out_fields(struct class *class, jclass mirror)
{
    jint count = 0;
    jfieldID *ids = NULL;
    if (!vm_ok((*ti)->GetClassFields(ti, mirror, &count, &ids), "GetClassFields"))
        return;
    class->fields = calloc((size_t)count + 1, sizeof *class->fields);
    class->field_count = class->fields ? (uint32_t)count : 0;
    for (uint32_t i = 0; i < class->field_count; i++)
        lay_out_field(class, mirror, ids[i], &class->fields[i]);
    vm_free(ids);
}

/* A walk of the heap shows no loader of an array class, nor of a class that is not linked. */
static uint64_t loader_of(JNIEnv *env, jclass mirror)
{
    jobject loader = NULL;
    if (!vm_ok((*ti)->GetClassLoader(ti, mirror, &loader), "GetClassLoader"))
        return 0;
    uint64_t number = tags_number_of(loader);
    (*env)->DeleteLocalRef(env, loader);
    return number;
}

/* A class that is not prepared has no instances yet, and nobody can ask for its fields: only its superclass is known. */
static struct class *lay_out(JNIEnv *env, jclass mirror)
{
    uint32_t number = class_of(mirror);
    struct class *class = number ? class_at(number) : NULL;
    if (!class || class->is_laid_out)
        return class;
    class->loader = loader_of(env, mirror);
    jint status = 0;
    vm_ok((*ti)->GetClassStatus(ti, mirror, &status), "GetClassStatus");
    jclass super_mirror = (*env)->GetSuperclass(env, mirror);
    const struct class *super = super_mirror ? lay_out(env, super_mirror) : NULL;
    class->super = super_mirror ? class_of(super_mirror) : 0;
    (*env)->DeleteLocalRef(env, super_mirror);
    if (class->kind == CLASS_INSTANCES && status & JVMTI_CLASS_STATUS_PREPARED) {
        if (super)
            inherit_interfaces(class, super);
        lay_out_interfaces(env, class, mirror);
        lay_out_fields(class, mirror);
        class->is_laid_out = true;
    }
    class->inherited_fields = super ? super->inherited_fields + super->field_count : 0;
    class->total_bytes = class->own_bytes + (super ? super->total_bytes : 0);
    if (class->kind != CLASS_INSTANCES)
        class->is_laid_out = true;
    return class;
}

void classes_lay_out(JNIEnv *env, jclass *found, jint count)
{
    for (jint i = 0; i < count; i++)
        lay_out(env, found[i]);
}

void classes_begin_dump(jclass *classes, jint count)
{
    for (jint i = 0; i < count; i++) {
        uint32_t number = class_of(classes[i]);
        if (number)
            class_at(number)->is_dumped = true;
    }
}

void classes_end_dump(void)
{
    uint32_t count = class_count();
    for (uint32_t i = 1; i <= count; i++) {
        struct class *class = class_at(i);
        if (class->values) {
            free(class->values->statics);
            free(class->values->constants);
            free(class->values);
        }
        class->values = NULL;
        class->is_dumped = false;
    }
}
