/* ir/text/read/script_args.c - the arguments of calls: how they are read, found, and told from what
 * a function does not take. */
#include "ir/text/read/script_impl.h"

#include <string.h>

bool script_parse_arguments(script_parser *p, const char *callee, uint32_t at, script_call *out) {
    script_value *args = NULL;
    script_keyword *words = NULL;
    uint32_t count = 0, capacity = 0, word_count = 0, word_capacity = 0;
    if (!script_need_op(p, "(", "")) return false;
    while (!script_at_op(p, ")")) {
        const py_token *t = script_peek(p);
        if (count + word_count > UINT16_MAX) return script_fail(p, p->pos, "too many arguments");
        if (t->kind == PY_TOKEN_NAME && script_at_op_ahead(p, 1, "=")) {
            if (!script_grow(p, p->scratch, (void **)&words, &word_capacity, word_count,
                             sizeof *words)) {
                return false;
            }
            script_keyword *word = &words[word_count++];
            word->name = script_token_text(p, t);
            p->pos += 2;
            if (!word->name || !script_parse_expr(p, &word->value)) return false;
        } else {
            bool star = script_take_op(p, "*");
            script_value item;
            if (!script_parse_expr(p, &item)) return false;
            const script_value *many = &item;
            uint32_t more = 1;
            if (star) script_items(&item, &many, &more);
            for (uint32_t i = 0; i < more; i++) {
                if (!script_grow(p, p->scratch, (void **)&args, &capacity, count, sizeof *args)) {
                    return false;
                }
                args[count++] = many[i];
            }
        }
        if (script_at_word(p, "for")) {
            return script_fail(p, p->pos, "comprehensions are not part of TVMScript");
        }
        if (!script_take_op(p, ",")) break;
    }
    *out = (script_call){.callee = callee,
                         .at = at,
                         .count = count,
                         .keyword_count = word_count,
                         .args = args,
                         .keywords = words};
    if (script_at_op(p, "=")) return script_expected_hint(p, "')' or ','", "; '==' compares");
    return script_need_op(p, ")", "or ','");
}

const script_value *script_arg(const script_call *call, uint32_t index, const char *name) {
    const script_value *found = NULL;
    if (index < call->count) found = &call->args[index];
    for (uint32_t i = 0; i < call->keyword_count && !found; i++) {
        if (strcmp(call->keywords[i].name, name) == 0) found = &call->keywords[i].value;
    }
    return found && found->kind != SCRIPT_NONE ? found : NULL;
}

bool script_need_arg(script_parser *p, const script_call *call, uint32_t index, const char *name,
                     const script_value **out) {
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
        const script_keyword *word = &call->keywords[i];
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

bool script_check_shape(script_parser *p, const script_call *call, const script_value *shape,
                        const script_value *behind) {
    bool is_flat = shape && behind && behind->kind == SCRIPT_INT && shape->kind != SCRIPT_TUPLE &&
                   shape->kind != SCRIPT_LIST && shape->kind != SCRIPT_STRING;
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
