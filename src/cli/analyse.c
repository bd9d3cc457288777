#include "cli/analyse.h"

#include "cli/progress.h"
#include "record/recover.h"

static void step(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
    struct progress *p = ctx;
    progress_phase(p, phase);
    progress_step(p, done, total);
}

int analyse(struct analysis **out, struct trace *t, struct err *err)
{
    struct progress p;
    progress_begin(&p, "reading");
    int rc = conclude_run_watched(out, t, &(struct analysis_watch){step, &p}, err);
    progress_end(&p);
    return rc;
}

enum report_ending analyse_ending(const struct trace *t, const char *path)
{
    switch (t->header.state) {
    case TRACE_CLOSED:
        return ENDED_CLOSED;
    case TRACE_RECOVERED:
        return ENDED_RECOVERED;
    case TRACE_STOPPED:
        return ENDED_STOPPED;
    case TRACE_TURNING:
        return recover_probe(path, NULL) == RECOVER_LIVE ? ENDED_LIVE : ENDED_CLOSED;
    default:
        return recover_probe(path, NULL) == RECOVER_LIVE ? ENDED_LIVE : ENDED_CUT;
    }
}
