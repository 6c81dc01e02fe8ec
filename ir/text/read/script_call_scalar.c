/* ir/text/read/script_call_scalar.c - scalars: one element of storage under a name, which is read
 * and assigned like a variable: x: T.int32, T.alloc_scalar, T.decl_scalar and their kin. */
#include "ir/text/read/script_impl.h"

#include <string.h>

static bool element(script_parser *p, hone_buffer buffer, uint32_t at, py_value *out) {
    static const py_value zero = {.kind = PYV_INT};
    bool ok = script_new_access(p, buffer, 1, &zero, out);
    out->at = at;
    return ok;
}

bool script_new_scalar(script_parser *p, const char *name, uint32_t at, hone_dtype dtype,
                       py_value *out) {
    const hone_expr **shape = script_alloc(p, p->arena, 1, sizeof *shape);
    const char *copy = script_strdup(p, name);
    hone_node_id node;
    if (!shape || !copy) return false;
    shape[0] = hone_expr_i32(&p->ir, 1);
    hone_buffer_info info = {.name = copy,
                             .dtype = dtype,
                             .rank = 1,
                             .shape = shape,
                             .scope = "local",
                             .data = HONE_NO_ID,
                             .alias_of = HONE_NO_ID,
                             .form = HONE_BUFFER_SCALAR,
                             .matched_handle = HONE_NO_ID};
    hone_buffer buffer = hone_func_add_buffer(p->func, &info);
    if (buffer == HONE_NO_ID) return script_no_memory(p);
    if (!script_add_node(p, HONE_NODE_ALLOC, at, &node)) return false;
    hone_func_node(p->func, node)->u.alloc.buffer = buffer;
    p->parent = node;
    return element(p, buffer, at, out) && script_check_ir(p, at);
}

/* x = T.local_scalar("float32") is x: T.float32; the others lie elsewhere. */
static bool call_scalar(script_parser *p, const script_call *call, py_value *out) {
    const py_value *type = script_arg(call, 0, "dtype"), *scope = NULL;
    hone_dtype dtype = HONE_DTYPE_F32;
    const char *text = "local";
    if (strcmp(call->callee, "T.shared_scalar") == 0) text = "shared";
    if (strcmp(call->callee, "T.alloc_scalar") == 0) {
        text = "global";
        scope = script_arg(call, 1, "scope");
    }
    if (!p->func) {
        return script_fail(p, call->at, "'%s' stands outside of a tensor program", call->callee);
    }
    if ((type && !script_to_dtype(p, type, &dtype)) ||
        (scope && !script_to_string(p, scope, &text)) ||
        !script_new_scalar(p, "scalar", call->at, dtype, out)) {
        return false;
    }
    out->is_fresh = true;
    hone_buffer_info *info = &p->func->buffers[script_access_of(out)->buffer];
    info->scope = script_strdup(p, text);
    return info->scope != NULL;
}

/* x = T.decl_scalar("float32", data, "global", 3): element 3 of what is there. */
static bool call_decl_scalar(script_parser *p, const script_call *call, py_value *out) {
    static const char *const places[] = {"dtype", "data", "scope", "elem_offset", "byte_offset"};
    py_word words[HONE_COUNT(places) + 1];
    uint32_t count = 0;
    if (!script_check_keywords(p, call, places, HONE_COUNT(places))) return false;
    for (uint32_t i = 0; i < HONE_COUNT(places); i++) {
        const py_value *v = script_arg(call, i, places[i]);
        if (v) words[count++] = (py_word){places[i], *v};
    }
    words[count++] = (py_word){"shape", PYV_OF_INT(1)};
    script_call decl = {
        .callee = "T.decl_buffer", .at = call->at, .keywords = words, .keyword_count = count};
    if (!script_call_path(p, &decl, out)) return false;
    p->func->buffers[script_buffer_of(out)].form = HONE_BUFFER_SCALAR;
    bool ok = element(p, script_buffer_of(out), call->at, out);
    out->is_fresh = true;
    return ok;
}

const script_entry script_scalar_calls[] = {
    {"T.alloc_scalar",  call_scalar     },
    {"T.local_scalar",  call_scalar     },
    {"T.shared_scalar", call_scalar     },
    {"T.decl_scalar",   call_decl_scalar},
    {NULL,              NULL            },
};
