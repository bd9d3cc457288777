/* request_test.c - what clients of the control socket send: lines in pieces, verbs, arguments. */
#include "agent/request.h"
#include "agent/settings.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct err err;

static enum request_line_state grow(struct request_line *l, const char *text)
{
    size_t n = strlen(text);
    cr_assert(n <= request_line_room(l));
    memcpy(request_line_end(l), text, n);
    return request_line_grow(l, n);
}

Test(request, a_line_in_pieces)
{
    struct request_line l = {.len = 0};
    cr_assert_eq(grow(&l, "sta"), REQUEST_UNFINISHED);
    cr_assert_eq(grow(&l, "tus\nstop\n"), REQUEST_WHOLE);
    cr_assert_str_eq(l.text, "status");
}

Test(request, a_line_has_an_end)
{
    struct request_line l = {.len = 0};
    for (int i = 0; i < REQUEST_LINE_MAX - 1; i++)
        cr_assert_eq(grow(&l, "x"), REQUEST_UNFINISHED);
    struct request_line fits = l;
    cr_assert_eq(grow(&l, "x"), REQUEST_TOO_LONG);
    cr_assert_eq(grow(&fits, "\n"), REQUEST_WHOLE);
    cr_assert_eq(strlen(fits.text), (size_t)REQUEST_LINE_MAX - 1);
}

Test(request, verbs)
{
    struct request r;
    char dump[] = "dump /a b", bare[] = "rotate", odd[] = "statuss", cut[] = "stat", none[] = "";
    cr_assert_eq(request_parse(&r, dump, &err), 0);
    cr_assert_eq(r.verb, VERB_dump);
    cr_assert_str_eq(r.argument, "/a b");
    cr_assert_eq(request_parse(&r, bare, &err), 0);
    cr_assert_eq(r.verb, VERB_rotate);
    cr_assert_str_eq(r.argument, "");
    cr_assert_eq(request_parse(&r, odd, &err), -EINVAL);
    cr_assert(strstr(err.msg, "does not know the request \"statuss\""), "%s", err.msg);
    cr_assert_eq(request_parse(&r, cut, &err), -EINVAL);
    cr_assert_eq(request_parse(&r, none, &err), -EINVAL);
}

Test(request, groups)
{
    bool g[GROUP_LIMIT] = {[GROUP_waits] = true, [GROUP_parks] = true};
    cr_assert_eq(request_groups("+locks-parks", g, &err), 0);
    cr_assert(g[GROUP_locks] && g[GROUP_waits] && !g[GROUP_parks]);
    cr_assert_eq(request_groups("gc+parks", g, &err), 0);
    cr_assert(g[GROUP_gc] && g[GROUP_parks] && !g[GROUP_locks] && !g[GROUP_waits]);
    cr_assert_eq(request_groups("meta", g, &err), -EINVAL);
    cr_assert_eq(request_groups("+", g, &err), -EINVAL);
    cr_assert_eq(request_groups("waits--parks", g, &err), -EINVAL);
    cr_assert(strstr(err.msg, "\"\" is not a group of events"), "%s", err.msg);
}

Test(request, questions)
{
    struct request_question q;
    cr_assert_eq(request_question(&q, "locks held", &err), 0);
    cr_assert(q.subject == ASK_locks && q.held);
    cr_assert_eq(request_question(&q, "locks all", &err), -EINVAL);
    cr_assert_eq(request_question(&q, "monitor 17", &err), 0);
    cr_assert(q.has_id && q.id == 17);
    static const char *const bad[] = {"monitor",
                                      "monitor -1",
                                      "monitor 4294967296",
                                      "object lock:4294967296",
                                      "object lock:",
                                      "object 1 2",
                                      "refs",
                                      "refs x",
                                      "refs 1 0",
                                      "refs 1 9",
                                      "refs 1 2 3",
                                      "object 1x",
                                      "monitor  1",
                                      "object 99999999999999999999",
                                      "lock",
                                      ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_assert_eq(request_question(&q, bad[i], &err), -EINVAL, "%s", bad[i]);
    cr_assert_eq(request_question(&q, "class java.lang.String", &err), 0);
    cr_assert(!q.has_id);
    cr_assert_str_eq(q.what, "java.lang.String");
}

Test(request, objects_have_larger_numbers_than_locks)
{
    struct request_question q;
    cr_assert_eq(request_question(&q, "object 4294967296", &err), 0);
    cr_assert(q.number == UINT64_C(4294967296) && !q.has_id && !q.lock);
    cr_assert_eq(request_question(&q, "object 7", &err), 0);
    cr_assert(q.number == 7 && q.id == 7 && q.has_id);
    cr_assert_eq(request_question(&q, "object lock:7", &err), 0);
    cr_assert(q.id == 7 && q.lock);
    cr_assert_eq(request_question(&q, "refs 12", &err), 0);
    cr_assert(q.number == 12 && q.depth == 1);
    cr_assert_eq(request_question(&q, "refs 12 8", &err), 0);
    cr_assert_eq(q.depth, 8);
}

Test(request, heap)
{
    struct request_heap h;
    cr_assert_eq(request_heap(&h, "live", &err), 0);
    cr_assert(!h.dump && !h.full);
    cr_assert_eq(request_heap(&h, "live full", &err), 0);
    cr_assert(!h.dump && h.full);
    cr_assert_eq(request_heap(&h, "dump 12 /a b", &err), 0);
    cr_assert(h.dump && h.objects == 12);
    cr_assert_str_eq(h.path, "/a b");
    static const char *const bad[] = {"",       "dump",       "dump ",
                                      "dump 1", "dump 1 ",    "dump 1 x",
                                      "live ",  "dump -1 /a", "dump 99999999999999999999 /a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_assert_eq(request_heap(&h, bad[i], &err), -EINVAL, "%s", bad[i]);
}

static int parse(const char *options)
{
    struct settings s;
    int rc = settings_parse(&s, options, false, &err);
    free(s.text);
    return rc;
}

Test(request, several_files_are_traces)
{
    cr_assert_eq(parse("every=10m,keep=6"), 0);
    cr_assert_eq(parse("every=1s,format=orca"), -EINVAL);
    cr_assert(strstr(err.msg, "every= goes with format=otrace only"), "%s", err.msg);
    cr_assert_eq(parse("keep=2,format=otrace+tptp"), -EINVAL);
    cr_assert(strstr(err.msg, "keep= goes with"), "%s", err.msg);
    cr_assert_eq(parse("every=999ms"), -EINVAL);
    cr_assert_eq(parse("keep=1"), -EINVAL);
}

static uint64_t cost_of(const char *options)
{
    struct settings s;
    cr_assert_eq(settings_parse(&s, options, false, &err), 0, "%s", err.msg);
    free(s.text);
    return s.cost;
}

/* In thousandths of a percent. */
Test(request, what_recording_may_cost)
{
    cr_assert_eq(cost_of(""), 5000u);
    cr_assert_eq(cost_of("cost=0.02"), 20u);
    cr_assert_eq(cost_of("cost=7%"), 7000u);
    cr_assert_eq(cost_of("cost=off"), COST_OFF);
    cr_assert_eq(cost_of("every=10m"), COST_OFF);
    cr_assert_eq(parse("cost=101"), -EINVAL);
    cr_assert_eq(parse("cost=5,every=10m"), -EINVAL);
}

Test(request, names_with_the_time)
{
    struct settings s = {.file = "a-%p.otrace"};
    cr_assert(!settings_names_time(&s));
    s.file = "a-%%t";
    cr_assert(!settings_names_time(&s));
    s.file = "a-%p%t";
    cr_assert(settings_names_time(&s));
    s.file = "a%";
    cr_assert(!settings_names_time(&s));
}
