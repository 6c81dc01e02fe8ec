/* tests/support/random_script.c - random programs as people write them: loops and stages. */
#include "tests/support/random_script.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/hone_test.h"
#include "tests/support/random_script_impl.h"

enum { MOST_STAGES = 4, RARE_EVERY = 4, VALUE = SCRIPT_VALUE };

static const char *const dtypes[] = {"float32", "float32", "int32",   "int8",
                                     "uint8",   "int64",   "float16", "float64"};

/* ---- loops ---- */

/* One axis as loops: how it is bound, and what the loops run over too much. */
typedef struct looped {
    char heads[2][96]; /* "i0 in range(4)"; the second may be empty */
    char binding[64], predicate[96];
} looped;

static void one_loop(int a, const char *size, looped *out) {
    snprintf(out->heads[0], sizeof out->heads[0], "i%d in range(%s)", a, size);
    snprintf(out->binding, sizeof out->binding, "i%d", a);
}

static void split_loop(script *w, int a, script_dim dim, const char *size, looped *out) {
    int factor = 2 + script_dice(w, 3);
    snprintf(out->heads[0], sizeof out->heads[0], "i%d in range((%s + %d) // %d)", a, size,
             factor - 1, factor);
    snprintf(out->heads[1], sizeof out->heads[1], "j%d in range(%d)", a, factor);
    snprintf(out->binding, sizeof out->binding, "i%d * %d + j%d", a, factor, a);
    if (dim.is_symbolic || dim.more % factor != 0)
        snprintf(out->predicate, sizeof out->predicate, "i%d * %d + j%d < %s", a, factor, a, size);
}

static void make_loops(script *w, const script_nest *nest, int a, looped *out) {
    char size[24];
    int more = 1 + script_dice(w, 3), pick = script_dice(w, 12);
    script_dim_text(nest->dims[a], size);
    *out = (looped){.heads = {""}};
    if (nest->kinds[a] == 'C' || nest->kinds[a] == 'O' || pick > 4) {
        one_loop(a, size, out);
    } else if (pick < 2) {
        split_loop(w, a, nest->dims[a], size, out);
    } else if (pick == 2) { /* begins late */
        snprintf(out->heads[0], sizeof out->heads[0], "i%d in T.serial(%d, %s + %d)", a, more, size,
                 more);
        snprintf(out->binding, sizeof out->binding, "i%d - %d", a, more);
    } else if (pick == 3) { /* runs on */
        snprintf(out->heads[0], sizeof out->heads[0], "i%d in range(%s + %d)", a, size, more);
        snprintf(out->binding, sizeof out->binding, "i%d", a);
        snprintf(out->predicate, sizeof out->predicate, "i%d < %s", a, size);
    } else if (nest->kinds[a] == 'S' && script_dice(w, 3) == 0) {
        snprintf(out->heads[0], sizeof out->heads[0], "i%d in T.%s(%s)", a,
                 nest->dims[a].is_symbolic || script_dice(w, 2) ? "parallel" : "unroll", size);
        snprintf(out->binding, sizeof out->binding, "i%d", a);
    } else if (nest->kinds[a] == 'S') { /* backwards */
        one_loop(a, size, out);
        snprintf(out->binding, sizeof out->binding, "%s - 1 - i%d", size, a);
    } else {
        one_loop(a, size, out);
    }
}

static void shuffle_some(script *w, const script_nest *nest, int *order) {
    for (int a = 0; a < nest->rank; a++)
        order[a] = a;
    for (int a = 0; a < nest->rank; a++) {
        if (nest->kinds[a] == 'C' || nest->kinds[a] == 'O') return;
    }
    if (nest->rank > 1 && script_dice(w, 4) == 0) {
        hone_test_shuffle(&w->rng, order, (size_t)nest->rank, sizeof order[0]);
    }
}

static const char *axis_word(char kind) {
    return kind == 'S' ? "spatial" : kind == 'R' ? "reduce" : kind == 'O' ? "opaque" : "scan";
}

static void where(script *w, int count, const looped *axes) {
    char all[SCRIPT_TEXT] = "";
    int length = 0;
    for (int a = 0; a < count; a++) {
        if (!axes[a].predicate[0]) continue;
        length += snprintf(all + length, sizeof all - (size_t)length, "%s%s", length ? " and " : "",
                           axes[a].predicate);
    }
    if (length) script_line(w, "T.where(%s)", all);
}

void script_open_block(script *w, const char *name, const script_nest *nest) {
    looped axes[SCRIPT_AXES];
    int order[SCRIPT_AXES];
    char size[24];
    for (int a = 0; a < nest->rank; a++)
        make_loops(w, nest, a, &axes[a]);
    shuffle_some(w, nest, order);
    for (int i = 0; i < nest->rank; i++) {
        for (int part = 0; part < 2 && axes[order[i]].heads[part][0]; part++) {
            script_line(w, "for %s:", axes[order[i]].heads[part]);
            w->depth++;
        }
    }
    if (script_dice(w, 10) == 0) {
        script_line(w, "for u in range(1):");
        w->depth++;
    }
    script_line(w, "with T.block(\"%s\"):", name);
    w->depth++;
    for (int a = 0; a < nest->rank; a++) {
        script_dim_text(nest->dims[a], size);
        script_line(w, "v%d = T.axis.%s(%s, %s)", a, axis_word(nest->kinds[a]), size,
                    axes[a].binding);
    }
    where(w, nest->rank, axes);
}

script_nest script_nest_over(const script_tensor *t) {
    script_nest nest = {.rank = t->rank, .kinds = "SSS"};
    memcpy(nest.dims, t->dims, sizeof t->dims);
    return nest;
}

void script_target(const script_tensor *t, char *out) {
    int length = snprintf(out, 64, "%s[", t->name);
    if (t->rank == 0) length += snprintf(out + length, 64 - (size_t)length, "0");
    for (int d = 0; d < t->rank; d++)
        length += snprintf(out + length, 64 - (size_t)length, "%sv%d", d ? ", " : "", d);
    snprintf(out + length, 64 - (size_t)length, "]");
}

script_tensor *script_keep_text(script *w, script_tensor t) {
    script_tensor *kept = &w->tensors[w->tensor_count++];
    *kept = t;
    kept->is_parameter = kept->is_used = kept->is_strided = kept->is_made = false;
    snprintf(kept->name, sizeof kept->name, "T%d", w->name_count++);
    return kept;
}

/* ---- stages ---- */

static const char *result_type(script *w, const script_tensor *x) {
    int pick = script_dice(w, 6);
    if (pick == 0) return dtypes[script_dice(w, (int)HONE_COUNT(dtypes))];
    if (pick == 1 && x->is_exact) return "bool";
    return x->dtype;
}

/* out[…] = value, in one of the ways to write it. */
static void store(script *w, const script_nest *nest, script_tensor *x, script_tensor *out) {
    char value[VALUE], other[VALUE], to[64], where[SCRIPT_TEXT];
    bool is_exact = true;
    script_target(out, to);
    script_value(w, nest, x, out->dtype, &is_exact, value);
    int way = script_dice(w, 8);
    if (way == 0) {
        script_line(w, "t: T.%s = %s", out->dtype, value);
        script_line(w, "%s = T.max(t, t)", to);
    } else if (way < 3) {
        script_value(w, nest, x, out->dtype, &is_exact, other);
        script_condition(w, nest, x, where);
        if (way == 1) {
            script_line(w, "if %s:", where);
            script_line(w, "    %s = %s", to, value);
            script_line(w, "else:");
        } else {
            script_line(w, "%s = %s", to, value);
            script_line(w, "if %s:", where);
        }
        script_line(w, "    %s = %s", to, other);
    } else {
        script_line(w, "%s = %s", to, value);
    }
    out->is_exact = out->is_exact && is_exact;
}

static void compare(script *w, const script_nest *nest, script_tensor *x, script_tensor *out) {
    char value[SCRIPT_TEXT], to[64];
    script_target(out, to);
    script_condition(w, nest, x, value);
    script_line(w, "%s = %s", to, value);
}

static void stage_elementwise(script *w) {
    script_tensor *x = script_pick(w);
    script_tensor like = *x;
    like.dtype = result_type(w, x);
    like.is_exact = true;
    script_nest nest = script_nest_over(&like);
    script_tensor *out = script_keep_text(w, like);
    script_open_block(w, out->name, &nest);
    if (script_is_bool(out->dtype) && !script_is_bool(x->dtype))
        compare(w, &nest, x, out);
    else
        store(w, &nest, x, out);
}

static void stage_two_outputs(script *w) {
    script_tensor *x = script_pick(w);
    script_tensor like = *x;
    like.is_exact = true;
    script_nest nest = script_nest_over(&like);
    script_tensor *a = script_keep_text(w, like);
    like.dtype = result_type(w, x);
    if (script_is_bool(like.dtype)) like.dtype = x->dtype;
    script_tensor *b = script_keep_text(w, like);
    char name[24];
    snprintf(name, sizeof name, "%s_%s", a->name, b->name);
    script_open_block(w, name, &nest);
    int depth = w->depth;
    char values[2][VALUE], to[2][64];
    script_tensor *made[] = {a, b};
    for (int i = 0; i < 2; i++) {
        script_target(made[i], to[i]);
        script_value(w, &nest, x, made[i]->dtype, &made[i]->is_exact, values[i]);
    }
    for (int i = 0; i < 2; i++)
        script_line(w, "%s = %s", to[i], values[i]);
    w->depth = depth;
}

/* A nest over all dimensions of x, some of which are summed over; out: the others. */
static script_nest reduce_some(script *w, const script_tensor *x, script_tensor *out) {
    script_nest nest = {.rank = x->rank};
    bool is_reduced[SCRIPT_DIMS];
    int kept = 0, last = 0;
    out->rank = 0;
    for (int d = 0; d < x->rank; d++) {
        is_reduced[d] = script_dice(w, 2) || (d + 1 == x->rank && d == kept);
        kept += !is_reduced[d];
    }
    for (int d = 0; d < x->rank; d++) {
        int a = is_reduced[d] ? kept + last++ : out->rank;
        nest.dims[a] = x->dims[d];
        nest.kinds[a] = is_reduced[d] ? 'R' : 'S';
        if (!is_reduced[d]) out->dims[out->rank++] = x->dims[d];
    }
    return nest;
}

/* A result of no dimension has one of one element. */
static void give_one_dimension(script_tensor *t) {
    if (t->rank) return;
    t->rank = 1;
    t->dims[0] = (script_dim){.more = 1};
}

static void out_place(const script_tensor *t, bool is_scalar, char *out) {
    if (is_scalar)
        snprintf(out, 64, "%s[0]", t->name);
    else
        script_target(t, out);
}

static void stage_reduction(script *w) {
    script_tensor *x = script_pick(w), like = *x;
    script_nest nest = reduce_some(w, x, &like);
    bool is_scalar = like.rank == 0, is_sum = script_dice(w, 2), is_exact = true;
    bool is_narrow = strstr(x->dtype, "int8") || script_is_bool(x->dtype);
    if (is_narrow) like.dtype = "int32";
    give_one_dimension(&like);
    script_tensor *out = script_keep_text(w, like);
    char value[VALUE], to[64], start[48];
    out_place(out, is_scalar, to);
    script_open_block(w, out->name, &nest);
    script_value(w, &nest, x, out->dtype, &is_exact, value);
    bool is_float = script_is_float(out->dtype);
    out->is_exact = is_exact && !(is_sum && is_float);
    script_constant(out->dtype, is_sum ? "0" : is_float ? "-1000" : "-2000", start);
    script_line(w, "with T.init():");
    script_line(w, "    %s = %s", to, start);
    if (is_sum && is_float)
        script_line(w, "%s = %s + (%s) * T.%s(0.25)", to, to, value, out->dtype);
    else if (is_sum)
        script_line(w, "%s = %s + (%s) %% T.%s(17)", to, to, value, out->dtype);
    else
        script_line(w, "%s = T.max(%s, %s)", to, to, value);
}

/* Is the old value kept? Among equal ones the first is, where there may be such: then it does not
 * matter in which order they come. */
static void keeps_old(script *w, const script_tensor *x, const char *value, const char *number,
                      const char *element, int axis, char *out) {
    bool has_equals = x->name[0] != 'X' || strncmp(x->dtype, "float", 5) || script_dice(w, 2) ||
                      strcmp(x->dtype, "float16") == 0;
    if (has_equals)
        snprintf(out, SCRIPT_VALUE, "%s > %s or (%s == %s and %s < v%d)", value, element, value,
                 element, number, axis);
    else
        snprintf(out, SCRIPT_VALUE, "%s >= %s", value, element);
}

static void stage_argmax(script *w) {
    script_tensor *x = script_pick(w), like = *x;
    if (!x->is_exact || script_is_bool(x->dtype)) {
        stage_reduction(w);
        return;
    }
    script_nest nest = reduce_some(w, x, &like);
    bool is_scalar = like.rank == 0;
    give_one_dimension(&like);
    script_tensor *best = script_keep_text(w, like);
    like.dtype = "int32";
    script_tensor *at = script_keep_text(w, like);
    char element[SCRIPT_TEXT], value[64], number[64], name[24], keeps[SCRIPT_VALUE];
    snprintf(name, sizeof name, "%s_%s", best->name, at->name);
    out_place(best, is_scalar, value);
    out_place(at, is_scalar, number);
    script_open_block(w, name, &nest);
    script_element(w, &nest, x, true, element);
    script_line(w, "with T.init():");
    script_line(w, "    %s = -1", number);
    script_line(w, "    %s = T.min_value(\"%s\")", value, x->dtype);
    int k = nest.rank - 1;
    keeps_old(w, x, value, number, element, k, keeps);
    if (script_dice(w, 2)) {
        script_line(w, "%s = T.Select(%s, %s, v%d)", number, keeps, number, k);
        script_line(w, "%s = T.max(%s, %s)", value, value, element);
        return;
    }
    script_line(w, "a: T.int32 = T.Select(%s, %s, v%d)", keeps, number, k);
    script_line(w, "b: T.%s = T.Select(%s, %s, %s)", x->dtype, keeps, value, element);
    script_line(w, "%s = a", number);
    script_line(w, "%s = b", value);
}

/* x[…] = f(x[…], …) where it stands. */
static void stage_in_place(script *w) {
    script_tensor *x = script_pick(w);
    script_nest nest = script_nest_over(x);
    if (script_is_bool(x->dtype)) {
        stage_elementwise(w);
        return;
    }
    char to[64], half[48], other[SCRIPT_TEXT], name[24];
    script_target(x, to);
    script_constant(x->dtype, script_is_float(x->dtype) ? "0.5" : "2", half);
    script_tensor *y = script_pick(w);
    snprintf(name, sizeof name, "%s_%d", x->name, w->name_count++);
    script_open_block(w, name, &nest);
    script_element(w, &nest, y, true, other);
    if (y != x && strcmp(y->dtype, x->dtype) == 0 && script_dice(w, 2)) {
        script_line(w, "%s = T.max(%s, %s)", to, to, other);
        x->is_exact = x->is_exact && y->is_exact;
    } else if (script_is_float(x->dtype)) {
        script_line(w, "%s = %s * %s", to, to, half);
    } else {
        script_line(w, "%s = %s // %s", to, to, half);
    }
    if (!x->is_parameter) x->is_used = false;
}

/* A running maximum along the first dimension. */
static void stage_scan(script *w) {
    script_tensor *x = script_pick(w);
    if (x->rank == 0 || script_is_bool(x->dtype)) {
        stage_elementwise(w);
        return;
    }
    script_nest nest = script_nest_over(x);
    nest.kinds[0] = script_dice(w, 2) ? 'C' : 'O';
    script_tensor *out = script_keep_text(w, *x);
    char to[64], before[64], element[SCRIPT_TEXT];
    script_target(out, to);
    snprintf(before, sizeof before, "%s[T.max(v0 - 1, 0)%s", out->name, to + strlen(out->name) + 3);
    script_open_block(w, out->name, &nest);
    script_element(w, &nest, x, true, element);
    script_line(w, "if v0 == 0:");
    script_line(w, "    %s = %s", to, element);
    script_line(w, "else:");
    script_line(w, "    %s = T.max(%s, %s)", to, before, element);
}

/* Two blocks that write a part each. */
static void stage_parts(script *w) {
    script_tensor *x = script_pick(w);
    if (x->rank == 0) {
        stage_elementwise(w);
        return;
    }
    script_tensor like = *x;
    int more = 1 + script_dice(w, 3);
    like.dims[0].more += more;
    script_tensor *out = script_keep_text(w, like);
    script_nest nest = script_nest_over(x);
    char to[64], element[SCRIPT_TEXT], name[24], size[24];
    int depth = w->depth;
    snprintf(name, sizeof name, "%s_low", out->name);
    script_target(out, to);
    script_open_block(w, name, &nest);
    script_element(w, &nest, x, true, element);
    script_line(w, "%s = %s", to, element);
    w->depth = depth;
    script_dim_text(x->dims[0], size);
    nest.dims[0] = (script_dim){.more = more};
    snprintf(name, sizeof name, "%s_high", out->name);
    script_open_block(w, name, &nest);
    script_element(w, &nest, x, true, element);
    script_line(w, "%s[%s + v0%s = %s", out->name, size, to + strlen(out->name) + 3, element);
}

/* A block over rows, with a view of a row and blocks of its own. */
static void stage_rows(script *w) {
    script_tensor *x = script_pick(w);
    if (x->rank != 2 || x->dims[1].is_symbolic) {
        stage_elementwise(w);
        return;
    }
    script_tensor *out = script_keep_text(w, *x);
    char rows[24];
    int columns = x->dims[1].more, start = script_dice(w, columns), left = columns - start;
    bool has_view = script_dice(w, 2), has_copy = script_dice(w, 2);
    script_dim_text(x->dims[0], rows);
    script_line(w, "for i in range(%s):", rows);
    w->depth++;
    script_line(w, "with T.block(\"%s_row\"):", out->name);
    w->depth++;
    script_line(w, "v0 = T.axis.spatial(%s, i)", rows);
    script_line(w, "T.reads(%s[v0, 0:%d])", x->name, columns);
    script_line(w, "T.writes(%s[v0, 0:%d])", out->name, columns);
    if (has_copy) script_line(w, "R = T.alloc_buffer((%d,), \"%s\")", columns, x->dtype);
    if (has_view)
        script_line(w, "V = T.match_buffer(%s[v0, %d:%d], (%d,), \"%s\", offset_factor=1)", x->name,
                    start, columns, left, x->dtype);
    if (has_copy) {
        script_line(w, "for j in range(%d):", columns);
        script_line(w, "    with T.block(\"%s_copy\"):", out->name);
        script_line(w, "        v1 = T.axis.spatial(%d, j)", columns);
        script_line(w, "        R[v1] = %s[v0, v1]", x->name);
    }
    script_line(w, "for j in range(%d):", columns);
    script_line(w, "    with T.block(\"%s\"):", out->name);
    script_line(w, "        v1 = T.axis.spatial(%d, j)", columns);
    if (has_view)
        script_line(w, "        %s[v0, v1] = V[v1 %% %d]", out->name, left);
    else if (has_copy)
        script_line(w, "        %s[v0, v1] = R[%d - v1]", out->name, columns - 1);
    else
        script_line(w, "        %s[v0, v1] = %s[v0, %d - v1]", out->name, x->name, columns - 1);
}

static void random_stage(script *w) {
    static void (*const stages[])(script *) = {
        stage_elementwise, stage_elementwise, stage_elementwise, stage_two_outputs,
        stage_reduction,   stage_reduction,   stage_argmax,      stage_in_place,
        stage_scan,        stage_parts,       stage_rows,
    };
    w->depth = 1;
    if (script_dice(w, RARE_EVERY) == 0)
        script_rare_stage(w);
    else
        stages[script_dice(w, (int)HONE_COUNT(stages))](w);
    w->stage_count++;
    for (int i = 0; i < w->tensor_count; i++)
        w->tensors[i].is_made = true;
}

/* ---- the program ---- */

static void shape_text(const script_tensor *t, char *out) {
    char size[24];
    int length = snprintf(out, 96, "(");
    for (int d = 0; d < t->rank; d++) {
        script_dim_text(t->dims[d], size);
        length +=
            snprintf(out + length, 96 - (size_t)length, "%s,%s", size, d + 1 < t->rank ? " " : "");
    }
    snprintf(out + length, 96 - (size_t)length, ")");
}

static void declare(const script_tensor *t, int number, hone_str *out) {
    char shape[96];
    shape_text(t, shape);
    if (!t->is_parameter) {
        hone_str_printf(out, "    %s = T.alloc_buffer(%s, \"%s\")\n", t->name, shape, t->dtype);
        return;
    }
    hone_str_printf(out, "    %s = T.match_buffer(p%d, %s, \"%s\"", t->name, number, shape,
                    t->dtype);
    if (t->is_strided) {
        hone_str_append(out, ", strides=[");
        for (int d = 0; d < t->rank; d++)
            hone_str_printf(out, d ? ", s%d_%d" : "s%d_%d", number, d);
        hone_str_append(out, "], offset_factor=1");
    }
    hone_str_append(out, ")\n");
}

static void write_program(const script *w, hone_str *out) {
    hone_str_append(out, "from tvm.script import tir as T\n@T.prim_func\ndef main(");
    int count = 0;
    for (int i = 0; i < w->tensor_count; i++) {
        if (w->tensors[i].is_parameter)
            hone_str_printf(out, count++ ? ", p%d: T.handle" : "p%d: T.handle", i);
    }
    hone_str_append(out, "):\n    n = T.int32()\n");
    for (int i = 0; i < w->tensor_count; i++) {
        for (int d = 0; w->tensors[i].is_strided && d < w->tensors[i].rank; d++)
            hone_str_printf(out, "    s%d_%d = T.int32()\n", i, d);
    }
    for (int i = 0; i < w->tensor_count; i++)
        declare(&w->tensors[i], i, out);
    hone_str_append(out, hone_str_text(&w->body));
}

void hone_random_script(uint64_t seed, bool has_sizes, hone_str *out_text) {
    static const int sizes[] = {1, 1, 2, 3, 4, 5, 6, 8};
    script w = {.rng = hone_rng_from_seed(seed), .has_sizes = has_sizes};
    script_dim dims[SCRIPT_DIMS];
    int rank = 1 + script_dice(&w, 3), count = 1 + script_dice(&w, MOST_STAGES);
    for (int d = 0; d < rank; d++) {
        bool is_symbolic = has_sizes && script_dice(&w, 4) == 0;
        dims[d] = (script_dim){is_symbolic, is_symbolic ? 0 : sizes[script_dice(&w, 8)]};
    }
    script_new_input(&w, dtypes[script_dice(&w, (int)HONE_COUNT(dtypes))], rank, dims);
    while (w.stage_count < count)
        random_stage(&w);
    for (int i = 0; i < w.tensor_count; i++) {
        if (!w.tensors[i].is_used || script_dice(&w, 5) == 0) w.tensors[i].is_parameter = true;
    }
    write_program(&w, out_text);
    hone_str_deinit(&w.body);
}
