/* codegen/source/c_simdgroup.c - matrices of 8 by 8 that the 32 threads of a group have together,
 * in Metal. A buffer of scope "metal.simdgroup" is an array of them. What the calls do to buffers
 * is told by ir/interp/interp_matrix.c. */
#include <string.h>

#include "codegen/source/c_gen.h"
#include "support/core/attributes.h"

enum { SIDE = 8 };

bool c_is_simdgroup(const c_gen *g, hone_buffer buffer) {
    const char *scope = g->func->buffers[buffer].scope;
    return g->dialect->column == C_COLUMN_METAL && scope && strcmp(scope, "metal.simdgroup") == 0;
}

/* "half", or NULL: there are no such matrices. */
static const char *element_type(hone_dtype dtype) {
    if (hone_dtype_equal(dtype, HONE_DTYPE_F32)) return "float";
    return hone_dtype_equal(dtype, HONE_DTYPE_F16) ? "half" : NULL;
}

void c_declare_simdgroup(c_gen *g, hone_buffer id) {
    const hone_buffer_info *buffer = &g->func->buffers[id];
    int64_t elements = codegen_constant_bytes(buffer) < 0 ? 0 : hone_buffer_elements(buffer);
    const char *type = element_type(buffer->dtype);
    if (!type || elements < 1 || elements % (SIDE * SIDE)) {
        c_unsupported(g, c_printf(g, "buffer '%s' of scope '%s'", buffer->name, buffer->scope));
        return;
    }
    g->buffers[id] = c_name(g, buffer->name);
    c_line(g, "simdgroup_matrix<%s, 8, 8> %s[%lld];", type, g->buffers[id],
           (long long)(elements / (SIDE * SIDE)));
}

/* The buffer of matrices that an argument names, or HONE_NO_ID. */
static hone_buffer matrices_of(c_gen *g, const hone_expr *data) {
    hone_buffer id = HONE_NO_ID;
    if (data->kind == HONE_EXPR_VAR) id = codegen_buffer_of_data(g->func, data->u.var);
    if (id != HONE_NO_ID && c_is_simdgroup(g, id)) return id;
    c_unsupported(g, "an instruction of matrices on another buffer");
    return HONE_NO_ID;
}

static const char *matrix(c_gen *g, const hone_expr *data, const hone_expr *number) {
    hone_buffer id = matrices_of(g, data);
    return id == HONE_NO_ID ? "0" : c_printf(g, "%s[%s]", c_buffer(g, id), c_index(g, number).s);
}

/* (data, number, value, 8, 8) */
static void fill(c_gen *g, const hone_expr *e) {
    hone_buffer id = matrices_of(g, e->args[1]);
    if (id == HONE_NO_ID) return;
    const char *type = element_type(g->func->buffers[id].dtype);
    c_line(g, "%s = make_filled_simdgroup_matrix<%s, 8, 8>(%s(%s));",
           matrix(g, e->args[1], e->args[2]), type, type, c_value(g, e->args[3]).s);
}

/* (data, number, memory, stride, 8, 8, is_turned): "simdgroup_load(A[0], (device half *)p, …)" */
static void move(c_gen *g, const hone_expr *e, const char *call) {
    hone_buffer id = matrices_of(g, e->args[1]);
    if (id == HONE_NO_ID) return;
    const char *one = matrix(g, e->args[1], e->args[2]);
    const char *place =
        c_printf(g, "(%s%s *)(%s)", c_space_of_pointer(g, e->args[3]),
                 element_type(g->func->buffers[id].dtype), c_value(g, e->args[3]).s);
    c_line(g, "%s(%s, %s, (ulong)(%s), ulong2(0), %s);", call, one, place, c_index(g, e->args[4]).s,
           hone_expr_const(e->args[7]) ? "true" : "false");
}
static void load(c_gen *g, const hone_expr *e) {
    move(g, e, "simdgroup_load");
}
static void store(c_gen *g, const hone_expr *e) {
    move(g, e, "simdgroup_store");
}

/* (D, number, A, number, B, number, C, number) */
static void multiply(c_gen *g, const hone_expr *e) {
    const char *all = "";
    for (int i = 0; i < 4; i++)
        all = c_printf(g, "%s%s%s", all, i ? ", " : "",
                       matrix(g, e->args[1 + 2 * i], e->args[2 + 2 * i]));
    c_line(g, "simdgroup_multiply_accumulate(%s);", all);
}

static const struct row {
    const char *name;
    uint16_t count; /* arguments, the name among them */
    void (*print)(c_gen *g, const hone_expr *e);
} rows[] = {
    {"metal.make_filled_simdgroup_matrix",  6, fill    },
    {"metal.simdgroup_load",                8, load    },
    {"metal.simdgroup_store",               8, store   },
    {"metal.simdgroup_multiply_accumulate", 9, multiply},
};

bool c_simdgroup_call(c_gen *g, const hone_expr *e) {
    for (size_t i = 0; g->dialect->column == C_COLUMN_METAL && i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].name, e->args[0]->u.s) != 0 || e->count != rows[i].count) continue;
        rows[i].print(g, e);
        return true;
    }
    return false;
}
