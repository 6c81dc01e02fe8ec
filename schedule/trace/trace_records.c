/* schedule/trace/trace_records.c - reads TVM's tuning records and picks one. */
#include "schedule/trace/trace_records.h"

#include <math.h>
#include <string.h>

/* The body of a record, or NULL: json is something else. */
static const hone_json *body_of(const hone_json *json) {
    const hone_json *first = hone_json_at(json, 0), *second = hone_json_at(json, 1);
    if (hone_json_is(first, HONE_JSON_INT) && hone_json_is(second, HONE_JSON_ARRAY)) return second;
    bool is_body = hone_json_is(json, HONE_JSON_ARRAY) && hone_json_count(json) > 2;
    return is_body && hone_json_is(first, HONE_JSON_ARRAY) ? json : NULL;
}

const hone_json *hone_record_trace(const hone_json *json) {
    const hone_json *body = body_of(json);
    if (!body) return json;
    /* [0, trace] is read as well: somebody left the rest away */
    return hone_json_count(body) > 2 ? hone_json_at(body, 0) : body;
}

/* ---- whom it is for ---- */

static bool tensor_fits(const hone_json *arg, const hone_func *func, hone_param param) {
    const hone_json *kind = hone_json_at(arg, 0), *dtype = hone_json_at(arg, 1);
    const hone_json *shape = hone_json_at(arg, 2);
    if (!hone_json_is(kind, HONE_JSON_TEXT) || strcmp(hone_json_text(kind), "TENSOR") != 0) {
        return true; /* a kind of argument that is not known */
    }
    if (param.buffer == HONE_NO_ID || !hone_json_is(dtype, HONE_JSON_TEXT)) return false;
    const hone_buffer_info *buffer = hone_func_buffer(func, param.buffer);
    if (strcmp(HONE_DTYPE_NAME(buffer->dtype), hone_json_text(dtype)) != 0) return false;
    if (hone_json_count(shape) != buffer->rank) return false;
    for (uint32_t i = 0; i < buffer->rank; i++) {
        const hone_json *size = hone_json_at(shape, i);
        int64_t ours = hone_expr_const(buffer->shape[i]);
        if (ours < 0 || !hone_json_is(size, HONE_JSON_INT)) continue; /* any size */
        if (ours != hone_json_i64(size)) return false;
    }
    return true;
}

/* The arguments of a record, or NULL when it tells none. */
static const hone_json *args_of(const hone_json *record) {
    const hone_json *body = body_of(record);
    const hone_json *args = body ? hone_json_at(body, 3) : NULL;
    return hone_json_is(args, HONE_JSON_ARRAY) ? args : NULL;
}

static bool args_fit(const hone_json *record, const hone_func *func) {
    const hone_json *args = args_of(record);
    if (!args || !func) return true;
    if (hone_json_count(args) != func->param_count) return false;
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (!tensor_fits(hone_json_at(args, i), func, func->params[i])) return false;
    }
    return true;
}

static bool has_block(const hone_func *func, const char *name) {
    for (hone_node_id n = hone_tree_next(func, 0, 0); n != HONE_NO_ID;
         n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK && strcmp(node->u.block.block->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Workloads with equal arguments differ in the blocks that a trace gets hold of at its beginning.
 */
static bool blocks_fit(const hone_json *record, const hone_func *func) {
    const hone_json *insts = hone_json_at(hone_record_trace(record), 0);
    for (size_t i = 0; func && i < hone_json_count(insts); i++) {
        const hone_json *inst = hone_json_at(insts, i), *kind = hone_json_at(inst, 0);
        const hone_json *name = hone_json_at(hone_json_at(inst, 2), 0);
        if (!hone_json_is(kind, HONE_JSON_TEXT) || !hone_json_is(name, HONE_JSON_TEXT)) break;
        bool gets_block = strcmp(hone_json_text(kind), "GetSBlock") == 0 ||
                          strcmp(hone_json_text(kind), "GetBlock") == 0;
        if (!gets_block) break;
        if (!has_block(func, hone_json_text(name))) return false;
    }
    return true;
}

static void print_shape(const hone_buffer_info *buffer, hone_str *out) {
    hone_str_printf(out, "%s[", HONE_DTYPE_NAME(buffer->dtype));
    for (uint32_t i = 0; i < buffer->rank; i++) {
        int64_t size = hone_expr_const(buffer->shape[i]);
        if (size < 0) {
            hone_str_append(out, i ? ", ?" : "?");
        } else {
            hone_str_printf(out, "%s%lld", i ? ", " : "", (long long)size);
        }
    }
    hone_str_append_char(out, ']');
}

static void print_params(const hone_func *func, hone_str *out) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (i) hone_str_append(out, ", ");
        if (func->params[i].buffer == HONE_NO_ID) {
            hone_str_append(out, "a scalar");
        } else {
            print_shape(hone_func_buffer(func, func->params[i].buffer), out);
        }
    }
}

static void print_args(const hone_json *args, hone_str *out) {
    for (size_t i = 0; i < hone_json_count(args); i++) {
        const hone_json *dtype = hone_json_at(hone_json_at(args, i), 1);
        const hone_json *shape = hone_json_at(hone_json_at(args, i), 2);
        bool is_named = hone_json_is(dtype, HONE_JSON_TEXT);
        hone_str_printf(out, "%s%.40s[", i ? ", " : "", is_named ? hone_json_text(dtype) : "?");
        for (size_t k = 0; k < hone_json_count(shape); k++) {
            const hone_json *size = hone_json_at(shape, k);
            hone_str_printf(out, "%s%lld", k ? ", " : "",
                            hone_json_is(size, HONE_JSON_INT) ? (long long)hone_json_i64(size)
                                                              : -1);
        }
        hone_str_append_char(out, ']');
    }
}

hone_status hone_record_check_args(const hone_json *json, const hone_func *func) {
    if (args_fit(json, func)) return HONE_OK;
    hone_str theirs = {0}, ours = {0};
    print_args(args_of(json), &theirs);
    print_params(func, &ours);
    hone_status st = HONE_ERROR(HONE_CODE_INVALID,
                                "the record is for another workload: it has arguments %s; '%s' "
                                "takes %s",
                                hone_str_text(&theirs), func->name, hone_str_text(&ours));
    hone_str_deinit(&theirs);
    hone_str_deinit(&ours);
    return st;
}

/* ---- many of them ---- */

/* The mean of the times; infinite when there are none. */
static double seconds_of(const hone_json *record) {
    const hone_json *body = body_of(record);
    const hone_json *times = body ? hone_json_at(body, 1) : NULL;
    double sum = 0;
    size_t count = hone_json_count(times);
    for (size_t i = 0; i < count; i++) {
        const hone_json *time = hone_json_at(times, i);
        bool is_number = hone_json_is(time, HONE_JSON_REAL) || hone_json_is(time, HONE_JSON_INT);
        if (!is_number) return INFINITY;
        sum += hone_json_f64(time);
    }
    return count ? sum / (double)count : INFINITY;
}

/* The next line that is not blank, from *at on; false at the end. */
static bool next_line(const char *text, size_t length, size_t *at, size_t *io_line,
                      const char **out_line, size_t *out_length) {
    while (*at < length) {
        const char *start = text + *at;
        const char *end = memchr(start, '\n', length - *at);
        size_t count = end ? (size_t)(end - start) : length - *at;
        *at += count + 1;
        ++*io_line;
        for (size_t i = 0; i < count; i++) {
            if (strchr(" \t\r", start[i]) && start[i]) continue;
            *out_line = start;
            *out_length = count;
            return true;
        }
    }
    return false;
}

/* A row of the table of workloads: ["hash", "program"]. */
static bool is_workload(const hone_json *json) {
    return hone_json_is(json, HONE_JSON_ARRAY) && hone_json_count(json) == 2 &&
           hone_json_is(hone_json_at(json, 0), HONE_JSON_TEXT);
}

bool hone_records_are_lines(const char *text, size_t length) {
    size_t at = 0, number = 0, count = 0;
    const char *line = NULL;
    if (!next_line(text, length, &at, &number, &line, &count)) return false;
    hone_json *json = NULL;
    hone_status st = hone_json_parse(line, count, &json);
    bool is_record = !st && hone_json_is(json, HONE_JSON_ARRAY) &&
                     hone_json_is(hone_json_at(json, 0), HONE_JSON_INT);
    bool found = is_record || (!st && is_workload(json));
    hone_status_free(st);
    hone_json_destroy(json);
    return found;
}

static hone_status read_record(const char *line, size_t length, size_t number, hone_json **out) {
    hone_status st = hone_json_parse(line, length, out);
    if (st) return hone_status_annotate(st, "line %zu", number);
    if (hone_json_is(hone_json_at(*out, 0), HONE_JSON_INT) && body_of(*out)) return HONE_OK;
    st = is_workload(*out)
             ? HONE_ERROR(HONE_CODE_INVALID,
                          "line %zu is a workload; traces are in TVM's table of tuning records",
                          number)
             : HONE_ERROR(HONE_CODE_INVALID,
                          "line %zu must be [workload, [trace, seconds, target, arguments]]",
                          number);
    hone_json_destroy(*out);
    *out = NULL;
    return st;
}

hone_status hone_records_pick(const char *text, size_t length, const hone_func *func,
                              size_t *out_line, hone_json **out_record) {
    size_t at = 0, number = 0, count = 0, line_length = 0;
    const char *line = NULL;
    hone_json *best = NULL, *last = NULL;
    hone_status st = HONE_OK;
    *out_line = 0;
    while (!st && next_line(text, length, &at, &number, &line, &line_length)) {
        hone_json *record = NULL;
        st = read_record(line, line_length, number, &record);
        if (st) break;
        count++;
        bool wanted = args_fit(record, func) && blocks_fit(record, func);
        if (wanted && (!best || seconds_of(record) < seconds_of(best))) {
            hone_json_destroy(best);
            best = record;
            *out_line = number;
        } else {
            hone_json_destroy(last);
            last = record;
        }
    }
    if (!st && !best) {
        st = hone_record_check_args(last, func);
        if (!st) {
            st = HONE_ERROR(HONE_CODE_INVALID,
                            "the record is for another workload: '%s' lacks blocks that it names",
                            func->name);
        }
        if (count > 1) st = hone_status_annotate(st, "none of %zu records fits", count);
    }
    if (count == 1) *out_line = 0;
    hone_json_destroy(last);
    if (st) {
        hone_json_destroy(best);
        best = NULL;
    }
    *out_record = best;
    return st;
}
