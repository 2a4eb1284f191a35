/* See combinations.h. */
#include "combinations.h"

#include <stdio.h>
#include <string.h>

#include "messages.h"
#include "option_table.h"

static bool is_given(const struct cli_options *o, int id)
{
    for (size_t i = 0; i < o->given_count; i++)
        if (strcmp(o->given[i].option, option_name(id)) == 0)
            return true;
    return false;
}

static bool refuse_both(int a, int b, const char *why)
{
    char before[64], after[192];

    snprintf(before, sizeof before, "--%s", option_name(a));
    snprintf(after, sizeof after, " does not go with --%s: %s", option_name(b), why);
    say_usage(before, "", after);
    return false;
}

/* The dump is like one of the agent, with all records, and goes to hprof-serve. */
static bool check_serve(struct cli_options *o)
{
    static const int others[] = {OPTION_LIKE,         OPTION_HEAP_DUMPS, OPTION_ID_SIZE, OPTION_FROM,
                                 OPTION_FROM_PROFILE, OPTION_VIOLATE,    OPTION_DAMAGE,  OPTION_GZ};
    static const int old[] = {OPTION_FORMAT, OPTION_CPU, OPTION_MONITOR, OPTION_ORDERS};

    if (!o->serve) {
        for (size_t i = 0; i < sizeof old / sizeof *old; i++)
            if (is_given(o, old[i])) {
                say_usage("--", option_name(old[i]), " is an option of hprof-serve");
                return false;
            }
        return true;
    }
    if (o->output || o->manifest)
        return refuse_both(OPTION_SERVE, o->output ? OPTION_OUTPUT : OPTION_MANIFEST, "the records go to the socket");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_given(o, others[i]))
            return refuse_both(OPTION_SERVE, others[i], "the records are those of the agent of JDK 8, uncompressed");
    if (!is_given(o, OPTION_RECORDS) || o->request.made.records == RECORDS_ALL)
        return true;
    if (o->request.made.records != RECORDS_SITES) {
        say_usage("--serve takes --records sites, as the agent without cpu=samples, or all", "", "");
        return false;
    }
    if (o->serve_cpu)
        return refuse_both(OPTION_CPU, OPTION_RECORDS, "--records sites is the agent without cpu");
    o->serve_cpu = "off";
    return true;
}

/* Each dump gets a name of its own. */
static bool check_each_fault(const struct cli_options *o)
{
    static const int others[] = {OPTION_DAMAGE, OPTION_SERVE};

    if (o->output || o->manifest || o->request.digests || o->request.answers)
        return refuse_both(OPTION_EACH_FAULT, o->output ? OPTION_OUTPUT : OPTION_MANIFEST,
                           "each dump and each manifest has a name");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_given(o, others[i]))
            return refuse_both(OPTION_EACH_FAULT, others[i], "it plants faults in dumps");
    return true;
}

/* A dump of Android becomes one that all readers know. */
static bool converts(const struct cli_options *o, int id)
{
    return id == OPTION_DUMP_VERSION && o->request.made.version == V102;
}

/* It writes a profile, not a dump. */
bool check_fit(const struct cli_options *o)
{
    if (o->given_count)
        say_usage("--", o->given[0].option, " does not go with --fit, which writes a profile, and no dump");
    else if (o->manifest || o->request.digests || o->request.answers)
        say_usage("--manifest does not go with --fit, which writes a profile, and no dump", "", "");
    else
        return true;
    return false;
}

/* --digests and --answers are of the content of a dump without faults. */
static bool check_content(const struct cli_options *o, int id)
{
    if (!o->manifest) {
        say_usage("--", option_name(id), " adds to the --manifest, which is not given");
        return false;
    }
    if (is_given(o, OPTION_VIOLATE))
        return refuse_both(id, OPTION_VIOLATE, "a fault leaves open what the content of the dump is");
    return !is_given(o, OPTION_DAMAGE) || refuse_both(id, OPTION_DAMAGE, "make the undamaged dump, whose content they are of");
}

bool check_together(struct cli_options *o)
{
    if (!check_serve(o))
        return false;
    if ((o->request.digests && !check_content(o, OPTION_DIGESTS)) || (o->request.answers && !check_content(o, OPTION_ANSWERS)))
        return false;
    if (is_given(o, OPTION_DAMAGE) && is_given(o, OPTION_VIOLATE))
        return refuse_both(OPTION_DAMAGE, OPTION_VIOLATE, "damage hides faults");
    if (!o->output && o->request.damage_count && o->request.damage[0].kind == DAMAGE_PARTS) {
        say_usage("--damage parts makes several files, and needs -o FILE", "", "");
        return false;
    }
    if (is_given(o, OPTION_OBJECTS) && is_given(o, OPTION_BYTES))
        return refuse_both(OPTION_BYTES, OPTION_OBJECTS, "each says how much");
    if (is_given(o, OPTION_LOAD) && o->request.made.shape != shapes[0]) {
        say_usage("--load says what --shape mixed is like, and does not go with another", "", "");
        return false;
    }
    if (is_given(o, OPTION_BYTES) && is_given(o, OPTION_LOAD) && load_is_none(o->request.made.model.load))
        return refuse_both(OPTION_BYTES, OPTION_LOAD, "without a load the heap does not grow");
    if (o->request.made.heap_dumps > 1 && o->request.made.model.objects < o->request.made.heap_dumps) {
        say_usage("--heap-dumps does not go with fewer --objects: each heap dump has at least one", "", "");
        return false;
    }
    if (o->from)
        for (int id = OPTION_OBJECTS; id < OPTION_FROM; id++)
            if (id != OPTION_SEED && is_given(o, id) && !converts(o, id))
                return refuse_both(id, OPTION_FROM, "the dump that is read says it");
    if (o->from_profile)
        for (int id = OPTION_OBJECTS; id <= OPTION_FROM; id++)
            if (id != OPTION_OBJECTS && id != OPTION_SEED && is_given(o, id))
                return refuse_both(id, OPTION_FROM_PROFILE, "the profile says it");
    if (o->from_profile && is_given(o, OPTION_OBJECTS) && !o->request.twin_objects) {
        say_usage("--from-profile makes at least one object", "", "");
        return false;
    }
    if (o->folder && !check_each_fault(o))
        return false;
    if (!o->folder && !o->request.violate_count && (is_given(o, OPTION_AT) || is_given(o, OPTION_VIOLATIONS))) {
        say_usage("--at and --violations say where and how often --violate is to break a rule, which is not given", "", "");
        return false;
    }
    return true;
}
