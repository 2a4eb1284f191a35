/* bytes_hash.h when libcrypto fails: this file defines its functions anew, because nothing else makes them fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/evp.h>

#include "stream/bytes_hash.h"

static bool update_fails, final_fails;

int EVP_DigestUpdate(EVP_MD_CTX *digest, const void *data, size_t size)
{
    int (*real)(EVP_MD_CTX *, const void *, size_t);

    *(void **)&real = dlsym(RTLD_NEXT, "EVP_DigestUpdate");
    return update_fails ? 0 : real(digest, data, size);
}

int EVP_DigestFinal_ex(EVP_MD_CTX *digest, unsigned char *out, unsigned int *size)
{
    int (*real)(EVP_MD_CTX *, unsigned char *, unsigned int *);

    *(void **)&real = dlsym(RTLD_NEXT, "EVP_DigestFinal_ex");
    return final_fails ? 0 : real(digest, out, size);
}

static unsigned finished;

static bool put(struct bytes *bytes, const void *data, size_t size)
{
    (void)bytes;
    (void)data;
    (void)size;
    return true;
}

static bool finish(struct bytes *bytes)
{
    (void)bytes;
    finished++;
    return true;
}

/* If the digest fails, the next sink is not finished, so its file does not appear. */
static void hashes(bool well)
{
    struct bytes last = {.put = put, .finish = finish};
    uint8_t sha256[32] = {0};
    uint64_t size = 0;
    struct bytes_hash *h = bytes_hash_new(&last, &size, sha256);

    finished = 0;
    assert_non_null(h);
    assert_true(bytes_put(bytes_hash_bytes(h), "abc", 3));
    assert_true(bytes_finish(bytes_hash_bytes(h)) == well);
    assert_true(bytes_hash_failed(h) == !well);
    assert_int_equal(finished, well);
    if (well)
        assert_memory_equal(sha256, "\xba\x78\x16\xbf\x8f\x01\xcf\xea", 8); /* of "abc": FIPS 180-4 */
    bytes_hash_free(h);
}

static void a_wrong_sum_is_no_sum(void **state)
{
    (void)state;
    hashes(true);
    update_fails = true;
    hashes(false);
    update_fails = false;
    final_fails = true;
    hashes(false);
    final_fails = false;
    hashes(true);
    assert_false(bytes_hash_failed(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_sum_is_no_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
