/* report_json_io.c - recorded input and output by what was at the other end. */
#include "export/report_json_parts.h"

void json_put_io(struct json_out *o)
{
    const struct peer_sums *all = &o->r->io;
    json_begin_list(o, "io");
    for (size_t i = 0; i < report_rows(o->r, all->n); i++) {
        const struct peer_sum *s = &all->v[i];
        json_t *j = json_object();
        json_set_text(j, "what", io_kinds[s->what].name);
        json_set_peer(j, o->r, (lock_id){s->peer});
        json_set_count(j, "count", s->calls);
        json_set_count(j, "ns", s->ns);
        json_set_count(j, "max_ns", s->max);
        json_set_count(j, "threads", s->threads);
        json_entry(o, j);
    }
    json_end_list(o);
}
