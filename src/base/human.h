/* human.h - numbers as people read them.  Thread-safe, no heap. */
#ifndef ORCA_BASE_HUMAN_H
#define ORCA_BASE_HUMAN_H

#include "base/buf.h"

#include <stdint.h>

struct human {
    char text[32];
};

struct human human_count(uint64_t n); /* 1,234,567 */
struct human human_time(uint64_t ns); /* 812 ns, 4.21 µs, 37.4 ms, 8.20 s, 12 m 05 s, 3 h 10 m */
struct human human_bytes(uint64_t bytes); /* 812 B, 64 kB, 3.9 MB, 23 GB; powers of 1024 */

/* Append ", its disk was full for 12 s", or how often and how long in all; nothing for no times. */
void human_put_full_disk(struct buf *b, uint64_t times, uint64_t ns);

/* Append "12.4 s of the recording: waits below 1 ms as sums by site: 1,204,331 waits, 9.1 s". */
void human_put_summed(struct buf *b, uint64_t stretches, uint64_t below_ms, uint64_t waits,
                      uint64_t ns);

/* A word as a shell takes it: as it is, or in single quotes. */
void human_shell_word(struct buf *b, const char *word);

#endif
