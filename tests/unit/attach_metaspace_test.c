#include "attach/metaspace.h"

#include <criterion/criterion.h>

/* As JDK 17 and 25 write it. */
#define REPORT(most)                                                                               \
    "\nUsage:\n"                                                                                   \
    "  Non-class:  71840 bytes used.\n"                                                            \
    "      Class:   3400 bytes used.\n"                                                            \
    "       Both:  75240 bytes used.\n"                                                            \
    "\nVirtual space:\n"                                                                           \
    "  Non-class space:  67108864 bytes reserved,  196608 bytes ( <1%) committed,  1 nodes.\n"     \
    "      Class space:  33554432 bytes reserved,  131072 bytes ( <1%) committed,  1 nodes.\n"     \
    "             Both:  100663296 bytes reserved,  327680 bytes ( <1%) committed. \n"             \
    "\nChunk freelists:\n"                                                                         \
    "        Both:  29090816 bytes\n"                                                              \
    "\nMaxMetaspaceSize: " most "\n"                                                               \
    "CompressedClassSpaceSize: 33554432 bytes\n"

Test(attach_metaspace, says_what_is_committed_and_what_may_be)
{
    struct metaspace m = {0, 0};
    cr_assert(metaspace_parse(REPORT("33554432 bytes"), &m));
    cr_assert_eq(m.committed, 327680);
    cr_assert_eq(m.most, 33554432);
}

Test(attach_metaspace, without_a_bound)
{
    struct metaspace m = {0, 0};
    cr_assert(metaspace_parse(REPORT("unlimited"), &m));
    cr_assert_eq(m.committed, 327680);
    cr_assert_eq(m.most, UINT64_MAX);
}

Test(attach_metaspace, another_answer_says_nothing)
{
    static const char *const others[] = {
        "",
        "java.lang.IllegalArgumentException: Unknown diagnostic command",
        "MaxMetaspaceSize: 1 bytes",
        "Both: 7 bytes reserved, 8 bytes committed\n",
        "Both: 7 bytes reserved, -8 bytes committed\nMaxMetaspaceSize: 9 bytes",
        "Both: 7 bytes reserved, 99999999999999999999999 bytes committed\nMaxMetaspaceSize: 9 "
        "bytes",
        "Both: 7 bytes\n 7 bytes reserved, 8 bytes committed\nMaxMetaspaceSize: 9 bytes",
        "Both: 7 bytes reserved, 8 bytes committed\nMaxMetaspaceSize: 9 MB",
        "Both: 7 bytes reserved,",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct metaspace m;
        cr_expect_not(metaspace_parse(others[i], &m), "%s", others[i]);
    }
}
