/* compile/kernels.c - a trace for every kernel, and its object.
 *
 *   record (record_choice.h) ──build──► same program? ──yes──► taken
 *      ▲ the next one                   │no, or does not build
 *      └────────────────────────────────┤none is left
 *   the program carries a schedule ◄────┤──build──► taken
 *   default schedule ◄──────────────────┘──build──► taken
 *                        │does not build
 *   plain ◄──────────────┘──build──► taken, or the compilation fails
 *   (for a GPU: shared out to its threads as it stands; in a library for one the CPU runs what
 *   does not build, by its own default schedule)
 */
#include <math.h>

#include "compile/first_schedule.h"
#include "compile/open_schedule.h"
#include "compile/parts.h"
#include "graph/passes/specialize.h"
#include "ir/core/written_schedule.h"
#include "ir/text/print/script_print.h"
#include "support/os/clock.h"

#define BUILD_TIMEOUT_NS (300 * HONE_NS_PER_S)

static hone_status say(parts *p, part_kernel *k, const char *reason) {
    k->facts.reason = hone_arena_strdup(p->arena, reason);
    return k->facts.reason ? HONE_OK : parts_no_memory();
}

/* ---- the program as text ---- */

static hone_status print_program(parts *p, part_kernel *k) {
    hone_str text = {0};
    hone_status st = hone_func_print(k->func, NULL, &text);
    if (!st) {
        k->program = hone_arena_strdup(p->arena, hone_str_text(&text));
        if (!k->program) st = parts_no_memory();
    }
    hone_str_deinit(&text);
    return st;
}

/* ---- records ---- */

/* A record that is not used stands in the facts, too: it is what the reason is about. */
static hone_status choose_record(parts *p, part_kernel *k) {
    hone_record_choice choice;
    HONE_TRY(hone_record_choose(p->chooser, k->func, p->arena, &choice));
    k->facts.match = choice.match;
    k->facts.stale = choice.stale;
    k->facts.earlier = choice.earlier;
    k->facts.earlier_reason = choice.earlier_reason;
    k->facts.reason = choice.reason;
    k->facts.variant = choice.variant;
    k->facts.record = choice.trial ? choice.trial->record : 0;
    k->facts.is_confirmed = choice.trial && !isnan(choice.trial->confirmed_ns);
    k->facts.record_ns = !choice.trial           ? NAN
                         : k->facts.is_confirmed ? choice.trial->confirmed_ns
                                                 : choice.trial->median_ns;
    k->trace = choice.trace;
    k->made = k->facts.made = choice.program;
    if (choice.trace) k->facts.source = HONE_COMPILE_RECORD;
    return HONE_OK;
}

/* The result's bytes are in the order of the hash's hex form. */
static bool is_same_program(const uint8_t bytes[16], hone_hash128 want) {
    hone_hash128 got = {0};
    for (int i = 0; i < 8; i++) {
        got.hi = got.hi << 8 | bytes[i];
        got.lo = got.lo << 8 | bytes[8 + i];
    }
    return hone_hash128_equal(got, want);
}

/* ---- default schedules ---- */

static hone_status keep_trace(parts *p, part_kernel *k, const hone_schedule *sch) {
    if (sch->trace.count == 0) return HONE_OK;
    hone_str text = {0};
    hone_status st = hone_trace_print_json(&sch->trace, &text);
    if (!st) {
        k->trace = hone_arena_strdup(p->arena, hone_str_text(&text));
        if (!k->trace) st = parts_no_memory();
    }
    hone_str_deinit(&text);
    return st;
}

static hone_status print_default(parts *p, part_kernel *k, hone_schedule *sch) {
    bool is_done = false;
    bool is_gpu = hone_target_is_gpu(&p->options->target); /* whose tiles pad any size */
    if (hone_func_is_symbolic(k->func) && !is_gpu)
        HONE_TRY(parts_schedule_open(p, k, sch, &is_done));
    if (!is_done)
        HONE_TRY(
            hone_first_choice(sch, &p->options->target, k->constants, &p->options->variant_rules));
    return keep_trace(p, k, sch);
}

static hone_status print_plain(parts *p, part_kernel *k, hone_schedule *sch) {
    HONE_TRY(hone_plain_schedule(sch, &p->options->target));
    return keep_trace(p, k, sch);
}

/* Leaves the trace NULL where there is nothing to do. */
static hone_status use_schedule(parts *p, part_kernel *k,
                                hone_status (*print)(parts *, part_kernel *, hone_schedule *)) {
    k->trace = NULL;
    k->facts.source = HONE_COMPILE_PLAIN;
    hone_schedule *sch;
    hone_status st = hone_schedule_create(k->func, &sch);
    if (hone_status_code(st) == HONE_CODE_INVALID) { /* a program without blocks: as it is */
        hone_status_free(st);
        return HONE_OK;
    }
    HONE_TRY(st);
    st = print(p, k, sch);
    hone_schedule_destroy(sch);
    return st;
}

static hone_status print_for_host(parts *p, part_kernel *k, hone_schedule *sch) {
    HONE_TRY(hone_first_schedule(sch, &p->host, k->constants));
    return keep_trace(p, k, sch);
}

/* What no GPU can do, as calls of C functions. */
static hone_status use_host(parts *p, part_kernel *k, const char *why) {
    k->on_host = true;
    bool is_open = hone_func_is_symbolic(k->func);
    if (is_open) {
        k->trace = NULL;
    } else {
        HONE_TRY(use_schedule(p, k, print_for_host));
    }
    k->facts.source = HONE_COMPILE_HOST;
    k->device_why = hone_arena_strdup(p->arena, why);
    k->facts.reason = hone_arena_printf(p->arena, "the CPU runs it: for the GPU %s", why);
    return k->device_why && k->facts.reason ? HONE_OK : parts_no_memory();
}

static hone_status use_default(parts *p, part_kernel *k) {
    HONE_TRY(use_schedule(p, k, print_default));
    if (k->trace) k->facts.source = HONE_COMPILE_DEFAULT;
    return HONE_OK;
}

static hone_status keep_written(parts *p, part_kernel *k) {
    k->facts.source = HONE_COMPILE_WRITTEN;
    k->facts.reason = hone_arena_printf(
        p->arena, "the program carries a schedule (--reschedule puts the default one over it)%s%s",
        p->options->db ? "; " : "", p->options->db ? k->facts.reason : "");
    return k->facts.reason ? HONE_OK : parts_no_memory();
}

static hone_status choose_schedule(parts *p, part_kernel *k) {
    HONE_TRY(choose_record(p, k));
    if (k->trace) return HONE_OK;
    bool is_kept = !p->options->reschedule && hone_func_carries_schedule(k->func);
    return is_kept ? keep_written(p, k) : use_default(p, k);
}

static hone_status choose(parts *p, part_kernel *k) {
    k->facts.record_ns = NAN;
    HONE_TRY(print_program(p, k));
    if (p->options->no_schedule) {
        HONE_TRY(use_schedule(p, k, print_plain));
        return say(p, k, "no schedules were asked for");
    }
    return choose_schedule(p, k);
}

/* ---- builds ---- */

typedef struct builds {
    parts *p;
    hone_builder *builder;
    hone_ticket *tickets; /* per kernel; 0 = not in flight */
    size_t next;          /* first kernel that was not submitted */
    size_t done;
} builds;

static hone_status submit(builds *b, size_t index) {
    parts *p = b->p;
    part_kernel *k = &p->kernels.data[index];
    HONE_TRY(parts_split_kernel(p, k));
    const char *lines = parts_lines_path(p, k);
    if (p->lines_dir && !lines) return parts_no_memory();
    bool is_program = parts_is_launched(p, k); /* what the device loads */
    hone_build_request request = {
        .program = k->split ? k->rest : k->program,
        .trace = k->split ? NULL : k->trace,
        .target = k->on_host ? p->host_text : p->target_text,
        .entry = p->options->emit == HONE_COMPILE_PROGRAM ? k->title : k->symbol,
        .emit = is_program ? NULL : hone_compile_emits[p->options->emit].kernels,
        .lines_path = lines,
        .threads = k->on_host ? p->host.num_threads : p->options->target.num_threads,
        .timeout_ns = BUILD_TIMEOUT_NS,
        .intrin_count = p->options->intrin_count,
        .intrins = p->options->intrins,
    };
    return hone_builder_submit(b->builder, &request, &b->tickets[index]);
}

/* What the device the kernel was for says of it, where the CPU can't run it either. */
static hone_status refuse(const part_kernel *k, const char *why) {
    if (!k->device_why)
        return HONE_ERROR(HONE_CODE_INVALID, "kernel '%s' does not build: %s", k->facts.name, why);
    return HONE_ERROR(HONE_CODE_INVALID,
                      "kernel '%s' does not build: %s; nor does the CPU run it in its place: %s",
                      k->facts.name, k->device_why, why);
}

/* The next best thing to do for a kernel whose build was refused. */
static hone_status fall_back(builds *b, size_t index, const char *why) {
    parts *p = b->p;
    part_kernel *k = &p->kernels.data[index];
    if (k->facts.source == HONE_COMPILE_RECORD) {
        HONE_TRY(hone_record_chooser_reject(p->chooser, k->facts.record, why));
        HONE_TRY(choose_schedule(p, k));
    } else if (k->facts.source == HONE_COMPILE_DEFAULT) {
        HONE_TRY(use_schedule(p, k, print_plain));
        k->facts.reason = hone_arena_printf(p->arena, "default schedule is not used: %s", why);
        if (!k->facts.reason) return parts_no_memory();
    } else if (parts_is_launched(p, k)) {
        HONE_TRY(use_host(p, k, why));
    } else {
        return refuse(k, why);
    }
    return submit(b, index);
}

static hone_status take(builds *b, size_t index, const hone_build_result *result) {
    part_kernel *k = &b->p->kernels.data[index];
    b->tickets[index] = 0;
    if (result->failure != HONE_FAILURE_NONE) {
        return fall_back(b, index,
                         result->message ? result->message : hone_failure_name(result->failure));
    }
    if (k->facts.source == HONE_COMPILE_RECORD && !k->split &&
        !is_same_program(result->program_hash, k->made)) {
        return fall_back(b, index, "the builder's replay makes another program");
    }
    k->object = (const char *)result->artifact_bytes;
    k->object_bytes = result->artifact_byte_count;
    if (parts_is_launched(b->p, k)) k->launches = result->manifest;
    b->done++;
    return HONE_OK;
}

static void report(const builds *b, const char *detail) {
    hone_progress_state state = {.label = "kernels",
                                 .done = (int64_t)b->done,
                                 .total = (int64_t)b->p->kernels.count,
                                 .eta_ns = -1,
                                 .detail = detail};
    hone_progress_update(b->p->options->progress, &state);
}

static hone_status build_all(builds *b) {
    parts *p = b->p;
    while (b->done < p->kernels.count) {
        while (b->next < p->kernels.count &&
               hone_builder_in_flight(b->builder) < 2 * hone_builder_slots(b->builder)) {
            HONE_TRY(submit(b, b->next));
            b->next++;
        }
        hone_ticket ticket;
        hone_build_result result;
        HONE_TRY(hone_builder_next_result(b->builder, INT64_MAX, p->arena, &ticket, &result));
        for (size_t i = 0; i < b->next; i++) {
            if (b->tickets[i] != ticket) continue;
            HONE_TRY(take(b, i, &result));
            report(b, p->kernels.data[i].facts.name);
            break;
        }
    }
    return HONE_OK;
}

/* A failure leaves builds in flight; a builder that is not ours must get rid of them. */
static void drain(builds *b) {
    hone_builder_cancel_all(b->builder);
    while (hone_builder_in_flight(b->builder) > 0) {
        hone_ticket ticket;
        hone_build_result result;
        hone_status st =
            hone_builder_next_result(b->builder, INT64_MAX, b->p->arena, &ticket, &result);
        if (hone_status_consume(st) != HONE_CODE_OK) return;
    }
}

static hone_status make_builder(parts *p, hone_builder **out_builder) {
    if (p->options->builder) {
        *out_builder = hone_builder_retain(p->options->builder);
        return HONE_OK;
    }
    int32_t cores = p->host.num_cores, count = (int32_t)p->kernels.count;
    hone_builder_local_options options = {.worker_path = p->options->worker_path,
                                          .workers = cores < count ? cores : count,
                                          .unsandboxed = p->options->unsandboxed};
    return hone_builder_create_local(&options, out_builder);
}

hone_status parts_choose_kernels(parts *p) {
    for (size_t i = 0; i < p->kernels.count; i++)
        HONE_TRY(choose(p, &p->kernels.data[i]));
    return HONE_OK;
}

hone_status parts_build_kernels(parts *p) {
    if (p->kernels.count == 0) return HONE_OK;
    HONE_TRY(parts_open_lines(p));
    builds b = {.p = p};
    b.tickets = hone_arena_zalloc(p->arena, p->kernels.count * sizeof *b.tickets);
    if (!b.tickets) return parts_no_memory();
    HONE_TRY(make_builder(p, &b.builder));
    hone_status st = build_all(&b);
    if (st) drain(&b);
    hone_progress_finish(p->options->progress);
    hone_builder_release(b.builder);
    return st;
}
