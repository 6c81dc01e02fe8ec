/* codegen/groups.c - see groups.h. */
#include "codegen/groups.h"

#include <string.h>

#include "codegen/facts.h"

/* ---- operands ---- */

bool groups_is_of_lanes(const hone_expr *e) {
    return hone_expr_is_named(e, "ptx.wgmma_lanes") && e->count == 11;
}

bool groups_is_product(const hone_expr *e) {
    bool is_of_group = hone_expr_is_named(e, "ptx.wgmma") && (e->count == 11 || e->count == 12);
    return is_of_group || groups_is_of_lanes(e);
}

bool groups_is_sums(const hone_func *func, hone_buffer buffer) {
    if (buffer == HONE_NO_ID) return false;
    const char *scope = func->buffers[hone_func_storage(func, buffer)].scope;
    return scope && strcmp(scope, "wgmma.accumulator") == 0;
}

/* The buffer that an argument points into, or HONE_NO_ID. */
static hone_buffer pointed(const hone_func *func, const hone_expr *pointer) {
    bool is_known = hone_expr_is_call(pointer, HONE_INTRIN_ACCESS_PTR) && pointer->count > 2 &&
                    pointer->args[1]->kind == HONE_EXPR_VAR;
    return is_known ? codegen_buffer_of_data(func, pointer->args[1]->u.var) : HONE_NO_ID;
}

typedef struct search {
    const hone_func *func;
    bool *is_operand, any;
    hone_buffer shared_with; /* an operand that something else gets a pointer to */
} search;

static bool note_product(void *ctx, const hone_expr *e) {
    search *s = ctx;
    for (uint16_t i = 6; groups_is_product(e) && i <= 8; i += 2) {
        hone_buffer id = pointed(s->func, e->args[i]);
        if (id == HONE_NO_ID) continue;
        s->is_operand[hone_func_storage(s->func, id)] = true;
        s->any = true;
    }
    return true;
}

/* A copy to a place that the generators know to lie otherwise. */
static bool is_copy(const hone_expr *e) {
    return hone_expr_is_named(e, "s_tir.cp_async_raw") && e->count == 6 &&
           e->args[1]->kind == HONE_EXPR_VAR;
}

static bool find_pointer(void *ctx, const hone_expr *e) {
    search *s = ctx;
    if (groups_is_product(e) || is_copy(e)) return false;
    hone_buffer id =
        e->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(s->func, e->u.var) : HONE_NO_ID;
    if (id != HONE_NO_ID && s->is_operand[hone_func_storage(s->func, id)]) s->shared_with = id;
    return true;
}

hone_status groups_find_operands(const hone_func *func, bool *is_operand, bool *out_any) {
    search s = {func, is_operand, false, HONE_NO_ID};
    hone_tree_walk_parts(func, HONE_NODE_TOP, false, note_product, &s);
    if (s.any) hone_tree_walk_parts(func, HONE_NODE_TOP, false, find_pointer, &s);
    *out_any = s.any;
    if (s.shared_with == HONE_NO_ID) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "'%s' is an operand of ptx.wgmma, and something else gets a pointer to it",
                      func->buffers[s.shared_with].name);
}

/* ---- products ---- */

static const char *word_of(hone_dtype dtype) {
    if (dtype.code == HONE_DTYPE_CODE_BFLOAT) return "bf16";
    if (hone_dtype_is_float(dtype)) return dtype.bits == 16 ? "f16" : "f32";
    return dtype.bits == 8 ? "s8" : "s32";
}

unsigned groups_words(hone_dtype sum, int64_t columns) {
    return (unsigned)(GROUPS_ROWS * columns / GROUPS_THREADS / (sum.bits == 16 ? 2 : 1));
}

/* along_k: rows of columns lie along k, else along the other axis. */
static bool read_operand(const hone_func *func, const hone_expr *pointer, const hone_expr *stride,
                         bool along_k, int64_t each, struct groups_operand *out) {
    out->buffer = pointed(func, pointer);
    if (out->buffer == HONE_NO_ID) return false;
    int64_t element = (int64_t)hone_dtype_bytes(func->buffers[out->buffer].dtype);
    out->between = hone_expr_const(stride) * element;
    out->offset = pointer->args[2];
    out->is_along = along_k;
    out->leading = along_k ? 16 : out->between;
    out->step = along_k ? each * element : each * GROUPS_ROW;
    return out->between >= 1 && out->between % GROUPS_ALIGN == 0;
}

int64_t groups_step(const struct groups_operand *o, unsigned i) {
    int64_t bytes = i * o->step;
    if (o->is_along) bytes = bytes / GROUPS_ROW * o->between + bytes % GROUPS_ROW;
    return bytes / 16;
}

static hone_buffer buffer_of(const hone_func *func, const hone_expr *data) {
    return data->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(func, data->u.var) : HONE_NO_ID;
}

/* A in the threads' own memory, or the operand that it is. */
static bool read_a(const hone_func *func, const hone_expr *e, int64_t each,
                   struct groups_operand *out) {
    if (!groups_is_of_lanes(e) || e->args[6]->kind != HONE_EXPR_VAR)
        return read_operand(func, e->args[6], e->args[7], true, each, out);
    *out = (struct groups_operand){.buffer = HONE_NO_ID, .offset = e->args[7]};
    return each == 16;
}

static int64_t calls_left(const hone_expr *e) {
    if (groups_is_of_lanes(e)) return -1;
    return e->count == 12 ? hone_expr_const(e->args[11]) : 0;
}

bool groups_read_product(const hone_func *func, const hone_expr *e, groups_product *out) {
    hone_buffer sums = buffer_of(func, e->args[1]), a = pointed(func, e->args[6]);
    if (a == HONE_NO_ID) a = buffer_of(func, e->args[6]);
    const hone_expr *way = e->args[10];
    if (sums == HONE_NO_ID || a == HONE_NO_ID || way->kind != HONE_EXPR_STRING) return false;
    int64_t k = hone_expr_const(e->args[4]);
    out->element = word_of(func->buffers[a].dtype);
    out->sum = word_of(func->buffers[sums].dtype);
    out->each = strcmp(out->element, "s8") == 0 ? 32 : 16;
    out->columns = hone_expr_const(e->args[3]);
    out->is_across = strcmp(way->u.s, "mn") == 0;
    out->is_added = !(groups_is_of_lanes(e) && hone_expr_is_int_value(e->args[5], 1));
    out->left = calls_left(e);
    out->steps = (unsigned)(k > 0 ? k / out->each : 0);
    return out->steps > 0 && out->steps <= GROUPS_MOST_STEPS && k % out->each == 0 &&
           read_a(func, e, out->each, &out->a) &&
           read_operand(func, e->args[8], e->args[9], !out->is_across, out->each, &out->b);
}

/* ---- text ---- */

static void append_registers(hone_str *text, unsigned first, unsigned count, char mark) {
    hone_str_append(text, "{");
    for (unsigned i = 0; i < count; i++)
        hone_str_printf(text, "%s%c%u", i ? ", " : "", mark, first + i);
    hone_str_append(text, "}");
}

/* Signs of the factors, and which of them are turned around; registers are not. */
static const char *scales_of(const groups_product *p) {
    if (p->each == 32) return "";
    if (p->a.buffer == HONE_NO_ID) return p->is_across ? ", 1, 1, 1" : ", 1, 1, 0";
    return p->is_across ? ", 1, 1, 0, 1" : ", 1, 1, 0, 0";
}

void groups_write_product(const groups_product *p, unsigned words, char mark, const char *newline,
                          hone_str *out) {
    unsigned at = words;
    hone_str_printf(out, "wgmma.fence.sync.aligned;%s", newline);
    for (unsigned i = 0; i < p->steps; i++) {
        hone_str_printf(out, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s ", (int)p->columns,
                        (int)p->each, p->sum, p->element, p->element);
        append_registers(out, 0, words, mark);
        hone_str_append(out, ", ");
        if (p->a.buffer == HONE_NO_ID) {
            append_registers(out, at, GROUPS_MOST_A, mark);
            at += GROUPS_MOST_A;
        } else {
            hone_str_printf(out, "%c%u", mark, at++);
        }
        hone_str_printf(out, ", %c%u, %d%s;%s", mark, at++, i > 0 || p->is_added, scales_of(p),
                        newline);
    }
    hone_str_append(out, "wgmma.commit_group.sync.aligned;");
    if (p->left >= 0)
        hone_str_printf(out, "%swgmma.wait_group.sync.aligned %d;", newline, (int)p->left);
}
