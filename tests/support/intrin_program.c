/* tests/support/intrin_program.c - programs made of descriptions of tensor intrinsics. */
#include "tests/support/intrin_program.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ir/text/print/script_print.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/primitive/primitives.h"
#include "tests/support/random_program.h"

enum { MOST_LOOPS = 6, MOST_BUFFERS = 8, MOST_STEPS = 8 };

typedef struct program_buffer {
    const char *name;
    const hone_buffer_info *info;
    bool is_filled;  /* by a step, before any reads it */
    bool is_updated; /* by the last step */
} program_buffer;

typedef struct writer {
    hone_str *out;
    intrin_form form;
    const intrin_step *steps;
    uint32_t count;
    hone_module *modules[MOST_STEPS];
    const hone_func *descs[MOST_STEPS];
    program_buffer buffers[MOST_BUFFERS];
    uint32_t buffer_count;
} writer;

static const hone_buffer_info *param(const hone_func *desc, uint32_t i) {
    return hone_func_buffer(desc, desc->params[i].buffer);
}

bool hone_test_intrin_has_tiles(const hone_func *desc) {
    for (uint32_t i = 0; i < desc->param_count; i++) {
        if (strcmp(param(desc, i)->scope, "warp") == 0) return false;
    }
    return true;
}

/* ---- buffers ---- */

static const char *name_of(const intrin_step *step, const hone_func *desc, uint32_t i) {
    return step->buffers[i] ? step->buffers[i] : param(desc, i)->name;
}

static const hone_node *block_of(const hone_func *desc) {
    hone_node_id node = hone_func_node(desc, hone_func_root_block(desc))->first;
    while (hone_func_node(desc, node)->kind == HONE_NODE_FOR)
        node = hone_func_node(desc, node)->first;
    return hone_func_node(desc, node);
}

static bool is_read(const hone_func *desc, hone_buffer buffer) {
    const hone_block *block = hone_func_node(desc, hone_func_root_block(desc))->u.block.block;
    for (uint32_t i = 0; i < block->read_count; i++) {
        if (block->reads[i].buffer == buffer) return true;
    }
    return false;
}

static void collect_buffers(writer *w) {
    for (uint32_t s = 0; s < w->count; s++) {
        const hone_func *desc = w->descs[s];
        hone_buffer stored = hone_func_node(desc, block_of(desc)->first)->u.store.buffer;
        for (uint32_t i = 0; i < desc->param_count; i++) {
            const char *name = name_of(&w->steps[s], desc, i);
            uint32_t b = 0;
            while (b < w->buffer_count && strcmp(w->buffers[b].name, name) != 0)
                b++;
            program_buffer *buffer = &w->buffers[b];
            bool is_stored = desc->params[i].buffer == stored;
            if (b == w->buffer_count) {
                *buffer = (program_buffer){name, param(desc, i),
                                           !is_read(desc, desc->params[i].buffer), false};
                w->buffer_count++;
            }
            buffer->is_updated = is_stored && s + 1 == w->count;
        }
    }
}

/* ---- text ---- */

static void write_shape(writer *w, const hone_buffer_info *b) {
    hone_str_append(w->out, w->form == INTRIN_STACK ? "(2, 3, " : "(");
    for (uint32_t d = 0; d < b->rank; d++) {
        int64_t length = hone_expr_const(b->shape[d]);
        hone_str_printf(w->out, "%s%lld", d ? ", " : "",
                        (long long)(w->form == INTRIN_TILES ? 2 * length : length));
    }
    hone_str_append(w->out, b->rank == 1 && w->form == INTRIN_TILES ? ",)" : ")");
}

/* Numbers of four bits are arguments of eight. */
static const char *dtype_of(const hone_buffer_info *b, bool is_arg, char text[32]) {
    bool is_small = b->dtype.bits < 8;
    return hone_dtype_print(is_arg && is_small ? HONE_DTYPE_I8 : b->dtype, text, 32);
}

/* Arguments are plain memory; each has a buffer of the description's scope. */
static void write_params(writer *w) {
    char dtype[32];
    const char *comma = "";
    hone_str_append(w->out, "@T.prim_func(s_tir=True)\ndef main(");
    for (uint32_t i = 0; i < w->buffer_count; i++) {
        const program_buffer *b = &w->buffers[i];
        if (b->is_filled && !b->is_updated) continue;
        hone_str_printf(w->out, "%sarg_%s: T.Buffer(", comma, b->name);
        write_shape(w, b->info);
        hone_str_printf(w->out, ", \"%s\")", dtype_of(b->info, true, dtype));
        comma = ", ";
    }
    hone_str_append(w->out, "):\n");
    for (uint32_t i = 0; i < w->buffer_count; i++) {
        const program_buffer *b = &w->buffers[i];
        hone_str_printf(w->out, "    %s = T.sblock_alloc_buffer(", b->name);
        write_shape(w, b->info);
        hone_str_printf(w->out, ", \"%s\", scope=\"%s\")\n", dtype_of(b->info, false, dtype),
                        b->info->scope);
    }
}

static void write_names(writer *w, char letter, uint32_t count) {
    for (uint32_t d = 0; d < count; d++)
        hone_str_printf(w->out, "%s%c%u", d ? ", " : "", letter, d);
}

/* The argument to its buffer, or back. */
static void write_copy(writer *w, const program_buffer *b, bool is_back) {
    uint32_t rank = b->info->rank + (w->form == INTRIN_STACK ? 2 : 0);
    char dtype[32];
    hone_str_append(w->out, "    for ");
    write_names(w, 'i', rank);
    hone_str_append(w->out, " in T.grid");
    write_shape(w, b->info);
    hone_str_printf(w->out, ":\n        with T.sblock(\"%s_%s\"):\n            ",
                    is_back ? "back" : "copy", b->name);
    write_names(w, 'v', rank);
    hone_str_printf(w->out, " = T.axis.remap(\"%.*s\", [", (int)rank, "SSSSSS");
    write_names(w, 'i', rank);
    hone_str_printf(w->out, "])\n            %s%s[", is_back ? "arg_" : "", b->name);
    write_names(w, 'v', rank);
    hone_str_printf(w->out, "] = T.cast(%s%s[", is_back ? "" : "arg_", b->name);
    write_names(w, 'v', rank);
    hone_str_printf(w->out, "], \"%s\")\n", dtype_of(b->info, is_back, dtype));
}

/* The loops of a description, under one more. */
static void write_loops(writer *w, const hone_func *desc) {
    hone_node_id node = hone_func_node(desc, hone_func_root_block(desc))->first;
    bool is_stack = w->form == INTRIN_STACK;
    hone_str names = {0}, extents = {0};
    hone_str_append(&names, is_stack ? "o0, o1" : "o0");
    hone_str_append(&extents, is_stack ? "2, 3" : "1");
    for (; hone_func_node(desc, node)->kind == HONE_NODE_FOR;
         node = hone_func_node(desc, node)->first) {
        const hone_node *loop = hone_func_node(desc, node);
        int64_t extent = hone_expr_const(loop->u.loop.range.extent);
        hone_str_printf(&names, ", %s", desc->vars[loop->u.loop.var].name);
        hone_str_printf(&extents, ", %lld", (long long)(is_stack ? extent : 2 * extent));
    }
    hone_str_printf(w->out, "    for %s in T.grid(%s):\n", hone_str_text(&names),
                    hone_str_text(&extents));
    hone_str_deinit(&names);
    hone_str_deinit(&extents);
}

static void write_axes(writer *w, uint32_t s) {
    const hone_func *desc = w->descs[s];
    const hone_node *node = block_of(desc);
    hone_str_printf(w->out, "        with T.sblock(\"step%u\"):\n", s);
    if (w->form == INTRIN_STACK) {
        hone_str_append(w->out, "            vo0, vo1 = T.axis.remap(\"SS\", [o0, o1])\n");
    }
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        const hone_axis *axis = &node->u.block.block->axes[i];
        int64_t extent = hone_expr_const(axis->dom.extent);
        hone_str_printf(w->out, "            %s = T.axis.%s(%lld, %s)\n",
                        desc->vars[axis->var].name,
                        axis->kind == HONE_AXIS_REDUCE ? "reduce" : "spatial",
                        (long long)(w->form == INTRIN_TILES ? 2 * extent : extent),
                        desc->vars[node->u.block.bindings[i]->u.var].name);
    }
}

/* The program's name for a word of the description, if that is one of its buffers. */
static const char *rename_word(writer *w, uint32_t s, const char *word, size_t length) {
    for (uint32_t i = 0; i < w->descs[s]->param_count; i++) {
        const char *name = param(w->descs[s], i)->name;
        if (strlen(name) == length && memcmp(name, word, length) == 0) {
            return name_of(&w->steps[s], w->descs[s], i);
        }
    }
    return NULL;
}

/* A statement of a description, over the program's buffers. */
static void write_accesses(writer *w, uint32_t s, const char *text) {
    while (*text) {
        size_t n = 0;
        while (isalnum((unsigned char)text[n]) || text[n] == '_')
            n++;
        const char *name = text[n] == '[' ? rename_word(w, s, text, n) : NULL;
        n = n ? n : 1;
        if (name) {
            hone_str_printf(w->out, "%s%s", name, w->form == INTRIN_STACK ? "[vo0, vo1, " : "[");
            n++;
        } else {
            hone_str_printf(w->out, "%.*s", (int)n, text);
        }
        text += n;
    }
}

static hone_status write_store(writer *w, uint32_t s) {
    const hone_func *desc = w->descs[s];
    const hone_node *store = hone_func_node(desc, block_of(desc)->first);
    hone_str text = {0};
    hone_str_printf(&text, "            %s", hone_func_buffer(desc, store->u.store.buffer)->name);
    hone_status st = HONE_OK;
    for (uint32_t d = 0; d < store->u.store.rank && !st; d++) {
        hone_str_append(&text, d ? ", " : "[");
        st = hone_expr_print(desc, store->u.store.indices[d], &text);
    }
    hone_str_append(&text, "] = ");
    if (!st) st = hone_expr_print(desc, store->u.store.value, &text);
    hone_str_append(&text, "\n");
    write_accesses(w, s, hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

static hone_status write_program(writer *w) {
    collect_buffers(w);
    write_params(w);
    for (uint32_t i = 0; i < w->buffer_count; i++) {
        if (!w->buffers[i].is_filled) write_copy(w, &w->buffers[i], false);
    }
    for (uint32_t s = 0; s < w->count; s++) {
        write_loops(w, w->descs[s]);
        write_axes(w, s);
        HONE_TRY(write_store(w, s));
    }
    for (uint32_t i = 0; i < w->buffer_count; i++) {
        if (w->buffers[i].is_updated) write_copy(w, &w->buffers[i], true);
    }
    return hone_str_check(w->out);
}

hone_status hone_test_intrin_program(const intrin_step *steps, uint32_t count, intrin_form form,
                                     hone_str *out) {
    writer w = {.out = out, .form = form, .steps = steps, .count = count};
    hone_status st = HONE_OK;
    for (uint32_t s = 0; s < count && !st; s++) {
        const hone_func *impl;
        st = hone_tensor_intrin_find(NULL, steps[s].name, &w.modules[s], &w.descs[s], &impl);
    }
    if (!st) st = write_program(&w);
    for (uint32_t s = 0; s < count; s++)
        hone_module_release(w.modules[s]);
    return st;
}

/* ---- the schedule ---- */

/* The outer halves of all loops, then the inner ones, the first of which is the answer. */
static hone_status tile(hone_schedule *sch, uint32_t count, const hone_rv *loops, hone_rv *out) {
    hone_rv order[2 * MOST_LOOPS];
    for (uint32_t i = 0; i < count; i++) {
        const hone_factor factors[] = {HONE_FACTOR_OF_INT(2), {.kind = HONE_FACTOR_NONE}};
        const hone_rv *both;
        HONE_TRY(hone_sch_split(sch, loops[i], 2, factors, true, false, &both));
        order[i] = both[0];
        order[count + i] = both[1];
    }
    *out = order[count];
    return hone_sch_reorder(sch, 2 * count, order);
}

static hone_status tensorize(hone_schedule *sch, const char *name, uint32_t s, intrin_form form) {
    char block_name[16];
    hone_rv block, at = HONE_NO_ID;
    const hone_rv *loops;
    uint32_t count;
    snprintf(block_name, sizeof block_name, "step%u", s);
    HONE_TRY(hone_sch_get_block(sch, block_name, &block));
    HONE_TRY(hone_sch_get_loops(sch, block, &count, &loops));
    if (form == INTRIN_STACK) at = loops[2];
    if (form == INTRIN_TILES) HONE_TRY(tile(sch, count - 1, loops + 1, &at));
    return hone_sch_tensorize(sch, at, name, true);
}

hone_status hone_test_intrin_schedule(const hone_func *program, const intrin_step *steps,
                                      uint32_t count, intrin_form form, hone_schedule **out_sch) {
    HONE_TRY(hone_schedule_create(program, out_sch));
    hone_status st = HONE_OK;
    for (uint32_t s = 0; s < count && !st; s++)
        st = hone_status_annotate(tensorize(*out_sch, steps[s].name, s, form), "%s", steps[s].name);
    if (!st) return HONE_OK;
    hone_schedule_destroy(*out_sch);
    *out_sch = NULL;
    return st;
}

/* ---- arguments ---- */

hone_tensor **hone_test_intrin_args(const hone_func *program, uint64_t seed) {
    hone_tensor **args = hone_test_make_args(program, seed);
    hone_rng rng = hone_rng_from_seed(seed);
    for (uint32_t i = 0; args && i < program->param_count; i++) {
        bool is_float = hone_dtype_is_float(args[i]->dtype);
        int64_t most = is_float ? 4 : 128;
        for (int64_t at = 0; at < hone_tensor_count(args[i]); at++) {
            int64_t number = hone_rng_between(&rng, -most, most - 1);
            if (is_float) hone_tensor_set_f64(args[i], at, (double)number);
            if (!is_float) hone_tensor_set_i64(args[i], at, number);
        }
    }
    return args;
}
