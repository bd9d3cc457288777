/* The start page's questions, with hooks that note what comes to them. */
#include "serve/core.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct core core;
static struct answer answer;
static struct serve_attach asked;
static char events[256], include[256], output[256];
static uint32_t number;
static int result;

static void note(char *to, size_t n, const char *text)
{
    snprintf(to, n, "%s", text ? text : "-");
}

static int attach(void *ctx, const struct serve_attach *a, struct serve_source **out,
                  struct serve_why *why)
{
    (void)ctx;
    (void)out;
    asked = *a;
    note(events, sizeof events, a->events);
    note(include, sizeof include, a->include);
    note(output, sizeof output, a->output);
    why->field = "depth";
    return err_set(&why->err, result, "depth: \"quoted\" <word>");
}

static int stop(void *ctx, uint32_t pid, struct buf *file, struct serve_why *why)
{
    (void)ctx;
    (void)why;
    number = pid;
    buf_puts(file, "/tmp/a\"b.otrace");
    return 0;
}

static void begin(void)
{
    core = (struct core){.start = true, .hooks = {.attach = attach, .stop = stop}};
    cr_assert_eq(traces_init(&core.traces, NULL, NULL, NULL), 0);
    result = -EINVAL;
    asked = (struct serve_attach){0};
    answer_init(&answer);
}

static void end(void)
{
    answer_fini(&answer);
    traces_fini(&core.traces);
}

static const char *ask(const char *path, const char *body)
{
    bool live;
    const struct core_request r = {.post = body,
                                   .target = path,
                                   .body = body ? body : "",
                                   .body_len = body ? strlen(body) : 0};
    answer_fini(&answer);
    answer_init(&answer);
    core_answer(&core, &r, &answer, &live);
    return buf_str(&answer.body);
}

TestSuite(start, .init = begin, .fini = end);

static void wrong(const char *body, const char *what)
{
    const char *said = ask("/api/attach", body);
    cr_assert_eq(answer.status, 400, "%s: %u %s", body, answer.status, said);
    cr_assert(strstr(said, what), "%s: %s", body, said);
    cr_assert_eq(asked.pid, 0, "%s", body);
}

Test(start, what_is_said_comes_to_the_hook)
{
    const char *said =
        ask("/api/attach", "{\"pid\":4711,\"events\":[\"monitors\",\"waits\"],\"include\":\"a.*\","
                           "\"exclude\":\"\",\"methods\":null,\"depth\":0,\"seconds\":1.5,"
                           "\"output\":\"x.otrace\"}");
    cr_assert_eq(asked.pid, 4711);
    cr_assert_str_eq(events, "monitors+waits");
    cr_assert_str_eq(include, "a.*");
    cr_assert_str_eq(output, "x.otrace");
    cr_assert(!asked.exclude && !asked.methods && !asked.ownerstacks);
    cr_assert(asked.has_depth && asked.depth == 0);
    cr_assert_eq(asked.duration, 1500000000);
    cr_assert_eq(answer.status, 400);
    cr_assert_str_eq(
        said, "{\"error\":\"depth: \\\"quoted\\\" \\u003cword\\u003e\",\"field\":\"depth\"}\n");
}

Test(start, a_list_of_groups_may_be_one_text)
{
    ask("/api/attach", "{\"pid\":1,\"events\":\"monitors+waits\"}");
    cr_assert_str_eq(events, "monitors+waits");
    ask("/api/attach", "{\"pid\":1,\"events\":[]}");
    cr_assert_str_eq(events, "-");
}

Test(start, questions_that_are_none)
{
    wrong("", "not a JSON object");
    wrong("[]", "not a JSON object");
    wrong("17", "not a JSON object");
    wrong("{\"pid\":1", "not a JSON object");
    wrong("{\"pid\":1} x", "not a JSON object");
    wrong("{\"pid\":1,\"pid\":2}", "not a JSON object");
    wrong("{\"pid\":1,\"output\":\"a\\u0000b\"}", "not a JSON object");
}

Test(start, wrong_fields)
{
    wrong("{}", "\"field\":\"pid\"");
    wrong("{\"pid\":null}", "\"field\":\"pid\"");
    wrong("{\"pid\":\"1\"}", "\"field\":\"pid\"");
    wrong("{\"pid\":0}", "\"field\":\"pid\"");
    wrong("{\"pid\":-1}", "\"field\":\"pid\"");
    wrong("{\"pid\":1.5}", "\"field\":\"pid\"");
    wrong("{\"pid\":99999999999}", "\"field\":\"pid\"");
    wrong("{\"pid\":1,\"events\":7}", "\"field\":\"events\"");
    wrong("{\"pid\":1,\"events\":[7]}", "\"field\":\"events\"");
    wrong("{\"pid\":1,\"events\":[\"a+b\"]}", "\"field\":\"events\"");
    wrong("{\"pid\":1,\"include\":\"a\\nb\"}", "\"field\":\"include\"");
    wrong("{\"pid\":1,\"depth\":-1}", "\"field\":\"depth\"");
    wrong("{\"pid\":1,\"seconds\":-1}", "\"field\":\"seconds\"");
    wrong("{\"pid\":1,\"seconds\":1e300}", "\"field\":\"seconds\"");
    wrong("{\"pid\":1,\"seconds\":\"1\"}", "\"field\":\"seconds\"");
    wrong("{\"pid\":1,\"path\":\"/etc/passwd\"}", "unknown field 'path'");
}

Test(start, a_file_in_the_answer)
{
    cr_assert_str_eq(ask("/api/stop", "{\"pid\":12}"), "{\"file\":\"/tmp/a\\\"b.otrace\"}\n");
    cr_assert_eq(number, 12);
    cr_assert_eq(answer.status, 200);
}

Test(start, what_is_not_offered)
{
    ask("/api/start", NULL);
    cr_assert_eq(answer.status, 404);
    ask("/api/save", "{\"trace\":1,\"to\":\"x\"}");
    cr_assert_eq(answer.status, 404);
    ask("/api/open", "{\"id\":1}");
    cr_assert_eq(answer.status, 404);
}

Test(start, no_trace_yet)
{
    ask("/api/t1/meta", NULL);
    cr_assert_eq(answer.status, 404);
    ask("/api/t1/g1/report", NULL);
    cr_assert_eq(answer.status, 404);
    ask("/api/t4294967297/g1/report", NULL);
    cr_assert_eq(answer.status, 404);
    cr_assert(strstr(ask("/api/state", NULL), "\"start\":true,\"traces\":[]"));
}
