#include "ignored.h"

#include <string.h>

const char *const ignored_names[IGNORED] = {"payload", "identity-hash", "order-of-maps"};

struct field_name {
    const char *class_name, *field;
};

/* Entries that form a tree have the same order of its own, by hash code. */
static const struct field_name tree_fields[] = {
    {"java.util.HashMap$TreeNode", "parent"},
    {"java.util.HashMap$TreeNode", "left"},
    {"java.util.HashMap$TreeNode", "right"},
    {"java.util.HashMap$TreeNode", "prev"},
    {"java.util.HashMap$TreeNode", "red"},
    {"java.util.concurrent.ConcurrentHashMap$TreeNode", "parent"},
    {"java.util.concurrent.ConcurrentHashMap$TreeNode", "left"},
    {"java.util.concurrent.ConcurrentHashMap$TreeNode", "right"},
    {"java.util.concurrent.ConcurrentHashMap$TreeNode", "prev"},
    {"java.util.concurrent.ConcurrentHashMap$TreeNode", "red"},
    {"java.util.concurrent.ConcurrentHashMap$TreeBin", "root"},
    {"java.util.concurrent.ConcurrentHashMap$TreeBin", "first"},
};

/* Entries with a field `next`, whose arrays are tables of maps. */
static const char *const entries[] = {
    "java.util.HashMap$Node",      "java.util.HashMap$Entry",
    "java.util.HashMap$TreeNode",  "java.util.LinkedHashMap$Entry",
    "java.util.Hashtable$Entry",   "java.util.concurrent.ConcurrentHashMap$Node",
    "java.util.WeakHashMap$Entry", "java.util.concurrent.ConcurrentHashMap$TreeNode",
};

static const struct {
    const char *class_name, *field;
    enum shape_order order;
} tables[] = {
    {"java.util.IdentityHashMap", "table", AS_PAIRS},
    {"java.util.ImmutableCollections$MapN", "table", AS_PAIRS},
    {"java.util.ImmutableCollections$SetN", "elements", AS_SET},
};

static const char *const hash_fields[] = {"hash", "hashCode", "hashcode", "threadLocalHashCode", "hashCodeForCache"};

/* Always: an address in the memory of the JVM says as little of the heap as an ID. */
static const struct field_name addresses[] = {{"java.lang.Thread", "eetop"}};

bool field_is_ignored(unsigned ignored, const char *class_name, const char *field, uint8_t type)
{
    if (type != TYPE_OBJECT && (ignored & IGNORE_PAYLOAD) != 0)
        return true;
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)
        if ((ignored & KEEP_ADDRESSES) == 0 && strcmp(field, addresses[i].field) == 0 &&
            strcmp(class_name, addresses[i].class_name) == 0)
            return true;
    for (size_t i = 0; i < sizeof hash_fields / sizeof hash_fields[0]; i++)
        if (type != TYPE_OBJECT && (ignored & IGNORE_IDENTITY_HASH) != 0 && strcmp(field, hash_fields[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof tree_fields / sizeof tree_fields[0]; i++)
        if ((ignored & IGNORE_ORDER_OF_MAPS) != 0 && strcmp(field, tree_fields[i].field) == 0 &&
            strcmp(class_name, tree_fields[i].class_name) == 0)
            return true;
    return false;
}

static bool is_entry(const char *class_name, size_t size)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strlen(entries[i]) == size && memcmp(entries[i], class_name, size) == 0)
            return true;
    return false;
}

bool is_entry_link(const char *field, const char *class_name)
{
    return strcmp(field, "next") == 0 && is_entry(class_name, strlen(class_name));
}

bool is_entry_key(const char *field, const char *class_name)
{
    return (strcmp(field, "key") == 0 || strcmp(field, "referent") == 0) && is_entry(class_name, strlen(class_name));
}

enum shape_order order_of_array(const char *class_name)
{
    size_t size = strlen(class_name);

    if (strcmp(class_name, "java.lang.ThreadLocal$ThreadLocalMap$Entry[]") == 0)
        return AS_SET;
    return size > 2 && strcmp(class_name + size - 2, "[]") == 0 && is_entry(class_name, size - 2) ? AS_CHAINS : IN_ORDER;
}

bool is_map_table(const char *class_name, const char *field, enum shape_order *order)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (strcmp(class_name, tables[i].class_name) == 0 && strcmp(field, tables[i].field) == 0) {
            *order = tables[i].order;
            return true;
        }
    }
    return false;
}
