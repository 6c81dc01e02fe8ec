/* ir/text/read/script_call_loop.c - what stands behind `in` and behind `with`: loop ranges and
 * frames. */
#include "ir/text/read/script_impl.h"

#include <string.h>

/* ---- loops ---- */

static bool loop_result(script_parser *p, uint32_t count, const hone_range *ranges,
                        hone_loop_kind kind, script_loop **out_loop, py_value *out) {
    script_loop *loop = script_alloc(p, p->scratch, 1, sizeof *loop);
    if (!loop) return false;
    *loop = (script_loop){.count = count, .kind = kind, .ranges = ranges};
    *out = (py_value){.kind = SCRIPT_LOOP, .u.host = loop};
    *out_loop = loop;
    return true;
}

static bool check_extent(script_parser *p, const py_value *v, const hone_expr *e) {
    if (hone_dtype_is_integer(e->dtype) && e->dtype.lanes == 1) return true;
    bool is_tag = e->kind == HONE_EXPR_STRING && strstr(e->u.s, "Idx."); /* "threadIdx.x" */
    return script_fail_type(p, v->at, "a loop bound is %s, expected an integer%s",
                            e->kind == HONE_EXPR_STRING ? "a string" : HONE_DTYPE_NAME(e->dtype),
                            is_tag ? "; the thread stands behind it: T.thread_binding(64, "
                                     "\"threadIdx.x\")"
                                   : "");
}

/* An extent, or (begin, extent). */
static bool grid_range(script_parser *p, const py_value *v, hone_range *out) {
    const hone_expr *a = NULL, *b = NULL;
    bool is_pair = v->kind == PYV_TUPLE && v->count == 2;
    bool is_shape = !is_pair && script_is_list(v);
    if (is_shape) {
        return script_fail(p, v->at,
                           "expected an extent, found several; a star gives them one by "
                           "one, as in T.grid(*A.shape)");
    }
    const py_value *last = is_pair ? &v->u.items[1] : v;
    if (!script_to_expr(p, last, &b) || !check_extent(p, last, b)) return false;
    *out = (hone_range){hone_expr_int(&p->ir, b->dtype, 0), b};
    if (!is_pair) return true;
    if (!script_to_expr(p, v->u.items, &a) || !check_extent(p, v->u.items, a)) return false;
    script_unify(&p->ir, &a, &b);
    *out = (hone_range){a, b};
    return true;
}

/* dtype=: that of the loop variable. */
static bool loop_dtype(script_parser *p, const py_value *v, hone_range *range) {
    hone_dtype dtype;
    if (!script_to_dtype(p, v, &dtype)) return false;
    range->min = script_cast(p, dtype, range->min);
    range->extent = script_cast(p, dtype, range->extent);
    return script_check_ir(p, v->at);
}

static bool call_grid(script_parser *p, const script_call *call, py_value *out) {
    hone_range *ranges = script_alloc(p, p->scratch, call->count, sizeof *ranges);
    script_loop *loop = NULL;
    if (!ranges) return false;
    static const char *const words[] = {"dtype"};
    const py_value *type = script_arg(call, UINT32_MAX, "dtype");
    if (!script_check_keywords(p, call, words, HONE_COUNT(words))) return false;
    if (!call->count) return script_fail(p, call->at, "T.grid needs at least one extent");
    bool is_list = call->count == 1 && (call->args->kind == PYV_LIST ||
                                        (call->args->kind == PYV_TUPLE && call->args->count > 2));
    if (is_list) {
        return script_fail(
            p, call->args->at,
            "T.grid takes its extents one by one: T.grid(8, 16), not T.grid([8, 16])");
    }
    for (uint32_t i = 0; i < call->count; i++) {
        if (!grid_range(p, &call->args[i], &ranges[i])) return false;
        if (type && type->kind != PYV_NONE && !loop_dtype(p, type, &ranges[i])) return false;
    }
    return script_check_ir(p, call->at) &&
           loop_result(p, call->count, ranges, HONE_LOOP_SERIAL, &loop, out);
}

static const struct {
    const char *name;
    hone_loop_kind kind;
} loop_kinds[] = {
    {"range",            HONE_LOOP_SERIAL    },
    {"T.range",          HONE_LOOP_SERIAL    },
    {"T.Range",          HONE_LOOP_SERIAL    },
    {"T.serial",         HONE_LOOP_SERIAL    },
    {"T.parallel",       HONE_LOOP_PARALLEL  },
    {"T.vectorized",     HONE_LOOP_VECTORIZED},
    {"T.unroll",         HONE_LOOP_UNROLLED  },
    {"T.thread_binding", HONE_LOOP_THREAD    },
};

static bool loop_bounds(script_parser *p, const script_call *call, uint32_t count,
                        hone_range *range) {
    const py_value *first = script_arg(call, 0, "start"), *second = NULL;
    if (!first) first = script_arg(call, 0, "extent");
    if (!first) first = script_arg(call, 0, "stop");
    if (!first) return script_fail(p, call->at, "%s: the extent is missing", call->callee);
    second = count > 1 ? &call->args[1] : script_arg(call, UINT32_MAX, "stop");
    if (!second) second = script_arg(call, UINT32_MAX, "end");
    const hone_expr *a = NULL, *b = NULL;
    if (!script_to_expr(p, first, &a) || !check_extent(p, first, a)) return false;
    if (!second || second == first || second->kind == PYV_NONE) {
        *range = (hone_range){hone_expr_int(&p->ir, a->dtype, 0), a};
    } else {
        if (!script_to_expr(p, second, &b) || !check_extent(p, second, b)) return false;
        script_unify(&p->ir, &a, &b);
        *range = (hone_range){a, script_extent_between(&p->ir, a, b)};
    }
    return script_check_ir(p, call->at);
}

/* range(a, b, step): a loop over the number of steps, from which the variable is computed. */
static bool loop_step(script_parser *p, const py_value *v, hone_range *range, script_loop *loop) {
    int64_t step = 0;
    if (!script_to_int(p, v, &step)) return false;
    if (step == 0 || step < -INT32_MAX) {
        return script_fail(p, v->at, "the step is %lld, must not be 0", (long long)step);
    }
    if (step == 1) return true;
    hone_ir *ir = &p->ir;
    hone_dtype dtype = range->extent->dtype;
    int64_t size = step < 0 ? -step : step;
    const hone_expr *steps = hone_expr_int(ir, dtype, size), *way = range->extent;
    if (step < 0) way = script_fold_binary(ir, HONE_OP_SUB, hone_expr_int(ir, dtype, 0), way);
    loop->start = range->min;
    loop->step = hone_expr_int(ir, dtype, step);
    way = script_fold_binary(ir, HONE_OP_ADD, way, hone_expr_int(ir, dtype, size - 1));
    range->extent = script_fold_binary(ir, HONE_OP_FLOORDIV, way, steps);
    range->min = hone_expr_int(ir, loop->start->dtype, 0);
    return script_check_ir(p, v->at);
}

/* unroll=False, True or 4 is an annotation. */
static bool loop_annotations(script_parser *p, const script_call *call, script_loop *loop) {
    static const py_value yes = {.kind = PYV_BOOL, .u.i = 1};
    const py_value *notes = script_arg(call, UINT32_MAX, "annotations"),
                   *unroll = script_arg(call, UINT32_MAX, "unroll");
    if (notes && !script_to_attrs(p, notes, &loop->annotations)) return false;
    if (!unroll || unroll->kind == PYV_NONE) return true;
    bool is_bool = unroll->kind == PYV_BOOL, is_off = is_bool && !unroll->u.i;
    if (!is_bool && (unroll->kind != PYV_INT || unroll->u.i < 1)) {
        return script_fail(p, unroll->at, "unroll= is True, False or a number from 1 on");
    }
    hone_attr *items =
        script_alloc(p, p->arena, (size_t)loop->annotations.count + 1, sizeof *items);
    if (!items) return false;
    if (loop->annotations.count)
        memcpy(items, loop->annotations.items, loop->annotations.count * sizeof *items);
    hone_attr *last = &items[loop->annotations.count++];
    last->key = is_off ? "disable_unroll" : "pragma_unroll";
    loop->annotations.items = items;
    return script_to_value(p, is_bool ? &yes : unroll, &last->value);
}

static bool call_loop(script_parser *p, const script_call *call, py_value *out) {
    size_t row = 0;
    while (strcmp(loop_kinds[row].name, call->callee) != 0)
        row++;
    uint32_t count = call->count;
    const py_value *thread = script_arg(call, UINT32_MAX, "thread");
    bool is_thread = loop_kinds[row].kind == HONE_LOOP_THREAD;
    if (is_thread && !thread && count > 1) thread = &call->args[--count];
    if (count > 3)
        return script_fail(p, call->args[3].at, "%s takes at most 3 numbers", call->callee);
    const py_value *step = script_arg(call, UINT32_MAX, "step");
    if (count > 2) step = &call->args[--count];
    static const char *const words[] = {"start",  "stop",        "end",    "extent", "step",
                                        "thread", "annotations", "unroll", "dtype"};
    if (!script_check_keywords(p, call, words, HONE_COUNT(words))) return false;
    hone_range *range = script_alloc(p, p->scratch, 1, sizeof *range);
    script_loop *loop = NULL;
    if (!range || !loop_bounds(p, call, count, range)) return false;
    const py_value *type = script_arg(call, UINT32_MAX, "dtype");
    if (type && type->kind != PYV_NONE && !loop_dtype(p, type, range)) return false;
    if (!loop_result(p, 1, range, loop_kinds[row].kind, &loop, out)) return false;
    if (step && step->kind != PYV_NONE && !loop_step(p, step, range, loop)) return false;
    if (is_thread) {
        if (!thread) return script_fail(p, call->at, "T.thread_binding: thread= is missing");
        if (!script_to_string(p, thread, &loop->thread_tag)) return false;
        loop->thread_tag = script_strdup(p, loop->thread_tag);
        if (!loop->thread_tag) return false;
    }
    return loop_annotations(p, call, loop);
}

const script_entry script_loop_calls[] = {
    {"T.grid",           call_grid},
    {"range",            call_loop},
    {"T.range",          call_loop},
    {"T.Range",          call_loop},
    {"T.serial",         call_loop},
    {"T.parallel",       call_loop},
    {"T.vectorized",     call_loop},
    {"T.unroll",         call_loop},
    {"T.thread_binding", call_loop},
    {NULL,               NULL     },
};

/* ---- frames ---- */

static bool frame_result(script_parser *p, script_frame_kind kind, script_frame **out_frame,
                         py_value *out) {
    script_frame *frame = script_alloc(p, p->scratch, 1, sizeof *frame);
    if (!frame) return false;
    *frame = (script_frame){.kind = kind, .var = HONE_NO_ID, .buffer = HONE_NO_ID};
    *out = (py_value){.kind = SCRIPT_FRAME, .u.host = frame};
    *out_frame = frame;
    return true;
}

static bool call_block(script_parser *p, const script_call *call, py_value *out) {
    script_frame *frame = NULL;
    const py_value *name = script_arg(call, 0, "name");
    const py_value *no_realize = script_arg(call, 1, "no_realize");
    const char *text = "";
    bool ignored = false;
    if (name && !script_to_string(p, name, &text)) return false;
    if (no_realize && !script_to_bool(p, no_realize, &ignored)) return false;
    if (!frame_result(p, SCRIPT_FRAME_BLOCK, &frame, out)) return false;
    frame->text = script_strdup(p, text);
    return frame->text != NULL;
}

static bool call_init(script_parser *p, const script_call *call, py_value *out) {
    script_frame *frame = NULL;
    if (!p->block) return script_fail(p, call->at, "T.init stands outside of a block");
    return frame_result(p, SCRIPT_FRAME_INIT, &frame, out);
}

static bool call_sequential(script_parser *p, const script_call *call, py_value *out) {
    script_frame *frame = NULL;
    (void)call;
    return frame_result(p, SCRIPT_FRAME_SEQUENTIAL, &frame, out);
}

static bool call_env_thread(script_parser *p, const script_call *call, py_value *out) {
    const py_value *tag = NULL;
    *out = (py_value){.kind = SCRIPT_THREAD};
    if (!script_need_arg(p, call, 0, "thread_tag", &tag) || !script_to_string(p, tag, &out->u.s))
        return false;
    out->u.s = hone_arena_strdup(p->scratch, out->u.s); /* its own: a thread is told by it */
    return out->u.s || script_no_memory(p);
}

/* T.iter_var(x, None, "ThreadIndex", "threadIdx.x"): the thread that x is, once it is launched. */
static bool call_iter_var(script_parser *p, const script_call *call, py_value *out) {
    const py_value *var = NULL, *tag = NULL;
    const hone_expr *e = NULL;
    *out = (py_value){.kind = SCRIPT_THREAD};
    if (!script_need_arg(p, call, 0, "var", &var) ||
        !script_need_arg(p, call, 3, "thread_tag", &tag) || !script_to_string(p, tag, &out->u.s)) {
        return false;
    }
    if (var->kind == PYV_STRING) return true; /* a name without a use */
    if (!p->func) {
        return script_fail(p, call->at, "'%s' stands outside of a tensor program", call->callee);
    }
    if (!script_to_expr(p, var, &e)) return false;
    if (e->kind != HONE_EXPR_VAR) {
        return script_fail(p, var->at, "expected a variable, found %s", script_kind_name(var));
    }
    out->count = e->u.var + 1;
    return true;
}

/* T.launch_thread("threadIdx.x", 32), or of an environment thread. */
static bool call_launch(script_parser *p, const script_call *call, py_value *out) {
    const py_value *thread = NULL, *extent = NULL;
    script_frame *frame = NULL;
    if (!script_need_arg(p, call, 0, "thread", &thread) ||
        !script_need_arg(p, call, 1, "extent", &extent) ||
        !frame_result(p, SCRIPT_FRAME_LAUNCH, &frame, out)) {
        return false;
    }
    frame->text = thread->kind == SCRIPT_THREAD ? thread->u.s : NULL;
    if (thread->kind == SCRIPT_THREAD) /* rebind its name */
        frame->node = HONE_VALUE_OF_STRING(thread->u.s);
    if (thread->kind == SCRIPT_THREAD && thread->count) frame->var = thread->count - 1;
    if (!frame->text && thread->kind != PYV_STRING) {
        return script_fail(p, thread->at,
                           "expected the name of a thread (\"threadIdx.x\") or T.env_thread, "
                           "found %s",
                           script_kind_name(thread));
    }
    if (!frame->text && !script_to_string(p, thread, &frame->text)) return false;
    frame->text = script_strdup(p, frame->text);
    return frame->text && script_to_expr(p, extent, &frame->value) &&
           check_extent(p, extent, frame->value);
}

/* T.attr({"a": 1, "b": 2}): attributes of nothing in particular, the first outermost. */
static bool call_attr_dict(script_parser *p, const script_call *call, py_value *out) {
    const py_value *dict = &call->args[0];
    script_frame *frames = script_alloc(p, p->scratch, dict->u.list->count, sizeof *frames);
    if (!frames) return false;
    if (!dict->u.list->count) return script_fail(p, dict->at, "expected at least one attribute");
    for (uint32_t i = 0; i < dict->u.list->count; i++) {
        const char *key = NULL;
        frames[i] = (script_frame){.kind = SCRIPT_FRAME_ATTR,
                                   .var = HONE_NO_ID,
                                   .buffer = HONE_NO_ID,
                                   .node = HONE_VALUE_OF_INT(0)};
        if (!script_to_string(p, &dict->u.list->keys[i], &key) ||
            !(frames[i].text = script_strdup(p, key)) ||
            !script_to_expr(p, &dict->u.list->items[i], &frames[i].value)) {
            return false;
        }
        if (i) frames[i - 1].inner = &frames[i];
    }
    *out = (py_value){.kind = SCRIPT_FRAME, .u.host = frames};
    return true;
}

static bool call_attr(script_parser *p, const script_call *call, py_value *out) {
    if (call->count == 1 && call->args[0].kind == PYV_DICT) {
        return call_attr_dict(p, call, out);
    }
    const py_value *node = script_arg(call, 0, "node"), *key = NULL, *value = NULL;
    script_frame *frame = NULL;
    const py_value none = {.kind = PYV_NONE};
    if (!node) node = &none;
    if (node->kind == SCRIPT_THREAD) { /* "thread_extent" */
        if (!script_need_arg(p, call, 2, "value", &value)) return false;
        py_value args[2] = {*node, *value};
        script_call launch = {.callee = call->callee, .at = call->at, .count = 2, .args = args};
        return call_launch(p, &launch, out);
    }
    return script_need_arg(p, call, 1, "attr_key", &key) &&
           script_need_arg(p, call, 2, "value", &value) &&
           frame_result(p, SCRIPT_FRAME_ATTR, &frame, out) &&
           script_to_string(p, key, &frame->text) &&
           (frame->text = script_strdup(p, frame->text)) != NULL &&
           script_to_value(p, node, &frame->node) && script_to_expr(p, value, &frame->value);
}

static bool call_assert(script_parser *p, const script_call *call, py_value *out) {
    const py_value *cond = NULL, *text = script_arg(call, 1, "message");
    script_frame *frame = NULL;
    const char *message = "";
    if (!script_need_arg(p, call, 0, "condition", &cond) ||
        !frame_result(p, SCRIPT_FRAME_ASSERT, &frame, out)) {
        return false;
    }
    if (text && !script_to_string(p, text, &message)) return false;
    frame->text = script_strdup(p, message);
    return frame->text && script_to_expr_as(p, cond, HONE_DTYPE_BOOL, &frame->value);
}

/* T.let(x, value), T.LetStmt(value, var=x), T.LetStmt(value, T.int32()) as x, T.bind(value). */
static bool call_let_frame(script_parser *p, const script_call *call, py_value *out) {
    script_frame *frame = NULL;
    bool var_first = strcmp(call->callee, "T.let") == 0 && call->count == 2;
    const py_value *var = var_first ? &call->args[0] : script_arg(call, 1, "var");
    const py_value *value = var_first ? &call->args[1] : script_arg(call, 0, "value");
    if (!value) return script_fail(p, call->at, "%s: the value is missing", call->callee);
    if (!frame_result(p, SCRIPT_FRAME_LET, &frame, out)) return false;
    if (!script_to_expr(p, value, &frame->value)) return false;
    if (var && var->kind == SCRIPT_NEWVAR) {
        frame->type = var;
        return script_to_expr_as(p, value, script_var_of(var)->dtype, &frame->value);
    }
    if (var && (var->kind != SCRIPT_EXPR || script_expr_of(var)->kind != HONE_EXPR_VAR)) {
        return script_fail(p, var->at, "expected a variable, found %s", script_kind_name(var));
    }
    if (var) {
        frame->var = script_expr_of(var)->u.var;
        frame->value = script_cast(p, script_expr_of(var)->dtype, frame->value);
    }
    return script_check_ir(p, call->at);
}

static bool call_evaluate(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    const hone_expr *e = NULL;
    hone_node_id node;
    *out = (py_value){.kind = PYV_NONE};
    bool is_done = call->count == 1 && call->args[0].kind == PYV_NONE; /* T.break_loop() */
    if (is_done) return true;
    if (!script_need_arg(p, call, 0, "value", &v) || !script_to_expr(p, v, &e)) return false;
    if (!script_add_node(p, HONE_NODE_EVAL, call->at, &node)) return false;
    hone_func_node(p->func, node)->u.eval.value = e;
    return true;
}

/* T.static_assert(condition, message): checked here, and nothing is left of it. */
static bool call_static_assert(script_parser *p, const script_call *call, py_value *out) {
    const py_value *cond = NULL, *text = script_arg(call, 1, "message");
    const hone_expr *e = NULL;
    const char *message = "it does not hold";
    if (!script_need_arg(p, call, 0, "condition", &cond)) return false;
    if (!script_to_expr_as(p, cond, HONE_DTYPE_BOOL, &e)) return false;
    if (text && !script_to_string(p, text, &message)) return false;
    *out = (py_value){.kind = PYV_NONE};
    if (e->kind != HONE_EXPR_INT) {
        return script_fail(p, cond->at, "T.static_assert needs a condition that is constant");
    }
    return e->u.i != 0 || script_fail(p, call->at, "static assertion failed: %s", message);
}

static bool call_jump(script_parser *p, const script_call *call, py_value *out) {
    hone_node_id node;
    bool is_break = strcmp(call->callee, "T.break_loop") == 0;
    *out = (py_value){.kind = PYV_NONE};
    return script_add_node(p, is_break ? HONE_NODE_BREAK : HONE_NODE_CONTINUE, call->at, &node);
}

/* T.buffer_store(A, value, [i, j]) */
static bool call_store(script_parser *p, const script_call *call, py_value *out) {
    const py_value *buffer = NULL, *value = NULL, *indices = NULL, *items = NULL;
    uint32_t count = 0;
    *out = (py_value){.kind = PYV_NONE};
    if (!script_need_arg(p, call, 0, "buffer", &buffer) ||
        !script_need_arg(p, call, 1, "value", &value) ||
        !script_need_arg(p, call, 2, "indices", &indices)) {
        return false;
    }
    if (buffer->kind != SCRIPT_BUFFER) return script_fail(p, buffer->at, "expected a buffer");
    script_items(indices, &items, &count);
    const script_access at = {script_buffer_of(buffer), count, items};
    const py_value target = {.kind = SCRIPT_ACCESS, .at = call->at, .u.host = &at};
    return script_store(p, &target, value);
}

const script_entry script_frame_calls[] = {
    {"T.block",         call_block        },
    {"T.sblock",        call_block        },
    {"T.init",          call_init         },
    {"T.Sequential",    call_sequential   },
    {"T.seq_scope",     call_sequential   },
    {"T.env_thread",    call_env_thread   },
    {"T.launch_thread", call_launch       },
    {"T.iter_var",      call_iter_var     },
    {"T.attr",          call_attr         },
    {"T.Assert",        call_assert       },
    {"T.let",           call_let_frame    },
    {"T.Bind",          call_let_frame    },
    {"T.LetStmt",       call_let_frame    },
    {"T.bind",          call_let_frame    },
    {"T.evaluate",      call_evaluate     },
    {"T.static_assert", call_static_assert},
    {"T.break_loop",    call_jump         },
    {"T.continue_loop", call_jump         },
    {"T.buffer_store",  call_store        },
    {NULL,              NULL              },
};
