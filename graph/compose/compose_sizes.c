/* graph/compose/compose_sizes.c - operands whose sizes have different names, where an operator
 * wants them equal: one is said to have the sizes of the other, which is checked in each call.
 * Models are read so (../frontend/reader/onnx_unify.c); here texts are.
 */
#include "graph/compose/compose.h"
#include "graph/compose/compose_impl.h"

/* What is wanted of the operands, as arguments in r->inputs. */
static hone_status unify(onnx_reader *r, const hone_gbind *bind) {
    if (!hone_gbind_calls(bind, "concat"))
        return onnx_unify(r, bind->callee, r->input_count, r->inputs, &bind->attrs);
    hone_garg *tuple = &r->inputs[0];
    if (tuple->kind != HONE_GARG_TUPLE || !tuple->count) return HONE_OK;
    hone_garg *items = hone_arena_copy(r->arena, tuple->u.items, tuple->count * sizeof *items);
    if (!items) return HONE_NO_MEMORY("operands");
    tuple->u.items = items;
    return onnx_unify_joined(r, tuple->count, items, hone_attrs_int(&bind->attrs, "axis", 0));
}

static hone_status result_of(hone_rewrite *rw, const hone_gbind *bind, const hone_garg *args) {
    const hone_sinfo *ignored;
    hone_gbind now = *bind;
    now.args = args;
    return hone_graph_infer_bind(rw->module, rw->now, &now, rw->module->arena, &ignored);
}

static hone_status agree(hone_rewrite *rw, const hone_gbind *bind, onnx_reader *r, bool *out_done) {
    hone_garg out;
    HONE_TRY(compose_open_reader(rw, bind, r));
    HONE_TRY(unify(r, bind));
    HONE_TRY(hone_ir_finish(&r->ir));
    HONE_TRY(result_of(rw, bind, r->inputs));
    HONE_TRY(hone_rewrite_call(rw, bind->callee, r->input_count, r->inputs, bind->attrs, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

hone_status hone_compose_agreed(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    const hone_garg *args;
    if (bind->kind != HONE_GBIND_CALL) return HONE_OK;
    HONE_TRY(hone_rewrite_args(rw, bind, &args));
    if (hone_status_consume(result_of(rw, bind, args)) != HONE_CODE_UNSUPPORTED) return HONE_OK;
    onnx_reader *r = hone_arena_alloc(rw->module->arena, sizeof *r);
    if (!r) return HONE_NO_MEMORY("operands");
    hone_status st = agree(rw, bind, r, out_done);
    hone_status left = hone_ir_finish(&r->ir);
    hone_strmap_deinit(&r->size_names);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return hone_status_join(st, left);
    hone_status_free(hone_status_join(st, left)); /* whoever infers the call says why it is none */
    return HONE_OK;
}
