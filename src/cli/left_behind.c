#include "cli/left_behind.h"

#include "attach/left_sockets.h"
#include "base/human.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct left_item *add(struct left_behind *l)
{
    struct left_item *v = realloc(l->v, (l->n + 1) * sizeof *v);
    l->oom |= !v;
    if (!v)
        return NULL;
    l->v = v;
    memset(&v[l->n], 0, sizeof *v);
    return &v[l->n++];
}

static void add_rings(void *ctx, const struct leftover *rings)
{
    struct left_behind *l = ctx;
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i].rings.path, rings->path) == 0)
            return;
    struct left_item *i = add(l);
    if (i)
        *i = (struct left_item){*rings, true};
}

static void add_socket(void *ctx, const char *path)
{
    struct left_item *i = add(ctx);
    if (i)
        snprintf(i->rings.path, sizeof i->rings.path, "%s", path);
}

int left_behind_add(struct left_behind *l, const struct leftover *rings)
{
    add_rings(l, rings);
    return l->oom ? -ENOMEM : 0;
}

static int by_path(const void *a, const void *b)
{
    const struct left_item *x = a, *y = b;
    if (x->is_rings != y->is_rings)
        return x->is_rings ? -1 : 1;
    return strcmp(x->rings.path, y->rings.path);
}

int left_behind_find(struct left_behind *l, const struct leftover_search *s, struct err *err)
{
    struct err ignored; /* no /dev/shm: then there are no rings in it */
    leftover_list(LEFTOVER_FOLDER, s, add_rings, l, &ignored);
    for (size_t i = 0; i < s->n; i++)
        TRY(leftover_list(s->folders[i], s, add_rings, l, err));
    left_sockets(false, add_socket, l);
    if (l->oom)
        return err_set(err, -ENOMEM, "out of memory");
    if (l->n)
        qsort(l->v, l->n, sizeof *l->v, by_path);
    return 0;
}

void left_behind_fini(struct left_behind *l)
{
    free(l->v);
    *l = (struct left_behind){.v = NULL};
}

bool left_behind_goes(const struct left_item *i)
{
    return !i->is_rings || i->rings.kind == LEFTOVER_COMPLETE || i->rings.kind == LEFTOVER_DELETED;
}

void left_behind_words(const struct left_item *i, struct buf *b)
{
    const struct leftover *r = &i->rings;
    if (!i->is_rings) {
        buf_puts(b, "a socket that no process listens to");
        return;
    }
    buf_printf(b, "%s, rings of ", human_bytes(r->bytes).text);
    buf_puts(b, r->trace[0] ? r->trace : "a trace");
    switch (r->kind) {
    case LEFTOVER_COMPLETE:
        buf_puts(b, ", which is complete");
        break;
    case LEFTOVER_DELETED:
        buf_puts(b, ", which was deleted");
        break;
    case LEFTOVER_NEEDED:
        buf_puts(b, ", which is incomplete; to complete it: orca info ");
        human_shell_word(b, r->trace);
        break;
    case LEFTOVER_UNKNOWN:
        buf_printf(b, ": %s; to remove them anyway: orca clean ", r->why);
        human_shell_word(b, r->path);
        break;
    }
}
