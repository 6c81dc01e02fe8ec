#include <stdlib.h>
#include <string.h>

#include "schedule/trace_parse_impl.h"

/* Functions of Python that hand-written schedules use: len, list, range, reversed. */

enum { MAX_ITEMS = 4096, MAX_ARGS = 3 };

static hone_status make_items(pytrace *p, uint32_t count, hone_operand **out) {
    *out = hone_arena_alloc(p->arena, ((size_t)count + 1) * sizeof **out);
    return *out ? HONE_OK : pytrace_no_memory();
}

static hone_status count_up(pytrace *p, const char *where, const int64_t *n, hone_operand *out) {
    int64_t start = n[0], stop = n[1], step = n[2], count = 0;
    if (step > 0 && start < stop) count = (stop - start + step - 1) / step;
    if (step < 0 && start > stop) count = (start - stop - step - 1) / -step;
    if (count > MAX_ITEMS) return pytrace_fail_at(p, where, "the list is too long");
    hone_operand *items = NULL;
    HONE_TRY(make_items(p, (uint32_t)count, &items));
    for (int64_t i = 0; i < count; i++)
        items[i] = (hone_operand){.kind = HONE_OPERAND_INT, .u.i = start + i * step};
    *out = (hone_operand){.kind = HONE_OPERAND_LIST, .count = (uint32_t)count, .u.items = items};
    return HONE_OK;
}

static hone_status call_range(pytrace *p, const char *where, const hone_operand *args,
                              uint32_t count, hone_operand *out) {
    static const int64_t limit = INT64_C(1) << 40;
    int64_t n[MAX_ARGS] = {0, 0, 1};
    for (uint32_t i = 0; i < count; i++) {
        bool is_good = args[i].kind == HONE_OPERAND_INT && llabs(args[i].u.i) < limit;
        if (!is_good) return pytrace_fail_at(p, where, "range takes 1 to 3 integers");
        n[count == 1 ? 1 : i] = args[i].u.i;
    }
    if (!count || !n[2]) return pytrace_fail_at(p, where, "range takes 1 to 3 integers, no step 0");
    return count_up(p, where, n, out);
}

static hone_status call_on_list(pytrace *p, const char *where, const char *name,
                                const hone_operand *args, uint32_t count, hone_operand *out) {
    if (count != 1 || args[0].kind != HONE_OPERAND_LIST) {
        return pytrace_fail_at(p, where, "expected one list");
    }
    *out = args[0];
    if (strcmp(name, "len") == 0) {
        *out = (hone_operand){.kind = HONE_OPERAND_INT, .u.i = args[0].count};
    } else if (strcmp(name, "reversed") == 0) {
        hone_operand *items = NULL;
        HONE_TRY(make_items(p, out->count, &items));
        for (uint32_t i = 0; i < out->count; i++)
            items[i] = args[0].u.items[out->count - 1 - i];
        out->u.items = items;
    }
    return HONE_OK;
}

hone_status pytrace_call_builtin(pytrace *p, const char *name, hone_operand *out, bool *out_known) {
    static const char *const names[] = {"len", "list", "tuple", "reversed", "range"};
    const char *where = p->at;
    hone_operand args[MAX_ARGS];
    uint32_t count = 0;
    *out_known = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *out_known = *out_known || strcmp(names[i], name) == 0;
    if (!*out_known) return HONE_OK;
    pytrace_accept(p, '(');
    while (!pytrace_accept(p, ')')) {
        if (count == MAX_ARGS) return pytrace_fail(p, "too many arguments");
        HONE_TRY(pytrace_read_value(p, &args[count++]));
        if (!pytrace_accept(p, ',') && (pytrace_skip_all(p), pytrace_peek(p) != ')')) {
            return pytrace_fail(p, "expected ',' or ')'");
        }
    }
    return strcmp(name, "range") == 0 ? call_range(p, where, args, count, out)
                                      : call_on_list(p, where, name, args, count, out);
}
