/* graph/operators/attention_kernel.h - attention as one kernel for NVIDIA's cards.
 *
 * Softmax of the products of queries and keys, times the values, without the products ever being in
 * memory: a block of threads goes over the keys tile by tile and corrects its sums by what the
 * greatest product so far is (online softmax: Milakov and Gimelshein 2018; the tiles are those of
 * FlashAttention-2, Dao 2023).
 */
#ifndef HONE_GRAPH_OPERATORS_ATTENTION_KERNEL_H
#define HONE_GRAPH_OPERATORS_ATTENTION_KERNEL_H

#include "ir/core/func.h"

/* In which order a tensor of four axes has them. */
typedef enum hone_head_order {
    HONE_HEADS_OUTSIDE, /* [batch, heads, sequence, size] */
    HONE_HEADS_INSIDE,  /* [batch, sequence, heads, size] */
} hone_head_order;

typedef struct hone_attention {
    int64_t batch, heads, queries, keys, size; /* size: of a head */
    int64_t k_heads, v_heads; /* divide `heads`, which share them: as many neighbours one */
    hone_dtype dtype;         /* float16 or bfloat16, of all tensors */
    bool has_groups;          /* of four warps, which multiply what lies in shared memory (wgmma) */
    hone_head_order q, k, v, out;
    double scale;      /* 1e-6 to 1e6 */
    bool is_causal;    /* query i sees keys up to i + past */
    int64_t past;      /* 0 or more */
    int32_t bias_rank; /* of what is added to the products, 0 to 4; -1: nothing is */
    int64_t bias_shape[4];
    hone_dtype bias_dtype; /* that of the tensors, or float32 */
    bool takes_nothing;    /* what a query gets of which the bias hides all keys: 0, else NaN */
} hone_attention;

/* Shared memory that a block of the kernel takes, in bytes; 0 where there is no such kernel: heads
 * of another size than 64 and 128, few queries, tensors of 2^31 elements. */
int64_t hone_attention_shared_bytes(const hone_attention *a);
/* The kernel: parameters Q, K, V, the bias if any, the result. hone_attention_shared_bytes is not
 * 0. The function is in the arena and carries its schedule. */
HONE_NODISCARD hone_status hone_attention_kernel(const hone_attention *a, const char *name,
                                                 hone_arena *arena, hone_func **out_func);

#endif
