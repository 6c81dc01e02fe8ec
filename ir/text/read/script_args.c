/* ir/text/read/script_args.c - the arguments of calls: how they are found, and told from what a
 * function does not take. */
#include "ir/text/read/script_impl.h"

#include <string.h>

const py_value *script_arg(const script_call *call, uint32_t index, const char *name) {
    const py_value *found = NULL;
    if (index < call->count) found = &call->args[index];
    for (uint32_t i = 0; i < call->keyword_count && !found; i++) {
        if (strcmp(call->keywords[i].name, name) == 0) found = &call->keywords[i].value;
    }
    return found && found->kind != PYV_NONE ? found : NULL;
}

bool script_option(script_parser *p, const script_call *call, const char *name, bool *io) {
    const py_value *v = call ? script_arg(call, UINT32_MAX, name) : NULL;
    return !v || script_to_bool(p, v, io);
}

bool script_need_arg(script_parser *p, const script_call *call, uint32_t index, const char *name,
                     const py_value **out) {
    *out = script_arg(call, index, name);
    for (uint32_t i = 0; i < call->keyword_count && index < call->count; i++) {
        if (strcmp(call->keywords[i].name, name) != 0) continue;
        return script_fail(p, call->keywords[i].value.at, "%s: argument '%s' is given twice",
                           call->callee, name);
    }
    if (*out) return true;
    return script_fail(p, call->at, "%s: argument '%s' is missing", call->callee, name);
}

static const char *list_of(script_parser *p, const char *const *names, size_t count) {
    const char *list = "";
    for (size_t i = 0; i < count && list; i++) {
        if (strcmp(names[i], "span") == 0) continue;
        list = hone_arena_printf(p->scratch, "%s%s%s", list, *list ? " " : "", names[i]);
    }
    return list;
}

bool script_check_keywords(script_parser *p, const script_call *call, const char *const *names,
                           size_t count) {
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        const py_word *word = &call->keywords[i];
        size_t row = 0;
        while (row < count && strcmp(names[row], word->name) != 0)
            row++;
        if (row < count) continue;
        const char *near_name = script_nearest(word->name, names, count);
        if (!near_name) {
            const char *list = list_of(p, names, count);
            if (!list) return script_no_memory(p);
            return script_fail(p, word->value.at, "%s takes no argument '%s'%s%s", call->callee,
                               word->name, count > 1 ? "; its arguments are: " : "",
                               count > 1 ? list : "");
        }
        return script_fail(p, word->value.at, "%s takes no argument '%s'; did you mean '%s'?",
                           call->callee, word->name, near_name);
    }
    return true;
}

/* ---- what functions take ---- */

/* Arguments in their order, of TVM 0.27 and of older releases; behind '|' by name only. Functions
 * that take any number, or that look at all of them anyway, have no row. */
static const struct {
    const char *callee, *params;
} rows[] = {
    {"T.Cast",            "dtype value | span"                                    },
    {"T.cast",            "value dtype | span"                                    },
    {"T.min_value",       "dtype | span"                                          },
    {"T.max_value",       "dtype | span"                                          },
    {"T.infinity",        "dtype | span"                                          },
    {"T.nan",             "dtype | span"                                          },
    {"T.Select",          "condition true_value false_value | span"               },
    {"T.if_then_else",    "cond t f | dtype span"                                 },
    {"T.Not",             "a | span"                                              },
    {"T.abs",             "x | dtype span"                                        },
    {"T.ceildiv",         "lhs rhs | dtype span"                                  },
    {"T.block",           "name no_realize exec_scope"                            },
    {"T.sblock",          "name no_realize exec_scope"                            },
    {"T.where",           "predicate"                                             },
    {"T.init",            ""                                                      },
    {"T.func_attr",       "attrs"                                                 },
    {"T.block_attr",      "attrs"                                                 },
    {"T.sblock_attr",     "attrs"                                                 },
    {"T.axis.spatial",    "dom binding dtype"                                     },
    {"T.axis.S",          "dom binding dtype"                                     },
    {"T.axis.reduce",     "dom binding dtype"                                     },
    {"T.axis.R",          "dom binding dtype"                                     },
    {"T.axis.scan",       "dom binding dtype"                                     },
    {"T.axis.opaque",     "dom binding dtype"                                     },
    {"T.axis.remap",      "kinds bindings dtype"                                  },
    {"T.launch_thread",   "thread extent"                                         },
    {"T.evaluate",        "value"                                                 },
    {"R.Tensor",          "shape dtype vdevice ndim"                              },
    {"R.Shape",           "values ndim"                                           },
    {"R.call_tir",        "gvar args out_ty dtype | func out_sinfo shape tir_vars"},
    {"R.call_dps_packed", "func args out_ty dtype | gvar out_sinfo shape"         },
    {"R.dataflow",        ""                                                      },
    {"R.func_attr",       "attrs"                                                 },
};

/* "dtype value" without what stands behind '|'. */
static const char *in_order(script_parser *p, const char *params) {
    const char *bar = strchr(params, '|');
    size_t length = bar ? (size_t)(bar - params) : strlen(params);
    while (length && params[length - 1] == ' ')
        length--;
    return hone_arena_printf(p->scratch, "%.*s", (int)length, params);
}

static uint32_t count_words(const char *text) {
    uint32_t count = 0;
    for (const char *at = text; *at; at++)
        count += *at != ' ' && (at == text || at[-1] == ' ');
    return count;
}

bool script_read_params(script_parser *p, const char *params, const char **names,
                        uint32_t *out_count) {
    *out_count = 0;
    for (const char *at = params; *at && *out_count < SCRIPT_MOST_PARAMS; at += strcspn(at, " ")) {
        at += strspn(at, " |");
        names[*out_count] = hone_arena_printf(p->scratch, "%.*s", (int)strcspn(at, " "), at);
        if (!names[(*out_count)++]) return script_no_memory(p);
    }
    return true;
}

static bool check_row(script_parser *p, const script_call *call, const char *params) {
    const char *ordered = in_order(p, params), *names[SCRIPT_MOST_PARAMS];
    uint32_t count = 0;
    if (!ordered) return script_no_memory(p);
    uint32_t most = count_words(ordered);
    if (call->count > most) {
        const char *list = most ? hone_arena_printf(p->scratch, " (%s)", ordered) : "";
        return script_fail(p, call->args[most].at, "%s takes %u argument%s%s, %u given",
                           call->callee, most, most == 1 ? "" : "s", list ? list : "", call->count);
    }
    return script_read_params(p, params, names, &count) &&
           script_check_keywords(p, call, names, count);
}

bool script_check_shape(script_parser *p, const script_call *call, const py_value *shape,
                        const py_value *behind) {
    bool is_flat = shape && behind && behind->kind == PYV_INT && !script_is_list(shape) &&
                   shape->kind != PYV_STRING;
    if (!is_flat) return true;
    return script_fail(p, shape->at,
                       "%s takes the shape in brackets of its own: %s((16, 8), \"float32\")",
                       call->callee, call->callee);
}

bool script_check_arguments(script_parser *p, const script_call *call) {
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].callee, call->callee) == 0) return check_row(p, call, rows[i].params);
    }
    return true;
}
