/* alloc_weight.h - what a sampled object stands for. */
#ifndef ORCA_AGENT_ALLOC_WEIGHT_H
#define ORCA_AGENT_ALLOC_WEIGHT_H

#include <stdint.h>

/* The bytes of allocation that the sample of an object of `size` bytes stands for, where each byte
 * allocated has the chance 1 in `interval` to be the next one sampled (HotSpot draws the distance
 * from an exponential distribution), so that an object is with 1 - e^(-size / interval):
 * size / (1 - e^(-size / interval)).  interval 0: every object is.  Any thread. */
uint64_t alloc_weight(uint64_t size, uint64_t interval);

#endif
