/* ir/text/read/script_undefined.c - what a name or a function that nothing defines was meant for.
 * The words around it tell, so that the text is cut into tokens once more. */
#include "ir/ops/graph_op.h"
#include "ir/text/read/script_impl.h"

#include <string.h>

#include "support/text/nearest.h"

typedef struct cut {
    script_parser *p;
    const py_token *tokens;
    uint32_t count;
} cut;

static bool is_token(const cut *w, uint32_t at, py_token_kind kind, const char *text) {
    return at < w->count && py_token_is(&w->p->source, &w->tokens[at], kind, text);
}

static const char *text_at(const cut *w, uint32_t at) {
    if (at >= w->count) return NULL;
    const py_token *t = &w->tokens[at];
    return hone_arena_strndup(w->p->scratch, w->p->source.text + t->start, t->length);
}

static bool same_text(const cut *w, uint32_t at, uint32_t other) {
    const py_token *a = &w->tokens[at], *b = &w->tokens[other];
    return a->kind == b->kind && a->length == b->length &&
           memcmp(w->p->source.text + a->start, w->p->source.text + b->start, a->length) == 0;
}

static bool begins_line(const cut *w, uint32_t at) {
    if (at == 0) return true;
    py_token_kind before = w->tokens[at - 1].kind;
    return before == PY_TOKEN_NEWLINE || before == PY_TOKEN_INDENT || before == PY_TOKEN_DEDENT;
}

/* Does the line that begins at first, in front of or behind the name, give it a meaning:
 * `for i, j in`, `a, b =`, `as a:`? */
static bool line_defines(const cut *w, uint32_t first, uint32_t at) {
    bool is_for = is_token(w, first, PY_TOKEN_NAME, "for");
    bool is_with = is_token(w, first, PY_TOKEN_NAME, "with"), is_named = false;
    if (same_text(w, at, first) && is_token(w, first + 1, PY_TOKEN_OP, ":")) return true;
    for (uint32_t i = first + is_for; w->tokens[i].kind != PY_TOKEN_NEWLINE; i++) {
        if (i == at || w->tokens[i].kind == PY_TOKEN_END) return false;
        bool ends = is_token(w, i, PY_TOKEN_NAME, "in") || is_token(w, i, PY_TOKEN_OP, "=");
        bool is_list = w->tokens[i].kind == PY_TOKEN_NAME || is_token(w, i, PY_TOKEN_OP, ",");
        if (is_with) {
            if (same_text(w, at, i) && is_token(w, i - 1, PY_TOKEN_NAME, "as")) return true;
            continue;
        }
        if (ends) return is_named;
        if (!is_list) return false;
        is_named |= same_text(w, at, i);
    }
    return false;
}

/* The line of this function that defines the name, in a suite that has ended; 0 = there is none. */
static uint32_t line_of_ended(const cut *w, uint32_t at) {
    for (uint32_t i = at; i-- > 0;) {
        if (!begins_line(w, i)) continue;
        if (is_token(w, i, PY_TOKEN_NAME, "def")) return 0;
        if (w->tokens[i].line < w->tokens[at].line && line_defines(w, i, at))
            return w->tokens[i].line;
    }
    return 0;
}

static const char *reason_of(const cut *w, uint32_t at, const char *name) {
    static const char *const of_python[] = {
        "print", "enumerate", "zip",   "map",   "sum",    "list",       "dict",    "type",   "open",
        "iter",  "next",      "input", "tuple", "filter", "isinstance", "getattr", "hasattr"};
    uint32_t line = line_of_ended(w, at);
    if (line) {
        return hone_arena_printf(w->p->scratch,
                                 "it is defined in line %u, in a body that has ended", line);
    }
    bool is_called = is_token(w, at + 1, PY_TOKEN_OP, "(");
    for (size_t i = 0; is_called && i < HONE_COUNT(of_python); i++) {
        if (strcmp(of_python[i], name) == 0) return "it is Python's, not part of TVMScript";
    }
    return NULL;
}

/* `axis.remap(...)`: T.axis.remap. */
static const char *without_t(const cut *w, uint32_t at, const char *name) {
    const char *member = text_at(w, at + 2);
    const char *full = member ? hone_arena_printf(w->p->scratch, "T.%s.%s", name, member) : NULL;
    if (!full || !script_is_function(full)) return NULL;
    return hone_arena_printf(w->p->scratch, "'%s'", full);
}

/* `sblock`, `np.exp`, `math.exp`: what the name behind T is; or a dtype without quotes. */
static const char *spelled_in_t(const cut *w, uint32_t at, const char *name) {
    bool is_called = is_token(w, at + 1, PY_TOKEN_OP, "(");
    hone_dtype dtype;
    if (!w->p->func || w->p->graph) return NULL;
    if (is_token(w, at + 1, PY_TOKEN_OP, ".") && is_token(w, at + 3, PY_TOKEN_OP, "(")) {
        const char *path = without_t(w, at, name);
        if (path) return path;
        name = text_at(w, at + 2);
        is_called = name != NULL;
    }
    if (!is_called) {
        if (hone_dtype_parse(name, &dtype) && strcmp(name, "handle") != 0)
            return hone_arena_printf(w->p->scratch, "\"%s\"", name);
        return NULL;
    }
    const char *full = hone_arena_printf(w->p->scratch, "T.%s", name);
    if (!full || (!script_is_function(full) && !script_is_dtype_word(name, &dtype))) return NULL;
    return hone_arena_printf(w->p->scratch, "'%s'", full);
}

/* R.Tensor(("n",)) of a graph function's parameters. */
static bool is_size(const script_parser *p, const char *name) {
    for (uint32_t i = 0; i < p->graph->var_count; i++) {
        if (strcmp(p->graph->vars[i].name, name) == 0) return true;
    }
    return false;
}

const char *script_dtype_meant(const char *name) {
    static const char *const rows[][2] = {
        {"f16",    "float16" },
        {"f32",    "float32" },
        {"f64",    "float64" },
        {"fp16",   "float16" },
        {"fp32",   "float32" },
        {"fp64",   "float64" },
        {"half",   "float16" },
        {"single", "float32" },
        {"double", "float64" },
        {"bf16",   "bfloat16"},
        {"i8",     "int8"    },
        {"i32",    "int32"   },
        {"i64",    "int64"   },
        {"u8",     "uint8"   },
        {"u32",    "uint32"  },
        {"long",   "int64"   },
        {"byte",   "uint8"   },
        {"char",   "int8"    },
    };
    static const char *const names[] = {"float16", "float32", "float64", "bfloat16", "int8",
                                        "int16",   "int32",   "int64",   "uint8",    "uint16",
                                        "uint32",  "uint64",  "bool",    "handle"};
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (hone_name_is_same_but_case(rows[i][0], name)) return rows[i][1];
    }
    return script_nearest(name, names, HONE_COUNT(names));
}

/* `n` within brackets of their own in the description of a buffer: in its shape. */
static bool in_shape(const cut *w, uint32_t at) {
    static const char *const words[] = {"match_buffer", "Buffer", "buffer_decl", "Tensor", "Shape"};
    int depth = 0;
    for (uint32_t i = at; i-- > 0 && w->tokens[i].kind != PY_TOKEN_NEWLINE;) {
        depth += is_token(w, i, PY_TOKEN_OP, "(");
        depth -= is_token(w, i, PY_TOKEN_OP, ")");
        for (size_t k = 0; k < HONE_COUNT(words); k++) {
            if (is_token(w, i, PY_TOKEN_NAME, words[k])) return depth == 2;
        }
    }
    return false;
}

/* The line of this function further on that defines the name; 0 = there is none. */
static uint32_t line_behind(const cut *w, uint32_t at) {
    for (uint32_t i = at + 1; i < w->count; i++) {
        if (!begins_line(w, i)) continue;
        if (is_token(w, i, PY_TOKEN_NAME, "def")) return 0;
        if (is_token(w, i, PY_TOKEN_OP, "@")) return 0;
        if (!line_defines(w, i, at)) continue;
        bool is_loop = is_token(w, i, PY_TOKEN_NAME, "for");
        return is_loop ? 0 : w->tokens[i].line;
    }
    return 0;
}

static bool names_block(const cut *w, uint32_t at) {
    return is_token(w, at, PY_TOKEN_NAME, "sblock") || is_token(w, at, PY_TOKEN_NAME, "block");
}

/* What a name that nothing is near to may want: a size, infinity, the dtype of another library. */
static const char *advice_on(const cut *w, uint32_t at, const char *name) {
    static const char *const floats[] = {"inf", "nan", "infinity"};
    static const char *const libraries[] = {"np", "numpy", "torch", "jnp"};
    hone_dtype dtype;
    bool is_name = is_token(w, at - 1, PY_TOKEN_OP, "(") && names_block(w, at - 2);
    if (is_name) return hone_arena_printf(w->p->scratch, "a name stands in quotes: \"%s\"", name);
    uint32_t line = line_behind(w, at);
    if (line) return hone_arena_printf(w->p->scratch, "it is defined further on, in line %u", line);
    for (size_t i = 0; i < HONE_COUNT(floats); i++) {
        if (strcmp(floats[i], name) != 0) continue;
        return hone_arena_printf(w->p->scratch, "write T.float32(\"%s\")", name);
    }
    for (size_t i = 0; i < HONE_COUNT(libraries); i++) {
        const char *member =
            strcmp(libraries[i], name) == 0 && at + 2 < w->count ? text_at(w, at + 2) : NULL;
        if (!member || !hone_dtype_parse(member, &dtype)) continue;
        return hone_arena_printf(w->p->scratch, "did you mean \"%s\"?", member);
    }
    if (w->p->graph && in_shape(w, at)) {
        return hone_arena_printf(w->p->scratch,
                                 "a size is a string in the parameters, \"%s\", and gets a name in "
                                 "the body by %s = T.int64()",
                                 name, name);
    }
    if (w->p->module_name && strcmp(name, "cls") == 0) {
        return hone_arena_printf(w->p->scratch, "the functions are those of the class: cls = %s",
                                 w->p->module_name);
    }
    if (w->p->func && in_shape(w, at)) {
        return hone_arena_printf(w->p->scratch,
                                 "a size gets a name before the buffers by %s = T.int32()", name);
    }
    return NULL;
}

bool script_undefined(script_parser *p, uint32_t at, const char *name) {
    enum { MOST = 512 };
    cut all = {.p = p};
    const cut *w = &all;
    uint32_t place = at;
    if (!script_cut(p, place, &all.tokens, &all.count, &at)) return false;
    const char *reason = reason_of(w, at, name), *meant = spelled_in_t(w, at, name);
    if (reason) return script_fail(p, place, "undefined name '%s'; %s", name, reason);
    if (meant) return script_fail(p, place, "undefined name '%s'; did you mean %s?", name, meant);
    if (p->graph && is_size(p, name)) {
        return script_fail(p, place,
                           "undefined name '%s'; a size gets a name in the body by %s = T.int64()",
                           name, name);
    }
    const char *advice = advice_on(w, at, name);
    if (advice) return script_fail(p, place, "undefined name '%s'; %s", name, advice);
    const char *candidates[MOST];
    size_t count = 0;
    bool is_room = is_token(w, at + 1, PY_TOKEN_OP, ".");
    bool is_called = is_token(w, at + 1, PY_TOKEN_OP, "(");
    for (const py_name *n = py_newest(&p->run); n && count < MOST; n = n->before) {
        bool is_path = n->value.kind == SCRIPT_PATH; /* T, R, I */
        if (!is_path || is_room) candidates[count++] = n->name;
    }
    if (p->module_name && count < MOST) candidates[count++] = p->module_name;
    if (is_called && count < MOST) candidates[count++] = "range";
    for (uint32_t i = 0; i < p->global_count && count < MOST; i++) {
        candidates[count++] = p->globals[i];
    }
    for (size_t i = 0; py_keyword_at(i) && count < MOST; i++) {
        bool is_first = at == 0 || w->tokens[at - 1].kind != PY_TOKEN_OP;
        if (is_first && !is_called && strlen(py_keyword_at(i)) > 2)
            candidates[count++] = py_keyword_at(i);
    }
    const char *near_name = script_nearest(name, candidates, count);
    if (near_name) {
        return script_fail(p, place, "undefined name '%s'; did you mean '%s'?", name, near_name);
    }
    return script_fail(p, place, "undefined name '%s'", name);
}

bool script_unknown_attribute(script_parser *p, const py_value *method) {
    static const char *const of_buffers[] = {"shape",       "dtype", "data",       "strides",
                                             "elem_offset", "scope", "access_ptr", "ptr_to",
                                             "vload",       "vstore"};
    const py_value *base = &script_method_of(method)->base;
    const char *name = script_method_of(method)->name, *hint = NULL;
    const char *near_name = base->kind == SCRIPT_BUFFER
                                ? script_nearest(name, of_buffers, HONE_COUNT(of_buffers))
                                : NULL;
    if (near_name) {
        hint = hone_arena_printf(p->scratch, "; did you mean '%s'?", near_name);
    } else if (base->kind == SCRIPT_BUFFER) {
        hint = "; its handle is .data";
    } else if (base->kind == SCRIPT_GARG && strcmp(name, "shape") == 0) {
        hint = "; a size has a name in the type: x: R.Tensor((\"n\", 8), \"float32\") and n = "
               "T.int64()";
    }
    return script_fail(p, script_method_of(method)->at, "%s has no attribute '%s'%s",
                       script_kind_name(base), name, hint ? hint : "");
}

/* ---- functions ---- */

/* What other rooms, languages and libraries call otherwise than T and R do, or NULL. */
static const char *name_elsewhere(const char *callee) {
    static const char *const rows[][2] = {
        {"T.Tensor",      "T.Buffer"          },
        {"T.tensor",      "T.Buffer"          },
        {"T.relu",        "T.max"             },
        {"T.where_else",  "T.if_then_else"    },
        {"T.bit_and",     "T.bitwise_and"     },
        {"T.bit_or",      "T.bitwise_or"      },
        {"T.bit_xor",     "T.bitwise_xor"     },
        {"T.maximum",     "T.max"             },
        {"T.minimum",     "T.min"             },
        {"T.power",       "T.pow"             },
        {"T.syncthreads", "T.tvm_storage_sync"},
        {"T.barrier",     "T.tvm_storage_sync"},
        {"T.for_range",   "T.serial"          },
        {"T.float",       "T.float32"         },
        {"T.int",         "T.int32"           },
        {"T.dataflow",    "R.dataflow"        },
        {"T.call_tir",    "R.call_tir"        },
        {"T.function",    "T.prim_func"       },
        {"R.transpose",   "R.permute_dims"    },
        {"R.cast",        "R.astype"          },
        {"R.pow",         "R.power"           },
        {"R.sub",         "R.subtract"        },
        {"R.mul",         "R.multiply"        },
        {"R.div",         "R.divide"          },
        {"R.neg",         "R.negative"        },
        {"R.mm",          "R.matmul"          },
        {"R.bmm",         "R.matmul"          },
        {"R.dot",         "R.matmul"          },
        {"R.nn.linear",   "R.matmul"          },
        {"R.concatenate", "R.concat"          },
        {"R.cat",         "R.concat"          },
        {"R.unsqueeze",   "R.expand_dims"     },
        {"R.nn.swish",    "R.nn.silu"         },
        {"R.arg_max",     "R.argmax"          },
        {"R.arg_min",     "R.argmin"          },
        {"R.slice",       "R.strided_slice"   },
        {"R.gather",      "R.take"            },
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i][0], callee) == 0) return rows[i][1];
    }
    return NULL;
}

/* Kernels that say which threads do what, and operations on tiles. */
static bool is_of_kernels(const char *callee) {
    static const char *const words[] = {"T.device_entry", "T.cta_id",       "T.warp_id",
                                        "T.lane_id",      "T.thread_id",    "T.cluster_id",
                                        "T.kernel",       "T.warpgroup_id", "T.cta_id_in_cluster"};
    static const char *const rooms[] = {"T.warp.", "T.cta.", "T.warpgroup.", "T.thread.",
                                        "T.tile."};
    for (size_t i = 0; i < HONE_COUNT(words); i++) {
        if (strcmp(words[i], callee) == 0) return true;
    }
    for (size_t i = 0; i < HONE_COUNT(rooms); i++) {
        if (strncmp(rooms[i], callee, strlen(rooms[i])) == 0) return true;
    }
    return false;
}

/* The name that ends as this one does: T.axis.remap for T.remap, R.nn.relu for R.relu. */
static const char *namesake(const char *callee, const char *const *names, size_t count) {
    const char *last = strrchr(callee, '.');
    for (size_t i = 0; last && i < count; i++) {
        const char *other = strrchr(names[i], '.');
        if (other && names[i][0] == *callee && strcmp(other, last) == 0) return names[i];
    }
    return NULL;
}

bool script_unknown_operator(script_parser *p, const script_call *call) {
    enum { MOST = 512 };
    const char *names[MOST], *known;
    size_t count = 0;
    for (size_t i = 0; (known = hone_graph_op_name_at(i)) != NULL && count < MOST; i++) {
        if (known[strlen(known) - 1] == '.') continue;
        names[count] = hone_arena_printf(p->scratch, "R.%s", known);
        if (!names[count++]) return script_no_memory(p);
    }
    const char *meant = script_graph_type_meant(call->callee + 2);
    if (meant && meant[0] == call->callee[2]) {
        return script_fail(p, call->at, "unknown type '%s'; did you mean 'R.%s'?", call->callee,
                           meant);
    }
    meant = name_elsewhere(call->callee);
    if (!meant) meant = namesake(call->callee, names, count);
    if (!meant) meant = script_nearest(call->callee, names, count);
    return script_fail(p, call->at, "unknown operator '%s'%s%s%s", call->callee,
                       meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

bool script_unknown_call(script_parser *p, const script_call *call) {
    bool is_of_module = strcmp(call->callee, "I.module_attrs") == 0 ||
                        strcmp(call->callee, "I.module_global_infos") == 0;
    if (is_of_module) {
        return script_fail(p, call->at,
                           "'%s' stands in the class of a module, beside its functions",
                           call->callee);
    }
    if (is_of_kernels(call->callee)) {
        return script_fail(p, call->at,
                           "'%s' is a word of TIRx kernels (threads by scopes, tiles), which are "
                           "not supported; loops bound to threads are: T.thread_binding",
                           call->callee);
    }
    enum { MOST = 512 };
    const char *names[MOST];
    size_t count = script_call_names(p, names, MOST);
    const char *near_name = name_elsewhere(call->callee);
    const char *dtype = strncmp(call->callee, "T.", 2) == 0 && !near_name
                            ? script_dtype_meant(call->callee + 2)
                            : NULL;
    if (strcmp(call->callee, "T.sum") == 0) {
        return script_fail(p, call->at,
                           "unknown function 'T.sum'; a sum is a block with a reduction axis "
                           "(T.axis.reduce) and T.init()");
    }
    if (!near_name) near_name = namesake(call->callee, names, count);
    if (!near_name) near_name = script_nearest(call->callee, names, count);
    if (!near_name && dtype) near_name = hone_arena_printf(p->scratch, "T.%s", dtype);
    if (near_name) {
        return script_fail(p, call->at, "unknown function '%s'; did you mean '%s'?", call->callee,
                           near_name);
    }
    return script_fail(p, call->at, "unknown function '%s'", call->callee);
}
