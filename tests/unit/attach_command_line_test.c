#include "attach/command_line.h"

#include <criterion/criterion.h>
#include <string.h>

/* Words divided by '|', as /proc/PID/cmdline has them. */
static void take(struct command_line *c, const char *words)
{
    char text[8192];
    size_t n = strlen(words);
    memcpy(text, words, n + 1);
    for (size_t i = 0; i < n; i++)
        if (text[i] == '|')
            text[i] = 0;
    command_line_take_command(c, text, n + 1);
}

static const char *program_of(const char *words)
{
    static struct command_line c;
    memset(&c, 0, sizeof c);
    take(&c, words);
    return c.program;
}

Test(attach_command_line, program)
{
    cr_assert_str_eq(program_of("java|Main"), "Main");
    cr_assert_str_eq(program_of("/jdk/bin/java|-Xmx1g|-cp|a.jar:b|a.b.Main|-jar|c.jar"),
                     "a.b.Main");
    cr_assert_str_eq(program_of("java|-classpath|x|--class-path|y|Main"), "Main");
    cr_assert_str_eq(program_of("java|--class-path=x|Main"), "Main");
    cr_assert_str_eq(program_of("java|-jar|-Xmx|x"), "-Xmx");
    cr_assert_str_eq(program_of("java|-jar|/my apps/app 1.jar|x"), "/my apps/app 1.jar");
    cr_assert_str_eq(program_of("java|-p|mods|--add-modules|x|-m|a.b/c.D|y"), "a.b/c.D");
    cr_assert_str_eq(program_of("java|--module=a.b/c.D|y"), "a.b/c.D");
    cr_assert_str_eq(program_of("java|--add-opens|java.base/x=y|--add-opens=a/b=c|Main"), "Main");
    cr_assert_str_eq(program_of("java|--source|17|Hello.java"), "Hello.java");
}

Test(attach_command_line, no_program)
{
    cr_assert_str_eq(program_of(""), "");
    cr_assert_str_eq(program_of("java"), "");
    cr_assert_str_eq(program_of("java|-cp"), "");
    cr_assert_str_eq(program_of("java|-jar"), "");
    cr_assert_str_eq(program_of("java|@words"), "", "the file cannot be read");
}

Test(attach_command_line, switches_before_the_program_count)
{
    struct command_line c = {.program = ""};
    take(&c, "java|-XX:+DisableAttachMechanism|-Xrs|Main");
    cr_assert(c.no_attach && c.few_signals);
    memset(&c, 0, sizeof c);
    take(&c, "java|Main|-XX:+DisableAttachMechanism|-Xrs");
    cr_assert_not(c.no_attach || c.few_signals);
    memset(&c, 0, sizeof c);
    take(&c, "java|-cp|-Xrs|-XX:+ReduceSignalUsage|-XX:-ReduceSignalUsage|Main");
    cr_assert_not(c.few_signals, "the last one counts");
}

static int give_file(void *ctx, const char *path, struct buf *out)
{
    (void)ctx;
    if (strcmp(path, "words") != 0)
        return -2;
    buf_puts(out, "# a comment with Main\n-cp \"a b\"\n\t-Xrs 'Not \\' a' @words # more\nlast");
    return 0;
}

Test(attach_command_line, argument_files)
{
    struct command_line c = {.read_file = give_file};
    take(&c, "java|@words|x");
    cr_assert_str_eq(c.program, "Not ' a");
    cr_assert(c.few_signals);
    c = (struct command_line){.read_file = give_file};
    take(&c, "java|@nothing|@@words|Main");
    cr_assert_str_eq(c.program, "@@words");
    c = (struct command_line){.read_file = give_file};
    take(&c, "java|--disable-@files|@words|Main");
    cr_assert_str_eq(c.program, "@words");
}

Test(attach_command_line, environment)
{
    static const char env[] =
        "A=-Xrs\0XJAVA_TOOL_OPTIONS=-Xrs\0"
        "JAVA_TOOL_OPTIONS= -Da=\"b c\"  '-XX:+DisableAttachMechanism'\tx\0B=";
    struct command_line c = {.program = ""};
    command_line_take_environ(&c, env, sizeof env, "JAVA_TOOL_OPTIONS");
    cr_assert(c.no_attach);
    cr_assert_not(c.few_signals);
    cr_assert_str_eq(c.program, "");
    command_line_take_environ(&c, env, sizeof env, "_JAVA_OPTIONS");
    command_line_take_environ(&c, env, sizeof env, "A");
    cr_assert(c.few_signals);
    for (size_t n = 0; n < sizeof env; n++)
        command_line_take_environ(&c, env, n, "B");
}

Test(attach_command_line, long_words_are_cut)
{
    char words[8000];
    memset(words, 'x', sizeof words - 1);
    memcpy(words, "java|", 5);
    words[sizeof words - 1] = 0;
    cr_assert_eq(strlen(program_of(words)), 255);
}
