#include "attach/perfdata.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

/* A file of two counters: a number "n", and a string. */
static uint8_t file[160];
enum { FIRST = 32, SECOND = 72 };

static void put32(size_t at, uint32_t v)
{
    memcpy(file + at, &v, sizeof v);
}

static void entry(size_t at, uint32_t length, char type, uint32_t elements, const char *name,
                  const char *value)
{
    put32(at, length);
    put32(at + 4, 20);
    put32(at + 8, elements);
    file[at + 12] = (uint8_t)type;
    put32(at + 16, 56);
    strcpy((char *)file + at + 20, name);
    memcpy(file + at + 56, value, elements);
}

static void make(void)
{
    memset(file, 0, sizeof file);
    memcpy(file, "\xca\xfe\xc0\xc0\1\2\0\1", 8);
    put32(24, FIRST);
    put32(28, 2);
    put32(FIRST, 40);
    put32(FIRST + 4, 20);
    file[FIRST + 12] = 'J';
    put32(FIRST + 16, 32);
    strcpy((char *)file + FIRST + 20, "n");
    entry(SECOND, 72, 'B', 8, "sun.rt.jvmCapabilities", "1100000");
}

static int find(const char *name, char *out, size_t room)
{
    return perfdata_find_string(file, sizeof file, name, out, room);
}

Test(attach_perfdata, strings, .init = make)
{
    char out[16];
    cr_assert_eq(find("sun.rt.jvmCapabilities", out, sizeof out), 7);
    cr_assert_str_eq(out, "1100000");
    cr_assert_eq(find("sun.rt.jvmCapabilities", out, 4), 3, "cut to the room");
    cr_assert_str_eq(out, "110");
    cr_assert_eq(find("sun.rt.jvmCapabilitie", out, sizeof out), -ENOENT);
    cr_assert_eq(find("n", out, sizeof out), -EINVAL, "a number");
    cr_assert_eq(perfdata_accessible(file, sizeof file), 1);
    file[7] = 0;
    cr_assert_eq(perfdata_accessible(file, sizeof file), 0);
}

Test(attach_perfdata, a_string_without_its_nul, .init = make)
{
    char out[16];
    file[SECOND + 56 + 7] = '1';
    cr_assert_eq(find("sun.rt.jvmCapabilities", out, sizeof out), 8);
}

Test(attach_perfdata, other_files_are_refused, .init = make)
{
    char out[16];
    for (size_t i = 0; i < 6; i++) {
        make();
        file[i] ^= 0x40;
        cr_assert_eq(find("sun.rt.jvmCapabilities", out, sizeof out), -EINVAL);
        cr_assert_eq(perfdata_accessible(file, sizeof file), -EINVAL);
    }
    cr_assert_eq(perfdata_find_string(file, 31, "n", out, sizeof out), -EINVAL);
}

Test(attach_perfdata, offsets_outside_the_file_end_the_search, .init = make)
{
    static const size_t fields[] = {24, FIRST, SECOND, SECOND + 4, SECOND + 8, SECOND + 16};
    static const uint32_t values[] = {0, 1, 19, 73, 159, 160, 161, 0x7fffffff, 0xffffffff};
    char out[16];
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            make();
            put32(fields[i], values[k]);
            find("sun.rt.jvmCapabilities", out, sizeof out);
        }
    make();
    put32(SECOND + 8, 17);
    cr_assert_eq(find("sun.rt.jvmCapabilities", out, sizeof out), -EINVAL);
    for (size_t n = 0; n < sizeof file; n++)
        cr_assert_lt(perfdata_find_string(file, n, "sun.rt.jvmCapabilities", out, sizeof out),
                     n < sizeof file - 16 ? 0 : 16);
}
