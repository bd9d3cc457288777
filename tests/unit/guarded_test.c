#include "base/guarded.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *page; /* and one behind it that is not there */

static void setup(void)
{
    struct err err;
    size_t size = (size_t)getpagesize();
    cr_assert_eq(guarded_open(&err), 0);
    page = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(page, MAP_FAILED);
    cr_assert_eq(mprotect(page + size, size, PROT_NONE), 0);
    for (size_t i = 0; i < size; i++)
        page[i] = (char)i;
}

Test(guarded, loads_what_is_there, .init = setup)
{
    uint64_t word = 0;
    uint32_t half = 0;
    uint16_t two = 0;
    uint8_t one = 0;
    char text[13] = "";
    cr_assert(guarded_u64((uintptr_t)page + 1, &word));
    cr_assert_eq(word, 0x0807060504030201u);
    cr_assert(guarded_u32((uintptr_t)page + 3, &half));
    cr_assert_eq(half, 0x06050403u);
    cr_assert(guarded_u16((uintptr_t)page + 5, &two));
    cr_assert_eq(two, 0x0605u);
    cr_assert(guarded_u8((uintptr_t)page + 7, &one));
    cr_assert_eq(one, 7);
    cr_assert(guarded_bytes((uintptr_t)page + 2, text, sizeof text));
    cr_assert_eq(memcmp(text, page + 2, sizeof text), 0);
}

Test(guarded, refuses_what_is_not, .init = setup)
{
    uintptr_t end = (uintptr_t)page + (uintptr_t)getpagesize();
    uint64_t word = 7;
    uint8_t one = 7;
    char text[9];
    for (int i = 0; i < 1000; i++) {
        cr_assert_not(guarded_u64(end, &word));
        cr_assert_not(guarded_u64(end - 3, &word));
        cr_assert_not(guarded_u8(0, &one));
        cr_assert_not(guarded_u64((uintptr_t)0xdead000000000000u, &word)); /* no address at all */
    }
    cr_assert_eq(word, 7);
    cr_assert_not(guarded_bytes(end - 5, text, sizeof text));
    cr_assert(guarded_u64(end - 8, &word));
}

static volatile sig_atomic_t seen;

static void earlier(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    seen = info->si_addr == (void *)(page + getpagesize());
    mprotect(page + getpagesize(), (size_t)getpagesize(), PROT_READ);
}

/* HotSpot's handler must go on getting its faults. */
Test(guarded, hands_other_faults_on)
{
    struct sigaction a = {.sa_sigaction = earlier, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &a, NULL);
    setup();
    cr_assert_eq(*(volatile char *)(page + getpagesize()), 0);
    cr_assert(seen);
    cr_assert_eq(guarded_open(NULL), 0);
}
