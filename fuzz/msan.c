/* MemorySanitizer does not see what libraries write that were not built with it: ISA-L, which is assembly, zlib, libcrypto, and the
 * C library where it is not intercepted. The linker sends their calls here (--wrap), and what they write is marked as
 * initialised. */
#define _GNU_SOURCE /* fopencookie */
#include <isa-l/igzip_lib.h>
#include <openssl/evp.h>
#include <sanitizer/msan_interface.h>
#include <stdio.h>
#include <zlib.h>

void __real_isal_inflate_init(struct inflate_state *state);
int __real_isal_inflate(struct inflate_state *state);
int __real_inflate(z_stream *z, int flush);
int __real_deflate(z_stream *z, int flush);
EVP_MD *__real_EVP_MD_fetch(OSSL_LIB_CTX *library, const char *name, const char *properties);
int __real_EVP_DigestInit_ex(EVP_MD_CTX *context, const EVP_MD *type, ENGINE *engine);
int __real_EVP_DigestFinal_ex(EVP_MD_CTX *context, unsigned char *digest, unsigned *size);
FILE *__real_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
void __wrap_isal_inflate_init(struct inflate_state *state);
int __wrap_isal_inflate(struct inflate_state *state);
int __wrap_inflate(z_stream *z, int flush);
int __wrap_deflate(z_stream *z, int flush);
EVP_MD *__wrap_EVP_MD_fetch(OSSL_LIB_CTX *library, const char *name, const char *properties);
int __wrap_EVP_DigestInit_ex(EVP_MD_CTX *context, const EVP_MD *type, ENGINE *engine);
int __wrap_EVP_DigestFinal_ex(EVP_MD_CTX *context, unsigned char *digest, unsigned *size);
FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);

void __wrap_isal_inflate_init(struct inflate_state *state)
{
    __real_isal_inflate_init(state);
    __msan_unpoison(state, sizeof *state);
}

int __wrap_isal_inflate(struct inflate_state *state)
{
    const uint8_t *made = state->next_out;
    int result;

    __msan_check_mem_is_initialized(state->next_in, state->avail_in);
    result = __real_isal_inflate(state);
    __msan_unpoison(state, sizeof *state);
    __msan_unpoison(made, (size_t)(state->next_out - made));
    return result;
}

static int run_zlib(int (*code)(z_stream *z, int flush), z_stream *z, int flush)
{
    const uint8_t *made = z->next_out;
    int result;

    __msan_check_mem_is_initialized(z->next_in, z->avail_in);
    result = code(z, flush);
    __msan_unpoison(z, sizeof *z);
    __msan_unpoison(made, (size_t)(z->next_out - made));
    return result;
}

int __wrap_inflate(z_stream *z, int flush)
{
    return run_zlib(__real_inflate, z, flush);
}

int __wrap_deflate(z_stream *z, int flush)
{
    return run_zlib(__real_deflate, z, flush);
}

/* libcrypto gives names of its own making to fopen(), strlen() and memcmp(), which are checked. */
EVP_MD *__wrap_EVP_MD_fetch(OSSL_LIB_CTX *library, const char *name, const char *properties)
{
    EVP_MD *result;

    __msan_scoped_disable_interceptor_checks();
    result = __real_EVP_MD_fetch(library, name, properties);
    __msan_scoped_enable_interceptor_checks();
    return result;
}

int __wrap_EVP_DigestInit_ex(EVP_MD_CTX *context, const EVP_MD *type, ENGINE *engine)
{
    int result;

    __msan_scoped_disable_interceptor_checks();
    result = __real_EVP_DigestInit_ex(context, type, engine);
    __msan_scoped_enable_interceptor_checks();
    return result;
}

int __wrap_EVP_DigestFinal_ex(EVP_MD_CTX *context, unsigned char *digest, unsigned *size)
{
    int result = __real_EVP_DigestFinal_ex(context, digest, size);

    __msan_unpoison(digest, (size_t)EVP_MD_CTX_get_size(context));
    return result;
}

/* Targets open such streams with one function alone (report_junit.c), which gets what the C library has written into a buffer. */
static cookie_write_function_t *write_to_cookie;

static ssize_t write_initialised(void *cookie, const char *bytes, size_t size)
{
    __msan_unpoison(bytes, size);
    return write_to_cookie(cookie, bytes, size);
}

FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
    write_to_cookie = functions.write;
    functions.write = write_initialised;
    return __real_fopencookie(cookie, mode, functions);
}
