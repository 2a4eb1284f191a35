/* findings.h: all findings are counted, the first of each rule are kept, the gravest and then the first are shown; the
 * profile, its quirks and the caller decide the severity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dice.h"
#include "each_allocation.h"
#include "findings/findings.h"

static struct findings *new_findings(struct memory *memory, uint64_t max_errors)
{
    struct findings *d = malloc(sizeof *d);

    memory_init(memory, NULL, 0);
    findings_init(d, memory, max_errors);
    return d;
}

static void end_findings(struct findings *d, struct memory *memory)
{
    findings_clear(d);
    assert_int_equal(memory->used, 0);
    free(d);
}

static void find(struct findings *d, enum rule rule, enum finding_shape shape, uint64_t offset)
{
    struct finding *f = findings_count(d, rule, shape, offset);

    if (f)
        findings_describe(d, f, "where", "this", "that");
}

struct heard {
    size_t count;
    struct {
        size_t rule;
        enum hprof_severity severity;
        uint64_t offset;
        bool quirk;
    } list[4096];
};

static int hear(void *context, const struct hprof_finding *f)
{
    struct heard *h = context;

    assert_string_equal(f->path, "where");
    assert_string_equal(f->expected, "this");
    assert_string_equal(f->found, "that");
    assert_string_equal(f->message, hprof_rule_at(f->rule)->summary);
    assert_true(h->count < 4096);
    h->list[h->count].rule = f->rule;
    h->list[h->count].severity = f->severity;
    h->list[h->count].offset = f->offset;
    h->list[h->count++].quirk = f->quirk != NULL;
    return 0;
}

static struct heard *shown(struct findings *d, enum profile profile, uint64_t max_errors)
{
    struct heard *h = calloc(1, sizeof *h);
    const struct severity_choice choice = {.profile = profile};

    findings_end(d);
    assert_true(findings_prepare(d));
    findings_show(d, &choice, max_errors, hear, h);
    return h;
}

/* ---- Keeping findings ------------------------------------------------------------------------------------------- */

static void keeps_the_first_in_any_order(void **state)
{
    static const uint64_t caps[] = {1, 2, 3, 7, 20, 100, 999, 1000, 1001, 0};

    (void)state;
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        struct memory memory;
        struct findings *d = new_findings(&memory, caps[i]);
        struct heard *h;

        for (uint64_t n = 0; n < 1000; n++)
            find(d, RULE_STR_005, SHAPE_ANY, n * 617 % 1000); /* each of 0..999 once */
        h = shown(d, PROFILE_STRICT, caps[i]);
        assert_int_equal(h->count, caps[i] && caps[i] < 1000 ? caps[i] : 1000);
        for (size_t n = 0; n < h->count; n++)
            assert_int_equal(h->list[n].offset, n);
        assert_int_equal(d->groups[group_of(RULE_STR_005, SHAPE_ANY)].total, 1000);
        free(h);
        end_findings(d, &memory);
    }
}

static void a_cap_bounds_the_memory(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 20);

    (void)state;
    for (uint64_t n = 1000000; n; n--)
        find(d, RULE_STR_005, SHAPE_ANY, n);
    assert_true(memory.peak < (20 + WITHDRAWN_MOST) * 200);
    end_findings(d, &memory);
}

static void each_rule_has_its_own_cap(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 2);
    struct heard *h;

    (void)state;
    for (uint64_t n = 0; n < 5; n++) {
        find(d, RULE_STR_005, SHAPE_ANY, n);
        find(d, RULE_STR_002, SHAPE_ANY, n);
    }
    h = shown(d, PROFILE_STRICT, 2);
    assert_int_equal(h->count, 4);
    free(h);
    end_findings(d, &memory);
}

static void a_finding_without_texts_shows_empty_ones(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 2);
    struct finding *f = findings_count(d, RULE_STR_005, SHAPE_ANY, 5);
    struct heard *h;

    (void)state;
    assert_int_equal(f->offset, 5);
    assert_true(f->related_offset == HPROF_NO_OFFSET);
    findings_describe(d, f, NULL, "", "");
    assert_string_equal(f->texts, "");
    findings_describe(d, findings_count(d, RULE_STR_005, SHAPE_ANY, 4), "where", "this", "that");
    findings_withdraw(d, RULE_STR_005, SHAPE_ANY, 5, UINT64_MAX, 1);
    h = shown(d, PROFILE_STRICT, 2);
    assert_int_equal(h->count, 1);
    free(h);
    end_findings(d, &memory);
}

/* ---- Withdrawing findings --------------------------------------------------------------------------------------- */

static void withdraws_findings_from_an_offset_on(void **state)
{
    (void)state;
    for (uint64_t from = 0; from <= 60; from++) {
        struct memory memory;
        struct findings *d = new_findings(&memory, 0);
        struct heard *h;

        for (uint64_t n = 0; n < 60; n++)
            find(d, RULE_REC_003, SHAPE_ANY, n * 17 % 60);
        findings_withdraw(d, RULE_REC_003, SHAPE_ANY, from, UINT64_MAX, 60 - from);
        h = shown(d, PROFILE_STRICT, 0);
        assert_int_equal(h->count, from);
        assert_int_equal(d->groups[group_of(RULE_REC_003, SHAPE_ANY)].total, from);
        for (size_t n = 0; n < h->count; n++)
            assert_int_equal(h->list[n].offset, n);
        free(h);
        end_findings(d, &memory);
    }
}

static void withdraws_findings_that_were_not_kept(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 3);
    struct heard *h;

    (void)state;
    for (uint64_t n = 0; n < 10; n++)
        find(d, RULE_REC_003, SHAPE_ANY, n);
    findings_withdraw(d, RULE_REC_003, SHAPE_ANY, 5, UINT64_MAX, 5);
    h = shown(d, PROFILE_STRICT, 3);
    assert_int_equal(h->count, 3);
    assert_int_equal(d->groups[group_of(RULE_REC_003, SHAPE_ANY)].total, 5);
    free(h);
    end_findings(d, &memory);
}

static void rolls_back_to_a_checkpoint_whatever_was_withdrawn_after_it(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 0);
    struct findings_checkpoint checkpoint;
    struct heard *h;

    (void)state;
    for (uint64_t n = 0; n < 10; n++)
        find(d, RULE_REC_003, SHAPE_ANY, n);
    findings_checkpoint(d, &checkpoint);
    find(d, RULE_REC_003, SHAPE_ANY, 10);
    findings_withdraw(d, RULE_REC_003, SHAPE_ANY, 3, UINT64_MAX, 8);
    findings_roll_back(d, &checkpoint);
    h = shown(d, PROFILE_STRICT, 0);
    assert_int_equal(h->count, 10);
    assert_int_equal(d->groups[group_of(RULE_REC_003, SHAPE_ANY)].total, 10);
    free(h);
    end_findings(d, &memory);
}

/* A single finding is withdrawn from among others of its rule, and as many are shown as without it. */
static void withdraws_one_of_many(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 3);
    struct heard *h;

    (void)state;
    for (uint64_t n = 0; n < 6; n++)
        find(d, RULE_REC_013, SHAPE_ANY, n);
    findings_withdraw(d, RULE_REC_013, SHAPE_ANY, 1, 2, 1);
    findings_end(d);
    h = shown(d, PROFILE_STRICT, 3);
    assert_int_equal(h->count, 3);
    assert_int_equal(h->list[0].offset, 0);
    assert_int_equal(h->list[1].offset, 2);
    assert_int_equal(h->list[2].offset, 3);
    assert_int_equal(d->groups[group_of(RULE_REC_013, SHAPE_ANY)].total, 5);
    free(h);
    end_findings(d, &memory);
}

/* ---- Showing findings ------------------------------------------------------------------------------------------- */

static void shows_by_offset_and_dangling_references_last(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 0);
    struct heard *h;
    static const enum rule order[] = {RULE_HDR_006, RULE_STR_002, RULE_STR_005, RULE_OBJ_004, RULE_REF_002, RULE_REF_002};

    (void)state;
    find(d, RULE_REF_002, SHAPE_ANY, 3);
    find(d, RULE_OBJ_004, SHAPE_ANY, 90);
    find(d, RULE_STR_005, SHAPE_ANY, 50);
    find(d, RULE_REF_002, SHAPE_ARCHIVED, 1);
    find(d, RULE_STR_002, SHAPE_EMPTY_STRING, 50);
    find(d, RULE_HDR_006, SHAPE_ANY, 23);
    h = shown(d, PROFILE_STRICT, 0);
    assert_int_equal(h->count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(h->list[i].rule, order[i]);
    assert_int_equal(h->list[4].offset, 1);
    free(h);
    end_findings(d, &memory);
}

static void shows_the_gravest_of_a_rule_first(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 3);
    struct heard *h;

    (void)state;
    for (uint64_t n = 0; n < 10; n++)
        find(d, RULE_REF_001, SHAPE_EVENT_CLASS, n); /* a note in hotspot */
    find(d, RULE_REF_001, SHAPE_ANY, 80);            /* a warning */
    find(d, RULE_REF_001, SHAPE_ANY, 70);
    h = shown(d, PROFILE_HOTSPOT, 3);
    assert_int_equal(h->count, 3);
    assert_int_equal(h->list[0].offset, 0);
    assert_int_equal(h->list[0].severity, HPROF_NOTE);
    assert_true(h->list[0].quirk);
    assert_int_equal(h->list[1].offset, 70);
    assert_int_equal(h->list[2].offset, 80);
    assert_int_equal(h->list[2].severity, HPROF_WARNING);
    assert_false(h->list[2].quirk);
    free(h);
    end_findings(d, &memory);
}

static void shows_nothing_of_a_rule_that_is_off(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 0);
    struct heard *strict, *hotspot;

    (void)state;
    find(d, RULE_CLS_012, SHAPE_ANY, 1);
    strict = shown(d, PROFILE_STRICT, 0);
    hotspot = shown(d, PROFILE_HOTSPOT, 0);
    assert_int_equal(strict->count, 0);
    assert_int_equal(hotspot->count, 1);
    assert_int_equal(hotspot->list[0].severity, HPROF_WARNING);
    free(strict);
    free(hotspot);
    end_findings(d, &memory);
}

/* ---- Severities ------------------------------------------------------------------------------------------------- */

static void a_quirk_covers_only_its_shape(void **state)
{
    static const struct {
        enum rule rule;
        enum finding_shape shape;
        enum profile profile;
        enum hprof_severity severity;
        bool quirk;
    } cases[] = {
        {RULE_REF_002, SHAPE_ARCHIVED, PROFILE_HOTSPOT, HPROF_NOTE, true},
        {RULE_REF_002, SHAPE_ARCHIVED, PROFILE_STRICT, HPROF_WARNING, false},
        {RULE_REF_002, SHAPE_ARCHIVED, PROFILE_MAT, HPROF_WARNING, false},
        {RULE_REF_002, SHAPE_ANY, PROFILE_HOTSPOT, HPROF_WARNING, false},
        {RULE_CLS_017, SHAPE_UNPREPARED_CLASS, PROFILE_JDK8_AGENT, HPROF_NOTE, true},
        {RULE_CLS_017, SHAPE_ANY, PROFILE_JDK8_AGENT, HPROF_WARNING, false},
        {RULE_CLS_017, SHAPE_UNPREPARED_CLASS, PROFILE_HOTSPOT, HPROF_ERROR, true},
        {RULE_STR_005, SHAPE_ANY, PROFILE_STRICT, HPROF_ERROR, false},
        {RULE_STR_005, SHAPE_ANY, PROFILE_MAT, HPROF_WARNING, false},
        {RULE_OBJ_004, SHAPE_ANY, PROFILE_MAT, HPROF_ERROR, false},
        {RULE_CLS_012, SHAPE_ANY, PROFILE_STRICT, HPROF_OFF, false},
        {RULE_REC_001, SHAPE_ANY, PROFILE_JDK8_AGENT, HPROF_ERROR, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct severity_choice choice = {.profile = cases[i].profile};
        const char *quirk;

        assert_int_equal(findings_severity(&choice, cases[i].rule, cases[i].shape, &quirk), cases[i].severity);
        assert_int_equal(quirk != NULL, cases[i].quirk);
    }
}

static enum hprof_severity changed_to(uint8_t severity, enum rule rule, enum finding_shape shape, enum profile profile,
                                      bool werror)
{
    uint8_t changed[RULE_COUNT];
    const struct severity_choice choice = {.profile = profile, .changed = changed, .werror = werror};
    const char *quirk;

    memset(changed, HPROF_UNCHANGED, sizeof changed);
    changed[rule] = severity;
    return findings_severity(&choice, rule, shape, &quirk);
}

static void the_caller_decides_except_about_framing(void **state)
{
    (void)state;
    for (uint8_t severity = HPROF_OFF; severity <= HPROF_ERROR; severity++) {
        assert_int_equal(changed_to(severity, RULE_STR_005, SHAPE_ANY, PROFILE_STRICT, false), severity);
        assert_int_equal(changed_to(severity, RULE_REF_002, SHAPE_ARCHIVED, PROFILE_HOTSPOT, false), severity);
        assert_int_equal(changed_to(severity, RULE_REC_002, SHAPE_ANY, PROFILE_STRICT, false), HPROF_ERROR);
    }
}

static void werror_makes_errors_of_warnings_only(void **state)
{
    (void)state;
    assert_int_equal(changed_to(HPROF_UNCHANGED, RULE_REF_002, SHAPE_ANY, PROFILE_STRICT, true), HPROF_ERROR);
    assert_int_equal(changed_to(HPROF_WARNING, RULE_OBJ_004, SHAPE_ANY, PROFILE_STRICT, true), HPROF_ERROR);
    assert_int_equal(changed_to(HPROF_NOTE, RULE_OBJ_004, SHAPE_ANY, PROFILE_STRICT, true), HPROF_NOTE);
    assert_int_equal(changed_to(HPROF_UNCHANGED, RULE_REF_002, SHAPE_ARCHIVED, PROFILE_HOTSPOT, true), HPROF_NOTE);
    assert_int_equal(changed_to(HPROF_OFF, RULE_REF_002, SHAPE_ANY, PROFILE_STRICT, true), HPROF_OFF);
}

static void totals_are_by_severity(void **state)
{
    struct memory memory;
    struct findings *d = new_findings(&memory, 1);
    const struct severity_choice choice = {.profile = PROFILE_HOTSPOT};
    struct verdict v;

    (void)state;
    for (uint64_t n = 0; n < 6; n++)
        find(d, RULE_REF_002, SHAPE_ARCHIVED, n); /* notes */
    for (uint64_t n = 0; n < 5; n++)
        find(d, RULE_REF_002, SHAPE_ANY, n); /* warnings */
    for (uint64_t n = 0; n < 4; n++)
        find(d, RULE_OBJ_004, SHAPE_ANY, n); /* errors */
    findings_verdict(d, &choice, NULL, &v);
    assert_int_equal(v.notes, 6);
    assert_int_equal(v.warnings, 5);
    assert_int_equal(v.errors, 4);
    assert_int_equal(v.totals[RULE_REF_002], 11);
    assert_int_equal(v.totals[RULE_OBJ_004], 4);
    end_findings(d, &memory);
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static int hear_any(void *context, const struct hprof_finding *f)
{
    (void)context;
    assert_non_null(f->path);
    assert_non_null(f->expected);
    assert_non_null(f->found);
    return 0;
}

static void use_findings(struct memory *memory)
{
    const struct severity_choice choice = {0};
    struct findings *d = malloc(sizeof *d);

    findings_init(d, memory, 5);
    for (uint64_t i = 20; i; i--)
        find(d, RULE_STR_005, SHAPE_ANY, i);
    assert_true(findings_prepare(d) || memory->exhausted);
    findings_show(d, &choice, 5, hear_any, NULL);
    findings_clear(d);
    free(d);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(use_findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_first_in_any_order),
        cmocka_unit_test(a_cap_bounds_the_memory),
        cmocka_unit_test(each_rule_has_its_own_cap),
        cmocka_unit_test(a_finding_without_texts_shows_empty_ones),
        cmocka_unit_test(withdraws_findings_from_an_offset_on),
        cmocka_unit_test(withdraws_findings_that_were_not_kept),
        cmocka_unit_test(rolls_back_to_a_checkpoint_whatever_was_withdrawn_after_it),
        cmocka_unit_test(withdraws_one_of_many),
        cmocka_unit_test(shows_by_offset_and_dangling_references_last),
        cmocka_unit_test(shows_the_gravest_of_a_rule_first),
        cmocka_unit_test(shows_nothing_of_a_rule_that_is_off),
        cmocka_unit_test(a_quirk_covers_only_its_shape),
        cmocka_unit_test(the_caller_decides_except_about_framing),
        cmocka_unit_test(werror_makes_errors_of_warnings_only),
        cmocka_unit_test(totals_are_by_severity),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
