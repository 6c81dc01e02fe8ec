/* graph/operators/attention_kernel.c - see attention_kernel.h.
 *
 * Fills in what the text of attention_text.h leaves open. */
#include "graph/operators/attention_kernel.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/operators/attention_text.h"
#include "ir/text/read/script.h"

enum {
    STAGES = 2, /* tiles of keys, and of values, at a time */
    LEAST_QUERIES = 16,
};

/* ---- what is left open ---- */

typedef struct writer {
    const hone_attention *a;
    const attention_form *form;
    const char *name;
    hone_str out;
} writer;

static void write(writer *w, const char *text);

static void write_shape(writer *w, hone_head_order order, int64_t length, int64_t heads) {
    const hone_attention *a = w->a;
    bool is_inside = order == HONE_HEADS_INSIDE;
    hone_str_printf(&w->out, "T.Buffer((%lld, %lld, %lld, %lld), ", (long long)a->batch,
                    (long long)(is_inside ? length : heads),
                    (long long)(is_inside ? heads : length), (long long)a->size);
    write(w, "$TYPE)");
}

/* The element where the part $CROW, $CCOLUMN of a tile begins, which begins at a row. */
static void write_index(writer *w, hone_head_order order, int64_t length, int64_t heads,
                        const char *row, bool is_even) {
    bool is_inside = order == HONE_HEADS_INSIDE;
    char head[64];
    snprintf(head, sizeof head, "%lld + h // %lld", (long long)heads,
             (long long)(w->a->heads / heads));
    if (is_inside)
        hone_str_append(&w->out, "((b * ");
    else
        hone_str_printf(&w->out, "((b * %s) * ", head);
    hone_str_printf(&w->out, "%lld + ", (long long)length);
    if (!is_even) write(w, "T.min(");
    write(w, row);
    if (!is_even) hone_str_printf(&w->out, ", %lld)", (long long)length - 1);
    if (is_inside) hone_str_printf(&w->out, ") * %s", head);
    write(w, ") * $D + $CCOLUMN * 8");
}

/* The bias of an element: axes of one element stay. */
static void write_bias_index(writer *w) {
    static const char *const axes[] = {"b", "h", "T.min($ROW, $SQ - 1)", "T.min($COLUMN, $SK - 1)"};
    const hone_attention *a = w->a;
    if (a->bias_rank == 0) write(w, "()");
    for (int32_t d = 0; d < a->bias_rank; d++) {
        if (d) write(w, ", ");
        write(w, a->bias_shape[d] == 1 ? "0" : axes[4 - a->bias_rank + d]);
    }
}

/* Numbers of bfloat16 and float32 that are below all others (masks that are no -inf) stay finite
 * when they are scaled: a row of nothing but them counts all its keys alike. */
static void write_bias(writer *w) {
    static const char whole[] = "T.Cast(\"float32\", M[$MAT])";
    hone_dtype dtype = w->a->bias_dtype;
    if (dtype.bits == 16 && dtype.code != HONE_DTYPE_CODE_BFLOAT) {
        write(w, whole);
        return;
    }
    hone_str_append(&w->out, "T.if_then_else(");
    write(w, whole);
    hone_str_append(&w->out, " >= T.float32(-3.4028234663852886e38), T.max(");
    write(w, whole);
    hone_str_append(&w->out, ", T.float32(-5e29)), ");
    write(w, whole);
    hone_str_append(&w->out, ")");
}

static void write_bias_type(writer *w) {
    write(w, "T.Buffer((");
    for (int32_t d = 0; d < w->a->bias_rank; d++)
        hone_str_printf(&w->out, "%lld, ", (long long)w->a->bias_shape[d]);
    write(w, w->a->bias_dtype.bits == 32 ? "), \"float32\")" : "), $TYPE)");
}

static bool has_bias(const hone_attention *a) {
    return a->bias_rank >= 0;
}

static bool has_edge(const hone_attention *a) {
    return a->keys % attention_form_of(a)->keys != 0;
}

/* By powers of two: what the products are multiplied with. A bias is added to scaled ones. */
static double scale_of(const hone_attention *a) {
    return a->scale * 1.44269504088896341;
}

static int64_t tiles_of(const hone_attention *a) {
    return (a->keys - 1) / attention_form_of(a)->keys + 1;
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
    hone_str_printf(&w->out, "T.min(%lld, (", (long long)tiles_of(w->a));
    write(w, "$QI * $BM + $BM - 1 + $PAST) // $BN + 1)");
}

/* The tile holds keys that some query does not see. */
static void write_is_edge(writer *w) {
    const hone_attention *a = w->a;
    if (has_edge(a)) hone_str_printf(&w->out, "j == %lld", (long long)tiles_of(a) - 1);
    if (has_edge(a) && a->is_causal) write(w, " or ");
    if (a->is_causal) write(w, "(j + 1) * $BN > $QI * $BM + $PAST");
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
    write_shape(w, w->a->q, w->a->queries, w->a->heads);
}
static void write_key_type(writer *w) {
    write_shape(w, w->a->k, w->a->keys, w->a->k_heads);
}
static void write_value_type(writer *w) {
    write_shape(w, w->a->v, w->a->keys, w->a->v_heads);
}
static void write_result_type(writer *w) {
    write_shape(w, w->a->out, w->a->queries, w->a->heads);
}
static void write_query_index(writer *w) {
    write_index(w, w->a->q, w->a->queries, w->a->heads, "$QI * $BM + $CROW",
                w->a->queries % w->form->queries == 0);
}
/* A row of keys or values; tiles of groups go from the last to the first. */
static void write_key_row(writer *w, bool is_value, int64_t tile, bool is_later) {
    hone_head_order order = is_value ? w->a->v : w->a->k;
    int64_t heads = is_value ? w->a->v_heads : w->a->k_heads;
    bool is_even = !has_edge(w->a);
    hone_str row = {0};
    if (w->a->has_groups)
        hone_str_printf(&row, "($TILES - %lld%s) * $BN + $CROW", (long long)tile + 1,
                        is_later ? " - i" : "");
    else
        hone_str_printf(&row, "(%lld%s) * $BN + $CROW", (long long)tile, is_later ? " + j" : "");
    write_index(w, order, w->a->keys, heads, hone_str_text(&row), is_even);
    w->out.failed |= row.failed;
    hone_str_deinit(&row);
}
static void write_first_key(writer *w) {
    write_key_row(w, false, 0, false);
}
static void write_first_value(writer *w) {
    write_key_row(w, true, 0, false);
}
static void write_second_key(writer *w) {
    write_key_row(w, false, 1, false);
}
static void write_third_key(writer *w) {
    write_key_row(w, false, 2, false);
}
static void write_next_key(writer *w) {
    write_key_row(w, false, w->a->has_groups ? 3 : 1, true);
}
static void write_next_value(writer *w) {
    write_key_row(w, true, 1, true);
}
static void write_scale(writer *w) {
    hone_str_printf(&w->out, "%.9g", scale_of(w->a));
}
/* Blocks that see the most keys begin first. */
static void write_query_block(writer *w) {
    write(w, w->a->is_causal ? "($QB - 1 - q)" : "q");
}
static void write_factor(writer *w) {
    hone_str_printf(&w->out, "%.9g", has_bias(w->a) ? 1.0 : scale_of(w->a));
}

static void write_open(writer *w, const char *name, size_t length) {
    const hone_attention *a = w->a;
    bool is_bfloat = a->dtype.code == HONE_DTYPE_CODE_BFLOAT;
    /* clang-format off */
    const open_name names[] = {
        {"FUNC", .write = write_kernel_name},
        {"TYPE", .text = is_bfloat ? "\"bfloat16\"" : "\"float16\""},
        {"MMA", .text = is_bfloat ? "\"bf16\"" : "\"fp16\""},
        {"QTYPE", .write = write_query_type},
        {"KTYPE", .write = write_key_type},
        {"VTYPE", .write = write_value_type},
        {"OTYPE", .write = write_result_type},
        {"MTYPE", .write = write_bias_type},
        {"B", .number = a->batch},
        {"H", .number = a->heads},
        {"SQ", .number = a->queries},
        {"SK", .number = a->keys},
        {"D", .number = a->size},
        {"PAST", .number = a->past},
        {"BM", .number = w->form->queries},
        {"BN", .number = w->form->keys},
        {"GM", .number = w->form->group},
        {"T", .number = w->form->threads},
        {"QI", .write = write_query_block},
        {"STAGES", .number = STAGES},
        {"CH", .number = a->size / 8},
        {"QB", .number = (a->queries - 1) / w->form->queries + 1},
        {"CROW", .text = "((c * $T + t) // $CH)"},
        {"CCOLUMN", .text = "((c * $T + t) % $CH)"},
        {"CPART", .text = "T.bitwise_xor($CCOLUMN, $CROW % 8)"},
        {"ROW", .text = "($QI * $BM + t // 32 * 16 + t % 32 // 4 + x % 4 // 2 * 8)"},
        {"COLUMN", .text = "(j * $BN + x // 4 * 8 + t % 4 * 2 + x % 2)"},
        {"QAT", .write = write_query_index},
        {"KFIRST", .write = write_first_key},
        {"VFIRST", .write = write_first_value},
        {"SPOT", .text = "$CCOLUMN // 8 * $BN * 64 + $CROW * 64 + $CCOLUMN % 8 * 8"},
        {"QSPOT", .text = "$CROW // $GM * $GM * $D + $CCOLUMN // 8 * $GM * 64 +"
                          " $CROW % $GM * 64 + $CCOLUMN % 8 * 8"},
        {"QUERIES", .text =
                        "T.tvm_access_ptr(T.type_annotation($TYPE), SQ.data, t // 128 * $GM * $D,"
                        " $GM * $D, 1)"},
        {"OSPOT", .text = a->out == HONE_HEADS_INSIDE
                              ? "b, $QI * $BM + $CROW, h, $CCOLUMN * 8 + y"
                              : "b, h, $QI * $BM + $CROW, $CCOLUMN * 8 + y"},
        {"KSECOND", .write = write_second_key},
        {"KTHIRD", .write = write_third_key},
        {"KSTAGES", .number = w->form->key_stages},
        {"KNEXT", .write = write_next_key},
        {"VNEXT", .write = write_next_value},
        {"MAT", .write = write_bias_index},
        {"BIAS", .write = write_bias},
        {"OAT", .text = a->out == HONE_HEADS_INSIDE ? "b, $ROW, h, x // 4 * 8 + t % 4 * 2 + x % 2"
                                                    : "b, h, $ROW, x // 4 * 8 + t % 4 * 2 + x % 2"},
        {"TILES", .write = write_tiles},
        {"ISEDGE", .write = write_is_edge},
        {"ISHIDDEN", .write = write_is_hidden},
        {"SCALE", .write = write_scale},
        {"FACTOR", .write = write_factor},
    };
    /* clang-format on */
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
                     : letters[i] == 'z' ? a->takes_nothing
                                         : has_edge(a);
        if (holds) return true;
    }
    return false;
}

static void write_lines(writer *w, const char *const *lines, size_t count, int indent) {
    for (size_t i = 0; i < count; i++) {
        const char *line = lines[i];
        size_t letters = *line == '?' ? strcspn(line, " ") - 1 : 0;
        if (letters && !is_wanted(w->a, line + 1, letters)) continue;
        line += letters ? letters + 2 : 0;
        size_t own = strspn(line, " ");
        if (line[own] == '=') {
            const attention_part *part = attention_part_named(line + own + 1);
            assert(part && "a part of the text");
            write_lines(w, part->lines, part->count, indent + (int)own);
            continue;
        }
        hone_str_printf(&w->out, "%*s", indent, "");
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
    const attention_form *form = attention_form_of(a);
    return (form->queries + (STAGES + form->key_stages) * form->keys) * a->size * 2;
}

hone_status hone_attention_kernel(const hone_attention *a, const char *name, hone_arena *arena,
                                  hone_func **out_func) {
    writer w = {.a = a, .form = attention_form_of(a), .name = name};
    hone_module *module = NULL;
    assert(hone_attention_shared_bytes(a) != 0);
    write_lines(&w, w.form->lines, w.form->count, 0);
    hone_status st = hone_str_check(&w.out);
    if (!st)
        st = hone_script_parse(hone_str_text(&w.out), strlen(hone_str_text(&w.out)), name, &module);
    hone_str_deinit(&w.out);
    HONE_TRY(st);
    *out_func = hone_func_copy_deep(arena, module->members[0].func);
    hone_module_release(module);
    return *out_func ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "kernel");
}
