#include "base/guarded.h"

#include "base/util.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#if !defined(__x86_64__)
#error "guarded loads are written for x86-64"
#endif

/* The table's ends, by the names that the linker gives them. */
extern const struct guarded_site sites_begin[] __asm__("__start_orca_guarded")
    __attribute__((visibility("hidden")));
extern const struct guarded_site sites_end[] __asm__("__stop_orca_guarded")
    __attribute__((visibility("hidden")));

static const int signals[] = {SIGSEGV, SIGBUS};
static struct sigaction before[ARRAY_LEN(signals)];
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t place(const int32_t *relative)
{
    return (uintptr_t)relative + (uintptr_t)(intptr_t)*relative;
}

static bool recover(ucontext_t *context)
{
    greg_t *pc = &context->uc_mcontext.gregs[REG_RIP];
    for (const struct guarded_site *s = sites_begin; s < sites_end; s++)
        if (place(&s->load) == (uintptr_t)*pc) {
            *pc = (greg_t)place(&s->otherwise);
            return true;
        }
    return false;
}

static void hand_on(const struct sigaction *to, int signal, siginfo_t *info, void *context)
{
    if (to->sa_flags & SA_SIGINFO) {
        to->sa_sigaction(signal, info, context);
    } else if (to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN) {
        to->sa_handler(signal);
    } else {
        /* Returning repeats the fault, which then has its default effect. */
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(signal, &plain, NULL);
    }
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (recover(context))
        return;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (signals[i] == signal)
            hand_on(&before[i], signal, info, context);
}

static int open_one(size_t i)
{
    static bool opened[ARRAY_LEN(signals)];
    if (opened[i])
        return 0; /* still in the chain, also behind later ones */
    if (sigaction(signals[i], NULL, &before[i]) != 0)
        return -errno;
    struct sigaction ours = before[i];
    ours.sa_sigaction = on_fault;
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_flags &= ~(int)SA_RESETHAND;
    if (sigaction(signals[i], &ours, NULL) != 0)
        return -errno;
    opened[i] = true;
    return 0;
}

int guarded_open(struct err *err)
{
    pthread_mutex_lock(&opening);
    int rc = 0;
    for (size_t i = 0; i < ARRAY_LEN(signals) && rc == 0; i++)
        rc = open_one(i);
    pthread_mutex_unlock(&opening);
    return rc < 0 ? err_set(err, rc, "cannot catch faults: %s", strerror(-rc)) : 0;
}
