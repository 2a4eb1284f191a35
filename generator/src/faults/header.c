/* SPEC.md 3.1: the header is wrong. */
#include "faults/fault.h"

/* Quirks of a wrong header are not reported. */
static void break_header(const struct faults *v, struct event *e, uint64_t at)
{
    break_at(v, e, at);
    e->quirk_count = 0;
}

static void set_text(struct event *e, const void *text, size_t size)
{
    memcpy(e->header.text, text, size);
    e->header.text_size = (uint8_t)size;
}

void hdr_001_text(struct faults *v, struct event *e, int variant)
{
    static const struct {
        char text[HEADER_TEXT_SIZE];
        size_t size;
    } texts[] = {
        {"JAVA PROFILE 1.0.4", 19},
        {"JAVA PROFILE 1.1.0", 19},
        {"JAVA PROFILE 1.0.2.1", 21},
        {"java profile 1.0.2", 19},
        {"JAVA PROFILE 1.0.2 ", 19},
        {"\xef\xbb\xbfJAVA PROFILE 1.0.2", 22},
        {"", 19},
        {"\xca\xfe\xba\xbe\0\0\0\x34\0\x10", 19},
    };

    set_text(e, texts[variant].text, texts[variant].size);
    break_header(v, e, 0);
}

void hdr_002_version(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    set_text(e, "JAVA PROFILE 1.0", 17);
    break_header(v, e, 0);
}

void hdr_003_version(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    set_text(e, "JAVA PROFILE 1.0.3", 19);
    break_at(v, e, 0);
}

void hdr_004_id_size(struct faults *v, struct event *e, int size)
{
    e->header.id_size = (uint32_t)size;
    break_at(v, e, e->header.text_size);
}

void hdr_005_cut(struct faults *v, struct event *e, int keep)
{
    e->keep = (uint64_t)keep;
    break_header(v, e, 0);
}

void hdr_006_time(struct faults *v, struct event *e, int variant)
{
    (void)variant;
    e->header.timestamp = 0;
    break_at(v, e, e->header.text_size + 4u);
}

void hdr_007_time(struct faults *v, struct event *e, int variant)
{
    e->header.timestamp = variant == 0 ? TIMESTAMP_END : variant == 1 ? e->header.timestamp * 1000 : UINT64_MAX;
    if (e->header.timestamp < TIMESTAMP_END)
        e->header.timestamp = TIMESTAMP_END;
    break_at(v, e, e->header.text_size + 4u);
}
