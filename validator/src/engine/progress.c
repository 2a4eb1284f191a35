/* Progress that the caller sees while a dump is read, and whether a callback stops the check. */
#include <errno.h>

#include "engine/engine.h"

void stop_if(struct engine *e, int result)
{
    if (result) {
        e->run.stopped = true;
        input_stop(&e->in, ECANCELED);
    }
}

void show_progress(struct engine *e)
{
    uint64_t read = input_file_position(&e->in), size = input_file_size(&e->in);

    /* Bitmaps of IDs may take a thirtieth of the dump, whatever the heap contains. */
    id_set_allow(&e->heap.objects, e->run.sizes.bitmap_room + (e->in.offset > size ? e->in.offset : size) / 30);
    id_set_allow(&e->file.class_serials, e->run.sizes.serial_room);
    id_set_allow(&e->file.unloaded_serials, e->run.sizes.serial_room);
    id_set_allow(&e->file.rooted_threads, e->run.sizes.serial_room);
    if (e->run.options->on_progress && read > e->run.progress_shown && read - e->run.progress_shown >= e->run.sizes.progress) {
        e->run.progress_shown = read;
        stop_if(e, e->run.options->on_progress(e->run.options->context, read, size));
    }
}
