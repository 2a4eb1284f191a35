#include "tags.h"

#include <pthread.h>
#include <stdatomic.h>

#include "vm.h"

/* An object takes 8 bytes at least, so that a smaller heap has fewer than 2^32 of them. */
static const jlong small_heap = (jlong)32 << 30;

static unsigned id_size = 4;
static _Atomic uint64_t last_number;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void tags_choose_size(jlong heap)
{
    id_size = heap < small_heap ? 4 : 8;
}

unsigned tags_id_size(void)
{
    return id_size;
}

uint64_t tags_next_number(void)
{
    return atomic_fetch_add(&last_number, 1) + 1;
}

/* With 4 bytes, numbers go on from 0x50000001 to 0xffffffff, and only then from 1: 0 stays null. */
uint64_t tags_id(uint64_t number)
{
    if (!number)
        return 0;
    return id_size == 4 ? (0x4fffffff + number) % UINT32_MAX + 1 : 0x5000000000000000 + number;
}

uint64_t tags_number_of(jobject object)
{
    pthread_mutex_lock(&lock);
    jlong tag = 0;
    uint64_t number = 0;
    if (object && vm_ok((*ti)->GetTag(ti, object, &tag), "GetTag")) {
        number = tag_number(tag) ? tag_number(tag) : tags_next_number();
        if (!tag_number(tag) && !vm_ok((*ti)->SetTag(ti, object, tag | (jlong)number), "SetTag"))
            number = 0;
    }
    pthread_mutex_unlock(&lock);
    return number;
}

void tags_lock(void)
{
    pthread_mutex_lock(&lock);
}

void tags_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
