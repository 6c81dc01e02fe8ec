/* tests/support/random_script_value.c - random expressions for random_script.c. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/random_script_impl.h"

int script_dice(script *w, int sides) {
    return (int)hone_rng_below(&w->rng, (uint64_t)sides);
}

void script_line(script *w, const char *fmt, ...) {
    va_list args;
    hone_str_append_repeat(&w->body, ' ', (size_t)w->depth * 4);
    va_start(args, fmt);
    hone_str_vprintf(&w->body, fmt, args);
    va_end(args);
    hone_str_append_char(&w->body, '\n');
}

void script_dim_text(script_dim dim, char *out) {
    if (!dim.is_symbolic)
        snprintf(out, 24, "%d", dim.more);
    else if (dim.more)
        snprintf(out, 24, "n + %d", dim.more);
    else
        snprintf(out, 24, "n");
}

static bool is_same_dim(script_dim a, script_dim b) {
    return a.is_symbolic == b.is_symbolic && a.more == b.more;
}

/* ---- types ---- */

bool script_is_float(const char *dtype) {
    return strncmp(dtype, "float", 5) == 0;
}

bool script_is_bool(const char *dtype) {
    return strcmp(dtype, "bool") == 0;
}

static bool is_byte(const char *dtype) {
    return strstr(dtype, "int8") != NULL;
}

void script_constant(const char *dtype, const char *number, char *out) {
    snprintf(out, 48, "T.%s(%s)", dtype, number);
}

/* ---- tensors ---- */

script_tensor *script_new_input(script *w, const char *dtype, int rank, const script_dim *dims) {
    script_tensor *t = &w->tensors[w->tensor_count++];
    *t = (script_tensor){.dtype = dtype,
                         .rank = rank,
                         .is_parameter = true,
                         .is_exact = true,
                         .is_used = true,
                         .is_made = true,
                         .is_strided = w->has_sizes && rank > 1 && script_dice(w, 8) == 0};
    snprintf(t->name, sizeof t->name, "X%d", w->input_count++);
    memcpy(t->dims, dims, (size_t)rank * sizeof *dims);
    return t;
}

script_tensor *script_pick(script *w) {
    int at = w->tensor_count - 1;
    if (at > 0 && script_dice(w, 4) == 0) at = script_dice(w, at + 1);
    w->tensors[at].is_used = true;
    return &w->tensors[at];
}

static bool has_room(const script *w) {
    return w->tensor_count < SCRIPT_TENSORS - 6;
}

static script_tensor *find_of_type(script *w, const char *dtype) {
    int start = script_dice(w, w->tensor_count);
    for (int i = 0; i < w->tensor_count; i++) {
        script_tensor *t = &w->tensors[(start + i) % w->tensor_count];
        if (t->is_made && strcmp(t->dtype, dtype) == 0) return t;
    }
    return NULL;
}

/* ---- places ---- */

/* A place that an array of places says, kept inside. */
static void gathered(script *w, const char *axis, script_dim axis_dim, const char *size,
                     char *out) {
    script_tensor *places = NULL;
    for (int i = 0; i < w->tensor_count; i++) {
        script_tensor *t = &w->tensors[i];
        bool fits = t->is_made && t->rank == 1 && strcmp(t->dtype, "int32") == 0;
        if (fits && is_same_dim(t->dims[0], axis_dim)) places = t;
    }
    if (!places && has_room(w)) places = script_new_input(w, "int32", 1, &axis_dim);
    if (!places) {
        snprintf(out, 96, "0");
        return;
    }
    places->is_used = true;
    snprintf(out, 96, "T.max(T.min(%s[%s], %s - 1), 0)", places->name, axis, size);
}

/* A place along a dimension as long as the axis. */
static void moved(script *w, const char *axis, script_dim dim, const char *size, char *out) {
    switch (script_dice(w, 12)) {
    case 0:
        snprintf(out, 96, "%s - 1 - %s", size, axis);
        return;
    case 1:
        snprintf(out, 96, "T.max(%s - 1, 0)", axis);
        return;
    case 2:
        snprintf(out, 96, "T.min(%s + 1, %s - 1)", axis, size);
        return;
    case 3:
        snprintf(out, 96, "(%s + 1) %% (%s)", axis, size);
        return;
    case 4:
        gathered(w, axis, dim, size, out);
        return;
    default:
        snprintf(out, 96, "%s", axis);
    }
}

/* A place along a dimension of another length. */
static void fitted(script *w, const char *axis, script_dim from, script_dim dim, const char *size,
                   char *out) {
    bool is_known = !from.is_symbolic && !dim.is_symbolic;
    if (is_known && from.more <= dim.more)
        snprintf(out, 96, "%s + %d", axis, script_dice(w, dim.more - from.more + 1));
    else if (is_known && dim.more > 1 && from.more % dim.more == 0 && script_dice(w, 2))
        snprintf(out, 96, "%s // %d", axis, from.more / dim.more);
    else if (script_dice(w, 2))
        snprintf(out, 96, "%s %% (%s)", axis, size);
    else
        snprintf(out, 96, "T.min(%s, %s - 1)", axis, size);
}

void script_element(script *w, const script_nest *nest, script_tensor *source, bool is_plain,
                    char *out) {
    char place[96], size[24], axis[16];
    int taken = 0, length = snprintf(out, SCRIPT_TEXT, "%s[", source->name);
    source->is_used = true;
    for (int d = 0; d < source->rank; d++) {
        int a = taken;
        while (a < nest->rank && !is_same_dim(nest->dims[a], source->dims[d]))
            a++;
        script_dim_text(source->dims[d], size);
        if (a < nest->rank) {
            snprintf(axis, sizeof axis, "v%d", a);
            taken = a + 1;
            if (is_plain)
                snprintf(place, sizeof place, "%s", axis);
            else
                moved(w, axis, nest->dims[a], size, place);
        } else if (nest->rank == 0 || (!source->dims[d].is_symbolic && source->dims[d].more == 1)) {
            snprintf(place, sizeof place, "0");
        } else {
            a = script_dice(w, nest->rank);
            snprintf(axis, sizeof axis, "v%d", a);
            fitted(w, axis, nest->dims[a], source->dims[d], size, place);
        }
        length +=
            snprintf(out + length, (size_t)(SCRIPT_TEXT - length), "%s%s", d ? ", " : "", place);
    }
    snprintf(out + length, (size_t)(SCRIPT_TEXT - length), "]");
}

/* ---- expressions ---- */

/* Can numbers of one type be had in the other, exactly? */
static bool converts(const script_tensor *t, const char *to) {
    if (script_is_bool(to)) return false;
    if (script_is_float(to)) return true;
    if (script_is_float(t->dtype)) return false;
    return !is_byte(to) || script_is_bool(t->dtype);
}

/* An element of some tensor in the wanted type. */
static void operand(script *w, const script_nest *nest, script_tensor *x, const char *dtype,
                    bool *io_exact, char *out) {
    script_tensor *from = x;
    bool is_own = strcmp(x->dtype, dtype) == 0;
    if (!is_own && !converts(x, dtype)) from = NULL;
    if (script_dice(w, 3) == 0 || !from) {
        script_tensor *other = find_of_type(w, dtype);
        if (other) from = other;
    }
    if (!from) from = script_new_input(w, dtype, nest->rank < 3 ? nest->rank : 3, nest->dims);
    char element[SCRIPT_TEXT];
    script_element(w, nest, from, script_dice(w, 2), element);
    *io_exact = *io_exact && from->is_exact;
    if (strcmp(from->dtype, dtype) == 0)
        snprintf(out, SCRIPT_TEXT, "%s", element);
    else
        snprintf(out, SCRIPT_TEXT, "T.Cast(\"%s\", %.300s)", dtype, element);
}

enum { CHOICES = 3 };

/* One of two numbers, of any type. */
static void choose_value(int pick, const char *a, const char *b, const char *where, char *out) {
    if (pick == 0)
        snprintf(out, SCRIPT_VALUE, "T.max(%s, %s)", a, b);
    else if (pick == 1)
        snprintf(out, SCRIPT_VALUE, "T.if_then_else(%s, %s, %s)", where, a, b);
    else
        snprintf(out, SCRIPT_VALUE, "T.Select(%s, %s, %s)", where, a, b);
}

static void float_value(script *w, const char *dtype, const char *a, const char *b,
                        const char *where, bool *io_exact, char *out) {
    char half[48], one[48];
    script_constant(dtype, "0.5", half);
    script_constant(dtype, "1.0", one);
    int pick = script_dice(w, 11);
    *io_exact = *io_exact && pick < 4;
    static const char *const unary[] = {"tanh", "sigmoid"};
    if (pick < CHOICES)
        choose_value(pick, a, b, where, out);
    else if (pick == 3)
        snprintf(out, SCRIPT_VALUE, "T.min(%s, %s)", a, one);
    else if (pick == 4)
        snprintf(out, SCRIPT_VALUE, "T.exp(T.min(%s, %s))", a, one);
    else if (pick == 5)
        snprintf(out, SCRIPT_VALUE, "T.sqrt(T.abs(%s)) + %s", a, b);
    else if (pick < 8)
        snprintf(out, SCRIPT_VALUE, "T.%s(%s) - %s * %s", unary[pick - 6], a, b, half);
    else if (pick == 8)
        snprintf(out, SCRIPT_VALUE, "%s - %s", a, b);
    else
        snprintf(out, SCRIPT_VALUE, "%s * %s + %s", a, half, b);
}

static void int_value(script *w, const char *dtype, const char *a, const char *b, const char *where,
                      char *out) {
    char two[48], most[48], least[48], three[48];
    script_constant(dtype, "2", two);
    script_constant(dtype, "3", three);
    script_constant(dtype, "100", most);
    script_constant(dtype, dtype[0] == 'u' ? "0" : "-100", least);
    int pick = script_dice(w, 8);
    if (pick < CHOICES)
        choose_value(pick, a, b, where, out);
    else if (pick == 3)
        snprintf(out, SCRIPT_VALUE, "%s %% %s", a, three);
    else if (pick == 4 || is_byte(dtype))
        snprintf(out, SCRIPT_VALUE, "%s // %s + %s // %s", a, two, b, two);
    else
        snprintf(out, SCRIPT_VALUE, "T.max(T.min(%s * %s %c %s, %s), %s)", a, two,
                 pick == 5 ? '-' : '+', b, most, least);
}

static void bool_value(script *w, const char *a, const char *b, const char *where, char *out) {
    int pick = script_dice(w, 4);
    if (pick == 0)
        snprintf(out, SCRIPT_VALUE, "%s and %s", a, b);
    else if (pick == 1)
        snprintf(out, SCRIPT_VALUE, "%s or %s", a, b);
    else if (pick == 2)
        snprintf(out, SCRIPT_VALUE, "T.if_then_else(%s, %s, %s)", where, a, b);
    else
        snprintf(out, SCRIPT_VALUE, "not %s", a);
}

void script_value(script *w, const script_nest *nest, script_tensor *x, const char *dtype,
                  bool *io_exact, char *out) {
    char a[SCRIPT_TEXT], b[SCRIPT_TEXT], where[SCRIPT_TEXT];
    operand(w, nest, x, dtype, io_exact, a);
    operand(w, nest, x, dtype, io_exact, b);
    script_condition(w, nest, x, where);
    if (script_is_bool(dtype))
        bool_value(w, a, b, where, out);
    else if (script_is_float(dtype))
        float_value(w, dtype, a, b, where, io_exact, out);
    else
        int_value(w, dtype, a, b, where, out);
}

static void data_condition(script *w, const script_nest *nest, script_tensor *x, char *out) {
    char element[SCRIPT_TEXT], limit[48];
    script_element(w, nest, x, true, element);
    script_constant(x->dtype, x->dtype[0] == 'u' ? "2" : "0", limit);
    if (script_is_bool(x->dtype))
        snprintf(out, SCRIPT_TEXT, "%s", element);
    else
        snprintf(out, SCRIPT_TEXT, "%.300s < %s", element, limit);
}

void script_condition(script *w, const script_nest *nest, script_tensor *x, char *out) {
    int pick = script_dice(w, 4);
    if (x->is_exact && (pick == 3 || nest->rank == 0)) {
        data_condition(w, nest, x, out);
        return;
    }
    if (nest->rank == 0) {
        snprintf(out, SCRIPT_TEXT, "T.bool(True)");
        return;
    }
    int axis = script_dice(w, nest->rank);
    if (pick == 0)
        snprintf(out, SCRIPT_TEXT, "v%d %% 2 == 0", axis);
    else if (pick == 1)
        snprintf(out, SCRIPT_TEXT, "v%d < 3", axis);
    else
        snprintf(out, SCRIPT_TEXT, "v%d >= 2", axis);
}
