/* counted.c - see counted.h.  Each __wrap_ function adds what a call costs, and does it; the linker
 * puts them in front of those of the libraries (--wrap), for all that is linked to a test.  The
 * functions of malloc's family take the place of libc's, also for other libraries.
 *
 * Nothing here may be made a call of what it wraps: the file is compiled without builtins. */
#include "counted.h"

#include "base/testpoint.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <zlib.h>

enum { CALL = 100 }; /* of the system */

/* --- memory ----------------------------------------------------------------------------------- */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

/* relaxed: sums, of which nothing else depends */
static _Atomic int64_t held, most;

static void hold(int64_t n)
{
    int64_t now = atomic_fetch_add_explicit(&held, n, memory_order_relaxed) + n;
    int64_t top = atomic_load_explicit(&most, memory_order_relaxed);
    while (now > top && !atomic_compare_exchange_weak_explicit(
                            &most, &top, now, memory_order_relaxed, memory_order_relaxed))
        ;
}

static void *given(void *p)
{
    if (p)
        hold((int64_t)malloc_usable_size(p));
    return p;
}

void *malloc(size_t n)
{
    return given(__libc_malloc(n));
}

void *calloc(size_t n, size_t each)
{
    void *p = given(__libc_calloc(n, each));
    TEST_WORK(p ? n * each : 0);
    return p;
}

void *realloc(void *old, size_t n)
{
    size_t had = old ? malloc_usable_size(old) : 0;
    void *p = __libc_realloc(old, n);
    if (!p && n)
        return NULL;
    TEST_WORK(had < n ? had : n); /* it may have moved */
    hold(-(int64_t)had);
    return given(p);
}

void free(void *p)
{
    if (p)
        hold(-(int64_t)malloc_usable_size(p));
    __libc_free(p);
}

void *memalign(size_t align, size_t n)
{
    return given(__libc_memalign(align, n));
}

void *aligned_alloc(size_t align, size_t n)
{
    return memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    void *p = memalign(align, n);
    if (p)
        *out = p;
    return p ? 0 : 12; /* ENOMEM */
}

/* --- bytes and texts -------------------------------------------------------------------------- */

#define WRAP(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

WRAP(void *, memcpy, void *to, const void *from, size_t n)
{
    TEST_WORK(n);
    return __real_memcpy(to, from, n);
}

WRAP(void *, memmove, void *to, const void *from, size_t n)
{
    TEST_WORK(n);
    return __real_memmove(to, from, n);
}

WRAP(void *, memset, void *to, int c, size_t n)
{
    TEST_WORK(n);
    return __real_memset(to, c, n);
}

/* It may stop at the first difference, and reads up to it. */
WRAP(int, memcmp, const void *a, const void *b, size_t n)
{
    const char *x = a, *y = b;
    size_t i = 0;
    while (i < n && x[i] == y[i])
        i++;
    TEST_WORK(i);
    return __real_memcmp(a, b, n);
}

static void searched(const void *from, const void *found, size_t all)
{
    TEST_WORK(found ? (size_t)((const char *)found - (const char *)from) : all);
}

WRAP(void *, memchr, const void *p, int c, size_t n)
{
    void *found = __real_memchr(p, c, n);
    searched(p, found, n);
    return found;
}

WRAP(void *, memrchr, const void *p, int c, size_t n)
{
    void *found = __real_memrchr(p, c, n);
    TEST_WORK(found ? (size_t)((const char *)p + n - (const char *)found) : n);
    return found;
}

WRAP(void *, memmem, const void *p, size_t n, const void *wanted, size_t len)
{
    void *found = __real_memmem(p, n, wanted, len);
    searched(p, found, n);
    return found;
}

WRAP(size_t, strlen, const char *s)
{
    size_t n = __real_strlen(s);
    TEST_WORK(n);
    return n;
}

WRAP(size_t, strnlen, const char *s, size_t most_)
{
    size_t n = __real_strnlen(s, most_);
    TEST_WORK(n);
    return n;
}

static size_t alike(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    while (i < n && a[i] && a[i] == b[i])
        i++;
    return i;
}

WRAP(int, strcmp, const char *a, const char *b)
{
    TEST_WORK(alike(a, b, SIZE_MAX));
    return __real_strcmp(a, b);
}

WRAP(int, strncmp, const char *a, const char *b, size_t n)
{
    TEST_WORK(alike(a, b, n));
    return __real_strncmp(a, b, n);
}

WRAP(char *, strchr, const char *s, int c)
{
    char *found = __real_strchr(s, c);
    searched(s, found, found ? 0 : __real_strlen(s));
    return found;
}

WRAP(char *, strrchr, const char *s, int c)
{
    TEST_WORK(__real_strlen(s));
    return __real_strrchr(s, c);
}

WRAP(char *, strstr, const char *s, const char *wanted)
{
    char *found = __real_strstr(s, wanted);
    searched(s, found, found ? 0 : __real_strlen(s));
    return found;
}

WRAP(size_t, strspn, const char *s, const char *set)
{
    size_t n = __real_strspn(s, set);
    TEST_WORK(n);
    return n;
}

WRAP(size_t, strcspn, const char *s, const char *set)
{
    size_t n = __real_strcspn(s, set);
    TEST_WORK(n);
    return n;
}

/* --- output ----------------------------------------------------------------------------------- */

WRAP(int, vsnprintf, char *to, size_t n, const char *fmt, va_list ap)
{
    int len = __real_vsnprintf(to, n, fmt, ap);
    TEST_WORK(len > 0 ? len : 0);
    return len;
}

int __wrap_snprintf(char *to, size_t n, const char *fmt, ...);
int __wrap_snprintf(char *to, size_t n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int len = __wrap_vsnprintf(to, n, fmt, ap);
    va_end(ap);
    return len;
}

int __wrap_printf(const char *fmt, ...);
int __wrap_printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int len = vprintf(fmt, ap);
    va_end(ap);
    TEST_WORK(len > 0 ? len : 0);
    return len;
}

WRAP(int, fputs, const char *s, FILE *f)
{
    TEST_WORK(__real_strlen(s));
    return __real_fputs(s, f);
}

WRAP(size_t, fwrite, const void *p, size_t each, size_t n, FILE *f)
{
    TEST_WORK(each * n);
    return __real_fwrite(p, each, n, f);
}

/* --- the system, and libraries that read ------------------------------------------------------ */

static ssize_t moved(ssize_t n)
{
    test_work += CALL;
    TEST_WORK(n > 0 ? n : 0);
    return n;
}

WRAP(ssize_t, read, int fd, void *p, size_t n)
{
    return moved(__real_read(fd, p, n));
}

WRAP(ssize_t, pread, int fd, void *p, size_t n, off_t at)
{
    return moved(__real_pread(fd, p, n, at));
}

WRAP(ssize_t, write, int fd, const void *p, size_t n)
{
    return moved(__real_write(fd, p, n));
}

WRAP(ssize_t, pwrite, int fd, const void *p, size_t n, off_t at)
{
    return moved(__real_pwrite(fd, p, n, at));
}

WRAP(int, inflate, z_streamp s, int flush)
{
    uLong in = s->total_in, out = s->total_out;
    int rc = __real_inflate(s, flush);
    test_work += CALL / 4;
    TEST_WORK(s->total_in - in + s->total_out - out);
    return rc;
}

WRAP(int, inflateReset2, z_streamp s, int bits)
{
    test_work += CALL;
    return __real_inflateReset2(s, bits);
}

WRAP(uLong, crc32, uLong crc, const Bytef *p, uInt n)
{
    TEST_WORK(n);
    return __real_crc32(crc, p, n);
}

struct XML_ParserStruct;

/* A parser looks at each byte several times. */
WRAP(int, XML_Parse, struct XML_ParserStruct *p, const char *s, int n, int last)
{
    test_work += (uint64_t)n;
    return __real_XML_Parse(p, s, n, last);
}

WRAP(int, XML_ParseBuffer, struct XML_ParserStruct *p, int n, int last)
{
    test_work += (uint64_t)n;
    return __real_XML_ParseBuffer(p, n, last);
}

WRAP(unsigned char, XML_ParserReset, struct XML_ParserStruct *p, const char *encoding)
{
    test_work += CALL;
    return __real_XML_ParserReset(p, encoding);
}

/* What several threads do beside each other cannot be counted. */
unsigned __wrap_workers_default(void);
unsigned __wrap_workers_default(void)
{
    return 1;
}

/* --- what it came to -------------------------------------------------------------------------- */

static int64_t before;

void counted_begin(void)
{
    before = atomic_load_explicit(&held, memory_order_relaxed);
    atomic_store_explicit(&most, before, memory_order_relaxed);
    test_work = 0;
}

struct counted counted_end(void)
{
    return (struct counted){test_work,
                            (uint64_t)(atomic_load_explicit(&most, memory_order_relaxed) - before)};
}

const struct limit *limit_find(const char *name)
{
    static const struct limit limits[] = {
#define LIMIT(name, work, per, bytes, each) {#name, work, per, bytes, each},
#include "limits.def"
#undef LIMIT
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (__real_strcmp(limits[i].name, name) == 0)
            return &limits[i];
    return NULL;
}

bool limit_holds(const struct limit *l, struct counted c, uint64_t size, char why[200])
{
    uint64_t work = l->work + l->work_per_byte * size, bytes = l->bytes + l->bytes_per_byte * size;
    why[0] = 0;
    if (c.work > work)
        snprintf(why, 200, "%s: %llu blocks of work for %llu bytes, at most %llu", l->name,
                 (unsigned long long)c.work, (unsigned long long)size, (unsigned long long)work);
    else if (c.bytes > bytes)
        snprintf(why, 200, "%s: %llu bytes of memory for %llu, at most %llu", l->name,
                 (unsigned long long)c.bytes, (unsigned long long)size, (unsigned long long)bytes);
    return !why[0];
}
