#include "format/call_table.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

static struct err err;

/* The table, written again. */
static void reads_as(const char *text, const char *expected)
{
    struct call_table t;
    struct buf b;
    buf_init(&b);
    cr_assert_eq(call_table_read(&t, "t", text, strlen(text), &err), 0, "%s", err.msg);
    for (size_t i = 0; i < t.n; i++) {
        call_row_put(&b, &t.rows[i]);
        buf_putc(&b, '\n');
    }
    cr_assert_str_eq(buf_str(&b), expected);
    buf_fini(&b);
    call_table_fini(&t);
}

static void refused(const char *text, const char *message)
{
    struct call_table t;
    cr_assert_eq(call_table_read(&t, "t", text, strlen(text), &err), -EINVAL, "accepted: %s", text);
    cr_assert_str_eq(err.msg, message);
    call_table_fini(&t);
}

Test(call_table, fills_in_what_is_left_out)
{
    reads_as("", "");
    reads_as("# nothing\n\n  \t\r\n", "");
    reads_as("shop.Order#place", "shop.Order#place blocks this OrderPlace OrderPlaceEnded\n");
    reads_as("shop/Order$Line#<init>(I) calls",
             "shop.Order$Line#<init>(I) calls this OrderLineInit\n");
    reads_as("A#b arg3 tries In # rest", "A#b tries arg3 In InEnded\n");
    reads_as("A#b none\nA#c nests blocks In Out\r\n",
             "A#b blocks none AB ABEnded\nA#c blocks nests this In Out\n");
    /* names that the text could not have, or has already */
    reads_as("\n\xc3\xa9#\xc3\xbc", "\xc3\xa9#\xc3\xbc blocks this Call2 Call2Ended\n");
    reads_as("x.Object#wait calls", "x.Object#wait calls this Call1\n");
}

Test(call_table, what_it_writes_it_reads_as_the_same)
{
    const char *text = "a.B#c(J[Ljava/lang/String;)V tries nests arg254 In Out\n"
                       "a.B#d calls none Dd\n";
    reads_as(text, text);
}

Test(call_table, rows_may_share_names_of_one_shape)
{
    reads_as("A#b(I) blocks this X Y\nA#b(J) tries this X Y",
             "A#b(I) blocks this X Y\nA#b(J) tries this X Y\n");
    refused("A#b X Y\nA#c calls X",
            "t: line 2: line 1 also has an event X, of another kind: rename one of them");
    refused("A#b X Y\nA#c Y Z",
            "t: line 2: line 1 also has an event Y, of another kind: rename one of them");
    refused("A#b X Y\nA#c nests X Y",
            "t: line 2: line 1 also has an event X, of another kind: rename one of them");
}

Test(call_table, says_what_is_wrong_and_where)
{
    refused("A#b\nA.b", "t: line 2: \"A.b\": name a method as CLASS#METHOD: shop.Order#place, "
                        "shop.Order#<init>");
}

Test(call_table, refuses_words)
{
#define OTHER                                                                                      \
    "expected calls, blocks, tries, nests, this, none, argN, or the name of an event: letters, "   \
    "digits, _ and $"
    refused("A# x", "t: line 1: \"A#\": no method name behind the '#'; a constructor is <init>");
    refused("A#<clinit>",
            "t: line 1: \"A#<clinit>\": no method name behind the '#'; a constructor is <init>");
    refused("A;#b", "t: line 1: \"A;#b\": no class name in front of the '#'");
    refused("A#b arg255", "t: line 1: \"arg255\": a parameter is arg0 to arg254");
    refused("A#b arg99999999999", "t: line 1: \"arg99999999999\": a parameter is arg0 to arg254");
    refused("A#b x,y", "t: line 1: \"x,y\": " OTHER);
    refused("A#b 1x", "t: line 1: \"1x\": the name of an event begins with a letter");
    refused("A#b ThreadStart",
            "t: line 1: \"ThreadStart\": the text formats have an event of this name already");
    refused("A#b X X", "t: line 1: \"X\": beginning and end need different names");
    refused("A#b calls X Y",
            "t: line 1: \"Y\": one name too many; what comes before the names is complete");
    refused("A#b X Y this",
            "t: line 1: \"this\": one name too many; what comes before the names is complete");
}

Test(call_table, refuses_parameters)
{
    static const char *const bad[] = {"A#b(",     "A#b()(", "A#b(X)", "A#b(Lx)",
                                      "A#b(I)VV", "A#b(V)", "A#b([)"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct call_table t;
        cr_assert_eq(call_table_read(&t, "t", bad[i], strlen(bad[i]), &err), -EINVAL, "%s", bad[i]);
        cr_assert(strstr(err.msg, "not a JVM descriptor"), "%s", err.msg);
        call_table_fini(&t);
    }
}

Test(call_table, matches_by_descriptor)
{
    struct call_table t;
    const char *text = "A#b\nA#b(I)\nA#b(I)V";
    cr_assert_eq(call_table_read(&t, "t", text, strlen(text), &err), 0);
    static const char *const desc[] = {"(I)V", "(I)J", "()V", "(IJ)V"};
    static const bool is[3][4] = {{1, 1, 1, 1}, {1, 1, 0, 0}, {1, 0, 0, 0}};
    for (size_t r = 0; r < 3; r++)
        for (size_t d = 0; d < ARRAY_LEN(desc); d++)
            cr_assert_eq(call_row_is(&t.rows[r], "b", 1, desc[d], strlen(desc[d])), is[r][d],
                         "%zu %s", r, desc[d]);
    cr_assert(!call_row_is(&t.rows[0], "bb", 2, "()V", 3));
    call_table_fini(&t);
}
