# Writes TO, a copy of FROM, the source of the library that counts findings, in which a rule is patched: findings of the rule that
# the environment variable PATCHED_RULE names are not counted or, if PATCH is "renamed", are counted as another rule's.
file(READ ${FROM} source)
set(head "struct finding *findings_count(struct findings *d, enum rule rule, enum finding_shape shape, uint64_t order)\n{\n")
string(FIND "${source}" "${head}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${FROM} has no findings_count() to patch")
endif()
string(REPLACE "${head}" "#include <stdlib.h>

static bool patched(enum rule *rule)
{
    const char *wanted = getenv(\"PATCHED_RULE\");

    if (!wanted || strcmp(hprof_rule_at(*rule)->id, wanted) != 0)
        return false;
    if (strcmp(getenv(\"PATCH\"), \"renamed\") != 0)
        return true;
    *rule = *rule == RULE_HDR_006 ? RULE_HDR_007 : RULE_HDR_006;
    return false;
}

${head}    if (patched(&rule))
        return NULL;
" source "${source}")
file(WRITE ${TO} "${source}")
