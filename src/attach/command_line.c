#include "attach/command_line.h"

#include "attach/proc.h"
#include "base/util.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MOST = 4096 };

/* --- one word --------------------------------------------------------------------------------- */

/* The launcher's options whose value is the next word (java.c, IsWhiteSpaceOption). */
static const char *const with_value[] = {
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--enable-native-access",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "--source",
    "-d",
    "--describe-module",
};

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

static void take_switch(struct command_line *c, const char *word)
{
    if (strcmp(word, "-XX:+DisableAttachMechanism") == 0)
        c->no_attach = true;
    else if (strcmp(word, "-XX:-DisableAttachMechanism") == 0)
        c->no_attach = false;
    else if (strcmp(word, "-Xrs") == 0 || strcmp(word, "-XX:+ReduceSignalUsage") == 0)
        c->few_signals = true;
    else if (strcmp(word, "-XX:-ReduceSignalUsage") == 0)
        c->few_signals = false;
}

static void take_program(struct command_line *c, const char *word)
{
    proc_copy_text(c->program, sizeof c->program, word, strlen(word));
    c->done = true;
}

static void take_file(struct command_line *c, const char *path);

/* A word of the launcher's command, in the order of the command. */
static void take_word(struct command_line *c, const char *word, bool in_file)
{
    static const char module[] = "--module=";
    if (c->done)
        return;
    bool file = word[0] == '@' && word[1] != '@' && !c->no_files && !in_file;
    if (c->value_next) {
        c->value_next = false;
    } else if (c->program_next || (word[0] != '-' && !file)) {
        take_program(c, word);
    } else if (file) {
        take_file(c, word + 1);
    } else if (strcmp(word, "-jar") == 0 || strcmp(word, "-m") == 0 ||
               strcmp(word, "--module") == 0) {
        c->program_next = true;
    } else if (strncmp(word, module, sizeof module - 1) == 0) {
        take_program(c, word + sizeof module - 1);
    } else if (strcmp(word, "--disable-@files") == 0) {
        c->no_files = true;
    } else if (is_one_of(word, with_value, ARRAY_LEN(with_value))) {
        c->value_next = true;
    } else {
        take_switch(c, word);
    }
}

/* --- texts of several words ------------------------------------------------------------------- */

/* Past blanks and, in files, comments. */
static const char *skip_blanks(const char *p, const char *end, bool file)
{
    for (;;) {
        while (p < end && isspace((unsigned char)*p))
            p++;
        if (p == end || !file || *p != '#')
            return p;
        while (p < end && *p != '\n')
            p++;
    }
}

/* Cut the next word off a text: blanks divide, quotes keep them, a '#' begins a comment in files,
 * where a backslash inside quotes takes the next character as it is.  False at the end. */
static bool next_quoted(const char **at, const char *end, bool file, char *word)
{
    const char *p = skip_blanks(*at, end, file);
    if (p == end)
        return false;
    size_t n = 0;
    char quote = 0;
    for (; p < end && (quote || !isspace((unsigned char)*p)); p++) {
        if (quote ? *p == quote : *p == '"' || *p == '\'') {
            if (quote)
                quote = 0;
            else
                quote = *p;
            continue;
        }
        if (file && quote && *p == '\\' && p + 1 < end)
            p++;
        if (n < WORD_MOST - 1)
            word[n++] = *p;
    }
    word[n] = 0;
    *at = p;
    return true;
}

static void take_file(struct command_line *c, const char *path)
{
    if (!c->read_file)
        return;
    struct buf text;
    buf_init(&text);
    if (c->read_file(c->ctx, path, &text) == 0) {
        char word[WORD_MOST];
        const char *at = buf_str(&text);
        const char *end = at + text.len;
        while (next_quoted(&at, end, true, word))
            take_word(c, word, true);
    }
    buf_fini(&text);
}

void command_line_take_command(struct command_line *c, const char *words, size_t n)
{
    const char *end = words + n;
    const char *at = memchr(words, 0, n);
    while (at && ++at < end) {
        char word[WORD_MOST];
        const char *nul = memchr(at, 0, (size_t)(end - at));
        size_t len = nul ? (size_t)(nul - at) : (size_t)(end - at);
        size_t copied = len < sizeof word ? len : sizeof word - 1;
        memcpy(word, at, copied);
        word[copied] = 0;
        take_word(c, word, false);
        at = nul;
    }
}

void command_line_take_environ(struct command_line *c, const char *env, size_t n,
                               const char *variable)
{
    size_t name = strlen(variable);
    const char *end = env + n;
    for (const char *at = env; at < end;) {
        const char *nul = memchr(at, 0, (size_t)(end - at));
        const char *stop = nul ? nul : end;
        if ((size_t)(stop - at) > name && at[name] == '=' && memcmp(at, variable, name) == 0) {
            char word[WORD_MOST];
            for (const char *value = at + name + 1; next_quoted(&value, stop, false, word);)
                take_switch(c, word);
            return;
        }
        at = stop + 1;
    }
}
