/* ir/interp/interp_graph_loop.c - the operator "loop": its body is called turn by turn, states go
 * from one to the next, scans are put together. */
#include <string.h>

#include "ir/interp/interp_graph_impl.h"

typedef struct looping {
    const hone_gbind *bind;
    int64_t limit;
    bool goes_on;
    uint32_t state_count, input_count;
    gvalue *inputs; /* of the body: the number of the turn, states, captured values */
    gvalue *results;
    uint32_t result_count;
    uint32_t made_at; /* the first tensor that the last turn made */
} looping;

static bool is_true_scalar(const gvalue *value) {
    return hone_tensor_get_i64(value->tensor, 0) != 0;
}

static hone_status begin_loop(frame *f, const hone_gbind *bind, looping *l) {
    gvalue limit, states, captured, condition;
    *l = (looping){.bind = bind, .goes_on = true};
    if (bind->arg_count < HONE_LOOP_CONDITION || bind->args[0].kind != HONE_GARG_GLOBAL) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "a loop without a body");
    }
    HONE_TRY(frame_eval(f, &bind->args[HONE_LOOP_LIMIT], &limit));
    HONE_TRY(frame_eval(f, &bind->args[HONE_LOOP_STATES], &states));
    HONE_TRY(frame_eval(f, &bind->args[HONE_LOOP_CAPTURED], &captured));
    if (bind->arg_count > HONE_LOOP_CONDITION) {
        HONE_TRY(frame_eval(f, &bind->args[HONE_LOOP_CONDITION], &condition));
        if (condition.kind != V_TENSOR) return HONE_ERROR(HONE_CODE_ILLEGAL, "no condition");
        l->goes_on = is_true_scalar(&condition);
    }
    if (limit.kind != V_TENSOR) return HONE_ERROR(HONE_CODE_ILLEGAL, "a loop without a limit");
    l->limit = hone_tensor_get_i64(limit.tensor, 0);
    l->state_count = states.count;
    l->input_count = 1 + states.count + captured.count;
    l->inputs = hone_arena_zalloc(f->arena, ((size_t)l->input_count + 1) * sizeof *l->inputs);
    if (!l->inputs) return frame_no_memory();
    for (uint32_t i = 0; i < states.count; i++)
        l->inputs[1 + i] = states.items[i];
    for (uint32_t i = 0; i < captured.count; i++)
        l->inputs[1 + states.count + i] = captured.items[i];
    l->inputs[0].kind = V_TENSOR;
    return frame_number(f, HONE_DTYPE_I64, 0, &l->inputs[0].tensor);
}

/* The scans as a whole; the states are known when the last turn is over. */
static hone_status make_scans(frame *f, looping *l) {
    const hone_sinfo *info = frame_info(f, l->bind);
    frame_args c = {.count = 0};
    if (!info || info->kind != HONE_SINFO_TUPLE || info->field_count < l->state_count) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "what a loop gives is not known");
    }
    l->result_count = info->field_count;
    l->results = hone_arena_zalloc(f->arena, ((size_t)l->result_count + 1) * sizeof *l->results);
    if (!l->results) return frame_no_memory();
    for (uint32_t i = l->state_count; i < info->field_count; i++) {
        HONE_TRY(frame_output(f, &c, info->fields[i], frame_widens(f), &l->results[i]));
        if (l->results[i].kind != V_TENSOR)
            return HONE_ERROR(HONE_CODE_ILLEGAL, "a scan of a loop is one tensor");
    }
    return HONE_OK;
}

static hone_status place_item(looping *l, int64_t turn, const gvalue *item, hone_tensor *whole) {
    size_t bytes = item->kind == V_TENSOR ? hone_tensor_bytes(item->tensor) : 0;
    if ((size_t)l->limit * bytes != hone_tensor_bytes(whole)) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "an item of a scan has another size");
    }
    memcpy((char *)whole->data + (size_t)turn * bytes, item->tensor->data, bytes);
    return HONE_OK;
}

/* What the turn before made is of no use any more. */
static void drop_before(frame *f, looping *l, uint32_t made_at) {
    uint32_t count = f->owned_count - made_at;
    for (uint32_t i = l->made_at; i < made_at; i++)
        hone_tensor_destroy(f->owned[i]);
    memmove(f->owned + l->made_at, f->owned + made_at, count * sizeof *f->owned);
    f->owned_count = l->made_at + count;
}

static hone_status run_turn(frame *f, looping *l, int64_t turn) {
    uint32_t first = l->bind->arg_count > HONE_LOOP_CONDITION, made_at = f->owned_count;
    gvalue made;
    hone_tensor_set_i64(l->inputs[0].tensor, 0, turn);
    HONE_TRY(frame_call(f, l->bind->args[0].u.s, l->input_count, l->inputs, &made));
    if (made.kind != V_TUPLE || made.count != first + l->result_count) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "the body of a loop gives another number of values");
    }
    for (uint32_t i = l->state_count; i < l->result_count; i++)
        HONE_TRY(place_item(l, turn, &made.items[first + i], l->results[i].tensor));
    for (uint32_t i = 0; i < l->state_count; i++)
        l->inputs[1 + i] = made.items[first + i];
    if (first) l->goes_on = is_true_scalar(&made.items[0]);
    drop_before(f, l, made_at);
    return HONE_OK;
}

hone_status frame_loop(frame *f, const hone_gbind *bind, gvalue *out_value) {
    looping l;
    HONE_TRY(begin_loop(f, bind, &l));
    HONE_TRY(make_scans(f, &l));
    l.made_at = f->owned_count;
    for (int64_t turn = 0; turn < l.limit && l.goes_on; turn++)
        HONE_TRY(run_turn(f, &l, turn));
    for (uint32_t i = 0; i < l.state_count; i++)
        l.results[i] = l.inputs[1 + i];
    *out_value = (gvalue){.kind = V_TUPLE, .count = l.result_count, .items = l.results};
    return HONE_OK;
}
