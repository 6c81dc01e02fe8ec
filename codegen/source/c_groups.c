/* codegen/source/c_groups.c - groups of four warps in CUDA C, for sm_90a: wgmma by inline PTX.
 *
 * Sums of a tile are an array of each thread, as codegen/nvptx/ptx_wgmma.c has them: for each eight
 * columns two neighbours of a row and of the row eight below, halves two in a word. Operands in
 * shared memory lie as codegen/groups.h says, which is a change of their indices. */
#include <string.h>

#include "codegen/groups.h"
#include "codegen/source/c_gen.h"
#include "support/core/attributes.h"

/* ---- operands ---- */

void c_find_operands(c_gen *g) {
    if (!g->dialect->has_warp_mma) return;
    bool any = false, *is_operand = hone_arena_zalloc(g->arena, g->func->buffer_count + 1);
    if (!is_operand) {
        c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
        return;
    }
    hone_status st = groups_find_operands(g->func, is_operand, &any);
    if (st) c_fail(g, st);
    if (any) g->is_operand = is_operand;
}

bool c_is_operand(const c_gen *g, hone_buffer buffer) {
    return g->is_operand && g->is_operand[hone_func_storage(g->func, buffer)];
}

const char *c_turned_index(c_gen *g, hone_buffer buffer, const char *index) {
    if (!c_is_operand(g, buffer)) return index;
    hone_dtype dtype = g->func->buffers[buffer].dtype;
    return c_printf(g, "%s(%s, %d)", c_helper(g, "turned", "int64_t"), index,
                    (int)(GROUPS_ROW - 16) / (int)hone_dtype_bytes(dtype));
}

const char *c_describe_operand(c_gen *g, const struct groups_operand *o) {
    const char *name = c_name(g, "operand");
    c_line(g, "const uint64_t %s = %s(&%s[%s], %lld);", name, c_helper(g, "describe", "uint64_t"),
           c_buffer(g, o->buffer), c_index(g, o->offset).s, (long long)o->leading);
    return name;
}

/* ---- sums ---- */

typedef struct sums {
    const char *array, *type;
    hone_dtype dtype;
    int64_t columns; /* of a tile */
    unsigned words;  /* registers of a tile */
} sums;

static const char *word_type(c_gen *g, hone_dtype dtype) {
    return dtype.bits == 16 ? "unsigned" : c_storage(g, dtype);
}

typedef struct search {
    hone_var data;
    int64_t columns;
} search;

/* The columns of a tile are those of what fills it. */
static bool look_at(void *ctx, const hone_expr *e) {
    search *s = ctx;
    bool is_it = (hone_expr_is_named(e, "tvm_fill_fragment") || groups_is_product(e)) &&
                 e->count >= 7 && e->args[1]->kind == HONE_EXPR_VAR && e->args[1]->u.var == s->data;
    if (is_it) s->columns = hone_expr_const(e->args[3]);
    return true;
}

static bool find_sums(c_gen *g, const hone_expr *data, sums *out) {
    hone_buffer id =
        data->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(g->func, data->u.var) : HONE_NO_ID;
    if (!groups_is_sums(g->func, id)) return false;
    search s = {.data = data->u.var};
    hone_tree_walk_parts(g->func, HONE_NODE_TOP, false, look_at, &s);
    out->dtype = g->func->buffers[id].dtype;
    out->type = word_type(g, out->dtype);
    out->array = c_buffer(g, id);
    out->columns = s.columns;
    out->words = s.columns > 0 ? groups_words(out->dtype, s.columns) : 0;
    return out->words > 0 && out->words <= GROUPS_MOST_WORDS;
}

void c_declare_sums(c_gen *g, hone_buffer id) {
    const hone_buffer_info *info = &g->func->buffers[id];
    int64_t words = hone_buffer_elements(info) / GROUPS_THREADS / (info->dtype.bits == 16 ? 2 : 1);
    g->buffers[id] = c_name(g, info->name);
    c_line(g, "%s %s[%lld];", word_type(g, info->dtype), g->buffers[id],
           (long long)(words > 0 ? words : 1));
}

static const char *tile(c_gen *g, const sums *s, const hone_expr *number) {
    return c_printf(g, "&%s[(%s) * %u]", s->array, c_index(g, number).s, s->words);
}

/* (data, m, n, k, number, value) */
static bool fill(c_gen *g, const hone_expr *e, const sums *s) {
    const char *at = c_name(g, "at");
    bool is_zero = (e->args[6]->kind == HONE_EXPR_FLOAT && e->args[6]->u.f == 0) ||
                   (e->args[6]->kind == HONE_EXPR_INT && e->args[6]->u.i == 0);
    if (!is_zero) return false;
    c_line(g, "#pragma unroll");
    c_line(g, "for (int %s = 0; %s < %u; %s++) (%s)[%s] = 0;", at, at, s->words, at,
           tile(g, s, e->args[5]), at);
    return true;
}

/* (data, 64, columns, k, number, memory, stride, layout): some of the columns of a tile. Of 16 rows
 * of a warp a lane has one and the one eight below. */
static bool store(c_gen *g, const hone_expr *e, const sums *s) {
    int64_t columns = hone_expr_const(e->args[3]), number = hone_expr_const(e->args[5]);
    bool is_known = hone_expr_const(e->args[2]) == GROUPS_ROWS && columns > 0 && number >= 0 &&
                    columns % 8 == 0 && s->columns % columns == 0;
    if (!is_known) return false;
    const char *at = c_name(g, "at"), *to = c_name(g, "to");
    int64_t parts = s->columns / columns, each = s->dtype.bits == 16 ? 1 : 2;
    int64_t first = number / parts * s->words + number % parts * columns / 4 * each;
    c_open(g, "%s", "");
    c_line(g, "const int thread_of_group = (int)threadIdx.x;");
    c_line(g,
           "%s *const %s = %s + (thread_of_group / 32 * 16 + thread_of_group / 4 %% 8) * (%s) + "
           "thread_of_group %% 4 * 2;",
           c_storage(g, s->dtype), to, c_at(g, c_value(g, e->args[6]), C_PREC_ADD),
           c_index(g, e->args[7]).s);
    c_line(g, "#pragma unroll");
    c_open(g, "for (int %s = 0; %s < %lld; %s++)", at, at, (long long)(columns / 4), at);
    const char *place =
        c_printf(g, "%s[%s %% 2 * 8 * (%s) + %s / 2 * 8", to, at, c_index(g, e->args[7]).s, at);
    for (int i = 0; i < 2; i++) {
        const char *stored = s->dtype.bits == 16 ? c_printf(g, "(uint16_t)(%s[%lld + %s] >> %d)",
                                                            s->array, (long long)first, at, 16 * i)
                                                 : c_printf(g, "%s[%lld + 2 * %s + %d]", s->array,
                                                            (long long)first, at, i);
        c_line(g, "%s + %d] = %s;", place, i, stored);
    }
    c_close(g);
    c_close(g);
    return true;
}

/* ---- C += A B ---- */

static const char *registers(c_gen *g, const sums *s, const char *tile) {
    char letter = hone_dtype_is_float(s->dtype) && s->dtype.bits == 32 ? 'f' : 'r';
    const char *all = "";
    for (unsigned i = 0; i < s->words; i++)
        all = c_printf(g, "%s%s\"+%c\"((%s)[%u])", all, i ? ", " : "", letter, tile, i);
    return all;
}

static bool multiply(c_gen *g, const hone_expr *e, const sums *s) {
    groups_product p;
    hone_str text = {0};
    if (!groups_read_product(g->func, e, &p) || p.columns != s->columns) return false;
    c_open(g, "%s", "");
    const char *a = c_describe_operand(g, &p.a), *b = c_describe_operand(g, &p.b), *inputs = "";
    for (unsigned i = 0; i < p.steps; i++)
        inputs = c_printf(g, "%s%s\"l\"(%s + %lld), \"l\"(%s + %lld)", inputs, i ? ", " : "", a,
                          (long long)groups_step(&p.a, i), b, (long long)groups_step(&p.b, i));
    groups_write_product(&p, s->words, '%', "\\n\"\n            \"", &text);
    c_line(g, "asm volatile(\"%s\\n\"", hone_str_text(&text));
    c_line(g, "    : %s", registers(g, s, tile(g, s, e->args[5])));
    c_line(g, "    : %s : \"memory\");", inputs);
    c_close(g);
    if (text.failed) c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
    hone_str_deinit(&text);
    return true;
}

/* (data): nobody reads the sums before all products are done. */
static bool wait(c_gen *g, const hone_expr *e, const sums *s) {
    (void)e;
    c_line(g, "asm volatile(\"wgmma.wait_group.sync.aligned 0;\\n\" : %s :: \"memory\");",
           registers(g, s, s->array));
    return true;
}

static const struct row {
    const char *name;
    uint8_t count; /* arguments, the name among them; of a product: at least */
    bool (*print)(c_gen *g, const hone_expr *e, const sums *s);
} rows[] = {
    {"tvm_fill_fragment",     7,  fill    },
    {"tvm_store_matrix_sync", 9,  store   },
    {"ptx.wgmma",             11, multiply},
    {"ptx.wgmma_wait",        2,  wait    },
};

bool c_group_call(c_gen *g, const hone_expr *e) {
    sums s;
    if (!g->dialect->has_warp_mma || e->count < 2) return false;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (!hone_expr_is_named(e, rows[i].name) || e->count < rows[i].count) continue;
        return find_sums(g, e->args[1], &s) && rows[i].print(g, e, &s);
    }
    return false;
}
