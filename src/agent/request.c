#include "agent/request.h"

#include "base/util.h"
#include "base/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum request_line_state request_line_grow(struct request_line *l, size_t n)
{
    char *end = memchr(l->text + l->len, '\n', n);
    l->len += n;
    if (end) {
        *end = 0;
        return REQUEST_WHOLE;
    }
    return l->len == REQUEST_LINE_MAX ? REQUEST_TOO_LONG : REQUEST_UNFINISHED;
}

/* The row of a table that is this word; its length when there is none. */
static size_t find_word(const char *const *names, size_t n, const char *word, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && memcmp(names[i], word, len) == 0)
            return i;
    return n;
}

int request_parse(struct request *r, char *line, struct err *err)
{
    static const char *const names[] = {
        [VERB_status] = "status", [VERB_start] = "start", [VERB_stop] = "stop",
        [VERB_groups] = "groups", [VERB_flush] = "flush", [VERB_dump] = "dump",
        [VERB_rotate] = "rotate", [VERB_query] = "query", [VERB_heap] = "heap",
        [VERB_leave] = "leave",
    };
    size_t len = strcspn(line, " "), verb = find_word(names, VERB_LIMIT, line, len);
    if (verb == VERB_LIMIT)
        return err_set(err, -EINVAL, "the agent (%s) does not know the request \"%.40s\"",
                       ORCA_VERSION, line);
    *r = (struct request){(enum request_verb)verb, line + len + (line[len] == ' ')};
    return 0;
}

/* Of the group's name that the text begins with; names may have a '-' themselves. */
static size_t group_length(const char *text)
{
    for (size_t i = 0; event_group_names[i]; i++) {
        size_t n = strlen(event_group_names[i]);
        if (strncmp(text, event_group_names[i], n) == 0 && (!text[n] || strchr("+-", text[n])))
            return n;
    }
    return strcspn(text, "+-");
}

int request_groups(const char *text, bool groups[GROUP_LIMIT], struct err *err)
{
    bool relative = *text == '+' || *text == '-';
    for (int g = 1; g < GROUP_LIMIT && !relative; g++)
        groups[g] = false;
    while (*text) {
        bool on = *text != '-';
        text += *text == '+' || *text == '-';
        size_t n = group_length(text);
        int g = event_group_find(text, n);
        if (g <= GROUP_meta)
            return err_set(err, -EINVAL, "\"%.*s\" is not a group of events",
                           (int)(n < 40 ? n : 40), text);
        groups[g] = on;
        text += n;
    }
    return 0;
}

int request_path(const char *text, struct err *err)
{
    return *text == '/' ? 0 : err_set(err, -EINVAL, "dump: the file's path must begin with '/'");
}

/* Digits, at the text's beginning; its end behind them. */
static bool take_number(const char **text, uint64_t *number)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(*text, &end, 10);
    if (**text < '0' || **text > '9' || errno)
        return false;
    *text = end;
    *number = v;
    return true;
}

/* Digits and nothing else. */
static bool take_id(const char *what, uint32_t *id)
{
    uint64_t v = 0;
    bool is = take_number(&what, &v) && !*what && v <= UINT32_MAX;
    *id = is ? (uint32_t)v : 0;
    return is;
}

int request_heap(struct request_heap *h, const char *text, struct err *err)
{
    *h = (struct request_heap){.full = strcmp(text, "live full") == 0};
    if (h->full || strcmp(text, "live") == 0)
        return 0;
    h->dump = strncmp(text, "dump ", 5) == 0;
    h->path = text + 5;
    if (h->dump && take_number(&h->path, &h->objects) && *h->path++ == ' ')
        return request_path(h->path, err);
    return err_set(err, -EINVAL, "heap: live, live full or dump OBJECTS PATH, not \"%.40s\"", text);
}

static bool take_object(struct request_question *q)
{
    static const char lock[] = "lock:";
    const char *at = q->what;
    if (strncmp(at, lock, sizeof lock - 1) == 0) {
        q->lock = true;
        q->has_id = take_id(at + sizeof lock - 1, &q->id);
        q->number = q->id;
        return q->has_id;
    }
    return take_number(&at, &q->number) && !*at;
}

static bool take_refs(struct request_question *q)
{
    uint64_t depth = 1;
    const char *at = q->what;
    bool is = take_number(&at, &q->number) &&
              (!*at || (*at++ == ' ' && take_number(&at, &depth) && !*at)) && depth >= 1 &&
              depth <= REQUEST_DEPTH_MOST;
    q->depth = (uint32_t)depth;
    return is;
}

int request_question(struct request_question *q, const char *text, struct err *err)
{
    static const char *const names[] = {
        [ASK_locks] = "locks",   [ASK_thread] = "thread", [ASK_monitor] = "monitor",
        [ASK_object] = "object", [ASK_refs] = "refs",     [ASK_class] = "class"};
    size_t len = strcspn(text, " "), subject = find_word(names, ASK_LIMIT, text, len);
    if (subject == ASK_LIMIT)
        return err_set(err, -EINVAL,
                       "query: locks, thread, monitor, object, refs or class, not \"%.40s\"", text);
    *q = (struct request_question){.subject = (enum request_subject)subject,
                                   .what = text + len + (text[len] == ' ')};
    q->has_id = take_id(q->what, &q->id);
    q->held = strcmp(q->what, "held") == 0;
    if (q->subject == ASK_locks && *q->what && !q->held)
        return err_set(err, -EINVAL, "query locks takes nothing, or \"held\"");
    if (q->subject == ASK_monitor && !q->has_id)
        return err_set(err, -EINVAL, "\"%.40s\" is not the id of a lock, as orca events shows it",
                       q->what);
    if (q->subject == ASK_object && !take_object(q))
        return err_set(err, -EINVAL,
                       "\"%.40s\" is neither the id of a lock nor the number of an object, as orca "
                       "events shows them",
                       q->what);
    if (q->subject == ASK_refs && !take_refs(q))
        return err_set(err, -EINVAL,
                       "\"%.40s\" is not the number of an object, as orca events shows it, and a "
                       "depth of 1 to %d",
                       q->what, REQUEST_DEPTH_MOST);
    return 0;
}
