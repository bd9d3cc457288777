/* Which field holds what a stack waits for, by the lines of its frames' places. */
#include "conclude/resource_field.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct trace_builder b;
static struct trace *t;
static struct program program;
static struct field_sites sites;
static struct arena memory;

static void begin(void)
{
    builder_init(&b);
    builder_info(&b, "sun.java.command", "shop.Main");
}

/* The frames of a new stack, whose methods are all new; their ids follow one another. */
static stack_id at(const char *frames, method_id *first)
{
    *first = (method_id){b.n_methods + 1};
    return builder_stack(&b, frames);
}

static void site(method_id first, uint32_t frame, uint32_t bci, const char *from)
{
    builder_site(&b, (method_id){first.v + frame}, bci, from);
}

static const char *text_of(const char *field, bool simple)
{
    static char text[128];
    snprintf(text, sizeof text, "-");
    if (field)
        field_text(field, simple, text, sizeof text);
    return text;
}

static const char *ask(stack_id stack,
                       const char *(*of)(const struct field_sites *f, stack_id stack))
{
    t = builder_open(&b, 1000);
    arena_init(&memory, 0);
    cr_assert_eq(program_make(&program, t, &memory), 0);
    cr_assert_eq(field_sites_init(&sites, &program), 0);
    const char *text = text_of(of(&sites, stack), false);
    field_sites_fini(&sites);
    arena_fini(&memory);
    trace_close(t);
    return text;
}

static const char pooled[] =
    "jdk.internal.misc.Unsafe.park:native java.util.concurrent.locks.LockSupport.park:1 "
    "java.util.concurrent.locks.ReentrantLock.lock:2 "
    "org.apache.pool.Deque.take:7 org.apache.pool.Pool.borrow:8 shop.Desk.place:9 shop.Main.main:3";

static stack_id pool(void)
{
    method_id m;
    begin();
    stack_id s = at(pooled, &m);
    site(m, 3, 7, "lock;forg/apache/pool/Deque.lock");
    site(m, 4, 8, "take;forg/apache/pool/Pool.idle");
    site(m, 5, 9, "borrow;sshop/Desk.SESSIONS");
    return s;
}

Test(field, of_a_lock_it_is_the_librarys)
{
    cr_assert_str_eq(ask(pool(), field_of_lock), "org.apache.pool.Deque.lock");
}

Test(field, of_a_pool_it_is_the_programs)
{
    cr_assert_str_eq(ask(pool(), field_of_pool), "shop.Desk.SESSIONS");
}

Test(field, what_was_handed_over_is_the_callers)
{
    method_id m;
    begin();
    stack_id s = at("shop.Stock.with:4 shop.Desk.place:9 shop.Main.main:3", &m);
    site(m, 0, 4, ";p2");
    site(m, 1, 9, "with;p0;;fshop/Desk.door");
    cr_assert_str_eq(ask(s, field_of_lock), "shop.Desk.door");
}

/* Whoever put it into the map or the ThreadLocal knows what it is; inside of the library is a
 * name. */
Test(field, what_a_method_of_the_jdk_returned_has_no_name)
{
    method_id m;
    begin();
    stack_id s = at(pooled, &m);
    site(m, 4, 8, "take;forg/apache/pool/Pool.idle");
    site(m, 5, 9, "borrow;mjava/lang/ThreadLocal.get");
    cr_assert_str_eq(ask(s, field_of_pool), "-");
}

Test(field, what_a_method_of_a_library_returned_has_no_name)
{
    method_id m;
    begin();
    stack_id s = at(pooled, &m);
    site(m, 5, 9, "borrow;mcom/zaxxer/hikari/HikariDataSource.open");
    cr_assert_str_eq(ask(s, field_of_pool), "-");
}

Test(field, what_a_method_of_the_program_returned_has_its_name)
{
    method_id m;
    begin();
    stack_id s = at(pooled, &m);
    site(m, 5, 9, "borrow;mshop/Desk.sessions");
    cr_assert_str_eq(ask(s, field_of_pool), "shop.Desk.sessions()");
}

/* Between the two frames stands one that has no line, or is of another call. */
Test(field, a_caller_that_calls_something_else_says_nothing)
{
    method_id m;
    begin();
    stack_id s = at("shop.Stock.with:4 shop.Desk.place:9 shop.Main.main:3", &m);
    site(m, 0, 4, ";p0");
    site(m, 1, 9, "accept;fshop/Desk.door");
    cr_assert_str_eq(ask(s, field_of_lock), "-");
}

Test(field, the_receiver_of_a_synchronized_method)
{
    method_id m;
    begin();
    stack_id s = at("shop.Stock.reserve:=0 shop.Desk.place:9", &m);
    site(m, 1, 9, "reserve;fshop/Desk.stock");
    cr_assert_str_eq(ask(s, field_of_lock), "shop.Desk.stock");
}

Test(field, what_is_parked_for_is_an_argument)
{
    method_id m;
    begin();
    stack_id s = at("jdk.internal.misc.Unsafe.park:native "
                    "java.util.concurrent.locks.LockSupport.park:1 shop.Gate.pass:5",
                    &m);
    struct def d = {.kind = DEF_method,
                    .method = {.id = {m.v + 1}, .class_ = {2}, .name = {"park", 4}, .flags = 8}};
    builder_def(&b, &d);
    site(m, 2, 5, "park;fshop/Gate.sync");
    cr_assert_str_eq(ask(s, field_of_lock), "shop.Gate.sync");
}

Test(field, a_static_method_has_no_receiver)
{
    method_id m;
    begin();
    stack_id s = at("java.util.Collections.sort:native shop.Gate.pass:5", &m);
    struct def d = {.kind = DEF_method,
                    .method = {.id = m, .class_ = {1}, .name = {"sort", 4}, .flags = 8}};
    builder_def(&b, &d);
    site(m, 1, 5, "sort;fshop/Gate.list");
    cr_assert_str_eq(ask(s, field_of_lock), "-");
}

/* Of that number of frames each gets what the next one passes, but for the outermost. */
static stack_id handed_over(uint32_t frames)
{
    char text[512] = "", line[32];
    method_id m;
    begin();
    for (uint32_t i = 0; i < frames; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sshop.A.a%u:1", i ? " " : "",
                 i);
    stack_id s = at(text, &m);
    site(m, 0, 1, ";p0");
    for (uint32_t i = 1; i < frames; i++) {
        snprintf(line, sizeof line, "a%u;%s", i - 1, i + 1 < frames ? "p0" : "fshop/A.door");
        site(m, i, 1, line);
    }
    return s;
}

Test(field, callers_are_asked_up_to_a_limit)
{
    cr_assert_str_eq(ask(handed_over(16), field_of_lock), "shop.A.door");
    cr_assert_str_eq(ask(handed_over(17), field_of_lock), "-");
}

/* --- words ------------------------------------------------------------------------------------ */

Test(field, is_written_as_java_would)
{
    cr_assert_str_eq(text_of("fa/b/C.lock;p1", true), "C.lock");
    cr_assert_str_eq(text_of("sa/b/C.LOCK", false), "a.b.C.LOCK");
    cr_assert_str_eq(text_of("ma/b/C.lock;", false), "a.b.C.lock()");
    cr_assert_str_eq(text_of("ca/b/C;", true), "C.class");
    cr_assert_str_eq(text_of("fC.stripes[];", true), "C.stripes[]");
    cr_assert_str_eq(text_of("ma/C.stripes[]", true), "C.stripes()[]");
    cr_assert_str_eq(text_of("fa/C$1.val$lock", true), "C$1.lock");
}

/* From outside: not what a recorder would write. */
Test(field, damaged_lines_are_text_all_the_same)
{
    char text[8];
    cr_assert_str_eq(text_of("f", true), ".");
    cr_assert_str_eq(text_of("fx", true), "x.");
    field_text("fa/b/Cccccccccccc.lllllllll", true, text, sizeof text);
    cr_assert_eq(strlen(text), sizeof text - 1);
}
