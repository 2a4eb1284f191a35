/* The agent finds an option of the VM by what the VM publishes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../agent/flags.h"

struct flag {
    void *address;
    const char *type, *name;
};

struct field {
    int is_static;
    void *address;
    const char *name, *type;
    uint64_t offset;
};

struct type {
    uint64_t size;
    const char *name;
};

static uintptr_t first_value, wanted_value;
static struct flag array[] = {
    {&first_value, "bool", "First"}, {NULL, NULL, NULL}, {&wanted_value, "uintx", "Wanted"}, {&first_value, "bool", "Behind"}};
static struct flag *flags = array;
static uint64_t flag_count = 3;

static struct field fields[] = {{0, NULL, "_name", "Other", 99},
                                {1, &flags, "flags", "JVMFlag", 0},
                                {0, NULL, "_name", "JVMFlag", offsetof(struct flag, name)},
                                {0, NULL, "_addr", "JVMFlag", offsetof(struct flag, address)},
                                {1, &flag_count, "numFlags", "JVMFlag", 0},
                                {0, NULL, NULL, NULL, 0}};
static struct type types[] = {{1, "Other"}, {sizeof(struct flag), "JVMFlag"}, {0, NULL}};

static struct field *fields_at = fields;
static struct type *types_at = types;
static uint64_t field_stride = sizeof(struct field), field_type = offsetof(struct field, type),
                field_name = offsetof(struct field, name), field_offset = offsetof(struct field, offset),
                field_address = offsetof(struct field, address), type_stride = sizeof(struct type),
                type_name = offsetof(struct type, name), type_size = offsetof(struct type, size);

static const struct {
    const char *name;
    void *variable;
} published[] = {{"gHotSpotVMStructs", &fields_at},
                 {"gHotSpotVMStructEntryArrayStride", &field_stride},
                 {"gHotSpotVMStructEntryTypeNameOffset", &field_type},
                 {"gHotSpotVMStructEntryFieldNameOffset", &field_name},
                 {"gHotSpotVMStructEntryOffsetOffset", &field_offset},
                 {"gHotSpotVMStructEntryAddressOffset", &field_address},
                 {"gHotSpotVMTypes", &types_at},
                 {"gHotSpotVMTypeEntryArrayStride", &type_stride},
                 {"gHotSpotVMTypeEntryTypeNameOffset", &type_name},
                 {"gHotSpotVMTypeEntrySizeOffset", &type_size}};

/* `missing` is the name of a variable that this library lacks. */
static void *find(void *missing, const char *name)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (!strcmp(published[i].name, name) && !(missing && !strcmp(missing, name)))
            return published[i].variable;
    return NULL;
}

static void test_an_option_is_set(void **unused)
{
    (void)unused;
    assert_true(flag_set(find, NULL, "Wanted", 7));
    assert_int_equal(wanted_value, 7);
    assert_int_equal(first_value, 0);
}

static void test_options_that_the_vm_does_not_have(void **unused)
{
    (void)unused;
    assert_false(flag_set(find, NULL, "Wante", 1));
    assert_false(flag_set(find, NULL, "Behind", 1)); /* it is not counted */
    assert_int_equal(first_value, 0);
}

static void test_a_vm_that_publishes_no_tables(void **unused)
{
    (void)unused;
    char names[][40] = {"gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride", "gHotSpotVMTypes",
                        "gHotSpotVMTypeEntryArrayStride"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(flag_set(find, names[i], "Wanted", 1));
}

/* Another name may stand for what is missing; the option is not touched. */
static void test_a_vm_with_other_names(void **unused)
{
    (void)unused;
    wanted_value = 0;
    for (size_t i = 1; fields[i].name; i++) {
        const char *name = fields[i].name;
        fields[i].name = "other";
        assert_false(flag_set(find, NULL, "Wanted", 1));
        fields[i].name = name;
    }
    types[1].name = "Flag";
    assert_false(flag_set(find, NULL, "Wanted", 1));
    types[1].name = "JVMFlag";
    flags = NULL;
    assert_false(flag_set(find, NULL, "Wanted", 1));
    flags = array;
    assert_int_equal(wanted_value, 0);
    assert_true(flag_set(find, NULL, "Wanted", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_option_is_set),
        cmocka_unit_test(test_options_that_the_vm_does_not_have),
        cmocka_unit_test(test_a_vm_that_publishes_no_tables),
        cmocka_unit_test(test_a_vm_with_other_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
