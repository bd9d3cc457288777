/* What a client of the control socket sends: the agent's own way from bytes to a line, a verb, and
 * what the verb wants.  The first byte says in what pieces the rest arrives. */
#include "agent/request.h"
#include "agent/settings.h"
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* 0, or an error that says something in one line that is no longer than its room. */
static bool worked(int rc, const struct err *err)
{
    require(rc == 0 || (rc < 0 && err->msg[0] && strlen(err->msg) < sizeof err->msg));
    return rc == 0;
}

static void try_start(const char *options)
{
    struct settings s;
    struct err err = {""};
    char path[1024];
    if (worked(settings_parse(&s, options, false, &err), &err)) {
        require(s.groups[GROUP_meta] && s.depth <= DEPTH_MAX && s.file && *s.file);
        require(s.keep != 1 && (!s.every || s.every >= 1000000000));
        require(!(s.every || s.keep) || !settings_has_texts(&s));
        if (worked(settings_path(&s, path, sizeof path, &err), &err))
            require(path[0] == '/' && strlen(path) < sizeof path);
        settings_wants_class(&s, "Ljava/lang/Object;");
        settings_names_time(&s);
    }
    free(s.text);
}

static void try_groups(const char *text)
{
    bool groups[GROUP_LIMIT] = {false};
    struct err err = {""};
    if (worked(request_groups(text, groups, &err), &err))
        require(!groups[GROUP_meta]);
}

static void try_question(const char *text)
{
    struct request_question q;
    struct err err = {""};
    if (!worked(request_question(&q, text, &err), &err))
        return;
    require(q.subject < ASK_LIMIT && q.what >= text && q.what <= text + strlen(text));
    require((q.subject != ASK_monitor && !q.lock) || q.has_id);
    require(q.subject != ASK_refs || (q.depth >= 1 && q.depth <= REQUEST_DEPTH_MOST));
    require(q.has_id || q.id == 0);
}

static void try_heap(const char *text)
{
    struct request_heap h;
    struct err err = {""};
    if (worked(request_heap(&h, text, &err), &err))
        require(!h.dump || h.path[0] == '/');
}

static void try_line(char *line)
{
    struct request r;
    struct err err = {""};
    size_t len = strlen(line);
    if (!worked(request_parse(&r, line, &err), &err))
        return;
    require(r.verb < VERB_LIMIT && r.argument >= line && r.argument <= line + len);
    switch (r.verb) {
    case VERB_start:
        try_start(r.argument);
        break;
    case VERB_groups:
        try_groups(r.argument);
        break;
    case VERB_query:
        try_question(r.argument);
        break;
    case VERB_heap:
        try_heap(r.argument);
        break;
    case VERB_dump:
        if (worked(request_path(r.argument, &err), &err))
            require(r.argument[0] == '/');
        break;
    default:
        break;
    }
}

/* As control.c receives it; what comes behind the first line is nobody's. */
static void receive(struct request_line *l, const uint8_t *data, size_t size, size_t piece)
{
    while (size) {
        size_t n = size < piece ? size : piece, room = request_line_room(l);
        require(room > 0);
        n = n < room ? n : room;
        memcpy(request_line_end(l), data, n);
        data += n;
        size -= n;
        switch (request_line_grow(l, n)) {
        case REQUEST_WHOLE:
            try_line(l->text);
            return;
        case REQUEST_TOO_LONG:
            require(l->len == REQUEST_LINE_MAX);
            return;
        case REQUEST_UNFINISHED:
            break;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    /* On the heap, so that a byte beyond it is seen. */
    struct request_line *l = calloc(1, sizeof *l);
    require(l != NULL);
    receive(l, data + 1, size - 1, (size_t)data[0] + 1);
    free(l);
    return 0;
}
