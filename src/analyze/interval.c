#include "analyze/interval.h"

void intervals_init(struct intervals *out, struct interval_sinks sinks)
{
    out->sinks = sinks;
    out->n = 0;
    out->rc = 0;
}

void intervals_flush(struct intervals *out)
{
    for (size_t i = 0; i < out->sinks.n && out->n && out->rc == 0; i++)
        out->rc = out->sinks.v[i].take(out->sinks.v[i].self, out->v, out->n);
    out->n = 0;
}

const char *wait_state_name(unsigned state)
{
    static const char *const names[STATE_LIMIT + 1] = {WAIT_STATE_NAMES, "unknown", "running"};
    return names[state < STATE_LIMIT ? state : STATE_LIMIT];
}
