/* heap_view.h - a heap dump that is looked at, and the answers about it
 * (docs/reference/heap-protocol.md).
 *
 * A dump is read once, in steps; what a step has found never changes, and can be asked while the
 * next one is under way:
 *     HEAP_READING -> HEAP_COUNTED  classes, roots, problems        (heap/dump.h)
 *                  -> HEAP_SIZED    objects, retained sizes, tree   (heap/retained.h, children.h)
 *                  -> HEAP_READY    who refers to whom, paths       (heap/referrers.h)
 * Beside them it finds suspects and threads, what has grown since another dump, and, when somebody
 * asks for the first time, equal strings and collections: each once.
 *
 * Answers are appended to a buffer, whole; on failure nothing was appended.  Each is bounded in
 * size, whatever the dump holds.  Any thread.
 *
 * heap_view.c    a dump's life             heap_ask.c     a question's parameters
 * heap_json.c    answers by name, parts    heap_classes.c overview, classes, instances
 * heap_object.c  one object                heap_links.c   referrers, paths
 * heap_tree.c    the tree of dominators    heap_found.c   what is found beside the stages:
 * heap_suspects.c, heap_waste.c, heap_threads.c, heap_diff.c */
#ifndef ORCA_VIEW_HEAP_VIEW_H
#define ORCA_VIEW_HEAP_VIEW_H

#include "view/view.h"

struct heap_view;

enum heap_stage { HEAP_READING, HEAP_COUNTED, HEAP_SIZED, HEAP_READY };

/* Borrows nothing.  base: an earlier dump, for what has grown since, or NULL.  A file that is not a
 * heap dump is an error that names it. */
int heap_view_new(struct heap_view **out, const char *path, const char *base, struct err *err);

/* Without readers: before heap_view_start, or after heap_view_end. */
void heap_view_free(struct heap_view *h);

/* Read it in a thread of its own; `changed` is called when there is something new to report. */
int heap_view_start(struct heap_view *h, void (*changed)(void *ctx), void *ctx, struct err *err);

/* The same in the caller's thread, to the end, and all that may be asked for. */
void heap_view_read(struct heap_view *h);

/* True: the thread is at work, and its end is not awaited; the view must stay. */
bool heap_view_end(struct heap_view *h);

/* The file's name without its folder, and its absolute path. */
const char *heap_view_name(const struct heap_view *h);
const char *heap_view_path(const struct heap_view *h);

/* The answers by name: "overview", "classes", "instances", "object", "elements", "referrers",
 * "path", "tree", "icicle", "suspects", "threads", "thread", "strings", "collections", "diff".
 * Errors: -ENOENT (no such answer, object, class, thread), -EINVAL (a parameter), -EAGAIN (not
 * known yet), -EINPROGRESS (looked for from now on), -ENOMEM, -EIO (also: it cannot be found). */
int heap_view_json(struct heap_view *h, const char *answer, const struct view_question *q,
                   struct buf *out, struct err *err);

#endif
