/* codegen/source/c_lanes.c - wgmma in CUDA C whose sums, and first factor where it is no operand in
 * shared memory, are arrays of each thread; as codegen/nvptx/ptx_wgmma_lanes.c has them. */
#include <string.h>

#include "codegen/groups.h"
#include "codegen/source/c_gen.h"

/* An array of a thread, as registers of 32 bits. */
typedef struct words {
    const char *array, *type;
    char letter; /* of their constraints */
    unsigned count;
} words;

static bool find_words(c_gen *g, const hone_expr *data, words *out) {
    hone_buffer id =
        data->kind == HONE_EXPR_VAR ? codegen_buffer_of_data(g->func, data->u.var) : HONE_NO_ID;
    if (id == HONE_NO_ID) return false;
    const hone_buffer_info *info = &g->func->buffers[id];
    bool is_float = hone_dtype_is_float(info->dtype) && info->dtype.bits == 32;
    *out = (words){c_buffer(g, id), is_float ? "float" : "unsigned", is_float ? 'f' : 'r',
                   (unsigned)hone_buffer_elements(info) / (info->dtype.bits == 16 ? 2 : 1)};
    return info->scope && strcmp(info->scope, "local") == 0;
}

/* `"+f"(((float *)S)[at + i])`, and so on. */
static const char *bound(c_gen *g, const words *w, const char *sign, const char *at, unsigned first,
                         unsigned count) {
    const char *all = "";
    for (unsigned i = 0; i < count; i++)
        all = c_printf(g, "%s%s\"%s%c\"(((%s *)%s)[(%s) + %u])", all, i ? ", " : "", sign,
                       w->letter, w->type, w->array, at, first + i);
    return all;
}

/* What the instructions read: A's registers or descriptors, B's descriptors. */
static const char *factors(c_gen *g, const hone_expr *e, const groups_product *p, bool *out_known) {
    words own = {0};
    const char *all = "", *a = NULL, *b = c_describe_operand(g, &p->b), *at = NULL;
    *out_known = true;
    if (p->a.buffer != HONE_NO_ID) {
        a = c_describe_operand(g, &p->a);
    } else {
        *out_known = find_words(g, e->args[6], &own);
        at = c_printf(g, "(%s) / 2", c_index(g, p->a.offset).s);
    }
    for (unsigned i = 0; i < p->steps && *out_known; i++) {
        const char *of_a = a ? c_printf(g, "\"l\"(%s + %lld)", a, (long long)groups_step(&p->a, i))
                             : bound(g, &own, "", at, i * GROUPS_MOST_A, GROUPS_MOST_A);
        all = c_printf(g, "%s%s%s, \"l\"(%s + %lld)", all, i ? ", " : "", of_a, b,
                       (long long)groups_step(&p->b, i));
    }
    return all;
}

static bool multiply(c_gen *g, const hone_expr *e) {
    words sums;
    groups_product p;
    bool is_known;
    hone_str text = {0};
    if (!groups_is_of_lanes(e) || !find_words(g, e->args[1], &sums)) return false;
    if (!groups_read_product(g->func, e, &p)) return false;
    unsigned count = (unsigned)(GROUPS_ROWS * p.columns / GROUPS_THREADS);
    c_open(g, "%s", "");
    const char *inputs = factors(g, e, &p, &is_known);
    groups_write_product(&p, count, '%', "\\n\"\n            \"", &text);
    c_line(g, "asm volatile(\"%s\\n\"", hone_str_text(&text));
    c_line(g, "    : %s",
           bound(g, &sums, p.is_added ? "+" : "=", c_index(g, e->args[2]).s, 0, count));
    c_line(g, "    : %s : \"memory\");", inputs);
    c_close(g);
    if (text.failed) c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
    hone_str_deinit(&text);
    return is_known && count > 0 && count <= GROUPS_MOST_WORDS;
}

/* (calls that may go on, data, ...): what is there of those is not touched before; an asm takes 30
 * of them. */
static bool wait(c_gen *g, const hone_expr *e) {
    enum { MOST = 30 };
    c_line(g, "asm volatile(\"wgmma.wait_group.sync.aligned %lld;\\n\" ::: \"memory\");",
           (long long)hone_expr_const(e->args[1]));
    for (uint16_t i = 2; i < e->count; i++) {
        words w;
        if (!find_words(g, e->args[i], &w)) return false;
        for (unsigned at = 0; at < w.count; at += MOST) {
            unsigned count = w.count - at < MOST ? w.count - at : MOST;
            c_line(g, "asm volatile(\"\" : %s :: \"memory\");", bound(g, &w, "+", "0", at, count));
        }
    }
    return true;
}

bool c_lane_call(c_gen *g, const hone_expr *e) {
    if (!g->dialect->has_warp_mma) return false;
    if (hone_expr_is_named(e, "ptx.wgmma_lanes")) return multiply(g, e);
    return hone_expr_is_named(e, "ptx.wgmma_lanes_wait") && e->count > 2 && wait(g, e);
}
