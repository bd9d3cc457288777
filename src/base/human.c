#include "base/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct human human_count(uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    struct human h;
    char *to = h.text;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return h;
}

/* One digit behind the point below ten. */
static struct human scaled(double v, const char *unit)
{
    struct human h;
    snprintf(h.text, sizeof h.text, v < 9.95 ? "%.1f %s" : "%.0f %s", v, unit);
    return h;
}

/* The borders are where rounding would make a fourth digit. */
static struct human three_digits(double v, const char *unit)
{
    struct human h;
    snprintf(h.text, sizeof h.text, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, unit);
    return h;
}

struct human human_time(uint64_t ns)
{
    struct human h;
    uint64_t s = (ns + 50000000u) / 1000000000u; /* 59.95 s would be 60.0 s */
    if (ns < 1000)
        snprintf(h.text, sizeof h.text, "%" PRIu64 " ns", ns);
    else if (ns < 999500)
        return three_digits((double)ns / 1e3, "\xc2\xb5s");
    else if (ns < 999500000)
        return three_digits((double)ns / 1e6, "ms");
    else if (s < 60)
        return three_digits((double)ns / 1e9, "s");
    else if (s < 3600)
        snprintf(h.text, sizeof h.text, "%" PRIu64 " m %02" PRIu64 " s", s / 60, s % 60);
    else
        snprintf(h.text, sizeof h.text, "%" PRIu64 " h %02" PRIu64 " m", s / 3600, s / 60 % 60);
    return h;
}

struct human human_bytes(uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    struct human h;
    if (bytes < 1024) {
        snprintf(h.text, sizeof h.text, "%" PRIu64 " B", bytes);
        return h;
    }
    double v = (double)bytes / 1024;
    size_t unit = 0;
    while (v >= 1023.5) {
        v /= 1024;
        unit++;
    }
    return scaled(v, units[unit]);
}

void human_shell_word(struct buf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=:,./@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        buf_puts(b, word);
        return;
    }
    buf_putc(b, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buf_puts(b, "'\\'");
        buf_putc(b, *word);
    }
    buf_putc(b, '\'');
}

void human_put_summed(struct buf *b, uint64_t stretches, uint64_t below_ms, uint64_t waits,
                      uint64_t ns)
{
    buf_printf(b, "%s of the recording: waits below %" PRIu64 " ms as sums by site: %s waits, %s",
               human_time(stretches).text, below_ms, human_count(waits).text, human_time(ns).text);
}

void human_put_full_disk(struct buf *b, uint64_t times, uint64_t ns)
{
    if (times == 1)
        buf_printf(b, ", its disk was full for %s", human_time(ns).text);
    else if (times)
        buf_printf(b, ", its disk was full %s times, for a total of %s", human_count(times).text,
                   human_time(ns).text);
}
