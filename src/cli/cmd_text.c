/* cmd_text.c - everything that is printed from the command table: help, man page, docs,
 * completions. */
#include "base/util.h"
#include "base/version.h"
#include "cli/cmd.h"

#include <string.h>

/* --- --help
 * --------------------------------------------------------------------------------------- */

static void usage_line(const struct cmd *c, struct buf *b)
{
    buf_printf(b, "orca %s%s%s%s", c->name, c->opts.n ? " [OPTION]..." : "", *c->args ? " " : "",
               c->args);
}

/* The lines of `text`, each handed to `line`. */
static void each_line(const char *text, struct buf *b,
                      void (*line)(struct buf *b, const char *p, size_t len))
{
    while (text && *text) {
        size_t len = strcspn(text, "\n");
        line(b, text, len);
        text += len + (text[len] == '\n');
    }
}

static void wrapped_line(struct buf *b, const char *p, size_t len)
{
    struct buf copy;
    buf_init(&copy);
    buf_put(&copy, p, len);
    opt_wrap(b, buf_str(&copy), 0, 0);
    buf_putc(b, '\n');
    buf_fini(&copy);
}

static void indented_line(struct buf *b, const char *p, size_t len)
{
    buf_puts(b, "  ");
    buf_put(b, p, len);
    buf_putc(b, '\n');
}

void cmd_help(const struct cmd *c, struct buf *b)
{
    buf_puts(b, "Usage: ");
    usage_line(c, b);
    buf_puts(b, "\n\n");
    each_line(c->description, b, wrapped_line);
    buf_puts(b, "\nOptions:\n");
    opt_help(c->opts, b);
    buf_puts(b, "  -h, --help                this text\n");
    if (c->examples) {
        buf_puts(b, "\nExamples:\n");
        each_line(c->examples, b, indented_line);
    }
}

void cmd_overview(struct buf *b)
{
    buf_puts(b,
             "Usage: orca COMMAND [OPTION]... [ARGUMENT]...\n\n"
             "Orca records what the threads of a Java program wait for, and reports who holds it "
             "and what would\nmake the program faster.\n\nCommands:\n");
    for (const struct cmd *const *c = cmd_all(); *c; c++)
        buf_printf(b, "  %-10s %s\n", (*c)->name, (*c)->summary);
    buf_puts(b, "\n'orca COMMAND --help' says more about one of them; 'orca --version' prints the "
                "version.\nStart with:  orca record -- java -jar app.jar\n");
}

/* --- man page
 * --------------------------------------------------------------------------------------- */

/* Text for roff: a backslash, a hyphen and a leading dot or quote mean something there. */
static void roff(struct buf *b, const char *p, size_t len)
{
    if (len && (*p == '.' || *p == '\''))
        buf_puts(b, "\\&");
    for (size_t i = 0; i < len; i++) {
        if (p[i] == '\\')
            buf_puts(b, "\\e");
        else if (p[i] == '-')
            buf_puts(b, "\\-");
        else
            buf_putc(b, p[i]);
    }
}

static void roff_line(struct buf *b, const char *p, size_t len)
{
    if (len == 0) {
        buf_puts(b, ".PP\n");
        return;
    }
    roff(b, p, len);
    buf_putc(b, '\n');
}

static void roff_option(const struct opt *o, struct buf *b)
{
    struct buf label;
    buf_init(&label);
    opt_label(o, &label);
    const char *text = buf_str(&label);
    text += strspn(text, " ");
    buf_puts(b, ".TP\n.B ");
    roff(b, text, strlen(text));
    buf_putc(b, '\n');
    buf_clear(&label);
    opt_text(o, &label);
    roff_line(b, buf_str(&label), label.len);
    buf_fini(&label);
}

static void roff_command(const struct cmd *c, struct buf *b)
{
    buf_puts(b, ".SS ");
    usage_line(c, b);
    buf_putc(b, '\n');
    each_line(c->description, b, roff_line);
    for (size_t i = 0; i < c->opts.n; i++)
        if (c->opts.rows[i].help)
            roff_option(&c->opts.rows[i], b);
    if (!c->examples)
        return;
    buf_puts(b, ".PP\nExamples:\n.PP\n.nf\n.RS\n");
    each_line(c->examples, b, roff_line);
    buf_puts(b, ".RE\n.fi\n");
}

void cmd_man(struct buf *b)
{
    buf_puts(
        b, ".TH ORCA 1 \"\" \"orca " ORCA_VERSION "\" \"Orca\"\n"
           ".SH NAME\norca \\- concurrency profiler for the JVM\n"
           ".SH SYNOPSIS\n.B orca\nCOMMAND [OPTION]... [ARGUMENT]...\n"
           ".SH DESCRIPTION\n"
           "Orca records what the threads of a Java program do to each other (start, block, wait, "
           "notify, park, sleep, join), with the cause of every wait, and reports why they wait, "
           "on whom, and what would make the program faster.\n"
           ".SH COMMANDS\n");
    for (const struct cmd *const *c = cmd_all(); *c; c++)
        roff_command(*c, b);
    buf_puts(b,
             ".SH EXIT STATUS\n"
             "0: done.  1: failed, with one line on the standard error.  2: wrong usage.\n"
             ".B orca record\n"
             "ends with the exit status of the command it ran; 127: that command was not found.\n"
             ".SH ENVIRONMENT\n"
             ".TP\n.B ORCA_AGENT\nThe agent library, where it is not beside the command.\n"
             ".TP\n.B NO_COLOR\nWhen set, nothing is printed in colour.\n");
}

/* --- docs page
 * ------------------------------------------------------------------------------------- */

static void markdown_line(struct buf *b, const char *p, size_t len)
{
    buf_put(b, p, len);
    buf_putc(b, '\n');
}

/* A cell of a table: a bar would end it. */
static void markdown_cell(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            buf_putc(b, '\\');
        buf_putc(b, *text);
    }
}

static void markdown_options(struct opt_table t, struct buf *b)
{
    buf_puts(b, "\n| option | |\n|---|---|\n");
    for (size_t i = 0; i < t.n; i++) {
        if (!t.rows[i].help)
            continue;
        struct buf label;
        buf_init(&label);
        opt_label(&t.rows[i], &label);
        const char *text = buf_str(&label);
        buf_puts(b, "| `");
        markdown_cell(b, text + strspn(text, " "));
        buf_puts(b, "` | ");
        buf_clear(&label);
        opt_text(&t.rows[i], &label);
        markdown_cell(b, buf_str(&label));
        buf_puts(b, " |\n");
        buf_fini(&label);
    }
}

static void markdown_command(const struct cmd *c, struct buf *b)
{
    buf_printf(b, "\n## orca %s\n\n%s\n\n```\n", c->name, c->summary);
    usage_line(c, b);
    buf_puts(b, "\n```\n\n");
    each_line(c->description, b, markdown_line);
    if (c->opts.n)
        markdown_options(c->opts, b);
    if (c->examples) {
        buf_puts(b, "\n```\n");
        each_line(c->examples, b, markdown_line);
        buf_puts(b, "```\n");
    }
}

void cmd_docs(struct buf *b)
{
    buf_puts(b, "<!-- made by `make docs` from the option tables -->\n# Commands\n\n"
                "| command | |\n|---|---|\n");
    for (const struct cmd *const *c = cmd_all(); *c; c++)
        buf_printf(b, "| [orca %s](#orca-%s) | %s |\n", (*c)->name, (*c)->name, (*c)->summary);
    for (const struct cmd *const *c = cmd_all(); *c; c++)
        markdown_command(*c, b);
}

/* --- completions
 * ------------------------------------------------------------------------------------ */

static void complete_names(struct buf *b)
{
    for (const struct cmd *const *c = cmd_all(); *c; c++)
        buf_printf(b, "%s\n", (*c)->name);
}

/* In single quotes for a shell. */
static void quoted(struct buf *b, const char *s)
{
    buf_putc(b, '\'');
    for (; *s; s++) {
        if (*s == '\'')
            buf_puts(b, "'\\'");
        buf_putc(b, *s);
    }
    buf_putc(b, '\'');
}

static void bash_choices(const struct cmd *c, struct buf *b)
{
    for (size_t i = 0; i < c->opts.n; i++) {
        const struct opt *o = &c->opts.rows[i];
        if (!o->help || !o->choices)
            continue;
        buf_printf(b, "        %s:--%s", c->name, o->name);
        if (o->letter)
            buf_printf(b, "|%s:-%c", c->name, o->letter);
        buf_puts(b, ") words=\"");
        for (size_t k = 0; o->choices[k]; k++)
            buf_printf(b, "%s%s", k ? " " : "", o->choices[k]);
        buf_puts(b, "\" ;;\n");
    }
}

static void complete_bash(struct buf *b)
{
    buf_puts(b, "# bash completion for orca\n"
                "_orca()\n{\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    local command=${COMP_WORDS[1]} words=\n"
                "    [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                "    [ \"$cur\" = = ] && cur=\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        words=\"--help --version");
    for (const struct cmd *const *c = cmd_all(); *c; c++)
        buf_printf(b, " %s", (*c)->name);
    buf_puts(b, "\"\n    else case $command:$prev in\n");
    for (const struct cmd *const *c = cmd_all(); *c; c++)
        bash_choices(*c, b);
    buf_puts(b, "        *) case $command:$cur in\n");
    for (const struct cmd *const *c = cmd_all(); *c; c++) {
        buf_printf(b, "            %s:-*) words=\"--help", (*c)->name);
        for (size_t i = 0; i < (*c)->opts.n; i++)
            if ((*c)->opts.rows[i].help)
                buf_printf(b, " --%s", (*c)->opts.rows[i].name);
        buf_puts(b, "\" ;;\n");
    }
    buf_puts(b, "        esac ;;\n    esac; fi\n"
                "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                "}\n"
                "complete -o default -F _orca orca\n");
}

/* Inside the brackets of an _arguments specification. */
static void zsh_help(struct buf *b, const char *s)
{
    for (; *s; s++) {
        if (strchr("[]:\\", *s))
            buf_putc(b, '\\');
        if (*s == '\'')
            buf_puts(b, "'\\'");
        buf_putc(b, *s);
    }
}

static void zsh_value(const struct opt *o, struct buf *b)
{
    if (o->kind == OPT_FLAG)
        return;
    buf_printf(b, ":%s:", o->metavar ? o->metavar : "value");
    if (o->choices) {
        buf_putc(b, '(');
        for (size_t k = 0; o->choices[k]; k++)
            buf_printf(b, "%s%s", k ? " " : "", o->choices[k]);
        buf_putc(b, ')');
    } else if (o->kind == OPT_STR) {
        buf_puts(b, "_files");
    }
}

static void zsh_option(const struct opt *o, struct buf *b)
{
    const char *tail = o->kind == OPT_FLAG ? "" : "=";
    if (o->letter) {
        buf_printf(b, " \\\n        '-%c[", o->letter);
        zsh_help(b, o->help);
        buf_puts(b, "]");
        zsh_value(o, b);
        buf_putc(b, '\'');
    }
    buf_printf(b, " \\\n        '--%s%s[", o->name, tail);
    zsh_help(b, o->help);
    buf_puts(b, "]");
    zsh_value(o, b);
    buf_putc(b, '\'');
}

static void complete_zsh(struct buf *b)
{
    buf_puts(b, "#compdef orca\n_orca() {\n    local -a commands\n    commands=(\n");
    for (const struct cmd *const *c = cmd_all(); *c; c++) {
        buf_printf(b, "        '%s:", (*c)->name);
        zsh_help(b, (*c)->summary);
        buf_puts(b, "'\n");
    }
    buf_puts(b,
             "    )\n"
             "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n"
             "    fi\n"
             "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
             "    case $command in\n");
    for (const struct cmd *const *c = cmd_all(); *c; c++) {
        buf_printf(b, "    %s) _arguments", (*c)->name);
        for (size_t i = 0; i < (*c)->opts.n; i++)
            if ((*c)->opts.rows[i].help)
                zsh_option(&(*c)->opts.rows[i], b);
        buf_printf(b, " \\\n        %s ;;\n",
                   (*c)->order == OPT_OPERANDS_LAST ? "'*::command:_normal'" : "'*:file:_files'");
    }
    buf_puts(b, "    esac\n}\n_orca \"$@\"\n");
}

static void fish_option(const struct cmd *c, const struct opt *o, struct buf *b)
{
    buf_printf(b, "complete -c orca -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
    if (o->letter)
        buf_printf(b, " -s %c", o->letter);
    if (o->kind != OPT_FLAG)
        buf_puts(b, o->kind == OPT_STR ? " -r" : " -x");
    if (o->choices) {
        buf_puts(b, " -a '");
        for (size_t k = 0; o->choices[k]; k++)
            buf_printf(b, "%s%s", k ? " " : "", o->choices[k]);
        buf_putc(b, '\'');
    }
    buf_puts(b, " -d ");
    quoted(b, o->help);
    buf_putc(b, '\n');
}

static void complete_fish(struct buf *b)
{
    buf_puts(b, "# fish completion for orca\n"
                "complete -c orca -n __fish_use_subcommand -l help -d 'the commands'\n"
                "complete -c orca -n __fish_use_subcommand -l version -d 'the version'\n");
    for (const struct cmd *const *c = cmd_all(); *c; c++) {
        buf_printf(b, "complete -c orca -n __fish_use_subcommand -f -a %s -d ", (*c)->name);
        quoted(b, (*c)->summary);
        buf_putc(b, '\n');
        for (size_t i = 0; i < (*c)->opts.n; i++)
            if ((*c)->opts.rows[i].help)
                fish_option(*c, &(*c)->opts.rows[i], b);
    }
}

int cmd_complete(const char *shell, struct buf *b, struct err *err)
{
    static const struct {
        const char *name;
        void (*write)(struct buf *b);
    } shells[] = {{"bash", complete_bash},
                  {"zsh", complete_zsh},
                  {"fish", complete_fish},
                  {"names", complete_names}};
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].write(b);
            return 0;
        }
    return err_set(err, -EINVAL, "__complete: bash, zsh, fish or names");
}
