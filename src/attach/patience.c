#include "attach/patience.h"

#include "base/clock.h"
#include "base/util.h"

uint64_t patience_limit(const struct jvm *jvm, uint64_t limit_ns)
{
    return jvm->asker.limit_ns ? jvm->asker.limit_ns : limit_ns;
}

int patience_begin(struct patience *p, const struct jvm *jvm, uint64_t limit_ns, struct err *err)
{
    uint64_t now = clock_mono_ns();
    *p = (struct patience){.jvm = jvm, .limit = limit_ns, .began = now, .until = now + limit_ns};
    return jvm_check_running(jvm, err);
}

uint64_t patience_step(const struct patience *p)
{
    return min_u64(p->until, clock_mono_ns() + PATIENCE_STEP_NS);
}

void patience_tell(struct patience *p)
{
    if (p->told || !p->jvm->asker.waits || clock_mono_ns() - p->began < PATIENCE_SILENT_NS)
        return;
    p->told = true;
    p->jvm->asker.waits(p->jvm, p->limit);
}

int patience_look(struct patience *p, struct err *err)
{
    struct proc_status now;
    TRY(jvm_check(p->jvm, &now, err));
    TRY(jvm_check_running(p->jvm, err));
    if (clock_mono_ns() >= p->until)
        return -ETIMEDOUT;
    patience_tell(p);
    return 0;
}
