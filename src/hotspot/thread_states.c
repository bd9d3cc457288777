#include "hotspot/thread_states.h"

#include "base/util.h"

static const struct {
    const char *name;
    bool needed;
    uint32_t roles;
} states[] = {
    {"_thread_new", true, 1u << THREAD_FRESH},
    {"_thread_new_trans", false, 1u << THREAD_FRESH},
    {"_thread_in_native", true, 1u << THREAD_WALKABLE | 1u << THREAD_IN_NATIVE},
    {"_thread_in_native_trans", false, 1u << THREAD_WALKABLE},
    {"_thread_in_vm", true, 1u << THREAD_WALKABLE},
    {"_thread_in_vm_trans", false, 1u << THREAD_WALKABLE},
    {"_thread_in_Java", true, 1u << THREAD_WALKABLE | 1u << THREAD_IN_JAVA},
    {"_thread_in_Java_trans", false, 1u << THREAD_WALKABLE | 1u << THREAD_IN_JAVA},
    {"_thread_blocked", true, 1u << THREAD_WALKABLE | 1u << THREAD_BLOCKED},
    {"_thread_blocked_trans", false, 1u << THREAD_WALKABLE | 1u << THREAD_BLOCKED},
};

bool thread_states_read(struct thread_states *out, const struct vmstructs *vs)
{
    struct thread_states s = {0};
    uint32_t all = 1; /* 0: not initialised */
    *out = s;
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        int32_t number;
        if (!vmstructs_constant(vs, states[i].name, &number)) {
            if (states[i].needed)
                return false;
            continue;
        }
        if (number < 0 || number >= 32 || all >> number & 1)
            return false;
        all |= 1u << number;
        for (int role = 0; role < THREAD_ROLES; role++)
            s.with[role] |= (states[i].roles >> role & 1) << number;
    }
    *out = s;
    return true;
}
