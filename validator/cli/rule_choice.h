/* RULE[,RULE...]: rules and families of rules that an option names. */
#ifndef HPROF_CLI_RULE_CHOICE_H
#define HPROF_CLI_RULE_CHOICE_H

#include "hprof/hprof.h"

/* Sets chosen[rule] for each rule that the list names. If not, prints what is wrong: `option` begins the sentence about a list that
 * is none. With `softening`, a framing rule is refused. */
bool choose_rules(const char *option, const char *list, bool softening, bool *chosen);

/* Gives the severity to the rules that the list names; a family's framing rules stay as they are. `chosen` is room for a
 * bool for each rule. */
bool set_severity(uint8_t *severities, const char *option, enum hprof_severity severity, const char *list, bool *chosen);

/* Turns off all rules but those that the list names and those of the framing; those that are left keep their severities. */
bool select_rules(uint8_t *severities, const char *option, const char *list, bool *chosen);

#endif
