/* tests/support/random_script_rare.c - stages whose form is seldom seen, though it is legal: what
 * guards keep inside, axes that begin late, blocks below conditions, scattered updates, loops
 * within a block, elements that lie apart, sums of pairs, sums within sums, inits that stand alone,
 * triangles, waves, blocks that share loops. */
#include <stdio.h>
#include <string.h>

#include "tests/support/random_script_impl.h"

/* ---- texts ---- */

/* name[…] over the axes, with a text in place of axis number d (none: d < 0). */
static void element_with(const script_tensor *t, int d, const char *place, char *out) {
    int length = snprintf(out, SCRIPT_TEXT, "%s[", t->name);
    if (t->rank == 0) length += snprintf(out + length, SCRIPT_TEXT - (size_t)length, "0");
    for (int k = 0; k < t->rank; k++) {
        char axis[16];
        snprintf(axis, sizeof axis, "v%d", k);
        length += snprintf(out + length, SCRIPT_TEXT - (size_t)length, "%s%s", k ? ", " : "",
                           k == d ? place : axis);
    }
    snprintf(out + length, SCRIPT_TEXT - (size_t)length, "]");
}

static void start_of(const char *dtype, bool is_sum, char *out) {
    if (script_is_bool(dtype))
        snprintf(out, 48, "T.bool(False)");
    else if (is_sum)
        script_constant(dtype, "0", out);
    else
        snprintf(out, 48, "T.min_value(\"%s\")", dtype);
}

/* The larger of two; of truths, whether one is true. */
static void larger(const char *dtype, const char *a, const char *b, char *out) {
    snprintf(out, SCRIPT_VALUE, script_is_bool(dtype) ? "%s or %s" : "T.max(%s, %s)", a, b);
}

static void fill(script *w, const script_tensor *t, const char *value) {
    script_nest nest = script_nest_over(t);
    char name[24], to[64];
    int depth = w->depth;
    snprintf(name, sizeof name, "%s_start", t->name);
    script_target(t, to);
    script_open_block(w, name, &nest);
    script_line(w, "%s = %s", to, value);
    w->depth = depth;
}

/* One of at least one dimension. */
static script_tensor *pick_ranked(script *w) {
    script_tensor *x = script_pick(w);
    script_dim dim = {.more = 3};
    return x->rank ? x : script_new_input(w, x->dtype, 1, &dim);
}

/* ---- stages ---- */

/* A neighbour, where there is one. */
static void stage_guarded(script *w) {
    script_tensor *x = pick_ranked(w), *out = script_keep_text(w, *x);
    script_nest nest = script_nest_over(x);
    int d = script_dice(w, x->rank), step = 1 + script_dice(w, 2);
    char to[64], size[24], place[32], where[64], element[SCRIPT_TEXT], other[48];
    script_dim_text(x->dims[d], size);
    bool is_back = script_dice(w, 2);
    snprintf(place, sizeof place, "v%d %c %d", d, is_back ? '-' : '+', step);
    if (is_back)
        snprintf(where, sizeof where, "%d <= v%d", step, d);
    else
        snprintf(where, sizeof where, "v%d < %s - %d", d, size, step);
    element_with(x, d, place, element);
    start_of(x->dtype, true, other);
    script_target(out, to);
    script_open_block(w, out->name, &nest);
    if (script_dice(w, 2)) {
        script_line(w, "%s = T.if_then_else(%s, %s, %s)", to, where, element, other);
        return;
    }
    script_line(w, "if %s:", where);
    script_line(w, "    %s = %s", to, element);
    script_line(w, "else:");
    script_line(w, "    %s = %s", to, other);
}

/* An axis that begins at one; the first row by itself. */
static void stage_late_axis(script *w) {
    script_tensor *x = pick_ranked(w), *out = script_keep_text(w, *x);
    char to[SCRIPT_TEXT], from[SCRIPT_TEXT], size[24], row[24];
    for (int part = 0; part < 2; part++) {
        script_dim_text(x->dims[0], size);
        snprintf(row, sizeof row, part ? "%.20s - 1" : "1", size);
        w->depth = 1;
        script_line(w, "for i0 in range(%s):", row);
        for (int d = 1; d < x->rank; d++) {
            char other[24];
            w->depth++;
            script_dim_text(x->dims[d], other);
            script_line(w, "for i%d in range(%s):", d, other);
        }
        w->depth++;
        script_line(w, "with T.block(\"%s_%d\"):", out->name, part);
        w->depth++;
        if (part)
            script_line(w, "v0 = T.axis.spatial((1, %s), i0 + 1)", size);
        else
            script_line(w, "v0 = T.axis.spatial(1, i0)");
        for (int d = 1; d < x->rank; d++) {
            script_dim_text(x->dims[d], size);
            script_line(w, "v%d = T.axis.spatial(%s, i%d)", d, size, d);
        }
        element_with(out, -1, "", to);
        element_with(x, part ? 0 : -1, "v0 - 1", from);
        script_line(w, "%s = %s", to, from);
    }
}

/* Blocks below the branches of a condition. */
static void stage_branches(script *w) {
    script_tensor *x = pick_ranked(w), *out = script_keep_text(w, *x);
    char to[64], from[SCRIPT_TEXT], size[24];
    int limit = 1 + script_dice(w, 3), rows = w->depth;
    script_dim_text(x->dims[0], size);
    script_target(out, to);
    bool is_outside = script_dice(w, 2);
    script_line(w, "for i0 in range(%s):", size);
    rows = ++w->depth;
    for (int part = 0; part < 2; part++) {
        w->depth = rows;
        if (is_outside) {
            script_line(w, part ? "else:" : "if i0 < %d:", limit);
            w->depth++;
        }
        for (int d = 1; d < x->rank; d++) {
            script_dim_text(x->dims[d], size);
            script_line(w, "for i%d in range(%s):", d, size);
            w->depth++;
        }
        if (!is_outside) {
            script_line(w, part ? "if %d <= i0:" : "if i0 < %d:", limit);
            w->depth++;
        }
        script_line(w, "with T.block(\"%s_%d\"):", out->name, part);
        w->depth++;
        for (int d = 0; d < x->rank; d++) {
            script_dim_text(x->dims[d], size);
            script_line(w, "v%d = T.axis.spatial(%s, i%d)", d, size, d);
        }
        element_with(x, -1, "", from);
        if (part && !script_is_bool(x->dtype))
            script_line(w, "%s = T.max(%s, T.%s(0))", to, from, x->dtype);
        else
            script_line(w, "%s = %s", to, from);
    }
}

/* How often each number is there; which ones, or the largest of their rows. */
static void stage_scatter(script *w) {
    script_tensor *x = script_pick(w);
    if (!x->is_exact || script_is_float(x->dtype) || script_is_bool(x->dtype) || !x->rank) {
        x = script_new_input(w, "int32", x->rank ? x->rank : 1,
                             x->rank ? x->dims : &(script_dim){.more = 5});
    }
    script_tensor like = *x;
    int bins = 1 + script_dice(w, 5), way = script_dice(w, 3);
    like.rank = 1;
    like.dims[0] = (script_dim){.more = bins};
    like.dtype = "int32";
    like.is_exact = true;
    script_tensor *out = script_keep_text(w, like);
    char from[SCRIPT_TEXT], to[SCRIPT_TEXT], name[24];
    fill(w, out, "0");
    script_nest nest = script_nest_over(x);
    memset(nest.kinds, way == 0 ? 'R' : 'O', SCRIPT_DIMS);
    snprintf(name, sizeof name, "%s_count", out->name);
    script_open_block(w, name, &nest);
    element_with(x, -1, "", from);
    snprintf(to, sizeof to, "%s[T.Cast(\"int32\", %.200s) %% %d]", out->name, from, bins);
    script_line(w, way == 2 ? "%s = T.max(%s, v0)" : "%s = %s + 1", to, to);
}

/* A loop within the block: a counted one as long as an axis says, or a while. */
static void stage_inner_loop(script *w) {
    script_tensor *x = pick_ranked(w), *out = script_keep_text(w, *x);
    script_nest nest = script_nest_over(x);
    char to[64], from[SCRIPT_TEXT], start[48], value[SCRIPT_VALUE];
    script_target(out, to);
    start_of(x->dtype, false, start);
    script_open_block(w, out->name, &nest);
    bool has_while = script_dice(w, 2);
    element_with(x, 0, has_while ? "c[0]" : "k", from);
    larger(x->dtype, to, from, value);
    if (!has_while) {
        script_line(w, "%s = %s", to, start);
        script_line(w, "for k in range(v0 + 1):");
        script_line(w, "    %s = %s", to, value);
        return;
    }
    script_line(w, "c = T.alloc_buffer((1,), \"int32\")");
    script_line(w, "c[0] = 0");
    script_line(w, "%s = %s", to, start);
    script_line(w, "while c[0] <= v0:");
    script_line(w, "    %s = %s", to, value);
    script_line(w, "    c[0] = c[0] + 1");
}

/* Elements that lie apart, of which others fill the gaps. */
static void stage_between(script *w) {
    script_tensor *x = pick_ranked(w), like = *x;
    int d = x->rank - 1;
    if (x->dims[d].is_symbolic || x->dims[d].more > 8) {
        stage_guarded(w);
        return;
    }
    like.dims[d].more *= 2;
    script_tensor *out = script_keep_text(w, like);
    script_nest nest = script_nest_over(x);
    char to[2][SCRIPT_TEXT], from[SCRIPT_TEXT], place[24], name[24], more[SCRIPT_VALUE];
    bool is_one = script_dice(w, 2);
    for (int part = 0; part < 2; part++) {
        snprintf(place, sizeof place, "v%d * 2 + %d", d, part);
        element_with(out, d, place, to[part]);
    }
    element_with(x, -1, "", from);
    larger(x->dtype, from, from, more);
    snprintf(name, sizeof name, "%s_even", out->name);
    script_open_block(w, name, &nest);
    script_line(w, "%s = %s", to[0], from);
    if (!is_one) {
        w->depth = 1;
        snprintf(name, sizeof name, "%s_odd", out->name);
        script_open_block(w, name, &nest);
    }
    script_line(w, "%s = %s", to[1], more);
}

/* Of the last axis, in one block: the sum and the largest. */
static void stage_pair(script *w) {
    script_tensor *x = pick_ranked(w), like = *x;
    script_nest nest = script_nest_over(x);
    if (x->rank < 2 || script_is_bool(x->dtype) || strstr(x->dtype, "int8")) {
        stage_guarded(w);
        return;
    }
    nest.kinds[x->rank - 1] = 'R';
    like.rank--;
    script_tensor *sum = script_keep_text(w, like), *most = script_keep_text(w, like);
    sum->is_exact = x->is_exact && !script_is_float(x->dtype);
    char to[2][64], start[48], zero[48], from[SCRIPT_TEXT], name[24];
    snprintf(name, sizeof name, "%s_%s", sum->name, most->name);
    script_target(sum, to[0]);
    script_target(most, to[1]);
    script_open_block(w, name, &nest);
    start_of(x->dtype, true, zero);
    start_of(x->dtype, false, start);
    element_with(x, -1, "", from);
    script_line(w, "with T.init():");
    script_line(w, "    %s = %s", to[0], zero);
    script_line(w, "    %s = %s", to[1], start);
    script_line(w, "a: T.%s = %s + %s %s T.%s(%s)", x->dtype, to[0], from,
                script_is_float(x->dtype) ? "*" : "%", x->dtype,
                script_is_float(x->dtype) ? "0.25" : "17");
    script_line(w, "b: T.%s = T.max(%s, %s)", x->dtype, to[1], from);
    script_line(w, "%s = a", to[0]);
    script_line(w, "%s = b", to[1]);
}

/* A block that reduces a part of a row in a nest of its own. */
static void stage_parts_of_sums(script *w) {
    script_tensor *x = pick_ranked(w), like = *x;
    int d = x->rank - 1;
    if (x->rank != 2 || x->dims[1].is_symbolic) {
        stage_guarded(w);
        return;
    }
    int size = x->dims[d].more, part = size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : 1;
    like.rank = 1;
    script_tensor *out = script_keep_text(w, like);
    char rows[24], start[48], from[SCRIPT_TEXT], to[64], value[SCRIPT_VALUE];
    bool has_init = script_dice(w, 2);
    start_of(x->dtype, false, start);
    script_dim_text(x->dims[0], rows);
    if (!has_init) fill(w, out, start);
    script_line(w, "for i in range(%s):", rows);
    script_line(w, "    for j in range(%d):", size / part);
    w->depth += 2;
    script_line(w, "with T.block(\"%s_part\"):", out->name);
    w->depth++;
    script_line(w, "v0 = T.axis.spatial(%s, i)", rows);
    script_line(w, "v1 = T.axis.reduce(%d, j)", size / part);
    script_line(w,
                has_init ? "T.reads(%s[v0, v1 * %d:v1 * %d + %d])"
                         : "T.reads(%s[v0, v1 * %d:v1 * %d + %d], %s[v0])",
                x->name, part, part, part, out->name);
    script_line(w, "T.writes(%s[v0])", out->name);
    script_target(out, to);
    if (has_init) {
        script_line(w, "with T.init():");
        script_line(w, "    %s = %s", to, start);
    }
    char place[24];
    snprintf(place, sizeof place, "v1 * %d + u", part);
    element_with(x, 1, place, from);
    larger(x->dtype, to, from, value);
    script_line(w, "for k in range(%d):", part);
    w->depth++;
    script_line(w, "with T.block(\"%s\"):", out->name);
    w->depth++;
    script_line(w, "u = T.axis.reduce(%d, k)", part);
    script_line(w, "%s = %s", to, value);
}

/* What starts a reduction and what goes on with it, as two blocks. */
static void stage_update(script *w) {
    script_tensor *x = pick_ranked(w), like = *x;
    script_nest nest = script_nest_over(x);
    if (x->rank < 2) {
        stage_guarded(w);
        return;
    }
    nest.kinds[x->rank - 1] = 'R';
    like.rank--;
    script_tensor *out = script_keep_text(w, like);
    char to[64], start[48], from[SCRIPT_TEXT], value[SCRIPT_VALUE], name[24];
    start_of(x->dtype, false, start);
    fill(w, out, start);
    script_target(out, to);
    element_with(x, -1, "", from);
    larger(x->dtype, to, from, value);
    snprintf(name, sizeof name, "%s_update", out->name);
    script_open_block(w, name, &nest);
    script_line(w, "%s = %s", to, value);
}

/* What lies below the diagonal, over zeros. */
static void stage_triangle(script *w) {
    script_tensor *x = script_pick(w);
    if (x->rank != 2) {
        stage_guarded(w);
        return;
    }
    script_tensor *out = script_keep_text(w, *x);
    char to[64], from[SCRIPT_TEXT], start[48], sizes[2][24];
    start_of(x->dtype, true, start);
    fill(w, out, start);
    for (int d = 0; d < 2; d++) {
        script_dim_text(x->dims[d], sizes[d]);
        script_line(w, "for i%d in range(%s):", d, sizes[d]);
        w->depth++;
    }
    script_line(w, "with T.block(\"%s_low\"):", out->name);
    w->depth++;
    for (int d = 0; d < 2; d++)
        script_line(w, "v%d = T.axis.spatial(%s, i%d)", d, sizes[d], d);
    script_line(w, script_dice(w, 2) ? "T.where(i1 <= i0)" : "T.where(i0 + i1 < 5)");
    script_target(out, to);
    element_with(x, -1, "", from);
    script_line(w, "%s = %s", to, from);
}

/* The largest so far, of what is above and what is left. */
static void stage_wave(script *w) {
    script_tensor *x = script_pick(w);
    if (x->rank < 2) {
        stage_guarded(w);
        return;
    }
    script_tensor *out = script_keep_text(w, *x);
    script_nest nest = script_nest_over(x);
    nest.kinds[0] = nest.kinds[1] = 'O';
    char to[64], from[SCRIPT_TEXT], before[SCRIPT_TEXT], value[SCRIPT_VALUE], place[24];
    script_target(out, to);
    element_with(x, -1, "", from);
    script_open_block(w, out->name, &nest);
    script_line(w, "%s = %s", to, from);
    for (int d = 0; d < 2; d++) {
        snprintf(place, sizeof place, "v%d - 1", d);
        element_with(out, d, place, before);
        larger(x->dtype, to, before, value);
        script_line(w, "if 1 <= v%d:", d);
        script_line(w, "    %s = %s", to, value);
    }
}

/* Two blocks in the same outer loop: a row is made, then read. */
static void stage_together(script *w) {
    script_tensor *x = script_pick(w);
    if (x->rank != 2) {
        stage_guarded(w);
        return;
    }
    script_tensor *rows = script_keep_text(w, *x), *out = script_keep_text(w, *x);
    rows->is_used = true;
    char sizes[2][24], to[64], from[SCRIPT_TEXT], back[64];
    for (int d = 0; d < 2; d++)
        script_dim_text(x->dims[d], sizes[d]);
    snprintf(back, sizeof back, "%s - 1 - v1", sizes[1]);
    script_line(w, "for i0 in range(%s):", sizes[0]);
    for (int part = 0; part < 2; part++) {
        const script_tensor *made = part ? out : rows, *read = part ? rows : x;
        w->depth = 2;
        script_line(w, "for i1 in range(%s):", sizes[1]);
        w->depth++;
        script_line(w, "with T.block(\"%s\"):", made->name);
        w->depth++;
        for (int d = 0; d < 2; d++)
            script_line(w, "v%d = T.axis.spatial(%s, i%d)", d, sizes[d], d);
        script_target(made, to);
        element_with(read, part ? 1 : -1, back, from);
        script_line(w, "%s = %s", to, from);
    }
}

void script_rare_stage(script *w) {
    static void (*const stages[])(script *) = {
        stage_guarded,    stage_late_axis, stage_branches,      stage_scatter,
        stage_inner_loop, stage_between,   stage_parts_of_sums, stage_pair,
        stage_update,     stage_triangle,  stage_wave,          stage_together,
    };
    stages[script_dice(w, (int)HONE_COUNT(stages))](w);
}
