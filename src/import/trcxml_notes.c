#include "import/trcxml_notes.h"

#include "base/human.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

/* The message of one case; damage: something in the file is not in the trace as it is. */
static const struct {
    const char *text;
    bool damage;
} texts[NOTE_LIMIT] = {
    [NOTE_NO_TIME] = {"an event without a time is left out: record with TIMESTAMPS=true", true},
    [NOTE_BAD_TIME] = {"a time that is not a number of seconds below 292 years: the event is left "
                       "out",
                       true},
    [NOTE_NO_THREAD] = {"an event that names no thread: the thread is unknown", false},
    [NOTE_NO_ID] = {"a definition without its id or name is left out", true},
    [NOTE_NO_OBJECT] = {"an event that names no object: the object is unknown", false},
    [NOTE_BAD_NUMBER] = {"an attribute that is not a number from 0 up: unknown", true},
    [NOTE_BAD_FRAME] = {"an orca.frame that is not class.method(source:line): an unknown frame",
                        true},
    [NOTE_DEEP_STACK] = {"a stack longer than a trace can hold: its outer frames are left out",
                         true},
    [NOTE_LONG_TEXT] = {"a text longer than a trace can hold is cut", true},
    [NOTE_STARTED_TWICE] = {"a threadStart of a thread that has not ended: counted as another "
                            "thread",
                            false},
};

void trcxml_notes_init(struct trcxml_notes *n, const struct xml_reader *reader)
{
    memset(n, 0, sizeof *n);
    n->reader = reader;
    n->part = "";
    digest_init(&n->foreign);
}

void trcxml_notes_fini(struct trcxml_notes *n)
{
    digest_fini(&n->foreign);
}

static void count(const struct trcxml_notes *n, struct trcxml_count *c)
{
    if (c->n++)
        return;
    struct xml_place at = xml_reader_place(n->reader);
    c->line = at.line;
    c->offset = at.offset;
    c->part = n->part;
}

void trcxml_note(struct trcxml_notes *n, enum trcxml_note what)
{
    count(n, &n->of[what]);
}

void trcxml_leave_out(struct trcxml_notes *n, const char *name)
{
    size_t i = 0;
    while (i < n->n_left_out && strncmp(n->left_out[i].name, name, NOTES_NAME_LEN - 1) != 0)
        i++;
    if (i == n->n_left_out && i < NOTES_NAMES) {
        snprintf(n->left_out[i].name, NOTES_NAME_LEN, "%s", name);
        n->n_left_out++;
    }
    count(n, &n->left_out[i].count);
}

int trcxml_note_foreign(struct trcxml_notes *n, const char *name, struct err *err)
{
    bool fresh;
    if (digest_get(&n->foreign, name, strlen(name), &fresh) == 0)
        return err_set(err, -ENOMEM, "%s: out of memory", n->reader->source.name);
    if (n->foreign.count <= NOTES_FOREIGN_MAX)
        return 0;
    return err_set(err, -EINVAL,
                   "more than %d different names that TPTP does not have: this is not a trace",
                   NOTES_FOREIGN_MAX);
}

/* --- telling ---------------------------------------------------------------------------------- */

/* "TraceContents-1.xml: line 3", the former in a ZIP only. */
static void put_place(const struct trcxml_count *c, char *out, size_t n)
{
    snprintf(out, n, "%.80s%sline %llu", c->part, *c->part ? ": " : "",
             (unsigned long long)c->line);
}

static void put_note(const struct trcxml_notes *n, enum trcxml_note what, struct intake *in)
{
    const struct trcxml_count *c = &n->of[what];
    char more[48] = "", place[NOTES_PLACE_LEN];
    if (c->n > 1)
        snprintf(more, sizeof more, " (%s such)", human_count(c->n).text);
    if (c->n == 0)
        return;
    put_place(c, place, sizeof place);
    intake_note(in, c->offset, texts[what].damage, "%s: %s%s", place, texts[what].text, more);
}

/* As many names as one problem has room for, from the i-th on; returns the one behind. */
static size_t put_left_out(const struct trcxml_notes *n, size_t i, struct intake *in)
{
    enum { ROOM = 80 }; /* of 200 */
    const struct trcxml_count *first = &n->left_out[i].count;
    char list[ROOM + NOTES_NAME_LEN + 32], place[NOTES_PLACE_LEN];
    size_t len = 0;
    for (; i <= n->n_left_out && n->left_out[i].count.n && len < ROOM; i++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s %s", len ? ", " : "",
                                human_count(n->left_out[i].count.n).text,
                                i < NOTES_NAMES ? n->left_out[i].name : "others");
    put_place(first, place, sizeof place);
    intake_note(in, first->offset, false, "%s: a trace has no place for %s", place, list);
    return i;
}

void trcxml_notes_put(const struct trcxml_notes *n, struct intake *in)
{
    for (size_t i = 0; i < NOTE_LIMIT; i++)
        put_note(n, (enum trcxml_note)i, in);
    for (size_t i = 0; i <= n->n_left_out && n->left_out[i].count.n;)
        i = put_left_out(n, i, in);
}
