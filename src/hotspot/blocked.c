#include "hotspot/blocked.h"

#include "base/guarded.h"

enum {
    HAS_MONITOR = 2, /* markWord::monitor_value, the two low bits of a header */
    TAG_BITS = 3,
    WEAK = 1, /* JNIHandles::TypeTag */
};

uintptr_t blocked_monitor(const struct vm_layout *l, uintptr_t java_thread)
{
    uintptr_t monitor = 0;
    if (!java_thread || l->pending_monitor < 0 || l->waiting_monitor < 0)
        return 0;
    if (guarded_word(java_thread + (uintptr_t)l->pending_monitor, &monitor) && monitor)
        return monitor;
    return guarded_word(java_thread + (uintptr_t)l->waiting_monitor, &monitor) ? monitor : 0;
}

uintptr_t blocked_reference(const struct vm_layout *l, uintptr_t monitor)
{
    uintptr_t handle, word;
    bool read = l->monitor_object >= 0 && monitor &&
                guarded_word(monitor + (uintptr_t)l->monitor_object, &handle) && handle &&
                handle % sizeof handle == 0 && guarded_word(handle, &word) && word;
    return read ? handle | WEAK : 0;
}

uintptr_t blocked_of(const uintptr_t *local)
{
    uintptr_t object, header;
    bool read = guarded_word((uintptr_t)local, &object) && object && guarded_word(object, &header);
    return read && (header & TAG_BITS) == HAS_MONITOR ? header & ~(uintptr_t)TAG_BITS : 0;
}

bool blocked_is(uintptr_t monitor, const uintptr_t *local)
{
    return monitor && blocked_of(local) == monitor;
}
