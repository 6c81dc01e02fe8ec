/* tests/schedule/steps/random_sequence.c - gives a program random steps and checks each. */
#include "tests/schedule/steps/random_sequence.h"

#include <stdio.h>
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "ir/verify/verify.h"
#include "schedule/primitive/primitives.h"
#include "schedule/variant/variant.h"
#include "tests/schedule/steps/trace_round_trip.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

/* Most sequences are short: a long one hides behind its last steps what the first ones broke. */
enum {
    FEWEST_STEPS = 4,
    MORE_STEPS = 9,
    TRIES = 4,
    UNSAFE_STEPS = 4,
    UNSAFE_EVERY = 8,
    STATEMENTS_EVERY = 3,
    MOST_WORK = 1 << 23 /* runs of a body */
};

typedef struct sequence {
    const hone_func *base;
    hone_schedule *sch;
    hone_rng rng;
    uint64_t seed;
    hone_step_counts *counts;
} sequence;

void hone_explain_sequence(const hone_func *base, const hone_schedule *sch, uint64_t seed,
                           const char *step, const char *why) {
    hone_str text = {0};
    fprintf(stderr, "seed %llu, after %s: %s\n", (unsigned long long)seed, step, why);
    hone_status_free(hone_func_print(base, NULL, &text));
    hone_str_append(&text, "---- became ----\n");
    hone_status_free(hone_func_print(sch->func, NULL, &text));
    hone_str_append(&text, "---- by ----\n");
    hone_trace trace;
    hone_status st = hone_trace_simplify(sch->arena, &sch->trace, false, &trace);
    if (!st) st = hone_trace_print_python(&trace, &text);
    hone_status_free(st);
    fprintf(stderr, "%s\n", hone_str_text(&text)); /* cmocka cuts long messages */
    hone_str_deinit(&text);
}

static bool explain(const sequence *s, const char *step, const char *why) {
    hone_explain_sequence(s->base, s->sch, s->seed, step, why);
    return false;
}

static bool is_well_formed(const sequence *s, const char *step) {
    hone_status st = hone_check_func(s->sch->func);
    if (st) explain(s, step, hone_status_message(st));
    return !hone_status_consume(st);
}

/* One kind of step at several places, until it is accepted. */
static bool take_step(sequence *s, hone_random_kind kind) {
    const char *name = hone_random_kind_name(kind);
    hone_hash128 before = hone_func_hash(s->sch->func);
    for (int i = 0; i < TRIES; i++) {
        hone_status st = hone_random_try(s->sch, &s->rng, kind);
        hone_code code = hone_status_code(st);
        hone_step_counts_add(s->counts, name, !st);
        if (!st) return is_well_formed(s, name);
        if (code != HONE_CODE_ILLEGAL && code != HONE_CODE_INVALID) {
            explain(s, name, hone_status_message(st));
            hone_status_free(st);
            return false;
        }
        hone_status_free(st);
        if (!hone_hash128_equal(before, hone_func_hash(s->sch->func)))
            return explain(s, name, "a refused step changed the program");
    }
    return true;
}

int64_t hone_work_of(const hone_func *func, hone_node_id id, int64_t enough) {
    int64_t most = 1, times = 1;
    const hone_node *node = hone_func_node(func, id);
    if (node->kind == HONE_NODE_FOR) {
        times = hone_expr_is_int(node->u.loop.range.extent) ? node->u.loop.range.extent->u.i : 4;
    }
    for (hone_node_id n = node->first; n != HONE_NO_ID; n = hone_func_node(func, n)->next) {
        int64_t work = hone_work_of(func, n, enough);
        if (work > most) most = work;
    }
    return most > enough ? most : times * most;
}

/* Blocks that steps repeat in the loops of others may run billions of times: not compared. */
static bool means_the_same(const sequence *s) {
    hone_str why = {0};
    if (hone_work_of(s->sch->func, HONE_NODE_TOP, MOST_WORK) > MOST_WORK) return true;
    bool is_same = hone_test_agrees(s->base, s->sch->func, s->seed, &why);
    if (!is_same) explain(s, "all steps", hone_str_text(&why));
    hone_str_deinit(&why);
    return is_same;
}

static bool is_thread_loop(const hone_node *node) {
    return node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD;
}

/* Their iterations run in turn, which the interpreter does not know. */
static bool has_virtual_threads(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (is_thread_loop(node) && strncmp(node->u.loop.thread_tag, "vthread", 7) == 0) {
            return true;
        }
    }
    return false;
}

static bool runs_at_once(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (is_thread_loop(node) || hone_node_is_concurrent_loop(node)) return true;
    }
    return false;
}

static bool is_bound_around(const hone_func *func, hone_node_id loop) {
    const char *tag = hone_func_node(func, loop)->u.loop.thread_tag;
    for (hone_node_id n = hone_func_node(func, loop)->parent; n != HONE_NO_ID;
         n = hone_func_node(func, n)->parent) {
        const hone_node *outer = hone_func_node(func, n);
        if (is_thread_loop(outer) && strcmp(outer->u.loop.thread_tag, tag) == 0) return true;
    }
    return false;
}

/* Threads of two loops with one tag share the work of the inner one, which the interpreter has each
 * of them do; of a sum that is not the same. */
static bool shares_sums(const hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        bool is_shared = is_thread_loop(hone_func_node(func, n)) && is_bound_around(func, n);
        if (is_shared && hone_tree_first_of(func, n, HONE_NODE_INIT) != HONE_NO_ID) return true;
    }
    return false;
}

/* Iterations that run at once touch nothing that another one writes. */
static bool has_no_races(const sequence *s) {
    const hone_func *func = s->sch->func;
    if (has_virtual_threads(func) || shares_sums(func) || !runs_at_once(func) ||
        hone_work_of(func, HONE_NODE_TOP, MOST_WORK) > MOST_WORK)
        return true;
    hone_tensor **args = hone_test_make_args(func, s->seed);
    hone_interp_options options = {
        .check_races = true, .allow_repeats = true, .is_scheduled = true};
    hone_status st = hone_interp_func(func, args, func->param_count, &options);
    hone_test_free_args(func, args);
    if (st) explain(s, "all steps", hone_status_message(st));
    return !hone_status_consume(st);
}

static bool can_be_replayed(const sequence *s) {
    hone_str why = {0};
    bool survives = hone_trace_survives(s->base, s->sch, &why);
    if (!survives) explain(s, "replay", hone_str_text(&why));
    hone_str_deinit(&why);
    return survives;
}

/* What is printed is the same program when it is read. */
static bool can_be_read(const sequence *s) {
    hone_str why = {0};
    bool is_same = hone_test_reads_back(s->sch->func, &why);
    if (!is_same) explain(s, "printing", hone_str_text(&why));
    hone_str_deinit(&why);
    return is_same;
}

/* The last allocations of the root block as statements somewhere in its body. */
static void make_statements(sequence *s) {
    hone_func *func = s->sch->func;
    hone_node_id root = hone_func_root_block(func), at = hone_block_body_of(func, root);
    const hone_block *block = hone_func_node(func, root)->u.block.block;
    for (uint32_t i = (uint32_t)hone_rng_below(&s->rng, block->alloc_count + 1);
         i < block->alloc_count; i++) {
        hone_buffer_info *info = &func->buffers[block->allocs[i]];
        info->form = HONE_BUFFER_STATEMENT;
        info->stands_before = at;
        if (at != HONE_NO_ID && hone_rng_below(&s->rng, 2)) at = hone_func_node(func, at)->next;
    }
}

static bool take_variant(sequence *s, const char *name) {
    hone_status st = hone_sch_use_variant(s->sch, hone_variant_find(name));
    if (st) explain(s, name, hone_status_message(st));
    return !hone_status_consume(st) && is_well_formed(s, name);
}

static bool run(sequence *s, const hone_sequence_options *options) {
    if (options->variant) {
        if (!take_variant(s, options->variant)) return false;
    } else if (s->seed % STATEMENTS_EVERY == 0) {
        make_statements(s);
    }
    uint32_t steps = FEWEST_STEPS + (uint32_t)hone_rng_below(&s->rng, MORE_STEPS);
    for (uint32_t i = 0; i < steps; i++) {
        if (!take_step(s, hone_random_draw(&s->rng))) return false;
    }
    if (!means_the_same(s) || !has_no_races(s) || !can_be_read(s)) return false;
    /* what is unsafe by name may change the meaning, but not break the program or the trace */
    for (uint32_t i = 0; i < UNSAFE_STEPS && s->seed % UNSAFE_EVERY == 0; i++) {
        hone_random_kind kind =
            i % 2 ? hone_random_draw(&s->rng) : hone_random_draw_unsafe(&s->rng);
        if (!take_step(s, kind)) return false;
    }
    return s->seed % options->replay_every != 0 || can_be_replayed(s);
}

bool hone_random_sequence(const hone_func *base, uint64_t seed,
                          const hone_sequence_options *options, hone_step_counts *io_counts) {
    sequence s = {.base = base, .seed = seed, .counts = io_counts};
    hone_status st = hone_schedule_create(base, &s.sch);
    if (st) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, hone_status_message(st));
        hone_status_free(st);
        return false;
    }
    s.sch->intrins = options->intrins;
    s.sch->rng = hone_rng_from_seed(seed);
    s.sch->wants_reasons = seed % 2;
    s.rng = hone_rng_from_seed(seed * 7919 + 1);
    bool is_fine = run(&s, options);
    hone_step_counts_add_trace(io_counts, &s.sch->trace);
    hone_schedule_destroy(s.sch);
    return is_fine;
}
