/* graph/operators/attention_kernel.c - see attention_kernel.h.
 *
 * The kernel is text with its sizes left open. A warp has 16 queries in registers, all warps read
 * the same tiles of keys and values from shared memory. While products of one tile are computed,
 * the next comes in:
 *
 *   keys j      │ products ── softmax │           │ keys j + 1
 *   values j    │   (on their way)    │ sums      │
 *   keys j + 1  │        (on their way)           │
 *
 * Rows lie in shared memory with their parts of 16 bytes swapped (part ^ row % 8), so that eight
 * rows of a matrix are in eight different banks.
 */
#include "graph/operators/attention_kernel.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "ir/text/read/script.h"

enum {
    QUERIES = 128,     /* of a block */
    KEYS = 64,         /* of a tile */
    WARP_QUERIES = 16, /* rows of a matrix instruction */
    THREADS = QUERIES / WARP_QUERIES * 32,
    STAGES = 2, /* tiles of keys, and of values, at a time */
    LEAST_QUERIES = 16,
};

/* ---- the text ----
 *
 * $NAME stands for a size or an expression; a line that begins with ?X stands only where one of the
 * letters holds: b bias, n no bias, c causal, k keys that do not fill tiles. */

static const char *const lines[] = {
    "# tirx",
    "@T.prim_func",
    "?n def $FUNC(Q: $QTYPE, K: $KTYPE, V: $VTYPE, O: $OTYPE):",
    "?b def $FUNC(Q: $QTYPE, K: $KTYPE, V: $VTYPE, M: $MTYPE, O: $OTYPE):",
    "  T.func_attr({\"hone.synced\": True, \"tirx.noalias\": True})",
    "  for b in T.thread_binding($B, thread=\"blockIdx.z\"):",
    "   for h in T.thread_binding($H, thread=\"blockIdx.y\"):",
    "    for q in T.thread_binding($QB, thread=\"blockIdx.x\"):",
    "     SQ = T.alloc_buffer(($BM * $D,), $TYPE, scope=\"shared.dyn\")",
    "     SK = T.alloc_buffer(($STAGES * $BN * $D,), $TYPE, scope=\"shared.dyn\")",
    "     SV = T.alloc_buffer(($STAGES * $BN * $D,), $TYPE, scope=\"shared.dyn\")",
    "     for t in T.thread_binding($T, thread=\"threadIdx.x\"):",
    "      RQ = T.alloc_buffer(($D // 2,), $TYPE, scope=\"local\")",
    "      RB = T.alloc_buffer((8,), $TYPE, scope=\"local\")",
    "      S = T.alloc_buffer(($BN // 2,), \"float32\", scope=\"local\")",
    "      P = T.alloc_buffer(($BN // 2,), $TYPE, scope=\"local\")",
    "      R = T.alloc_buffer(($D // 2,), \"float32\", scope=\"local\")",
    "      most = T.alloc_buffer((2,), \"float32\", scope=\"local\")",
    "      now = T.alloc_buffer((2,), \"float32\", scope=\"local\")",
    "      less = T.alloc_buffer((2,), \"float32\", scope=\"local\")",
    "      total = T.alloc_buffer((2,), \"float32\", scope=\"local\")",
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
    "      for x in T.unroll($D // 2):",
    "       R[x] = T.float32(0)",
    "      for r in T.unroll(2):",
    "       most[r] = T.float32(-1e30)",
    "       total[r] = T.float32(0)",
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
    "?b        for x in T.unroll($BN // 2):",
    "?b         S[x] = S[x] * T.float32($SCALE) + $BIAS * T.float32(1.44269504)",
    "?ck        if $ISEDGE:",
    "?ck         for x in T.unroll($BN // 2):",
    "?ck          if $ISHIDDEN:",
    "?ck           S[x] = T.float32(-1e30)",
    /* softmax: r is one of the two rows of a thread, four neighbours have parts of them */
    "       for r in T.unroll(2):",
    "        now[r] = most[r]",
    "        for x in T.unroll($BN // 4):",
    "         now[r] = T.max(now[r], S[x // 2 * 4 + r * 2 + x % 2])",
    "        now[r] = T.max(now[r], T.tvm_warp_shuffle_xor(T.uint32(4294967295), now[r], 1, 32, "
    "32))",
    "        now[r] = T.max(now[r], T.tvm_warp_shuffle_xor(T.uint32(4294967295), now[r], 2, 32, "
    "32))",
    "        less[r] = T.exp2((most[r] - now[r]) * T.float32($FACTOR))",
    "        most[r] = now[r]",
    "        total[r] = total[r] * less[r]",
    "        for x in T.unroll($BN // 4):",
    "         S[x // 2 * 4 + r * 2 + x % 2] = T.exp2(S[x // 2 * 4 + r * 2 + x % 2] *"
    " T.float32($FACTOR) - most[r] * T.float32($FACTOR))",
    "         total[r] = total[r] + S[x // 2 * 4 + r * 2 + x % 2]",
    "       for x in T.unroll($BN // 2):",
    "        P[x] = T.Cast($TYPE, S[x])",
    "       for x in T.unroll($D // 2):",
    "        R[x] = R[x] * less[x % 4 // 2]",
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
    "      for r in T.unroll(2):",
    "       total[r] = total[r] + T.tvm_warp_shuffle_xor(T.uint32(4294967295), total[r], 1, 32, "
    "32)",
    "       total[r] = total[r] + T.tvm_warp_shuffle_xor(T.uint32(4294967295), total[r], 2, 32, "
    "32)",
    "       total[r] = T.float32(1) / total[r]",
    "      for x in T.unroll($D // 2):",
    "       if $ROW < $SQ:",
    "        O[$OAT] = T.Cast($TYPE, R[x] * total[x % 4 // 2])",
};

/* ---- what is left open ---- */

typedef struct writer {
    const hone_attention *a;
    const char *name;
    hone_str out;
} writer;

static void write(writer *w, const char *text);

static void write_shape(writer *w, hone_head_order order, int64_t length) {
    const hone_attention *a = w->a;
    bool is_inside = order == HONE_HEADS_INSIDE;
    hone_str_printf(&w->out, "T.Buffer((%lld, %lld, %lld, %lld), ", (long long)a->batch,
                    (long long)(is_inside ? length : a->heads),
                    (long long)(is_inside ? a->heads : length), (long long)a->size);
    write(w, "$TYPE)");
}

/* The element where the part $CROW, $CCOLUMN of a tile begins, which begins at a row. */
static void write_place(writer *w, hone_head_order order, int64_t length, const char *row,
                        bool is_even) {
    bool is_inside = order == HONE_HEADS_INSIDE;
    write(w, is_inside ? "((b * " : "((b * $H + h) * ");
    hone_str_printf(&w->out, "%lld + ", (long long)length);
    if (!is_even) write(w, "T.min(");
    write(w, row);
    if (!is_even) hone_str_printf(&w->out, ", %lld)", (long long)length - 1);
    write(w, is_inside ? ") * $H + h) * $D + $CCOLUMN * 8" : ") * $D + $CCOLUMN * 8");
}

/* The bias of an element: axes of one element stay. */
static void write_bias_place(writer *w) {
    static const char *const axes[] = {"b", "h", "T.min($ROW, $SQ - 1)", "T.min($COLUMN, $SK - 1)"};
    const hone_attention *a = w->a;
    if (a->bias_rank == 0) write(w, "()");
    for (int32_t d = 0; d < a->bias_rank; d++) {
        if (d) write(w, ", ");
        write(w, a->bias_shape[d] == 1 ? "0" : axes[4 - a->bias_rank + d]);
    }
}

/* Numbers of bfloat16 that are below all others (masks that are no -inf) stay above what is hidden,
 * and finite when they are scaled: a row of nothing but them counts all its keys alike. */
static void write_bias(writer *w) {
    static const char whole[] = "T.Cast(\"float32\", M[$MAT])";
    if (w->a->dtype.code != HONE_DTYPE_CODE_BFLOAT) {
        write(w, whole);
        return;
    }
    hone_str_append(&w->out, "T.if_then_else(");
    write(w, whole);
    hone_str_append(&w->out, " > T.float32(-3.395e38), T.max(");
    write(w, whole);
    hone_str_append(&w->out, ", T.float32(-5e29)), ");
    write(w, whole);
    hone_str_append(&w->out, ")");
}

static void write_bias_type(writer *w) {
    write(w, "T.Buffer((");
    for (int32_t d = 0; d < w->a->bias_rank; d++)
        hone_str_printf(&w->out, "%lld, ", (long long)w->a->bias_shape[d]);
    write(w, "), $TYPE)");
}

static bool has_bias(const hone_attention *a) {
    return a->bias_rank >= 0;
}

static bool has_edge(const hone_attention *a) {
    return a->keys % KEYS != 0;
}

/* By powers of two: what the products are multiplied with. A bias is added to scaled ones. */
static double scale_of(const hone_attention *a) {
    return a->scale * 1.44269504088896341;
}

static int64_t tiles_of(const hone_attention *a) {
    return (a->keys - 1) / KEYS + 1;
}

static void write_number(writer *w, int64_t number) {
    hone_str_printf(&w->out, "%lld", (long long)number);
}

/* Tiles that some query of the block sees. */
static void write_tiles(writer *w) {
    if (!w->a->is_causal) {
        write_number(w, tiles_of(w->a));
        return;
    }
    hone_str_printf(&w->out, "T.min(%lld, (q * %d + %lld) // %d + 1)", (long long)tiles_of(w->a),
                    QUERIES, (long long)(QUERIES - 1 + w->a->past), KEYS);
}

/* The tile holds keys that some query does not see. */
static void write_is_edge(writer *w) {
    const hone_attention *a = w->a;
    if (has_edge(a)) hone_str_printf(&w->out, "j == %lld", (long long)tiles_of(a) - 1);
    if (has_edge(a) && a->is_causal) write(w, " or ");
    if (a->is_causal)
        hone_str_printf(&w->out, "(j + 1) * %d > q * %d + %lld", KEYS, QUERIES, (long long)a->past);
}

static void write_is_hidden(writer *w) {
    const hone_attention *a = w->a;
    if (has_edge(a)) write(w, "$COLUMN >= $SK");
    if (has_edge(a) && a->is_causal) write(w, " or ");
    if (a->is_causal) write(w, "$COLUMN > $ROW + $PAST");
}

/* ---- names ---- */

typedef struct open_name {
    const char *name, *text; /* text: with names of its own; NULL: what write does */
    void (*write)(writer *w);
    int64_t number; /* where both are NULL */
} open_name;

static void write_kernel_name(writer *w) {
    write(w, w->name);
}
static void write_query_type(writer *w) {
    write_shape(w, w->a->q, w->a->queries);
}
static void write_key_type(writer *w) {
    write_shape(w, w->a->k, w->a->keys);
}
static void write_value_type(writer *w) {
    write_shape(w, w->a->v, w->a->keys);
}
static void write_result_type(writer *w) {
    write_shape(w, w->a->out, w->a->queries);
}
static void write_query_place(writer *w) {
    write_place(w, w->a->q, w->a->queries, "q * $BM + $CROW", w->a->queries % QUERIES == 0);
}
static void write_first_key(writer *w) {
    write_place(w, w->a->k, w->a->keys, "$CROW", !has_edge(w->a));
}
static void write_first_value(writer *w) {
    write_place(w, w->a->v, w->a->keys, "$CROW", !has_edge(w->a));
}
static void write_next_key(writer *w) {
    write_place(w, w->a->k, w->a->keys, "(j + 1) * $BN + $CROW", !has_edge(w->a));
}
static void write_next_value(writer *w) {
    write_place(w, w->a->v, w->a->keys, "(j + 1) * $BN + $CROW", !has_edge(w->a));
}
static void write_scale(writer *w) {
    hone_str_printf(&w->out, "%.9g", scale_of(w->a));
}
static void write_factor(writer *w) {
    hone_str_printf(&w->out, "%.9g", has_bias(w->a) ? 1.0 : scale_of(w->a));
}

static void write_open(writer *w, const char *name, size_t length) {
    const hone_attention *a = w->a;
    bool is_bfloat = a->dtype.code == HONE_DTYPE_CODE_BFLOAT;
    const open_name names[] = {
        {"FUNC",     .write = write_kernel_name                                                                  },
        {"TYPE",     .text = is_bfloat ? "\"bfloat16\"" : "\"float16\""                                          },
        {"MMA",      .text = is_bfloat ? "\"bf16\"" : "\"fp16\""                                                 },
        {"QTYPE",    .write = write_query_type                                                                   },
        {"KTYPE",    .write = write_key_type                                                                     },
        {"VTYPE",    .write = write_value_type                                                                   },
        {"OTYPE",    .write = write_result_type                                                                  },
        {"MTYPE",    .write = write_bias_type                                                                    },
        {"B",        .number = a->batch                                                                          },
        {"H",        .number = a->heads                                                                          },
        {"SQ",       .number = a->queries                                                                        },
        {"SK",       .number = a->keys                                                                           },
        {"D",        .number = a->size                                                                           },
        {"PAST",     .number = a->past                                                                           },
        {"BM",       .number = QUERIES                                                                           },
        {"BN",       .number = KEYS                                                                              },
        {"T",        .number = THREADS                                                                           },
        {"STAGES",   .number = STAGES                                                                            },
        {"CH",       .number = a->size / 8                                                                       },
        {"QB",       .number = (a->queries - 1) / QUERIES + 1                                                    },
        {"CROW",     .text = "((c * $T + t) // $CH)"                                                             },
        {"CCOLUMN",  .text = "((c * $T + t) % $CH)"                                                              },
        {"CPART",    .text = "T.bitwise_xor($CCOLUMN, $CROW % 8)"                                                },
        {"ROW",      .text = "(q * $BM + t // 32 * 16 + t % 32 // 4 + x % 4 // 2 * 8)"                           },
        {"COLUMN",   .text = "(j * $BN + x // 4 * 8 + t % 4 * 2 + x % 2)"                                        },
        {"QAT",      .write = write_query_place                                                                  },
        {"KFIRST",   .write = write_first_key                                                                    },
        {"VFIRST",   .write = write_first_value                                                                  },
        {"KNEXT",    .write = write_next_key                                                                     },
        {"VNEXT",    .write = write_next_value                                                                   },
        {"MAT",      .write = write_bias_place                                                                   },
        {"BIAS",     .write = write_bias                                                                         },
        {"OAT",      .text = a->out == HONE_HEADS_INSIDE ? "b, $ROW, h, x // 4 * 8 + t % 4 * 2 + x % 2"
                                                    : "b, h, $ROW, x // 4 * 8 + t % 4 * 2 + x % 2"},
        {"TILES",    .write = write_tiles                                                                        },
        {"ISEDGE",   .write = write_is_edge                                                                      },
        {"ISHIDDEN", .write = write_is_hidden                                                                    },
        {"SCALE",    .write = write_scale                                                                        },
        {"FACTOR",   .write = write_factor                                                                       },
    };
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        const open_name *n = &names[i];
        if (strlen(n->name) != length || strncmp(n->name, name, length) != 0) continue;
        if (n->text) {
            write(w, n->text);
        } else if (n->write) {
            n->write(w);
        } else {
            write_number(w, n->number);
        }
        return;
    }
    assert(!"a name of the text");
}

static void write(writer *w, const char *text) {
    while (*text) {
        size_t plain = strcspn(text, "$"), length = 0;
        hone_str_printf(&w->out, "%.*s", (int)plain, text);
        text += plain;
        if (!*text) break;
        while (isupper((unsigned char)text[1 + length]))
            length++;
        write_open(w, text + 1, length);
        text += 1 + length;
    }
}

/* ---- the kernel ---- */

static bool is_wanted(const hone_attention *a, const char *letters, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool holds = letters[i] == 'b'   ? has_bias(a)
                     : letters[i] == 'n' ? !has_bias(a)
                     : letters[i] == 'c' ? a->is_causal
                                         : has_edge(a);
        if (holds) return true;
    }
    return false;
}

static void write_lines(writer *w) {
    for (size_t i = 0; i < HONE_COUNT(lines); i++) {
        const char *line = lines[i];
        size_t letters = *line == '?' ? strcspn(line, " ") - 1 : 0;
        if (letters && !is_wanted(w->a, line + 1, letters)) continue;
        line += letters ? letters + 2 : 0;
        write(w, line);
        hone_str_append(&w->out, "\n");
    }
}

int64_t hone_attention_shared_bytes(const hone_attention *a) {
    int64_t longest = a->queries > a->keys ? a->queries : a->keys;
    bool has_size = a->size == 64 || a->size == 128;
    bool is_short = a->batch > 0 && a->heads > 0 && a->keys > 0 &&
                    longest <= INT32_MAX / a->size / a->heads / a->batch;
    bool has_rows = a->queries >= LEAST_QUERIES && a->batch <= UINT16_MAX && a->heads <= UINT16_MAX;
    if (!has_size || !is_short || !has_rows || a->past < 0) return 0;
    return (QUERIES + 2 * STAGES * KEYS) * a->size * 2;
}

hone_status hone_attention_kernel(const hone_attention *a, const char *name, hone_arena *arena,
                                  hone_func **out_func) {
    writer w = {.a = a, .name = name};
    hone_module *module = NULL;
    assert(hone_attention_shared_bytes(a) != 0);
    write_lines(&w);
    hone_status st = hone_str_check(&w.out);
    if (!st)
        st = hone_script_parse(hone_str_text(&w.out), strlen(hone_str_text(&w.out)), name, &module);
    hone_str_deinit(&w.out);
    HONE_TRY(st);
    *out_func = hone_func_copy_deep(arena, module->members[0].func);
    hone_module_release(module);
    return *out_func ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
}
