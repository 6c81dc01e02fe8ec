/* schedule/intrin/tensor_intrin_impl.h - between the registry of tensor intrinsics and the writers
 * of its built-in texts. */
#ifndef HONE_SCHEDULE_INTRIN_TENSOR_INTRIN_IMPL_H
#define HONE_SCHEDULE_INTRIN_TENSOR_INTRIN_IMPL_H

#include "schedule/intrin/tensor_intrin.h"
#include "support/core/strbuf.h"

/* What the name of a built-in intrinsic says, word by word: wmma_load_16x16x16_f16_b_trans_shared
 * loads half floats of matrix b, transposed, out of shared memory. */
typedef struct intrin_words {
    int dims[3]; /* 16x16x16, m16n8k8 */
    uint32_t dim_count;
    const char *types[3]; /* f16f16f32, in TVM's long form */
    uint32_t type_count;
    const char *scope; /* "shared", "shared.dyn", "global"; NULL: not said */
    bool is_b;         /* of matrix b */
    bool is_trans;     /* …_trans */
    bool is_trans_a, is_trans_b;
    bool is_simple;
    bool is_rounded; /* a type is tf32: float32 that is rounded where it is multiplied */
} intrin_words;

/* Appends the program text of a built-in intrinsic; false where there is none of that name. */
bool tensor_intrin_write_builtin(const char *name, hone_str *out);

/* Appends a text in which $x is replaced by values[i], i being the place of the letter x in names.
 */
void intrin_expand(hone_str *out, const char *text, const char *names, const char *const *values);

/* One per family of names (tensor_intrin_names.def). */
void intrin_write_dot(const intrin_words *words, hone_str *out);
void intrin_write_matmul(const intrin_words *words, hone_str *out);
void intrin_write_dp4a(const intrin_words *words, hone_str *out);
void intrin_write_sdot4(const intrin_words *words, hone_str *out);
void intrin_write_wmma_fill(const intrin_words *words, hone_str *out);
void intrin_write_wmma_load(const intrin_words *words, hone_str *out);
void intrin_write_wmma_store(const intrin_words *words, hone_str *out);
void intrin_write_wmma_sync(const intrin_words *words, hone_str *out);
void intrin_write_wgmma_fill(const intrin_words *words, hone_str *out);
void intrin_write_wgmma_store(const intrin_words *words, hone_str *out);
void intrin_write_wgmma_sync(const intrin_words *words, hone_str *out);
void intrin_write_simdgroup_fill(const intrin_words *words, hone_str *out);
void intrin_write_simdgroup_load(const intrin_words *words, hone_str *out);
void intrin_write_simdgroup_store(const intrin_words *words, hone_str *out);
void intrin_write_simdgroup_multiply(const intrin_words *words, hone_str *out);
void intrin_write_ldmatrix(const intrin_words *words, hone_str *out);
void intrin_write_mma(const intrin_words *words, hone_str *out);
void intrin_write_mma_fill(const intrin_words *words, hone_str *out);
void intrin_write_mma_store(const intrin_words *words, hone_str *out);
void intrin_write_m16n8k8_init(const intrin_words *words, hone_str *out);
void intrin_write_m16n8k8_load(const intrin_words *words, hone_str *out);
void intrin_write_m16n8k8_store(const intrin_words *words, hone_str *out);
void intrin_write_m16n8k8_sync(const intrin_words *words, hone_str *out);

#endif
