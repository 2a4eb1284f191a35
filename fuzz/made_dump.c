/* See made_dump.h. */
#include "made_dump.h"

#include <stdlib.h>
#include <string.h>

#include "target.h"

enum { SIZE_MOST = 8 << 20 };

static uint64_t draw_or_unset(struct drawer *d, uint64_t n)
{
    uint64_t drawn = draw_byte(d);

    return drawn < 128 ? MODEL_UNSET : draw_below(d, n);
}

static size_t count_producers(void)
{
    size_t n = 0;

    while (producer_at(n))
        n++;
    return n;
}

static size_t count_shapes(void)
{
    size_t n = 0;

    while (shapes[n])
        n++;
    return n;
}

struct generate_request draw_request(struct drawer *d)
{
    struct generate_request request = {
        .from = -1,
        .profile = -1,
        .made = {.producer = producer_at(draw_below(d, count_producers())),
                 .shape = shapes[draw_below(d, count_shapes())],
                 .version = (enum version)draw_below(d, V103 + 1), /* 0 for that of the producer */
                 .id_size = (unsigned)draw_below(d, 3) * 4,
                 .records = (enum records_wanted)draw_below(d, 5),
                 .heap_dumps = 1 + (unsigned)draw_below(d, 3),
                 .segment_size = draw_below(d, 3) ? 0 : draw_below(d, 1 << 16)},
        .how = {.count = 1},
        .census = true,
    };
    struct model_options *model = &request.made.model;

    model->objects = draw_below(d, 400);
    model->seed = draw_below(d, 1 << 16);
    model->classes = draw_or_unset(d, 200);
    model->threads = draw_or_unset(d, 6);
    model->stack_depth = draw_or_unset(d, 8);
    model->references = draw_or_unset(d, 8 * MODEL_UNIT);
    model->array_length = draw_or_unset(d, 20 * MODEL_UNIT);
    model->string_length = draw_or_unset(d, 20 * MODEL_UNIT);
    request.gzip_level = draw_below(d, 4) ? 0 : (int)draw_below(d, 10);
    return request;
}

static bool put(struct bytes *bytes, const void *data, size_t size)
{
    struct made_dump *dump = (struct made_dump *)bytes;

    if (size > SIZE_MOST - dump->size)
        return !(dump->is_full = true);
    if (size > dump->capacity - dump->size) {
        dump->capacity = 2 * (dump->capacity + size);
        dump->at = realloc(dump->at, dump->capacity);
        if (!dump->at)
            fail_target("no memory for the dump");
    }
    if (size)
        memcpy(dump->at + dump->size, data, size);
    dump->size += size;
    return true;
}

static bool finish(struct bytes *bytes)
{
    (void)bytes;
    return true;
}

enum generate_status make_dump(const struct generate_request *request, struct made_dump *dump, struct generated *generated)
{
    enum generate_status status;

    dump->sink = (struct bytes){.put = put, .finish = finish};
    dump->size = 0;
    dump->is_full = false;
    status = generate(request, &dump->sink, generated);
    if (status == GENERATE_REFUSED && (!generated->failure || !*generated->failure))
        fail_target("options are refused without a sentence");
    if (status == GENERATE_NO_MEMORY)
        fail_target("the generator has no memory");
    if (status == GENERATE_FAILED && request->from < 0 && !dump->is_full)
        fail_target("the generator failed after %zu bytes: %s", dump->size, generated->failure ? generated->failure : "");
    return status;
}
