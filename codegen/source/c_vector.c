/* codegen/source/c_vector.c - lanes that lie side by side in memory are moved together on a device:
 * through pointers to vectors where these are surely aligned, or by vload and vstore.
 *
 *   B[ramp(j, 1, 8)] = A[ramp(i, 1, 8)]
 *     ⇒ *(uint4 *)&B[j] = *(const uint4 *)&A[i];     (float16, CUDA C)
 *   B[ramp(j, 1, 4)] = A[...] + 1
 *     ⇒ float value[4]; for (lane ...) value[lane] = ...;
 *       *(uint4 *)&B[j] = *(const uint4 *)&value[0];
 */
#include "codegen/async_copies.h"
#include "codegen/source/c_gen.h"

enum { MOST_BYTES = 16 };

/* A place in memory, and where it is. */
typedef struct place {
    hone_buffer buffer; /* HONE_NO_ID: of the printed function alone */
    c_space space;
    const char *text; /* of an element, without the index: "A" */
    const char *index;
} place;

/* The index of the first lane, where lanes lie side by side; else NULL. */
static const hone_expr *first_of(const hone_expr *index) {
    bool is_plain = index->kind == HONE_EXPR_RAMP && index->args[0]->dtype.lanes == 1 &&
                    hone_expr_is_int_value(index->args[1], 1);
    return is_plain ? index->args[0] : NULL;
}

static uint32_t bytes_of(hone_dtype dtype) {
    return (uint32_t)hone_dtype_bytes(hone_dtype_element(dtype));
}

/* How many lanes are moved at a time: all of them, or as many as a register holds. */
static uint32_t chunk_of(const c_gen *g, hone_dtype dtype, uint32_t lanes) {
    uint32_t most = g->dialect->has_wide_copies ? MOST_BYTES / bytes_of(dtype) : 16;
    uint32_t chunk = lanes < most ? lanes : most;
    bool is_power = (chunk & (chunk - 1)) == 0;
    return chunk >= 2 && is_power && lanes % chunk == 0 ? chunk : 0;
}

const hone_expr *c_without_names(c_gen *g, const hone_expr *index) {
    return hone_expr_substitute(&g->arith.ir, index, g->values, g->func->var_count);
}

/* Whether an index is a multiple of so many lanes. */
static bool is_aligned(c_gen *g, const hone_expr *index, uint32_t chunk) {
    if (!g->dialect->has_wide_copies) return true; /* vload and vstore need not know */
    const hone_expr *whole = c_without_names(g, index);
    if (!whole) return false;
    hone_modular m = hone_arith_modular(&g->arith, whole);
    return m.coeff % chunk == 0 && m.base % chunk == 0;
}

static place place_of(c_gen *g, hone_buffer buffer, const hone_expr *first) {
    return (place){buffer, c_space_of(g, buffer), c_buffer(g, buffer),
                   c_at(g, c_index(g, first), C_PREC_ADD)};
}

static const char *element(c_gen *g, const place *p, uint32_t lane) {
    const char *at = lane ? c_printf(g, "%s + %u", p->index, (unsigned)lane) : p->index;
    if (p->buffer != HONE_NO_ID) at = c_turned_index(g, p->buffer, at);
    return c_printf(g, "%s[%s]", p->text, at);
}

static const char *vector_type(uint32_t bytes) {
    return bytes == 16 ? "uint4" : bytes == 8 ? "uint2" : bytes == 4 ? "uint32_t" : "uint16_t";
}

static void move(c_gen *g, hone_dtype dtype, uint32_t lanes, const place *to, const place *from) {
    uint32_t chunk = chunk_of(g, dtype, lanes);
    const c_dialect *d = g->dialect;
    const char *type = vector_type(chunk * bytes_of(dtype));
    for (uint32_t lane = 0; lane < lanes; lane += chunk) {
        const char *there = element(g, to, lane), *here = element(g, from, lane);
        if (d->has_wide_copies)
            c_line(g, "*(%s%s *)&%s = *(const %s%s *)&%s;", d->space[to->space], type, there,
                   d->space[from->space], type, here);
        else
            c_line(g, "vstore%u(vload%u(0, &%s), 0, &%s);", (unsigned)chunk, (unsigned)chunk, here,
                   there);
    }
}

/* A copy from memory to memory. The source is read as a whole before anything is written only where
 * one move takes all lanes. */
static bool is_copy(c_gen *g, const hone_expr *value, hone_dtype dtype, uint32_t lanes) {
    if (value->kind != HONE_EXPR_LOAD || value->count != 1) return false;
    const hone_expr *from = first_of(value->args[0]);
    uint32_t chunk = chunk_of(g, dtype, lanes);
    return from && chunk == lanes && is_aligned(g, from, chunk) &&
           hone_dtype_same_element(g->func->buffers[value->u.buffer].dtype, dtype);
}

static void compute(c_gen *g, const hone_expr *value, hone_dtype dtype, uint32_t lanes,
                    const char *name) {
    c_line(g, "%s%s %s[%u];", g->dialect->array_words, c_storage(g, dtype), name, (unsigned)lanes);
    const char *outer = c_open_lanes(g, lanes);
    c_line(g, "%s[%s] = %s;", name, g->lane, c_stored(g, value).s);
    c_close_lanes(g, outer);
}

/* "a && b", as what a copy is told: so many bytes, or none. */
static const char *bytes_where(c_gen *g, const copies_source *source, int64_t bytes) {
    const char *all = "";
    for (unsigned i = 0; i < source->count; i++)
        all = c_printf(g, "%s%s%s", all, i ? " && " : "",
                       c_at(g, c_condition(g, source->conditions[i]), C_PREC_COMPARE));
    return source->count ? c_printf(g, "%s ? %d : 0", all, (int)bytes)
                         : c_printf(g, "%d", (int)bytes);
}

bool c_copies_behind(c_gen *g, const hone_node *node, uint32_t lanes) {
    copies_source source;
    hone_buffer to = node->u.store.buffer;
    hone_dtype dtype = g->func->buffers[to].dtype;
    const hone_expr *value = node->u.store.value;
    if (!g->dialect->has_warp_mma || g->mask || !copies_find_source(value, &source)) return false;
    hone_buffer from = source.load->u.buffer;
    const hone_expr *there = copies_first_of(node->u.store.indices[0]),
                    *here = copies_first_of(source.load->args[0]);
    int64_t bytes = (int64_t)lanes * bytes_of(dtype);
    bool is_known = copies_has_size(bytes) && there && here && source.load->dtype.lanes == lanes &&
                    hone_dtype_same_element(g->func->buffers[from].dtype, dtype) &&
                    c_space_of(g, to) == C_SPACE_SHARED && c_space_of(g, from) == C_SPACE_GLOBAL &&
                    is_aligned(g, there, lanes) && is_aligned(g, here, lanes);
    if (!is_known) return false;
    const char *size = bytes_where(g, &source, bytes);
    c_line(g, "asm volatile(\"cp.async.%s.shared.global [%%0], [%%1], %d, %%2;\\n\"",
           bytes == 16 ? "cg" : "ca", (int)bytes);
    c_line(g,
           "    :: \"r\"((unsigned)__cvta_generic_to_shared(&%s)), \"l\"(&%s), \"r\"(%s) : "
           "\"memory\");",
           c_element(g, to, there), c_element(g, from, here), size);
    return true;
}

bool c_store_together(c_gen *g, const hone_node *node, uint32_t lanes) {
    const hone_expr *value = node->u.store.value, *first = first_of(node->u.store.indices[0]);
    hone_dtype dtype = g->func->buffers[node->u.store.buffer].dtype;
    if (!g->dialect->is_device || g->mask || !first) return false;
    uint32_t chunk = chunk_of(g, dtype, lanes);
    if (chunk == 0 || !is_aligned(g, first, chunk)) return false;
    if (is_copy(g, value, dtype, lanes)) {
        place to = place_of(g, node->u.store.buffer, first);
        place from = place_of(g, value->u.buffer, first_of(value->args[0]));
        move(g, dtype, lanes, &to, &from);
        return true;
    }
    const char *name = c_name(g, "value");
    c_open(g, "%s", "");
    compute(g, value, dtype, lanes, name);
    place to = place_of(g, node->u.store.buffer, first), from;
    from = (place){HONE_NO_ID, C_SPACE_PRIVATE, name, "0"};
    move(g, dtype, lanes, &to, &from);
    c_close(g);
    return true;
}
