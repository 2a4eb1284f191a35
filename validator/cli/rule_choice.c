#define _DEFAULT_SOURCE
#include "rule_choice.h"

#include <string.h>
#include <strings.h>

#include "messages.h"
#include "nearest.h"

static bool no_such_rule(const char *name)
{
    char question[NEAREST_QUESTION_SIZE];
    struct nearest nearest;

    nearest_init(&nearest, name);
    for (size_t i = 0; i < hprof_rule_count(); i++)
        nearest_offer(&nearest, hprof_rule_at(i)->id);
    for (size_t i = 0; i < hprof_rule_count(); i++)
        nearest_offer(&nearest, hprof_rule_at(i)->name);
    for (size_t i = 0; i < hprof_rule_count(); i++)
        nearest_offer(&nearest, hprof_rule_at(i)->family);
    say_usage_asking("no rule or family is called '", name, "' (--list-rules shows them all)",
                     nearest_question(&nearest, "", question));
    return false;
}

static bool refuse_framing(const char *name, const char *is)
{
    say_usage("", name, is);
    return false;
}

/* One name: of a rule, or of a family and so of all its rules. */
static bool choose(const char *name, bool softening, bool *chosen)
{
    size_t rule = hprof_rule_find(name);
    if (rule != SIZE_MAX) {
        if (softening && hprof_rule_at(rule)->framing)
            return refuse_framing(hprof_rule_at(rule)->id, " is about framing and cannot be disabled or softened: nothing "
                                                           "after such an error can be checked");
        chosen[rule] = true;
        return true;
    }

    size_t members = 0;
    for (size_t i = 0; i < hprof_rule_count(); i++) {
        if (strcasecmp(hprof_rule_at(i)->family, name) == 0) {
            chosen[i] = true;
            members++;
        }
    }
    return members > 0 || no_such_rule(name);
}

bool choose_rules(const char *option, const char *list, bool softening, bool *chosen)
{
    for (const char *item = list;;) {
        char name[64];
        size_t length = strcspn(item, ",");
        if (length == 0) {
            say_usage(option, list, "'");
            return false;
        }
        if (length >= sizeof name)
            return no_such_rule(item);
        memcpy(name, item, length);
        name[length] = '\0';
        if (!choose(name, softening, chosen))
            return false;
        if (item[length] == '\0')
            return true;
        item += length + 1;
    }
}

bool set_severity(uint8_t *severities, const char *option, enum hprof_severity severity, const char *list, bool *chosen)
{
    size_t count = hprof_rule_count();

    memset(chosen, 0, count * sizeof *chosen);
    bool good = choose_rules(option, list, severity != HPROF_ERROR, chosen);
    for (size_t i = 0; good && i < count; i++) {
        if (chosen[i] && !hprof_rule_at(i)->framing)
            severities[i] = (uint8_t)severity;
    }
    return good;
}

bool select_rules(uint8_t *severities, const char *option, const char *list, bool *chosen)
{
    size_t count = hprof_rule_count();

    memset(chosen, 0, count * sizeof *chosen);
    bool good = choose_rules(option, list, false, chosen);
    for (size_t i = 0; good && i < count; i++) {
        if (!chosen[i] && !hprof_rule_at(i)->framing)
            severities[i] = HPROF_OFF;
        else if (severities[i] == HPROF_OFF)
            severities[i] = HPROF_UNCHANGED;
    }
    return good;
}
