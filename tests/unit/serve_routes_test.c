#include "serve/compress.h"
#include "serve/routes.h"

#include <criterion/criterion.h>
#include <string.h>
#include <zlib.h>

static int64_t number[ROUTE_NUMBERS_MAX];
static const char *allow;

static const char *pattern(bool post, const char *path)
{
    const struct route *r = routes_find(post, path, number, &allow);
    return r ? r->pattern : "";
}

Test(routes, paths_with_numbers)
{
    cr_assert_str_eq(pattern(false, "/"), "/");
    cr_assert_str_eq(pattern(false, "/api/t3/meta"), "/api/t#/meta");
    cr_assert_eq(number[0], 3);
    cr_assert_str_eq(pattern(false, "/api/t1/g20/tile/44/-7"), "/api/t#/g#/tile/#/~");
    cr_assert(number[0] == 1 && number[1] == 20 && number[2] == 44 && number[3] == -7);
}

Test(routes, paths_that_are_nothing)
{
    static const char *const odd[] = {"",
                                      "//",
                                      "/api",
                                      "/api/",
                                      "/api/state/",
                                      "/api/stat",
                                      "/api/states",
                                      "/api/t/meta",
                                      "/api/t-1/meta",
                                      "/api/t01/meta",
                                      "/api/t1/g1/tile/1",
                                      "/api/t1/g1/tile/-1/1",
                                      "/api/t1/g1/tile/1/",
                                      "/api/t1/g1/tile/1/1/1",
                                      "/api/t1/g1/tile/99999999999999999999/1",
                                      "/api/t1/g1/metas",
                                      "/../../etc/passwd",
                                      "/index.html"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        cr_assert_str_eq(pattern(false, odd[i]), "", "%s", odd[i]);
        cr_assert_null(allow, "%s", odd[i]);
    }
}

static int kind_of(const char *target)
{
    enum job_kind kind;
    const struct core_request r = {.target = target};
    return core_takes_long(&r, &kind) ? (int)kind : -1;
}

Test(routes, what_may_take_long)
{
    cr_assert_eq(kind_of("/api/t1/g2/tile/3/4?rows=t1,p2,g3"), -1);
    cr_assert_eq(kind_of("/api/t1/g2/tile/3/4?rows=t1,l2"), JOB_SHORT);
    cr_assert_eq(kind_of("/api/t1/g2/at?row=t1&time=5"), -1);
    cr_assert_eq(kind_of("/api/t1/g2/at?row=l1&time=5"), JOB_SHORT);
    cr_assert_eq(kind_of("/api/t1/g2/arrows/3/4"), JOB_LONG);
    cr_assert_eq(kind_of("/api/t1/meta"), JOB_LONG);
    cr_assert_eq(kind_of("/nowhere"), -1);
}

Test(routes, a_heap_dump)
{
    cr_assert_str_eq(pattern(false, "/api/h1"), "/api/h#");
    cr_assert_eq(kind_of("/api/h1"), -1);
    cr_assert_eq(kind_of("/api/h1/object?object=1"), JOB_LONG);
    cr_assert_str_eq(pattern(false, "/api/h1/"), "");
    cr_assert_str_eq(pattern(true, "/api/h1/tree"), "");
    cr_assert_str_eq(allow, "GET");
}

Test(routes, no_heap_dump)
{
    static struct core core = {.heaps.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct core_request r = {.target = "/api/h1/object?object=1"};
    struct answer a;
    bool live;
    answer_init(&a);
    core_answer(&core, &r, &a, &live);
    cr_assert_eq(a.status, 404);
    cr_assert(strstr(buf_str(&a.body), "orca view with one"), "%s", buf_str(&a.body));
    answer_fini(&a);
}

Test(routes, the_other_method)
{
    cr_assert_str_eq(pattern(true, "/api/state"), "");
    cr_assert_str_eq(allow, "GET");
    cr_assert_str_eq(pattern(false, "/api/attach"), "");
    cr_assert_str_eq(allow, "POST");
    cr_assert_str_eq(pattern(true, "/api/attach"), "/api/attach");
}

/* --- gzip ------------------------------------------------------------------------------------- */

Test(compress, who_takes_it)
{
    static const char *const yes[] = {"gzip", "br, gzip", "deflate,GZIP;q=0.5", "gzip ;q=1"};
    static const char *const no[] = {"", "br", "gzipped", "gzip;q=0", "gzip;q=0.0", "x-gzip"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        cr_assert(compress_accepted(yes[i]), "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        cr_assert_not(compress_accepted(no[i]), "%s", no[i]);
}

Test(compress, comes_back_as_it_was)
{
    static char text[100000], back[sizeof text];
    struct buf out;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * i >> 7);
    buf_init(&out);
    cr_assert_eq(compress_gzip(text, sizeof text, &out), 0);
    cr_assert_lt(out.len, sizeof text);
    z_stream z = {.next_in = out.p,
                  .avail_in = (uInt)out.len,
                  .next_out = (Bytef *)back,
                  .avail_out = sizeof back};
    cr_assert_eq(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
    cr_assert_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    cr_assert(memcmp(text, back, sizeof text) == 0);
    buf_fini(&out);
}
