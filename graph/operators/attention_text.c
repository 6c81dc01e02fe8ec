/* graph/operators/attention_text.c - see attention_text.h.
 *
 * Rows lie in shared memory with their parts of 16 bytes swapped, so that eight rows of a matrix
 * are in eight different banks: by the text itself for warps (part ^ row % 8), by what makes code
 * of ptx.wgmma_lanes for groups. */
#include "graph/operators/attention_text.h"

#include <string.h>

#include "support/core/attributes.h"

/* ---- both ---- */

static const char *const head_lines[] = {
    "# tirx",
    "@T.prim_func",
    "?n def $FUNC(Q: $QTYPE, K: $KTYPE, V: $VTYPE, O: $OTYPE):",
    "?b def $FUNC(Q: $QTYPE, K: $KTYPE, V: $VTYPE, M: $MTYPE, O: $OTYPE):",
    "  T.func_attr({\"hone.synced\": True, \"hone.relaxed\": True, \"tirx.noalias\": True})",
    "  for b in T.thread_binding($B, thread=\"blockIdx.z\"):",
    "   for h in T.thread_binding($H, thread=\"blockIdx.y\"):",
    "    for q in T.thread_binding($QB, thread=\"blockIdx.x\"):",
    "     SQ = T.alloc_buffer(($BM * $D,), $TYPE, scope=\"shared.dyn\")",
    "     SK = T.alloc_buffer(($KSTAGES * $BN * $D,), $TYPE, scope=\"shared.dyn\")",
    "     SV = T.alloc_buffer(($STAGES * $BN * $D,), $TYPE, scope=\"shared.dyn\")",
    "     for t in T.thread_binding($T, thread=\"threadIdx.x\"):",
    "      S = T.alloc_buffer(($BN // 2,), \"float32\", scope=\"local\")",
    "      P = T.alloc_buffer(($BN // 2,), $TYPE, scope=\"local\")",
    "      R = T.alloc_buffer(($D // 2,), \"float32\", scope=\"local\")",
    "      most = T.alloc_buffer((2,), \"float32\", scope=\"local\")",
    "      now = T.alloc_buffer((2,), \"float32\", scope=\"local\")",
    "      less = T.alloc_buffer((2,), \"float32\", scope=\"local\")",
    "      total = T.alloc_buffer((2,), \"float32\", scope=\"local\")",
};

static const char *const begin_lines[] = {
    "for x in T.unroll($D // 2):", " R[x] = T.float32(0)",     "for r in T.unroll(2):",
    " most[r] = T.float32(-1e30)", " total[r] = T.float32(0)",
};

/* Of the products of tile j: weights, and what the sums so far are to be multiplied with. r is one
 * of the two rows of a thread, four neighbours have parts of them. */
static const char *const softmax_lines[] = {
    "?b for x in T.unroll($BN // 2):",
    "?b  S[x] = S[x] * T.float32($SCALE) + $BIAS * T.float32(1.44269504)",
    "?ck if $ISEDGE:",
    "?ck  for x in T.unroll($BN // 2):",
    "?ck   if $ISHIDDEN:",
    "?ck    S[x] = -T.infinity(\"float32\")",
    "for r in T.unroll(2):",
    " now[r] = most[r]",
    " for x in T.unroll($BN // 4):",
    "  now[r] = T.max(now[r], S[x // 2 * 4 + r * 2 + x % 2])",
    " now[r] = T.max(now[r], T.tvm_warp_shuffle_xor(T.uint32(4294967295), now[r], 1, 32, 32))",
    " now[r] = T.max(now[r], T.tvm_warp_shuffle_xor(T.uint32(4294967295), now[r], 2, 32, 32))",
    " less[r] = T.exp2((most[r] - now[r]) * T.float32($FACTOR))",
    " most[r] = now[r]",
    " total[r] = total[r] * less[r]",
    " for x in T.unroll($BN // 4):",
    ("  S[x // 2 * 4 + r * 2 + x % 2] = T.exp2(S[x // 2 * 4 + r * 2 + x % 2] *"
     " T.float32($FACTOR) - most[r] * T.float32($FACTOR))"),
    "  total[r] = total[r] + S[x // 2 * 4 + r * 2 + x % 2]",
};

static const char *const weights_lines[] = {
    "for x in T.unroll($BN // 4):",
    " for y in T.vectorized(2):",
    "  P[x * 2 + y] = T.Cast($TYPE, S[x * 2 + y])",
};

static const char *const correct_lines[] = {
    "for x in T.unroll($D // 2):",
    " R[x] = R[x] * less[x % 4 // 2]",
};

static const char *const total_lines[] = {
    "for r in T.unroll(2):",
    " total[r] = total[r] + T.tvm_warp_shuffle_xor(T.uint32(4294967295), total[r], 1, 32, 32)",
    " total[r] = total[r] + T.tvm_warp_shuffle_xor(T.uint32(4294967295), total[r], 2, 32, 32)",
    "?z  if total[r] == T.float32(0):",
    "?z   total[r] = T.infinity(\"float32\")",
    " total[r] = T.float32(1) / total[r]",
};

/* ---- by warps ----
 *
 * A warp has 16 queries in registers, all warps read the same tiles of keys and values. While
 * products of one tile are computed, the next comes in:
 *
 *   keys j      │ products ── softmax │           │ keys j + 1
 *   values j    │   (on their way)    │ sums      │
 *   keys j + 1  │        (on their way)           │ */

static const char *const warp_lines[] = {
    "=head",
    "      RQ = T.alloc_buffer(($D // 2,), $TYPE, scope=\"local\")",
    "      RB = T.alloc_buffer((8,), $TYPE, scope=\"local\")",
    /* queries and the first tiles */
    "      for c in T.unroll($BM * $CH // $T):",
    "       T.s_tir.cp_async_raw($TYPE, SQ.data, $CROW * $D + $CPART * 8, Q.data, $QAT, 16)",
    "      for c in T.unroll($BN * $CH // $T):",
    "       T.s_tir.cp_async_raw($TYPE, SK.data, $CROW * $D + $CPART * 8, K.data, $KFIRST, 16)",
    "      T.ptx.cp(\"async\", \"commit_group\", \"\")",
    "      for c in T.unroll($BN * $CH // $T):",
    "       T.s_tir.cp_async_raw($TYPE, SV.data, $CROW * $D + $CPART * 8, V.data, $VFIRST, 16)",
    "      T.ptx.cp(\"async\", \"commit_group\", \"\")",
    "      T.ptx.cp(1, \"async\", \"wait_group\", \"\")",
    "      T.tvm_storage_sync(\"shared.dyn\")",
    "      for d in T.unroll($D // 16):",
    "       T.ptx_legacy.ldmatrix(T.bool(False), 4, \".b16\", RQ.data, d * 8, SQ.data,"
    " (t // 32 * 16 + t % 16) * $D + T.bitwise_xor(d * 2 + t % 32 // 16, t % 8) * 8, dtype=$TYPE)",
    "      =begin",
    "      for j in range($TILES):",
    /* products */
    "       T.ptx.cp(1, \"async\", \"wait_group\", \"\")",
    "       T.tvm_storage_sync(\"shared.dyn\")",
    "       if j + 1 < $TILES:",
    "        for c in T.unroll($BN * $CH // $T):",
    "         T.s_tir.cp_async_raw($TYPE, SK.data, (j + 1) % $STAGES * $BN * $D + $CROW * $D +"
    " $CPART * 8, K.data, $KNEXT, 16)",
    "       T.ptx.cp(\"async\", \"commit_group\", \"\")",
    "       for x in T.unroll($BN // 2):",
    "        S[x] = T.float32(0)",
    "       for d in T.unroll($D // 16):",
    "        for n in T.unroll($BN // 16):",
    "         T.ptx_legacy.ldmatrix(T.bool(False), 4, \".b16\", RB.data, 0, SK.data,"
    " j % $STAGES * $BN * $D + (n * 16 + t % 8 + t % 32 // 16 * 8) * $D +"
    " T.bitwise_xor(d * 2 + t % 16 // 8, t % 8) * 8, dtype=$TYPE)",
    "         for i in T.unroll(2):",
    "          T.ptx_legacy.mma(\"m16n8k16\", \"row\", \"col\", $MMA, $MMA, \"fp32\", RQ.data, d * "
    "8,"
    " RB.data, i * 4, S.data, n * 8 + i * 4, T.bool(False), dtype=\"float32\")",
    "       =softmax",
    "       =weights",
    "       =correct",
    /* sums */
    "       T.ptx.cp(1, \"async\", \"wait_group\", \"\")",
    "       T.tvm_storage_sync(\"shared.dyn\")",
    "       if j + 1 < $TILES:",
    "        for c in T.unroll($BN * $CH // $T):",
    "         T.s_tir.cp_async_raw($TYPE, SV.data, (j + 1) % $STAGES * $BN * $D + $CROW * $D +"
    " $CPART * 8, V.data, $VNEXT, 16)",
    "       T.ptx.cp(\"async\", \"commit_group\", \"\")",
    "       for k in T.unroll($BN // 16):",
    "        for n in T.unroll($D // 16):",
    "         T.ptx_legacy.ldmatrix(T.bool(True), 4, \".b16\", RB.data, 0, SV.data,"
    " j % $STAGES * $BN * $D + (k * 16 + t % 16) * $D +"
    " T.bitwise_xor(n * 2 + t % 32 // 16, t % 8) * 8, dtype=$TYPE)",
    "         for i in T.unroll(2):",
    "          T.ptx_legacy.mma(\"m16n8k16\", \"row\", \"col\", $MMA, $MMA, \"fp32\", P.data, k * "
    "8,"
    " RB.data, i * 4, R.data, n * 8 + i * 4, T.bool(False), dtype=\"float32\")",
    /* the result */
    "      T.ptx.cp(0, \"async\", \"wait_group\", \"\")",
    "      =total",
    "      for x in T.unroll($D // 2):",
    "       if $ROW < $SQ:",
    "        O[$OAT] = T.Cast($TYPE, R[x] * total[x % 4 // 2])",
};

/* ---- by groups of four warps ----
 *
 * A group has 64 queries, its products are wgmma's. Tiles go from the last to the first; while the
 * softmax of one is computed, the matrix units add up the values of that before:
 *
 *   units    │ products i + 1 │ sums i           │ products i + 2 │ sums i + 1
 *   threads  │                │ softmax i + 1    │                │ softmax i + 2
 *   copies   │ keys i + 2, values i + 1          │ keys i + 3, values i + 2
 *
 * Products are told to go on, and waited for where what they made is read. */

static const char *const group_lines[] = {
    "=head",
    "      for c in T.unroll($BM * $CH // $T):",
    "       T.s_tir.cp_async_raw($TYPE, SQ.data, $QSPOT, Q.data, $QAT, 16)",
    "      for c in T.unroll($BN * $CH // $T):",
    "       T.s_tir.cp_async_raw($TYPE, SK.data, $SPOT, K.data, $KFIRST, 16)",
    "      T.ptx.cp(\"async\", \"commit_group\", \"\")",
    "      for c in T.unroll($BN * $CH // $T):",
    "       T.s_tir.cp_async_raw($TYPE, SV.data, $SPOT, V.data, $VFIRST, 16)",
    "      if $TILES > 1:",
    "       for c in T.unroll($BN * $CH // $T):",
    "        T.s_tir.cp_async_raw($TYPE, SK.data, $BN * $D + $SPOT, K.data, $KSECOND, 16)",
    "      T.ptx.cp(\"async\", \"commit_group\", \"\")",
    "      if $TILES > 2:",
    "       for c in T.unroll($BN * $CH // $T):",
    "        T.s_tir.cp_async_raw($TYPE, SK.data, 2 * $BN * $D + $SPOT, K.data, $KTHIRD, 16)",
    "      T.ptx.cp(\"async\", \"commit_group\", \"\")",
    "      T.ptx.cp(2, \"async\", \"wait_group\", \"\")",
    "      T.tvm_storage_sync(\"shared.dyn\")",
    "      T.ptx.wgmma_lanes(S.data, 0, $BN, $D, 1, $QUERIES, $GM * 64, T.tvm_access_ptr("
    "T.type_annotation($TYPE), SK.data, 0, $BN * $D, 1), $BN * 64, \"k\")",
    "      T.ptx.wgmma_lanes_wait(0, S.data)",
    "      =begin",
    "      for j in range($TILES - 1, $TILES):",
    "       =softmax",
    "      =weights",
    "      for i in range($TILES - 1):",
    "       T.ptx.cp(1, \"async\", \"wait_group\", \"\")",
    "       T.tvm_storage_sync(\"shared.dyn\")",
    "       for c in T.unroll($BN * $CH // $T):",
    "        T.s_tir.cp_async_raw($TYPE, SV.data, (i + 1) % $STAGES * $BN * $D + $SPOT, V.data,"
    " $VNEXT, 16)",
    "       T.ptx.cp(\"async\", \"commit_group\", \"\")",
    "       T.ptx.wgmma_lanes(S.data, 0, $BN, $D, 1, $QUERIES, $GM * 64, T.tvm_access_ptr("
    "T.type_annotation($TYPE), SK.data, (i + 1) % $KSTAGES * $BN * $D, $BN * $D, 1), $BN * 64,"
    " \"k\")",
    "       T.ptx.wgmma_lanes(R.data, 0, $D, $BN, 0, P.data, 0, T.tvm_access_ptr("
    "T.type_annotation($TYPE), SV.data, i % $STAGES * $BN * $D, $BN * $D, 1), $BN * 64, \"mn\")",
    "       T.ptx.wgmma_lanes_wait(1, S.data)",
    "       for j in range($TILES - 2 - i, $TILES - 1 - i):",
    "        =softmax",
    "       if i + 3 < $TILES:",
    "        for c in T.unroll($BN * $CH // $T):",
    "         T.s_tir.cp_async_raw($TYPE, SK.data, i % $KSTAGES * $BN * $D + $SPOT, K.data,"
    " $KNEXT, 16)",
    "       T.ptx.cp(\"async\", \"commit_group\", \"\")",
    "       T.ptx.wgmma_lanes_wait(0, R.data, S.data, P.data)",
    "       =correct",
    "       =weights",
    "      T.ptx.cp(0, \"async\", \"wait_group\", \"\")",
    "      T.tvm_storage_sync(\"shared.dyn\")",
    "      T.ptx.wgmma_lanes(R.data, 0, $D, $BN, 0, P.data, 0, T.tvm_access_ptr("
    "T.type_annotation($TYPE), SV.data, ($TILES - 1) % $STAGES * $BN * $D, $BN * $D, 1), $BN * 64,"
    " \"mn\")",
    "      =total",
    "      T.ptx.wgmma_lanes_wait(0, R.data)",
    /* by shared memory, where nobody reads queries any more, to whole rows */
    "      for x in T.unroll($D // 4):",
    "       for y in T.vectorized(2):",
    "        SQ[t // 128 * $GM * $D + x // 16 * $GM * 64 + (t % 128 // 32 * 16 + t % 32 // 4 +"
    " x % 2 * 8) * 64 + x % 16 // 2 * 8 + t % 4 * 2 + y] ="
    " T.Cast($TYPE, R[x * 2 + y] * total[x % 2])",
    "      T.tvm_storage_sync(\"shared.dyn\")",
    "      for c in T.unroll($BM * $CH // $T):",
    "       if $QI * $BM + $CROW < $SQ:",
    "        for y in T.vectorized(8):",
    "         O[$OSPOT] = SQ[$QSPOT + y]",
};

/* ---- */

enum { WARP_QUERIES = 16, GROUP_QUERIES = 64 };

const attention_form *attention_form_of(const hone_attention *a) {
    static const attention_form warps = {warp_lines, HONE_COUNT(warp_lines),  128,         64,
                                         2,          128 / WARP_QUERIES * 32, WARP_QUERIES};
    static const attention_form groups[] = {
        {group_lines, HONE_COUNT(group_lines), 128, 64,  3, 128 / GROUP_QUERIES * 128,
         GROUP_QUERIES},
        {group_lines, HONE_COUNT(group_lines), 128, 128, 3, 128 / GROUP_QUERIES * 128,
         GROUP_QUERIES},
    };
    return a->has_groups ? &groups[a->keys > groups[0].keys] : &warps;
}

const attention_part *attention_part_named(const char *name) {
    static const attention_part parts[] = {
        {"head",    head_lines,    HONE_COUNT(head_lines)   },
        {"begin",   begin_lines,   HONE_COUNT(begin_lines)  },
        {"softmax", softmax_lines, HONE_COUNT(softmax_lines)},
        {"weights", weights_lines, HONE_COUNT(weights_lines)},
        {"correct", correct_lines, HONE_COUNT(correct_lines)},
        {"total",   total_lines,   HONE_COUNT(total_lines)  },
    };
    for (size_t i = 0; i < HONE_COUNT(parts); i++) {
        if (strcmp(parts[i].name, name) == 0) return &parts[i];
    }
    return NULL;
}
