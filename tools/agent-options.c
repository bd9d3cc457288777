/* agent-options.c - prints docs/reference/agent-options.md from the agent's option table (make
 * docs). */
#include "agent/settings.h"

#include <stdio.h>

static void put_row(const struct opt *o, struct buf *b)
{
    struct buf text;
    buf_init(&text);
    buf_printf(b, "| `%s", o->name);
    for (const char *p = o->metavar ? o->metavar : ""; *p; p++)
        buf_printf(b, "%s%s%c", p == o->metavar ? "=" : "", *p == '|' ? "\\" : "", *p);
    buf_puts(b, "` | ");
    opt_text(o, &text);
    for (const char *p = buf_str(&text); *p; p++)
        buf_printf(b, *p == '|' ? "\\%c" : "%c", *p);
    buf_puts(b, " |\n");
    buf_fini(&text);
}

int main(void)
{
    struct buf b;
    buf_init(&b);
    buf_puts(
        &b,
        "<!-- made by `make docs` from the option table -->\n"
        "# Agent options\n\n"
        "`-agentpath:.../liborca.so=key=value,key=value`, or `orca record --options ...`. A comma "
        "or a backslash in a value is written with a backslash in front. Sizes take k, m, g; "
        "times take ms, s, m, h. A flag may stand alone.\n\n"
        "A first word that is not a key is the prefix of three text files in the format of the "
        "2014 back-end; options may follow it: `-agentlib:OrcaAgent=pingpong`, "
        "`-agentlib:OrcaAgent=pingpong,events=monitors+waits,fast=100us`.\n\n"
        "A bad option gives one line on the standard error, and the JVM starts unprofiled.\n\n"
        "| key | |\n|---|---|\n");
    for (size_t i = 0; i < settings_table.n; i++)
        if (settings_table.rows[i].help)
            put_row(&settings_table.rows[i], &b);
    fwrite(buf_str(&b), 1, b.len, stdout);
    buf_fini(&b);
    return 0;
}
