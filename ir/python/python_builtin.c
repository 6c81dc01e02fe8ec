/* ir/python/python_builtin.c - functions of Python that texts use: len, range, enumerate, zip, … */
#include <stdlib.h>
#include <string.h>

#include "ir/python/python_run.h"

typedef struct builtin_call {
    py_run *p;
    uint32_t where;
    py_args args;
} builtin_call;

static hone_status fail(const builtin_call *c, const char *what) {
    return py_fail_at(c->p, c->where, what);
}

static hone_status get_list(const builtin_call *c, uint32_t i, const py_value **out_items,
                            uint32_t *out_count) {
    *out_count = 0;
    if (i >= c->args.count) return fail(c, "expected one list");
    const py_value *v = &c->args.items[i];
    bool has_items =
        py_items(v, out_items, out_count) || v->kind == PYV_STRING || v->kind == PYV_UNKNOWN;
    if (!has_items) return fail(c, "expected one list");
    return py_iterate(c->p, c->where, v, out_items, out_count);
}

static hone_status one_list(const builtin_call *c, const py_value **out_items,
                            uint32_t *out_count) {
    if (c->args.count > 1) return fail(c, "expected one list");
    return get_list(c, 0, out_items, out_count);
}

/* ---- range ---- */

static hone_status count_up(py_run *p, uint32_t where, const int64_t *n, py_value *out) {
    int64_t start = n[0], stop = n[1], step = n[2], count = 0;
    if (step > 0 && start < stop) count = (stop - start + step - 1) / step;
    if (step < 0 && start > stop) count = (start - stop - step - 1) / -step;
    if (count > PY_MAX_ITEMS) return py_fail_at(p, where, "the list is too long");
    HONE_TRY(py_new_list(p, PYV_LIST, out));
    for (int64_t i = 0; i < count; i++)
        HONE_TRY(py_append(p, where, out, &PYV_OF_INT(start + i * step)));
    return HONE_OK;
}

static hone_status call_range(const builtin_call *c, py_value *out) {
    static const int64_t limit = INT64_C(1) << 40;
    int64_t n[3] = {0, 0, 1};
    uint32_t count = c->args.count;
    if (!count || count > 3) return fail(c, "range takes 1 to 3 integers");
    for (uint32_t i = 0; i < count; i++) {
        const py_value *v = &c->args.items[i];
        bool is_good = py_is_int(v) && llabs(v->u.i) < limit;
        if (!is_good) return fail(c, "range takes 1 to 3 integers");
        n[count == 1 ? 1 : i] = v->u.i;
    }
    if (!n[2]) return fail(c, "range takes 1 to 3 integers, no step 0");
    return count_up(c->p, c->where, n, out);
}

/* ---- of lists ---- */

static hone_status call_len(const builtin_call *c, py_value *out) {
    const py_value *items;
    uint32_t count;
    HONE_TRY(one_list(c, &items, &count));
    *out = PYV_OF_INT(count);
    return HONE_OK;
}

static hone_status copy_list(const builtin_call *c, bool is_back, py_value *out) {
    const py_value *items;
    uint32_t count = 0;
    HONE_TRY(py_new_list(c->p, PYV_LIST, out));
    if (c->args.count) HONE_TRY(one_list(c, &items, &count));
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(py_append(c->p, c->where, out, &items[is_back ? count - 1 - i : i]));
    return HONE_OK;
}

static hone_status call_list(const builtin_call *c, py_value *out) {
    return copy_list(c, false, out);
}

static hone_status call_reversed(const builtin_call *c, py_value *out) {
    return copy_list(c, true, out);
}

static hone_status call_tuple(const builtin_call *c, py_value *out) {
    HONE_TRY(copy_list(c, false, out));
    *out = py_tuple_of(out);
    return HONE_OK;
}

static hone_status call_enumerate(const builtin_call *c, py_value *out) {
    const py_value *items, *start = py_keyword(&c->args, "start");
    uint32_t count;
    if (!start && c->args.count == 2) start = &c->args.items[1];
    if (start && (!py_is_int(start) || llabs(start->u.i) > INT32_MAX)) {
        return fail(c, "expected a number to start from");
    }
    HONE_TRY(get_list(c, 0, &items, &count));
    HONE_TRY(py_new_list(c->p, PYV_LIST, out));
    for (uint32_t i = 0; i < count; i++) {
        const py_value pair[] = {PYV_OF_INT((start ? start->u.i : 0) + i), items[i]};
        py_value tuple;
        HONE_TRY(py_new_tuple(c->p, pair, 2, &tuple));
        HONE_TRY(py_append(c->p, c->where, out, &tuple));
    }
    return HONE_OK;
}

enum { MAX_ZIPPED = 16 };

static hone_status call_zip(const builtin_call *c, py_value *out) {
    const py_value *lists[MAX_ZIPPED];
    py_value row[MAX_ZIPPED], tuple;
    uint32_t n = c->args.count, shortest = UINT32_MAX;
    if (n < 2 || n > MAX_ZIPPED) return fail(c, "zip takes 2 to 16 lists");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count;
        HONE_TRY(get_list(c, i, &lists[i], &count));
        if (count < shortest) shortest = count;
    }
    HONE_TRY(py_new_list(c->p, PYV_LIST, out));
    for (uint32_t i = 0; i < shortest; i++) {
        for (uint32_t k = 0; k < n; k++)
            row[k] = lists[k][i];
        HONE_TRY(py_new_tuple(c->p, row, n, &tuple));
        HONE_TRY(py_append(c->p, c->where, out, &tuple));
    }
    return HONE_OK;
}

/* ---- of numbers ---- */

static bool is_less(const py_value *a, const py_value *b) {
    int order = 0;
    return py_compare(a, b, &order) && order < 0;
}

/* Numbers, or strings. */
static hone_status check_ordered(const builtin_call *c, const py_value *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        int order;
        if (py_compare(&items[0], &items[i], &order)) continue;
        return fail(c, "expected numbers; what is drawn when the schedule is applied, and loops "
                       "and blocks, have no order");
    }
    return HONE_OK;
}

static hone_status pick(const builtin_call *c, bool wants_least, py_value *out) {
    const py_value *items = c->args.items, *best = NULL;
    uint32_t count = c->args.count;
    if (count == 1) HONE_TRY(get_list(c, 0, &items, &count));
    if (c->args.keyword_count) return fail(c, "key= and default= are not known here");
    if (!count) return fail(c, "expected at least one number");
    HONE_TRY(check_ordered(c, items, count));
    best = &items[0];
    for (uint32_t i = 1; i < count; i++) {
        bool less = wants_least ? is_less(&items[i], best) : is_less(best, &items[i]);
        if (less) best = &items[i];
    }
    *out = *best;
    return HONE_OK;
}

static hone_status call_min(const builtin_call *c, py_value *out) {
    return pick(c, true, out);
}

static hone_status call_max(const builtin_call *c, py_value *out) {
    return pick(c, false, out);
}

static hone_status call_sum(const builtin_call *c, py_value *out) {
    const py_value *items;
    uint32_t count;
    HONE_TRY(get_list(c, 0, &items, &count));
    *out = c->args.count > 1 ? c->args.items[1] : PYV_OF_INT(0);
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(py_compute(c->p, c->where, PY_ADD, &items[i], out));
    return HONE_OK;
}

static hone_status call_sorted(const builtin_call *c, py_value *out) {
    const py_value *is_back = py_keyword(&c->args, "reverse");
    bool back = false;
    if (c->args.keyword_count > (is_back != NULL)) return fail(c, "key= is not known here");
    if (is_back) HONE_TRY(py_truth(c->p, c->where, is_back, &back));
    HONE_TRY(copy_list(c, false, out));
    py_value *items = out->u.list->items;
    HONE_TRY(check_ordered(c, items, out->u.list->count));
    for (uint32_t i = 1; i < out->u.list->count; i++) { /* short lists; equal ones keep order */
        const py_value item = items[i];
        uint32_t k = i;
        for (; k > 0 && (back ? is_less(&items[k - 1], &item) : is_less(&item, &items[k - 1])); k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
    return HONE_OK;
}

static hone_status fold_truth(const builtin_call *c, bool wanted, py_value *out) {
    const py_value *items;
    uint32_t count;
    HONE_TRY(one_list(c, &items, &count));
    *out = PYV_OF_BOOL(!wanted);
    for (uint32_t i = 0; i < count; i++) {
        bool is_true;
        HONE_TRY(py_truth(c->p, c->where, &items[i], &is_true));
        if (is_true == wanted) *out = PYV_OF_BOOL(wanted);
    }
    return HONE_OK;
}

static hone_status call_any(const builtin_call *c, py_value *out) {
    return fold_truth(c, true, out);
}

static hone_status call_all(const builtin_call *c, py_value *out) {
    return fold_truth(c, false, out);
}

static hone_status call_abs(const builtin_call *c, py_value *out) {
    if (c->args.count != 1) return fail(c, "expected one number");
    *out = c->args.items[0];
    bool is_negative = (py_is_int(out) && out->u.i < 0) || (out->kind == PYV_FLOAT && out->u.f < 0);
    return is_negative ? py_compute(c->p, c->where, PY_MUL, &PYV_OF_INT(-1), out) : HONE_OK;
}

static hone_status call_int(const builtin_call *c, py_value *out) {
    if (c->args.count != 1) return fail(c, "expected one number");
    *out = c->args.items[0];
    if (out->kind == PYV_BOOL) out->kind = PYV_INT;
    if (out->kind == PYV_INT || out->kind == PYV_UNKNOWN) return HONE_OK;
    bool fits = out->kind == PYV_FLOAT && out->u.f < 9e18 && out->u.f > -9e18;
    if (!fits) {
        return fail(c, "expected a number; what is drawn when the schedule is applied is none yet");
    }
    *out = PYV_OF_INT((int64_t)out->u.f);
    return HONE_OK;
}

static hone_status call_float(const builtin_call *c, py_value *out) {
    if (c->args.count != 1) return fail(c, "expected one number");
    *out = c->args.items[0];
    if (py_is_int(out)) *out = PYV_OF_FLOAT((double)out->u.i);
    return out->kind == PYV_FLOAT ? HONE_OK : fail(c, "expected a number");
}

static hone_status call_bool(const builtin_call *c, py_value *out) {
    bool is_true = false;
    if (c->args.count > 1) return fail(c, "expected one value");
    if (c->args.count) HONE_TRY(py_truth(c->p, c->where, &c->args.items[0], &is_true));
    *out = PYV_OF_BOOL(is_true);
    return HONE_OK;
}

static hone_status call_str(const builtin_call *c, py_value *out) {
    if (c->args.count != 1) return fail(c, "expected one value");
    *out = PYV_OF_STRING("");
    return py_print(c->p, c->where, &c->args.items[0], &out->u.s);
}

static hone_status call_dict(const builtin_call *c, py_value *out) {
    const py_value *pairs, *pair;
    uint32_t count = 0, two;
    HONE_TRY(py_new_list(c->p, PYV_DICT, out));
    if (c->args.count) HONE_TRY(one_list(c, &pairs, &count));
    for (uint32_t i = 0; i < count; i++) {
        if (c->args.items[0].kind == PYV_DICT) {
            HONE_TRY(py_put(c->p, c->where, out, &pairs[i], &c->args.items[0].u.list->items[i]));
            continue;
        }
        if (!py_items(&pairs[i], &pair, &two) || two != 2) {
            return fail(c, "expected pairs of key and value");
        }
        HONE_TRY(py_put(c->p, c->where, out, &pair[0], &pair[1]));
    }
    for (uint32_t i = 0; i < c->args.keyword_count; i++) {
        const py_value key =
            PYV_OF_STRING(hone_arena_strdup(c->p->arena, c->args.keywords[i].name));
        if (!key.u.s) return py_no_memory();
        HONE_TRY(py_put(c->p, c->where, out, &key, &c->args.keywords[i].value));
    }
    return HONE_OK;
}

/* Of which kind something is, as far as it can be said. */
static hone_status call_isinstance(const builtin_call *c, py_value *out) {
    (void)c;
    *out = PYV_OF_UNKNOWN("isinstance");
    return HONE_OK;
}

hone_status py_call_builtin(py_run *p, const py_node *call, py_value *out, bool *out_known) {
    static const struct {
        const char *name;
        hone_status (*call)(const builtin_call *c, py_value *out);
    } builtins[] = {
        {"len",        call_len       },
        {"list",       call_list      },
        {"tuple",      call_tuple     },
        {"reversed",   call_reversed  },
        {"range",      call_range     },
        {"enumerate",  call_enumerate },
        {"zip",        call_zip       },
        {"min",        call_min       },
        {"max",        call_max       },
        {"sum",        call_sum       },
        {"sorted",     call_sorted    },
        {"any",        call_any       },
        {"all",        call_all       },
        {"abs",        call_abs       },
        {"int",        call_int       },
        {"float",      call_float     },
        {"bool",       call_bool      },
        {"str",        call_str       },
        {"dict",       call_dict      },
        {"set",        call_list      },
        {"isinstance", call_isinstance},
    };
    builtin_call c = {.p = p, .where = call->mark};
    *out_known = false;
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++) {
        *out_known = strcmp(builtins[i].name, call->base->name) == 0;
        if (!*out_known) continue;
        HONE_TRY(py_eval_args(p, call, &c.args));
        return builtins[i].call(&c, out);
    }
    return HONE_OK;
}
