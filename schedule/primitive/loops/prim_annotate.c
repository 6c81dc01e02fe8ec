/* schedule/primitive/loops/prim_annotate.c - annotate, unannotate, add_unit_loop and
 * enter_postproc: notes, and a loop of one iteration. */
#include "ir/core/annotation.h"
#include "schedule/primitive/primitive_impl.h"

static hone_attrs attrs_of(const hone_schedule *sch, hone_node_id node) {
    const hone_node *n = sch_node(sch, node);
    return n->kind == HONE_NODE_FOR ? n->u.loop.annotations : n->u.block.block->annotations;
}

static hone_status set_attrs(hone_schedule *sch, hone_node_id node, hone_attrs attrs) {
    hone_node *n = sch_node(sch, node);
    if (n->kind == HONE_NODE_FOR) {
        n->u.loop.annotations = attrs;
        return HONE_OK;
    }
    hone_block *block = hone_block_copy(sch->arena, n->u.block.block);
    if (!block) return sch_no_memory();
    block->annotations = attrs;
    n->u.block.block = block;
    return HONE_OK;
}

/* A value as readers of traces give it: numbers and texts as such, all else as plain data. */
static hone_status operand_of(hone_schedule *sch, hone_value value, hone_operand *out) {
    hone_value *copy = NULL;
    switch (value.kind) {
    case HONE_VALUE_INT:
        *out = (hone_operand){.kind = HONE_OPERAND_INT, .u.i = value.u.i};
        return HONE_OK;
    case HONE_VALUE_STRING:
        *out = (hone_operand){.kind = HONE_OPERAND_STRING, .u.s = value.u.s};
        return HONE_OK;
    case HONE_VALUE_FLOAT:
        *out = (hone_operand){.kind = HONE_OPERAND_FLOAT, .u.f = value.u.f};
        return HONE_OK;
    case HONE_VALUE_NONE:
        *out = (hone_operand){.kind = HONE_OPERAND_NONE};
        return HONE_OK;
    default:
        copy = hone_arena_alloc(sch->arena, sizeof *copy);
        if (!copy) return sch_no_memory();
        *copy = value;
        *out = (hone_operand){.kind = HONE_OPERAND_VALUE, .u.value = copy};
        return HONE_OK;
    }
}

hone_status hone_sch_annotate(hone_schedule *sch, hone_rv rv, const char *key, hone_value value,
                              hone_rv value_rv) {
    hone_node_id node;
    HONE_TRY(sch_resolve_node(sch, rv, &node));
    hone_operand data;
    if (!hone_value_own(sch->arena, &value)) return sch_no_memory();
    HONE_TRY(operand_of(sch, value, &data));
    if (value_rv != HONE_NO_ID) {
        int64_t number = 0;
        HONE_TRY(hone_schedule_int(sch, value_rv, &number));
        value = HONE_VALUE_OF_INT(number);
    }
    const char *wanted = hone_annotation_misfit(key, &value);
    if (wanted) return sch_refuse(sch, node, "annotation '%s' wants %s", key, wanted);
    hone_attrs attrs = attrs_of(sch, node);
    const char *copy = hone_arena_strdup(sch->arena, key);
    if (!copy) return sch_no_memory();
    if (!hone_attrs_find(&attrs, key)) { /* as in TVM: the first value stays */
        if (!hone_attrs_with(sch->arena, &attrs, copy, value, &attrs)) return sch_no_memory();
        HONE_TRY(set_attrs(sch, node, attrs));
    }
    return sch_record(sch, HONE_INST_ANNOTATE,
                      SCH_ARGS(SCH_RV(rv), SCH_TEXT(key), SCH_DATA(&data, value_rv)));
}

hone_status hone_sch_unannotate(hone_schedule *sch, hone_rv rv, const char *key) {
    hone_node_id node;
    HONE_TRY(sch_resolve_node(sch, rv, &node));
    hone_attrs attrs = attrs_of(sch, node);
    if (!hone_attrs_find(&attrs, key)) {
        return sch_refuse(sch, node, "there is no annotation '%s'", key);
    }
    if (!hone_attrs_without(sch->arena, &attrs, key, &attrs)) return sch_no_memory();
    HONE_TRY(set_attrs(sch, node, attrs));
    return sch_record(sch, HONE_INST_UNANNOTATE, SCH_ARGS(SCH_RV(rv), SCH_TEXT(key)));
}

hone_status hone_sch_add_unit_loop(hone_schedule *sch, hone_rv rv, hone_rv *out_loop) {
    hone_node_id node;
    HONE_TRY(sch_resolve_node(sch, rv, &node));
    if (sch_node(sch, node)->parent == 0) {
        return sch_refuse(sch, node, "a loop can't stand above the root block");
    }
    const hone_expr *one = hone_expr_int(&sch->ir, HONE_DTYPE_I32, 1);
    hone_node_id loop = sch_make_loop(sch, "u", HONE_DTYPE_I32, one);
    if (loop == HONE_NO_ID) return sch_no_memory();
    hone_tree_replace(sch->func, node, loop);
    hone_tree_append(sch->func, loop, node);
    return sch_record_node(sch, HONE_INST_ADD_UNIT_LOOP, SCH_ARGS(SCH_RV(rv)), loop, out_loop);
}

hone_status hone_sch_enter_postproc(hone_schedule *sch) {
    return sch_record(sch, HONE_INST_ENTER_POSTPROC, NULL);
}

static hone_status apply_value(hone_schedule *sch, const hone_step_arg *a) {
    hone_value value = {.kind = HONE_VALUE_NONE};
    const hone_operand *bad = NULL;
    if (a[2].data->kind != HONE_OPERAND_RV) {
        HONE_TRY(hone_operand_value(sch->arena, a[2].data, &value, &bad));
    }
    if (bad) return hone_inst_malformed(HONE_INST_ANNOTATE, "a list of variables is no annotation");
    return hone_sch_annotate(sch, a[0].rv, a[1].text, value, a[2].rv);
}

SCH_STEP(ANNOTATE, apply_value(sch, a), .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_NODE, SCH_ARG_STRING("ann_key", 0), SCH_ARG("ann_val", DATA, 1)});

SCH_STEP(UNANNOTATE, hone_sch_unannotate(sch, a[0].rv, a[1].text), .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_NODE, SCH_ARG_STRING("ann_key", 0)});

SCH_STEP(ADD_UNIT_LOOP, hone_sch_add_unit_loop(sch, a[0].rv, NULL), .gives = HONE_GIVES_LOOP,
         .args = {SCH_ARG_NODE});

SCH_STEP(ENTER_POSTPROC, hone_sch_enter_postproc(sch), .gives = HONE_GIVES_NOTHING);
