/* runtime/model/weights_sum.h - the checksum of weights, for who writes them and who maps them.
 *
 * Eight words in a row go through eight lanes of xor, rotate and multiply (one-to-one in each word,
 * so a change of one word changes the sum), as fast as memory is read. For little-endian machines,
 * as the weights themselves. Not cryptographic. Needs nothing but the C library.
 */
#ifndef HONE_RUNTIME_MODEL_WEIGHTS_SUM_H
#define HONE_RUNTIME_MODEL_WEIGHTS_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { HONE_MT_SUM_LANES = 8, HONE_MT_SUM_BLOCK = 64 };

typedef struct hone_mt_sum {
    uint64_t lanes[HONE_MT_SUM_LANES];
} hone_mt_sum;

static inline uint64_t hone_mt_sum_mix(uint64_t at, uint64_t word) {
    at ^= word;
    at = at << 29 | at >> 35;
    return at * UINT64_C(0x9e3779b97f4a7c15);
}

static inline void hone_mt_sum_begin(hone_mt_sum *sum) {
    for (int i = 0; i < HONE_MT_SUM_LANES; i++)
        sum->lanes[i] = hone_mt_sum_mix(0, (uint64_t)i + 1);
}

/* `count` blocks of HONE_MT_SUM_BLOCK bytes. */
static inline void hone_mt_sum_add(hone_mt_sum *sum, const uint8_t *bytes, size_t count) {
    hone_mt_sum s = *sum;
    for (; count; count--, bytes += HONE_MT_SUM_BLOCK) {
        uint64_t words[HONE_MT_SUM_LANES];
        memcpy(words, bytes, sizeof words);
        for (int i = 0; i < HONE_MT_SUM_LANES; i++)
            s.lanes[i] = hone_mt_sum_mix(s.lanes[i], words[i]);
    }
    *sum = s;
}

static inline void hone_mt_sum_finish(const hone_mt_sum *sum, uint64_t out[2]) {
    out[0] = 1;
    out[1] = 2;
    for (int i = 0; i < HONE_MT_SUM_LANES; i++) {
        out[0] = hone_mt_sum_mix(out[0], sum->lanes[i]);
        out[1] = hone_mt_sum_mix(out[1], ~sum->lanes[HONE_MT_SUM_LANES - 1 - i]);
    }
}

#endif
