/* trcxml.c - which element of TPTP's XML becomes which event. */
#include "import/trcxml.h"

#include "base/fdio.h"
#include "base/util.h"
#include "import/source.h"
#include "import/trcxml_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- attributes ------------------------------------------------------------------------------- */

int trcxml_keep(struct trcxml *x, enum trcxml_attr a, struct text *kept, struct err *err)
{
    const char *text = trcxml_text(x, a);
    return intake_keep(&x->in, (struct text){text, strlen(text)}, kept, err);
}

bool trcxml_time(struct trcxml *x, uint64_t *time)
{
    return trcxml_time_of(x, ATTR_time, time);
}

bool trcxml_time_of(struct trcxml *x, enum trcxml_attr a, uint64_t *time)
{
    const char *text = trcxml_text(x, a);
    struct line line = {.p = text, .end = text + strlen(text)};
    struct scan s = scan_begin("", &line, NULL);
    if (*text && scan_seconds(&s, time) == 0 && s.p == line.end)
        return true;
    trcxml_note(&x->notes, *text ? NOTE_BAD_TIME : NOTE_NO_TIME);
    return false;
}

int64_t trcxml_number(struct trcxml *x, enum trcxml_attr a, int64_t max, int64_t otherwise)
{
    const char *text = trcxml_text(x, a), *p = text;
    int64_t v = 0;
    if (!*text)
        return otherwise;
    for (; *p >= '0' && *p <= '9' && v <= (max - (*p - '0')) / 10; p++)
        v = v * 10 + (*p - '0');
    if (*p == 0)
        return v;
    trcxml_note(&x->notes, NOTE_BAD_NUMBER);
    return otherwise;
}

struct trcxml_id trcxml_id_of(const struct trcxml *x, enum trcxml_attr a, enum trcxml_attr b)
{
    return trcxml_id_read(x->a.v[a] ? x->a.v[a] : x->a.v[b]);
}

/* --- events ----------------------------------------------------------------------------------- */

static bool is_life(unsigned kind)
{
    return kind == EV_thread_start || kind == EV_thread_alive || kind == EV_thread_end;
}

int trcxml_put(struct trcxml *x, const struct event *e, struct err *err)
{
    struct trcxml_thread *s = trcxml_ids_state(&x->ids, e->thread);
    if (s && !is_life(e->kind))
        s->acted = true;
    return intake_event(&x->in, e, err);
}

/* What nearly all events begin with.  TPTP calls the thread threadIdRef or, in calls of methods,
 * threadId. */
int trcxml_begin_event(struct trcxml *x, struct err *err)
{
    struct event *e = &x->open.e;
    struct trcxml_id id = trcxml_id_of(x, ATTR_threadIdRef, ATTR_threadId);
    if (id.key == 0)
        id = trcxml_id_read(x->a.v[ATTR_transientThreadIdRef]);
    if (id.key == 0)
        trcxml_note(&x->notes, NOTE_NO_THREAD);
    x->open.object = trcxml_id_of(x, ATTR_objIdRef, ATTR_transientObjIdRef);
    return trcxml_ids_thread(&x->ids, id, &e->thread, err);
}

/* The same of what is about an object. */
static int begin_object_event(struct trcxml *x, struct err *err)
{
    TRY(trcxml_begin_event(x, err));
    if (x->open.object.key == 0)
        trcxml_note(&x->notes, NOTE_NO_OBJECT);
    return 0;
}

/* The stack of an element's frames, and its lock. */
static int take_stack(struct trcxml *x, stack_id *stack, struct err *err)
{
    return trcxml_stack_take(&x->frames, &x->open.stack, stack, err);
}

static int take_lock(struct trcxml *x, lock_id *lock, struct err *err)
{
    return trcxml_ids_lock(&x->ids, x->open.object, x->open.class_, lock, err);
}

static int put_open(struct trcxml *x, struct err *err)
{
    return x->open.drop ? 0 : trcxml_put(x, &x->open.e, err);
}

/* --- threads ---------------------------------------------------------------------------------- */

static int name_thread(struct trcxml *x, thread_id t, struct err *err)
{
    struct intake_thread *thread = intake_get_thread(&x->in, t);
    thread->undefined = x->ids.own && !x->a.v[ATTR_threadName];
    TRY(trcxml_keep(x, ATTR_threadName, &thread->name, err));
    TRY(trcxml_keep(x, ATTR_groupName, &thread->group, err));
    TRY(trcxml_keep(x, ATTR_parentName, &thread->parent_group, err));
    if (x->ids.own && x->open.object.key == 0)
        thread->flags |= THREAD_NATIVE;
    return 0;
}

static int begin_thread_start(struct trcxml *x, struct err *err)
{
    struct trcxml_id id = trcxml_id_of(x, ATTR_threadId, ATTR_threadIdRef);
    bool twice;
    if (id.key == 0)
        id = trcxml_id_read(x->a.v[ATTR_transientThreadId]);
    x->open.object = trcxml_id_of(x, ATTR_objIdRef, ATTR_transientObjIdRef);
    if (id.key == 0) {
        trcxml_note(&x->notes, NOTE_NO_ID);
        x->open.drop = true;
        return 0;
    }
    TRY(trcxml_ids_start(&x->ids, id, x->open.object, &x->open.e.thread, &twice, err));
    if (twice)
        trcxml_note(&x->notes, NOTE_STARTED_TWICE);
    return name_thread(x, x->open.e.thread, err);
}

static int end_thread_end(struct trcxml *x, struct err *err)
{
    struct trcxml_thread *s = trcxml_ids_state(&x->ids, x->open.e.thread);
    if (s) {
        s->ended = true;
        s->open = 0;
    }
    return put_open(x, err);
}

static int begin_thread_call(struct trcxml *x, struct err *err)
{
    thread_id target;
    const char *in = trcxml_text(x, ATTR_in);
    TRY(begin_object_event(x, err));
    TRY(trcxml_ids_thread_object(&x->ids, x->open.object, &target, err));
    x->open.in = strcmp(in, "none") == 0 ? 0 : event_kind_find(in, strlen(in));
    if (x->open.e.kind == EV_thread_start_called)
        x->open.e.thread_start_called.target = target;
    else
        x->open.e.interrupt.target = target;
    return 0;
}

static int end_call_start(struct trcxml *x, struct err *err)
{
    TRY(take_stack(x, &x->open.e.thread_start_called.stack, err));
    return put_open(x, err);
}

/* callInterrupt is only of a thread that waits: when it is in no wait of the file's, it is in what
 * TPTP has no events of.  Our own files also have those of others, and say what these were in. */
static int end_call_interrupt(struct trcxml *x, struct err *err)
{
    struct ev_interrupt *i = &x->open.e.interrupt;
    unsigned in = trcxml_wait_of(x, i->target);
    i->target_in = x->open.in >= 0 ? (uint16_t)x->open.in : in ? in : EV_park_enter;
    TRY(take_stack(x, &i->stack, err));
    return put_open(x, err);
}

static int end_thread_interrupted(struct trcxml *x, struct err *err)
{
    TRY(take_stack(x, &x->open.e.interrupted.stack, err));
    return put_open(x, err);
}

/* --- monitors --------------------------------------------------------------------------------- */

static int begin_contended_enter(struct trcxml *x, struct err *err)
{
    struct trcxml_id owner = trcxml_id_read(x->a.v[ATTR_threadOwner]);
    TRY(begin_object_event(x, err));
    return trcxml_ids_thread(&x->ids, owner, &x->open.e.monitor_contended_enter.owner, err);
}

/* What the owner executes is an event of its own. */
static int put_owner_stack(struct trcxml *x, const struct ev_monitor_contended_enter *m,
                           struct err *err)
{
    struct event e = {.kind = EV_owner_stack,
                      .thread = x->open.e.thread,
                      .time = x->open.e.time,
                      .owner_stack = {.lock = m->lock, .owner = m->owner}};
    TRY(trcxml_stack_take(&x->frames, &x->open.owner_stack, &e.owner_stack.stack, err));
    return e.owner_stack.stack.v && !x->open.drop ? trcxml_put(x, &e, err) : 0;
}

static int end_contended_enter(struct trcxml *x, struct err *err)
{
    struct ev_monitor_contended_enter *m = &x->open.e.monitor_contended_enter;
    if (x->open.found > 0)
        return trcxml_end_found(x, m->owner, err);
    TRY(take_stack(x, &m->stack, err));
    TRY(take_lock(x, &m->lock, err));
    TRY(put_open(x, err));
    return put_owner_stack(x, m, err);
}

static int begin_owner_stack(struct trcxml *x, struct err *err)
{
    struct trcxml_id owner = trcxml_id_read(x->a.v[ATTR_threadOwner]);
    TRY(trcxml_begin_event(x, err));
    return trcxml_ids_thread(&x->ids, owner, &x->open.e.owner_stack.owner, err);
}

static int end_owner_stack(struct trcxml *x, struct err *err)
{
    struct ev_owner_stack *s = &x->open.e.owner_stack;
    TRY(take_stack(x, &s->stack, err));
    TRY(take_lock(x, &s->lock, err));
    return put_open(x, err);
}

static int end_contended_entered(struct trcxml *x, struct err *err)
{
    TRY(take_lock(x, &x->open.e.monitor_contended_entered.lock, err));
    return put_open(x, err);
}

static int begin_call_notify(struct trcxml *x, struct err *err)
{
    const char *all = trcxml_text(x, ATTR_isNotifyAll);
    if (strcmp(all, "1") == 0 || strcmp(all, "true") == 0)
        x->open.e.kind = EV_notify_all;
    return begin_object_event(x, err);
}

static int end_call_notify(struct trcxml *x, struct err *err)
{
    struct event *e = &x->open.e; /* the two kinds have the same fields */
    TRY(take_stack(x, e->kind == EV_notify ? &e->notify.stack : &e->notify_all.stack, err));
    TRY(take_lock(x, e->kind == EV_notify ? &e->notify.lock : &e->notify_all.lock, err));
    return put_open(x, err);
}

static int begin_wait(struct trcxml *x, struct err *err)
{
    TRY(trcxml_begin_event(x, err));
    return trcxml_begin_wait(x, err);
}

static int begin_waited(struct trcxml *x, struct err *err)
{
    TRY(trcxml_begin_event(x, err));
    return trcxml_begin_waited(x, err);
}

static int end_gc_finish(struct trcxml *x, struct err *err)
{
    x->n_gc++;
    return put_open(x, err);
}

/* --- definitions ------------------------------------------------------------------------------ */

static int begin_class_def(struct trcxml *x, struct err *err)
{
    if (!*trcxml_text(x, ATTR_name)) {
        trcxml_note(&x->notes, NOTE_NO_ID);
        return 0;
    }
    return trcxml_define_class(&x->frames, trcxml_id_read(x->a.v[ATTR_classId]),
                               trcxml_text(x, ATTR_name), trcxml_text(x, ATTR_sourceName),
                               !x->ids.own, err);
}

static int begin_method_def(struct trcxml *x, struct err *err)
{
    enum { LAST_LINE = 9999999 };
    class_id class_ = trcxml_class_of(&x->frames, trcxml_id_read(x->a.v[ATTR_classIdRef]));
    int64_t line = trcxml_number(x, ATTR_startLineNumber, LAST_LINE, -1);
    if (!*trcxml_text(x, ATTR_name)) {
        trcxml_note(&x->notes, NOTE_NO_ID);
        return 0;
    }
    return trcxml_define_method(&x->frames, class_, trcxml_text(x, ATTR_name),
                                trcxml_text(x, ATTR_signature), (int32_t)line, err);
}

/* --- collections ------------------------------------------------------------------------------ */

static int begin_gc_finish(struct trcxml *x, struct err *err)
{
    UNUSED(err);
    struct ev_gc_finish *gc = &x->open.e.gc_finish;
    gc->used = (uint64_t)trcxml_number(x, ATTR_usedObjSpace, INT64_MAX, 0);
    gc->committed = (uint64_t)trcxml_number(x, ATTR_totalObjSpace, INT64_MAX, 0);
    return 0;
}

/* --- elements --------------------------------------------------------------------------------- */

static const struct trcxml_element elements[] = {
    {"TRACE", NULL, NULL, 0},
    {"node", trcxml_node, NULL, 0},
    {"processCreate", trcxml_process, NULL, 0},
    {"agentCreate", trcxml_agent, NULL, 0},
    {"agentDestroy", NULL, NULL, 0},
    {"traceStart", trcxml_trace_start, NULL, 0},
    {"traceEnd", trcxml_trace_end, NULL, 0},
    {"option", trcxml_option, NULL, 0},
    {"classDef", begin_class_def, NULL, 0},
    {"methodDef", begin_method_def, NULL, 0},
    {"objAlloc", trcxml_begin_obj_alloc, trcxml_end_obj_alloc, EV_object_alloc},
    {"objFree", trcxml_begin_obj_free, trcxml_end_obj_free, EV_object_free},
    {"methodEntry", trcxml_method_entry, NULL, 0},
    {"methodExit", trcxml_method_exit, NULL, 0},
    {"objDef", trcxml_obj_def, NULL, 0},
    {"threadStart", begin_thread_start, put_open, EV_thread_start},
    {"threadEnd", trcxml_begin_event, end_thread_end, EV_thread_end},
    {"callStart", begin_thread_call, end_call_start, EV_thread_start_called},
    {"callInterrupt", begin_thread_call, end_call_interrupt, EV_interrupt},
    {"threadInterrupted", trcxml_begin_event, end_thread_interrupted, EV_interrupted},
    {"monContendedEnter", begin_contended_enter, end_contended_enter, EV_monitor_contended_enter},
    {"monContendedEntered", begin_object_event, end_contended_entered,
     EV_monitor_contended_entered},
    {"monWait", begin_wait, trcxml_end_wait, EV_wait_enter},
    {"monWaited", begin_waited, trcxml_end_waited, EV_wait_exit},
    {"ownerStack", begin_owner_stack, end_owner_stack, EV_owner_stack},
    {"waitOpen", trcxml_begin_wait_open, trcxml_end_wait_open, EV_wait_open},
    {"callNotify", begin_call_notify, end_call_notify, EV_notify},
    {"gcStart", NULL, put_open, EV_gc_start},
    {"gcFinish", begin_gc_finish, end_gc_finish, EV_gc_finish},
};

static void init_words(struct trcxml *x)
{
    for (size_t i = 0; i < ARRAY_LEN(elements); i++)
        x->names[i] = elements[i].name;
    words_init(&x->elements, x->names, ARRAY_LEN(elements));
    words_init(&x->attrs, trcxml_attr_names, ATTR_LIMIT);
}

/* --- annotations ------------------------------------------------------------------------------ */

static int take_frame(struct trcxml *x, struct trcxml_stack *s, struct err *err)
{
    bool was_cut = s->truncated;
    int known = trcxml_stack_add(&x->frames, s, trcxml_text(x, ATTR_value), err);
    if (known == 0)
        trcxml_note(&x->notes, NOTE_BAD_FRAME);
    if (s->truncated && !was_cut)
        trcxml_note(&x->notes, NOTE_DEEP_STACK);
    return known < 0 ? known : 0;
}

static void add_flag(struct trcxml *x, uint32_t flag)
{
    struct intake_thread *t = intake_get_thread(&x->in, x->open.e.thread);
    if (t)
        t->flags |= flag;
}

static int take_annotation(struct trcxml *x, struct err *err)
{
    const char *name = trcxml_text(x, ATTR_name), *value = trcxml_text(x, ATTR_value);
    struct trcxml_open *o = &x->open;
    if (strcmp(name, "orca.frame") == 0)
        return take_frame(x, &o->stack, err);
    if (strcmp(name, "orca.ownerFrame") == 0)
        return take_frame(x, &o->owner_stack, err);
    if (strcmp(name, "orca.class") == 0)
        return trcxml_class(&x->frames, value, "", &o->class_, err);
    if (strcmp(name, "orca.weight") == 0 && o->e.kind == EV_object_alloc) {
        o->weight = (uint64_t)trcxml_number(x, ATTR_value, INT64_MAX, 0);
    } else if (strcmp(name, "orca.found") == 0) {
        o->found = event_kind_find(value, strlen(value));
    } else if (strcmp(name, "orca.truncated") == 0) {
        o->stack.truncated = true;
    } else if (strcmp(name, "orca.alive") == 0 && o->e.kind == EV_thread_start) {
        o->e.kind = EV_thread_alive;
    } else if (strcmp(name, "orca.virtual") == 0 && o->element->kind == EV_thread_start) {
        add_flag(x, THREAD_VIRTUAL);
    } else if (strcmp(name, "orca.daemon") == 0 && o->element->kind == EV_thread_start) {
        add_flag(x, THREAD_DAEMON);
    } else {
        trcxml_leave_out(&x->notes, "annotation");
    }
    return 0;
}

/* --- what the reader finds -------------------------------------------------------------------- */

/* Cut a text that is too long, where a character ends.  x->cut has room for it. */
static void cut_text(struct trcxml *x, const char **text)
{
    size_t n = TRCXML_TEXT_MAX;
    if (strlen(*text) <= n)
        return;
    while (n && ((*text)[n] & 0xc0) == 0x80)
        n--;
    const char *cut = (const char *)x->cut.p + x->cut.len;
    buf_put(&x->cut, *text, n);
    buf_putc(&x->cut, 0);
    *text = cut;
    trcxml_note(&x->notes, NOTE_LONG_TEXT);
}

static int take_attrs(struct trcxml *x, const char *const *attrs, struct err *err)
{
    bool is_long = x->reader.tag_len > TRCXML_TEXT_MAX;
    memset(&x->a, 0, sizeof x->a);
    buf_clear(&x->cut);
    if (is_long && !buf_reserve(&x->cut, 2 * x->reader.tag_len)) /* UTF-16 may need more */
        return err_set(err, -ENOMEM, "%s: out of memory", x->in.name);
    for (; *attrs; attrs += 2) {
        int a = words_find(&x->attrs, attrs[0]);
        if (a < 0) {
            TRY(trcxml_note_foreign(&x->notes, attrs[0], err));
            continue;
        }
        x->a.v[a] = attrs[1];
        if (is_long)
            cut_text(x, &x->a.v[a]);
    }
    return 0;
}

static int begin_element(struct trcxml *x, const struct trcxml_element *element, struct err *err)
{
    struct trcxml_open *o = &x->open;
    x->n_known++;
    if (!element->end)
        return element->begin ? element->begin(x, err) : 0;
    o->element = element;
    o->depth = 0;
    memset(&o->e, 0, sizeof o->e);
    o->e.kind = element->kind;
    o->drop = !trcxml_time(x, &o->e.time);
    o->object = (struct trcxml_id){0};
    o->class_.v = 0;
    o->weight = 0;
    o->timed_out = -1;
    o->found = 0;
    o->is_sleep = false;
    trcxml_stack_clear(&o->stack);
    trcxml_stack_clear(&o->owner_stack);
    return element->begin ? element->begin(x, err) : 0;
}

/* What an element says can be in order and still not fit into a trace: then the element is to
 * blame. */
static int blame(const struct trcxml *x, int rc, struct err *err)
{
    if (rc != -EINVAL)
        return rc;
    return err_prefix(err, rc, "%s: line %llu", x->in.name,
                      (unsigned long long)xml_reader_place(&x->reader).line);
}

static int begin(struct trcxml *x, const char *name, const char *const *attrs, struct err *err)
{
    TRY(take_attrs(x, attrs, err));
    bool inside = x->open.element;
    x->open.depth += inside;
    if (inside && x->open.depth == 1 && strcmp(name, "annotation") == 0)
        return take_annotation(x, err);
    int i = inside ? -1 : words_find(&x->elements, name);
    if (i >= 0)
        return begin_element(x, &elements[i], err);
    trcxml_leave_out(&x->notes, name);
    return trcxml_note_foreign(&x->notes, name, err);
}

static int on_begin(void *ctx, const char *name, const char *const *attrs, struct err *err)
{
    return blame(ctx, begin(ctx, name, attrs, err), err);
}

static int on_end(void *ctx, struct err *err)
{
    struct trcxml *x = ctx;
    struct trcxml_open *o = &x->open;
    if (!o->element)
        return 0;
    if (o->depth > 0) {
        o->depth--;
        return 0;
    }
    const struct trcxml_element *element = o->element;
    o->element = NULL;
    return blame(x, element->end(x, err), err);
}

/* --- a text ----------------------------------------------------------------------------------- */

static int check_content(struct trcxml *x, struct err *err)
{
    bool is_other = x->notes.n_left_out || !x->reader.is_markup;
    if (x->n_known || x->reader.cut || !is_other)
        return 0;
    return err_set(err, -EINVAL, "%s: it has no element of a TPTP trace: not a .trcxml file",
                   x->in.name);
}

/* How the text ends that was just read.  A part of a ZIP is known to be whole: Eclipse does not
 * close the root. */
static void note_end(struct trcxml *x)
{
    struct xml_place at = xml_reader_place(&x->reader);
    const char *part = x->notes.part;
    if (x->reader.cut && (!*part || x->reader.depth > 1 || x->open.element))
        intake_note(
            &x->in, at.offset, false,
            "%.80s%sline %llu: the file ends before its elements do: it was truncated, or is "
            "still being written%s",
            part, *part ? ": " : "", (unsigned long long)at.line,
            x->open.element ? "; the last one is left out" : "");
    x->open.element = NULL;
}

static struct xml_sink sink_of(struct trcxml *x)
{
    return (struct xml_sink){on_begin, on_end, x};
}

static int read_text(struct trcxml *x, const struct text_source *source,
                     const struct import_watch *watch, struct err *err)
{
    struct xml_sink sink = sink_of(x);
    TRY(xml_reader_open(&x->reader, source, &sink, err));
    TRY(xml_reader_run(&x->reader, watch, err));
    TRY(check_content(x, err));
    note_end(x);
    return 0;
}

/* --- parts of a ZIP --------------------------------------------------------------------------- */

static bool is_part(const struct unzip_entry *e)
{
    return source_ends_with(e->name, ".xml") || source_ends_with(e->name, ".trcxml");
}

static ssize_t read_part(void *ctx, void *p, size_t n, struct err *err)
{
    return unzip_read(ctx, p, n, err);
}

static int read_one_part(struct trcxml *x, size_t i, const struct import_watch *watch,
                         struct err *err)
{
    const struct unzip_entry *e = unzip_entry(x->zip, i);
    struct xml_sink sink = sink_of(x);
    struct xml_feed feed = {read_part, x->zip, e->size};
    char name[512];
    snprintf(name, sizeof name, "%s: %s", x->in.name, e->name);
    TRY(unzip_begin(x->zip, i, err));
    xml_reader_close(&x->reader);
    TRY(xml_reader_open_feed(&x->reader, name, &feed, &sink, err));
    x->notes.part = e->name;
    TRY(xml_reader_run(&x->reader, watch, err));
    note_end(x);
    x->reader.source.name = x->in.name; /* its own ends here */
    return 0;
}

/* Eclipse's export: a ZIP with TraceContents-*.xml inside, one for each recording. */
static int read_zip(struct trcxml *x, const struct text_source *source,
                    const struct import_watch *watch, struct err *err)
{
    size_t n = 0;
    TRY(unzip_open(&x->zip, source->fd, source->name, err));
    for (size_t i = 0; i < unzip_count(x->zip); i++) {
        if (!is_part(unzip_entry(x->zip, i)))
            continue;
        TRY(read_one_part(x, i, watch, err));
        n++;
    }
    if (n && x->n_known)
        return 0;
    return err_set(err, -EINVAL,
                   "%s: a ZIP without a TraceContents-*.xml of TPTP's: not a .trcxml file",
                   source->name);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int finish(struct trcxml *x, struct err *err)
{
    trcxml_tell_threads(x);
    TRY(trcxml_frames_finish(&x->frames, err));
    TRY(trcxml_head_finish(x, err));
    trcxml_notes_put(&x->notes, &x->in);
    if (x->ids.unstarted)
        intake_note(&x->in, 0, false,
                    "threads without a threadStart, which have a number and no name: %llu",
                    (unsigned long long)x->ids.unstarted);
    return 0;
}

static void fini(struct trcxml *x)
{
    xml_reader_close(&x->reader);
    unzip_close(x->zip);
    trcxml_ids_fini(&x->ids);
    trcxml_frames_fini(&x->frames);
    trcxml_notes_fini(&x->notes);
    buf_fini(&x->open.stack.packed);
    buf_fini(&x->open.owner_stack.packed);
    buf_fini(&x->cut);
    intake_fini(&x->in);
    free(x);
}

typedef int reading(struct trcxml *x, const struct text_source *source,
                    const struct import_watch *watch, struct err *err);

static int import_by(reading *read, struct trace **out, const struct text_source *source,
                     const struct import_watch *watch, struct err *err)
{
    *out = NULL;
    struct trcxml *x = calloc(1, sizeof *x);
    if (!x)
        return err_set(err, -ENOMEM, "%s: out of memory", source->name);
    int rc = intake_init(&x->in, source->name, err);
    if (rc < 0) {
        free(x);
        return rc;
    }
    trcxml_ids_init(&x->ids, &x->in);
    trcxml_frames_init(&x->frames, &x->in);
    trcxml_notes_init(&x->notes, &x->reader);
    init_words(x);
    rc = read(x, source, watch, err);
    if (rc == 0)
        rc = finish(x, err);
    if (rc == 0)
        rc = intake_open(&x->in, out, err);
    fini(x);
    return rc;
}

int import_trcxml_from(struct trace **out, const struct text_source *source,
                       const struct import_watch *watch, struct err *err)
{
    return import_by(read_text, out, source, watch, err);
}

/* The first bytes of a ZIP are not text. */
static bool is_zip(const struct text_source *source)
{
    char head[4];
    ssize_t n = fdio_pread_some(source->fd, head, sizeof head, 0);
    return n > 0 && unzip_is(head, (size_t)n);
}

int import_trcxml_watched(struct trace **out, const char *path, const struct import_watch *watch,
                          struct err *err)
{
    struct text_source source;
    *out = NULL;
    TRY(source_open(&source, path, err));
    int rc = source_refuse_foreign(&source, SOURCE_XML, err);
    if (rc == 0)
        rc = import_by(is_zip(&source) ? read_zip : read_text, out, &source, watch, err);
    source_close(&source);
    return rc;
}

bool import_trcxml_wants(const char *path)
{
    char head[sizeof FILE_MAGIC];
    source_head(path, head, sizeof head);
    const char *p = strncmp(head, "\xef\xbb\xbf", 3) == 0 ? head + 3 : head;
    if (strcmp(head, FILE_MAGIC) == 0)
        return false;
    return p[strspn(p, " \t\r\n")] == '<' || unzip_is(head, strlen(head)) ||
           source_ends_with(path, ".trcxml");
}
