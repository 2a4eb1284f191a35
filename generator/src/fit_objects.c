/* See fit_objects.h: dumps are measured without being written. */
#include "fit_objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outcome.h"
#include "stream/sizer.h"

/* The size of a dump with this many objects. */
static enum generate_status measure(struct source_settings *made, uint64_t objects, struct generated *out, uint64_t *bytes)
{
    struct source *source;
    struct sizer sizer;
    enum generate_status status = GENERATED;

    made->model.objects = objects;
    source = source_model_new(made, &out->failure);
    if (!source)
        return refuse(out, out->failure);
    sizer_init(&sizer);
    sizer.stage.id_size = source->id_size;
    source->detail = DETAIL_SIZES;
    if (!run_to_end(source, &sizer.stage))
        status = give_up(out, source);
    *bytes = sizer.bytes;
    sizer_free(&sizer);
    source->free(source);
    return status;
}

/* About value * part / whole. The part is at most the whole. */
static uint64_t share(uint64_t value, uint64_t part, uint64_t whole)
{
    while (whole > UINT32_MAX) {
        whole >>= 1;
        part >>= 1;
    }
    return value / whole * part + value % whole * part / whole;
}

/* A message about --objects would puzzle a user of --bytes: more objects would be needed than there can be. */
static enum generate_status refuse_bytes(struct generated *out)
{
    static const char of_objects[] = "--objects: ";

    if (!out->failure || strncmp(out->failure, of_objects, sizeof of_objects - 1) != 0)
        return refuse(out, out->failure);
    snprintf(out->sentence, sizeof out->sentence, "--bytes: this size takes more objects than are possible: %s",
             out->failure + sizeof of_objects - 1);
    return refuse(out, out->sentence);
}

enum generate_status fit_objects(struct source_settings *made, uint64_t wanted, struct generated *out)
{
    enum { FIRST_GUESS = 1000, EXACT_BELOW = 64 << 20, TOLERANCE = 1000 };
    uint64_t low = 0, low_bytes, high = UINT64_MAX, tolerance = wanted < EXACT_BELOW ? 0 : wanted / TOLERANCE;
    uint64_t aim = wanted - tolerance / 2; /* the middle of the accepted range, so that a guess need not be exact */
    uint64_t guess = FIRST_GUESS, high_bytes = 0;
    enum generate_status status = measure(made, 0, out, &low_bytes);
    bool halve = false;

    if (status != GENERATED)
        return status;
    if (low_bytes > wanted) {
        snprintf(out->sentence, sizeof out->sentence, "--bytes: a dump of this kind without any object has %" PRIu64 " bytes",
                 low_bytes);
        return refuse(out, out->sentence);
    }
    while (high - low > 1 && wanted - low_bytes > tolerance) { /* so low_bytes is below aim */
        uint64_t bytes, before = high - low;

        status = measure(made, guess, out, &bytes);
        if (status == GENERATE_REFUSED)
            return refuse_bytes(out);
        if (status != GENERATED)
            return status;
        if (bytes <= wanted) {
            low = guess;
            low_bytes = bytes;
        } else {
            high = guess;
            high_bytes = bytes;
        }
        /* By the mean size of an object; by bisection if that converges too slowly. */
        if (high == UINT64_MAX) {
            uint64_t size = low ? low_bytes / low : 0;

            guess = low + (aim - low_bytes) / (size ? size : 1) + 1;
        } else {
            guess = low + (halve ? (high - low) / 2 : share(high - low, aim - low_bytes, high_bytes - low_bytes));
            halve = high - low > before / 2 && !halve;
        }
        if (guess <= low)
            guess = low + 1;
        if (guess >= high)
            guess = high - 1;
    }
    made->model.objects = low;
    return GENERATED;
}

uint64_t generate_size(const struct generate_request *request)
{
    struct source_settings made = request->made;
    struct generated *out = request->from < 0 && request->profile < 0 && !request->bytes ? calloc(1, sizeof *out) : NULL;
    uint64_t bytes = 0;

    if (out && measure(&made, made.model.objects, out, &bytes) != GENERATED)
        bytes = 0;
    free(out);
    return bytes;
}
