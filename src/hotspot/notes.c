#include "hotspot/notes.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KIND_BITS = 8 };

static _Atomic(note_fn) readers[NOTE_KINDS];
static _Atomic(note_fd_fn) fd_reader;
static struct sigaction before; /* whose signal it was */

/* 24 bits with which no other value begins, the kind, the payload. */
static uint64_t value_of(uint32_t kind, uint32_t payload)
{
    static const uint64_t mark = UINT64_C(0x4f7263) << 40; /* "Orc" */
    return mark | (uint64_t)kind << 32 | payload;
}

union sigval note_value(enum note_kind kind, uint32_t payload)
{
    return (union sigval){.sival_ptr = (void *)(uintptr_t)value_of(kind, payload)};
}

static void pass_on(int signal, siginfo_t *info, void *ucontext)
{
    if (before.sa_flags & SA_SIGINFO) {
        if (before.sa_sigaction)
            before.sa_sigaction(signal, info, ucontext);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal);
    }
}

/* False: not ours. */
static bool read_note(const siginfo_t *info, const void *ucontext)
{
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    uint32_t kind = value >> 32 & ((1u << KIND_BITS) - 1);
    if (info->si_code > 0 && info->si_code != SI_KERNEL) {
        note_fd_fn of_fd = atomic_load_explicit(&fd_reader, memory_order_acquire);
        return of_fd && of_fd(info, ucontext);
    }
    bool sent = info->si_code == SI_QUEUE && info->si_pid == getpid();
    if ((!sent && info->si_code != SI_TIMER) || kind >= NOTE_KINDS ||
        value != value_of(kind, (uint32_t)value))
        return false;
    /* acquire: pairs with notes_open */
    note_fn reader = atomic_load_explicit(&readers[kind], memory_order_acquire);
    if (reader)
        reader((uint32_t)value, info, ucontext);
    /* While a sent one was on its way, the kernel may have dropped another sender's. */
    return info->si_code == SI_TIMER;
}

static void on_signal(int signal, siginfo_t *info, void *ucontext)
{
    int saved = errno;
    if (!read_note(info, ucontext))
        pass_on(signal, info, ucontext);
    errno = saved;
}

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static int put_up(void)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = on_signal;
    a.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&a.sa_mask);
    sigdelset(&a.sa_mask, SIGSEGV);
    sigdelset(&a.sa_mask, SIGBUS);
    if (sigaction(NOTES_SIGNAL, NULL, &before) < 0 || sigaction(NOTES_SIGNAL, &a, NULL) < 0)
        return -errno;
    return 0;
}

int notes_open(enum note_kind kind, note_fn reader, struct err *err)
{
    static bool open;
    pthread_mutex_lock(&opening);
    int rc = open ? 0 : put_up();
    open |= rc == 0;
    /* release: the reader's own state is complete */
    atomic_store_explicit(&readers[kind], reader, memory_order_release);
    pthread_mutex_unlock(&opening);
    return rc < 0 ? err_set(err, rc, "no handler for SIGURG: %s", strerror(-rc)) : 0;
}

void notes_open_fd(note_fd_fn reader)
{
    atomic_store_explicit(&fd_reader, reader, memory_order_release);
}

int note_send(uint32_t os_tid, enum note_kind kind, uint32_t payload)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = NOTES_SIGNAL;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value = note_value(kind, payload);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), os_tid, NOTES_SIGNAL, &info) < 0)
        return -errno;
    return 0;
}
