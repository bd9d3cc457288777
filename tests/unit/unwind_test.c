/* Unwinding against what is known otherwise: glibc's backtrace(), and a shadow stack kept by
 * single-stepping. */
#include "base/guarded.h"
#include "base/util.h"
#include "unwind/unwind_x86_64.h"

#include <alloca.h>
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { DEEP = 512 };

struct chain {
    uintptr_t pcs[DEEP];
    int n, links;
    enum unwind_result end;
};

static struct unwinder *unwinder;
static volatile unsigned sink;
static int (*backtrace_of_libc)(void **, int); /* a sanitizer's own has a frame more */

static void setup(void)
{
    struct err err;
    void *pcs[4];
    cr_assert_eq(guarded_open(&err), 0);
    cr_assert_eq(unwinder_new(&unwinder, &err), 0, "%s", err.msg);
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    *(void **)&backtrace_of_libc = libc ? dlsym(libc, "backtrace") : NULL;
    if (!backtrace_of_libc)
        cr_skip("no backtrace() in this libc");
    backtrace_of_libc(pcs, 4); /* loads libgcc */
    libraries_refresh(unwinder_libraries(unwinder), NULL);
}

static void take_chain(const void *context, bool uncached, struct chain *c)
{
    struct unwind_frame f;
    unwind_context(context, &f);
    c->n = c->links = 0;
    do {
        c->links += f.by_link;
        c->pcs[c->n++] = f.registers.value[UNWIND_PC];
        c->end = unwind_step(unwinder, UINTPTR_MAX, uncached, &f);
    } while (c->end == UNWIND_CALLER && c->n < DEEP);
}

/* The chain of this place is backtrace()'s, whose first is in the same function; cached, too. */
#define CHECK_HERE()                                                                               \
    do {                                                                                           \
        void *truth_[DEEP];                                                                        \
        ucontext_t here_;                                                                          \
        int n_ = backtrace_of_libc(truth_, DEEP);                                                  \
        getcontext(&here_);                                                                        \
        check_chain(&here_, truth_ + 1, n_ - 1);                                                   \
    } while (0)

static void check_chain(const ucontext_t *context, void *const *truth, int n)
{
    for (int way = 0; way < 3; way++) { /* uncached; decoded or remembered; remembered */
        struct chain c;
        take_chain(context, way == 0, &c);
        cr_assert_eq(c.n - 1, n, "%d frames instead of %d", c.n - 1, n);
        for (int i = 0; i < n; i++)
            cr_assert_eq(c.pcs[i + 1], (uintptr_t)truth[i], "frame %d", i + 1);
        cr_assert_eq(c.end, UNWIND_END);
    }
}

/* --- against backtrace() ---------------------------------------------------------------------- */

__attribute__((noinline)) static unsigned plain(unsigned n)
{
    if (n == 0)
        CHECK_HERE();
    else
        sink += plain(n - 1);
    return sink + n;
}

/* A frame whose size is not known hangs on rbp. */
__attribute__((noinline)) static unsigned with_alloca(unsigned n)
{
    volatile char *room = alloca((size_t)n * 24 + 8);
    room[0] = (char)n;
    if (n == 0)
        CHECK_HERE();
    else
        sink += with_alloca(n - 1) + plain(n % 3 + 1);
    return sink + (unsigned)room[0];
}

/* One whose variables are aligned hangs on a register that is not rsp. */
__attribute__((noinline)) static unsigned aligned(unsigned n)
{
    _Alignas(64) volatile char room[128];
    volatile char *more = alloca((size_t)n * 16 + 16);
    room[0] = more[0] = (char)n;
    if (n == 0)
        CHECK_HERE();
    else
        sink += aligned(n - 1);
    return sink + (unsigned)room[0] + (unsigned)more[0];
}

static int compare(const void *a, const void *b)
{
    static int asked;
    if (asked++ == 0)
        CHECK_HERE();
    return *(const int *)a - *(const int *)b;
}

Test(unwind, agrees_with_backtrace, .init = setup)
{
    int numbers[] = {3, 1, 2, 5, 4};
    plain(0);
    plain(100);
    with_alloca(20);
    aligned(8);
    qsort(numbers, ARRAY_LEN(numbers), sizeof numbers[0], compare); /* through libc */
}

static void *thread_main(void *arg)
{
    plain(3);
    return arg;
}

Test(unwind, ends_where_a_thread_begins, .init = setup)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, thread_main, NULL), 0);
    pthread_join(thread, NULL);
}

/* --- signals on top of signals ---------------------------------------------------------------- */

static struct chain of_signal;
static void *truth_of_signal[DEEP];
static int n_truth;

static void on_second(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    n_truth = backtrace_of_libc(truth_of_signal, DEEP);
    take_chain(context, false, &of_signal);
}

static void on_first(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    sink = (unsigned)number;
    raise(SIGUSR2);
    sink++;
}

/* A fault in a function's first instruction: a byte before is another function. */
__asm__(".text\n"
        ".type before_it, @function\n"
        "before_it:\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa_offset 4096\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size before_it, . - before_it\n"
        ".type faulting, @function\n"
        "faulting:\n"
        ".cfi_startproc\n"
        "mov %eax, (%rdi)\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size faulting, . - faulting\n");

void faulting(int *at);

static void on_fault(int number, siginfo_t *info, void *context)
{
    on_first(number, info, context);
    mprotect((void *)((uintptr_t)info->si_addr & ~0xfffUL), 4096, PROT_READ | PROT_WRITE);
}

static void skip_where_signals_are_put_off(void)
{
#ifdef __SANITIZE_THREAD__
    cr_skip("ThreadSanitizer puts signals off, and calls handlers itself");
#endif
}

static void check_signal(void)
{
    enum { HANDLER_AND_TRAMPOLINE = 2 };
    cr_assert_eq(of_signal.n, n_truth - HANDLER_AND_TRAMPOLINE);
    for (int i = 0; i < of_signal.n; i++)
        cr_assert_eq(of_signal.pcs[i], (uintptr_t)truth_of_signal[i + HANDLER_AND_TRAMPOLINE],
                     "frame %d", i);
    cr_assert_eq(of_signal.end, UNWIND_END);
}

static void set_handler(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(number, &a, NULL);
}

Test(unwind, passes_signals, .init = setup)
{
    skip_where_signals_are_put_off();
    set_handler(SIGUSR1, on_first);
    set_handler(SIGUSR2, on_second);
    raise(SIGUSR1);
    check_signal();
    set_handler(SIGSEGV, on_fault);
    int *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    faulting(page + 7);
    check_signal();
}

/* --- code that no table knows ----------------------------------------------------------------- */

static struct chain of_callback;

static void callback(void)
{
    ucontext_t here;
    getcontext(&here);
    take_chain(&here, false, &of_callback);
}

/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
static const uint8_t linked_code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

Test(unwind, follows_links_where_there_is_no_table, .init = setup)
{
    void *truth[DEEP];
    uint8_t *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(page, MAP_FAILED);
    memcpy(page, linked_code, sizeof linked_code);
    int n = backtrace_of_libc(truth, DEEP);
    union {
        uint8_t *data;
        void (*call)(void (*)(void));
    } in_page = {page};
    in_page.call(callback);
    cr_assert_eq(of_callback.pcs[1], (uintptr_t)page + 6);
    cr_assert_eq(of_callback.links, 1);
    cr_assert_eq(of_callback.n, n + 2);
    for (int i = 1; i < n; i++)
        cr_assert_eq(of_callback.pcs[i + 2], (uintptr_t)truth[i], "frame %d", i + 2);
    cr_assert(libraries_missing(unwinder_libraries(unwinder)));
}

/* --- at every instruction ------------------------------------------------------------------------
 * The processor traps after each one.  A call is seen by what it pushes, a return by rsp: so the
 * shadow stack is true whatever the code is. */

static struct {
    struct {
        uintptr_t at, value; /* of the return address */
    } stack[DEEP];
    int depth;
    uintptr_t last_pc, last_sp;
    uintptr_t outer[DEEP]; /* of the function that began */
    int n_outer;
    volatile bool ending; /* what follows moves rsp and says nothing of it */
    long checked, wrong;
    char first_wrong[400];
    struct chain chain;
} shadow;

static void follow(uintptr_t pc, uintptr_t sp)
{
    enum { CALL_MAX = 8, INSTRUCTION_MAX = 15 };
    uintptr_t top = 0;
    guarded_word(sp, &top);
    while (shadow.depth > 0 && sp > shadow.stack[shadow.depth - 1].at)
        shadow.depth--;
    bool called = sp == shadow.last_sp - sizeof top && top > shadow.last_pc &&
                  top - shadow.last_pc <= CALL_MAX && pc - shadow.last_pc > INSTRUCTION_MAX;
    if (called && shadow.depth < DEEP) {
        shadow.stack[shadow.depth].at = sp;
        shadow.stack[shadow.depth++].value = top;
    }
    shadow.last_pc = pc;
    shadow.last_sp = sp;
}

static bool is_right(const struct chain *c)
{
    if (c->n != 1 + shadow.depth + shadow.n_outer || c->end != UNWIND_END)
        return false;
    for (int i = 0; i < shadow.depth; i++)
        if (c->pcs[1 + i] != shadow.stack[shadow.depth - 1 - i].value)
            return false;
    return memcmp(c->pcs + 1 + shadow.depth, shadow.outer,
                  (size_t)shadow.n_outer * sizeof shadow.outer[0]) == 0;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    const greg_t *g = ((const ucontext_t *)context)->uc_mcontext.gregs;
    follow((uintptr_t)g[REG_RIP], (uintptr_t)g[REG_RSP]);
    if (shadow.ending)
        return;
    take_chain(context, false, &shadow.chain);
    shadow.checked++;
    if (is_right(&shadow.chain))
        return;
    if (shadow.wrong++ == 0)
        snprintf(shadow.first_wrong, sizeof shadow.first_wrong,
                 "pc %llx rsp %llx: %d frames, end %d; shadow %d + %d, its top %lx", g[REG_RIP],
                 g[REG_RSP], shadow.chain.n, (int)shadow.chain.end, shadow.depth, shadow.n_outer,
                 shadow.depth > 0 ? shadow.stack[shadow.depth - 1].value : 0);
}

static void begin_steps(void)
{
    enum { TRAP = 0x100 };
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\t"
                     "lea 128(%%rsp), %%rsp" ::"i"(TRAP)
                     : "cc", "memory");
}

static void end_steps(void)
{
    enum { NO_TRAP = ~0x100 };
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\t"
                     "lea 128(%%rsp), %%rsp" ::"i"(NO_TRAP)
                     : "cc", "memory");
}

__attribute__((noinline)) static void step_through(void (*what)(void))
{
    void *truth[DEEP];
    memset(&shadow, 0, sizeof shadow);
    shadow.n_outer = backtrace_of_libc(truth, DEEP) - 1;
    memcpy(shadow.outer, truth + 1, (size_t)shadow.n_outer * sizeof truth[0]);
    set_handler(SIGTRAP, on_trap);
    begin_steps();
    what();
    shadow.ending = true;
    end_steps();
    cr_assert_eq(shadow.wrong, 0, "%ld of %ld; the first: %s", shadow.wrong, shadow.checked,
                 shadow.first_wrong);
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void through_libc(void)
{
    char text[200];
    int numbers[40];
    struct timespec now;
    for (int i = 0; i < 40; i++)
        numbers[i] = (i * 7919) % 41;
    qsort(numbers, ARRAY_LEN(numbers), sizeof numbers[0], by_value);
    snprintf(text, sizeof text, "%s %d %-20.3f %lx", "text", numbers[3], 3.14159, 255UL);
    sink += (unsigned)strtol(text + 5, NULL, 10) + (unsigned)strlen(text);
    char *more = malloc(10000);
    memset(more, 1, 10000);
    free(more);
    clock_gettime(CLOCK_MONOTONIC, &now);
    sink += (unsigned)now.tv_nsec;
    sink += dlsym(RTLD_DEFAULT, "getenv") != NULL;
}

__attribute__((noinline)) static unsigned quiet_alloca(unsigned n)
{
    volatile char *room = alloca((size_t)n * 24 + 8);
    _Alignas(64) volatile char table[64];
    room[0] = table[0] = (char)n;
    return n == 0 ? (unsigned)room[0] : quiet_alloca(n - 1) + (unsigned)table[0];
}

static void through_own(void)
{
    sink += quiet_alloca(10);
}

/* Written so that nothing but the tables tells: no frame of a usual form. */
__asm__(".text\n"
        ".type odd_frames, @function\n"
        "odd_frames:\n"
        ".cfi_startproc\n"
        "push %rbx\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbx, -16\n"
        "mov %rsp, %rbx\n"
        ".cfi_def_cfa_register %rbx\n"
        "sub $200, %rsp\n"
        "and $-64, %rsp\n"
        "xor %ebp, %ebp\n" /* rbp is not a link; the caller's is not kept: see odd_caller */
        "call odd_leaf\n"
        "mov %rbx, %rsp\n"
        ".cfi_def_cfa_register %rsp\n"
        ".cfi_remember_state\n"
        "test %eax, %eax\n"
        "jz 1f\n"
        "pop %rbx\n"
        ".cfi_restore %rbx\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        "1:\n"
        ".cfi_restore_state\n"
        "mov $1, %eax\n"
        "pop %rbx\n"
        ".cfi_restore %rbx\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size odd_frames, . - odd_frames\n"
        ".type odd_leaf, @function\n"
        "odd_leaf:\n"
        ".cfi_startproc\n"
        "mov %rbx, -16(%rsp)\n" /* in the red zone */
        ".cfi_offset %rbx, -24\n"
        "xor %ebx, %ebx\n"
        "mov $0, %eax\n"
        "mov -16(%rsp), %rbx\n"
        ".cfi_restore %rbx\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size odd_leaf, . - odd_leaf\n"
        ".type odd_caller, @function\n"
        "odd_caller:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "call odd_frames\n"
        "pop %rbp\n"
        ".cfi_restore %rbp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size odd_caller, . - odd_caller\n");

/* As assembler often is: no table, no frame. */
__asm__(".text\n"
        ".type tableless_leaf, @function\n"
        "tableless_leaf:\n"
        "mov $3, %eax\n"
        "1:\n"
        "dec %eax\n"
        "jnz 1b\n"
        "ret\n"
        ".size tableless_leaf, . - tableless_leaf\n");

void odd_caller(void);
void tableless_leaf(void);

static void through_tableless_leaf(void)
{
    tableless_leaf();
    sink++;
}

Test(unwind, is_right_at_every_instruction, .init = setup)
{
    skip_where_signals_are_put_off();
    enum { AT_LEAST = 20 };
    step_through(through_own);
    cr_assert_gt(shadow.checked, AT_LEAST);
    step_through(odd_caller);
    cr_assert_gt(shadow.checked, AT_LEAST);
    step_through(through_tableless_leaf);
    step_through(through_libc);
    cr_assert_gt(shadow.checked, 100 * AT_LEAST);
}

/* The call that does not return is the last instruction: its return address is another
 * function's. */
__asm__(".text\n"
        ".type never_back, @function\n"
        "never_back:\n"
        ".cfi_startproc\n"
        "sub $56, %rsp\n"
        ".cfi_def_cfa_offset 64\n"
        "call *%rdi\n"
        ".cfi_endproc\n"
        ".size never_back, . - never_back\n"
        ".type behind_it, @function\n"
        "behind_it:\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa_offset 4096\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size behind_it, . - behind_it\n");

void never_back(void (*what)(void)) __attribute__((noreturn));

static void check_and_exit(void)
{
    CHECK_HERE();
    exit(EXIT_SUCCESS);
}

Test(unwind, looks_a_caller_up_by_its_call, .init = setup, .exit_code = EXIT_SUCCESS)
{
    never_back(check_and_exit);
}
