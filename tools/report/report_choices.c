/* tools/report/report_choices.c - which decisions of a search mattered.
 *
 * Trials of one sketch have the same instructions and differ in decisions. For each number that is
 * decided, trials are put into groups by its value; what the means of the groups differ by is the
 * part of the spread of log(time) that the number explains. Groups at random would explain some,
 * too: omega squared takes that off.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/trace/trace.h"
#include "support/core/alloc.h"
#include "tools/report/report_impl.h"

enum { LEAST_TRIALS = 8, MOST_CHOICES = 24 };

typedef struct finding {
    const hone_report_choice *first;
    size_t trials, values;
    double share;
    int64_t best_value; /* of the fastest group on average */
} finding;

/* ---- collecting ---- */

typedef struct hone_report_sketch sketch;

static sketch *find_sketch(const hone_report_choices *choices, int32_t number) {
    for (size_t i = 0; i < choices->sketches.count; i++) {
        if (choices->sketches.data[i].sketch == number) return &choices->sketches.data[i];
    }
    return NULL;
}

/* The bytes of a trace's instructions up to where those begin that follow from decisions. */
static size_t deciding_bytes(const char *text) {
    const char *end = strstr(text, "[\"EnterPostproc\"");
    return end ? (size_t)(end - text) : hone_trace_json_head(text);
}

/* The instructions of a sketch, from the first of its trials. */
static hone_status add_sketch(hone_report_choices *choices, const hone_db_trial *trial) {
    sketch one = {.sketch = trial->sketch,
                  .head_bytes = deciding_bytes(trial->trace),
                  .trace = hone_arena_alloc(choices->arena, sizeof *one.trace)};
    if (!one.trace) return HONE_NO_MEMORY("report");
    HONE_TRY(hone_trace_parse_json(choices->arena, trial->trace, strlen(trial->trace), "trace",
                                   one.trace));
    one.head = hone_arena_copy(choices->arena, trial->trace, one.head_bytes);
    bool ok = one.head && hone_vec_push(&choices->sketches, one);
    return ok ? HONE_OK : HONE_NO_MEMORY("report");
}

static hone_status add_decisions(hone_report_choices *choices, const hone_db_trial *trial,
                                 const hone_trace *trace) {
    bool ok = true;
    for (uint32_t i = 0; i < trace->count && ok; i++) {
        for (uint32_t k = 0; k < trace->decisions[i].count && ok; k++) {
            hone_report_choice choice = {trial->sketch, i, k, trace->decisions[i].values[k],
                                         log(trial->median_ns)};
            ok = hone_vec_push(&choices->items, choice);
        }
    }
    return ok ? HONE_OK : HONE_NO_MEMORY("report");
}

/* Reads the whole trace. */
static hone_status add_other(hone_report_choices *choices, const hone_db_trial *trial) {
    hone_arena *arena = hone_arena_create(16 * 1024);
    if (!arena) return HONE_NO_MEMORY("report");
    hone_trace trace;
    hone_status st =
        hone_trace_parse_json(arena, trial->trace, strlen(trial->trace), "trace", &trace);
    if (!st) st = add_decisions(choices, trial, &trace);
    hone_arena_destroy(arena);
    return st;
}

/* Trials of one sketch mostly decide in the same instructions, byte by byte; else those are other
 * ones under its number, and are read in full. */
static hone_status add_trial(hone_report_choices *choices, const hone_db_trial *trial) {
    const char *text = trial->trace;
    if (!find_sketch(choices, trial->sketch)) HONE_TRY(add_sketch(choices, trial));
    const sketch *known = find_sketch(choices, trial->sketch);
    size_t head = strncmp(text, known->head, known->head_bytes) ? 0 : hone_trace_json_head(text);
    if (!head) return add_other(choices, trial);
    HONE_TRY(hone_trace_parse_decisions(text, head, known->trace));
    return add_decisions(choices, trial, known->trace);
}

hone_status hone_report_add_choices(hone_report_choices *choices, const hone_db_trial *trial) {
    if (isnan(trial->median_ns) || trial->sketch < 0) return HONE_OK;
    bool is_short = hone_status_consume(add_trial(choices, trial)) == HONE_CODE_NO_MEMORY;
    return is_short ? HONE_NO_MEMORY("report") : HONE_OK;
}

void hone_report_choices_deinit(hone_report_choices *choices) {
    hone_vec_deinit(&choices->items);
    hone_vec_deinit(&choices->sketches);
}

/* ---- judging ---- */

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int by_place(const hone_report_choice *x, const hone_report_choice *y) {
    int order = compare(x->sketch, y->sketch);
    if (!order) order = compare(x->step, y->step);
    return order ? order : compare(x->place, y->place);
}

static int by_value(const void *a, const void *b) {
    const hone_report_choice *x = a, *y = b;
    int order = by_place(x, y);
    return order ? order : compare(x->value, y->value);
}

static int by_share(const void *a, const void *b) {
    const finding *x = a, *y = b;
    if (x->share != y->share) return x->share > y->share ? -1 : 1;
    return by_place(x->first, y->first);
}

static double mean_of(const hone_report_choice *choices, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += choices[i].log_ns;
    return sum / (double)count;
}

static double spread_of(const hone_report_choice *choices, size_t count) {
    double mean = mean_of(choices, count), sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (choices[i].log_ns - mean) * (choices[i].log_ns - mean);
    return sum;
}

/* choices: of one place, sorted by value. */
static finding judge(const hone_report_choice *choices, size_t count) {
    finding f = {.first = choices, .trials = count};
    double within = 0, whole = spread_of(choices, count), best = INFINITY;
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && choices[to].value == choices[from].value;)
            to++;
        double mean = mean_of(choices + from, to - from);
        within += spread_of(choices + from, to - from);
        if (mean < best) {
            best = mean;
            f.best_value = choices[from].value;
        }
        f.values++;
    }
    if (f.values < 2 || f.values >= count || whole <= 0) return f;
    double noise = within / (double)(count - f.values);
    double share = (whole - within - (double)(f.values - 1) * noise) / (whole + noise);
    f.share = fmax(0, share);
    return f;
}

/* ---- names ---- */

static const hone_trace *trace_of(const hone_report_choices *choices, int32_t number) {
    const sketch *known = find_sketch(choices, number);
    return known ? known->trace : NULL;
}

/* The instruction that made a variable; NULL: none. */
static const hone_inst *maker_of(const hone_trace *trace, hone_rv rv) {
    for (uint32_t i = 0; i < trace->count; i++) {
        const hone_inst *inst = &trace->insts[i];
        if (rv >= inst->first_output && rv < inst->first_output + inst->output_count) return inst;
    }
    return NULL;
}

static const hone_inst *maker_of_input(const hone_trace *trace, const hone_inst *inst) {
    bool has = inst && inst->input_count && inst->inputs[0].kind == HONE_OPERAND_RV;
    return has ? maker_of(trace, inst->inputs[0].u.rv) : NULL;
}

/* " of block 'C'", for what is done to a loop or a block that was asked for by name. */
static void put_block(const hone_trace *trace, const hone_inst *inst, hone_str *out) {
    const hone_inst *maker = maker_of_input(trace, inst);
    if (maker && maker->kind == HONE_INST_GET_LOOPS) {
        hone_str_printf(out, " of loop %" PRIu32, inst->inputs[0].u.rv - maker->first_output + 1);
        maker = maker_of_input(trace, maker);
    }
    bool is_named = maker && maker->kind == HONE_INST_GET_BLOCK && maker->attr_count &&
                    maker->attrs[0].kind == HONE_VALUE_STRING;
    if (is_named) hone_str_printf(out, " of block '%s'", maker->attrs[0].u.s);
}

static bool uses(const hone_inst *inst, hone_rv rv) {
    for (uint32_t i = 0; i < inst->input_count; i++) {
        if (inst->inputs[i].kind == HONE_OPERAND_RV && inst->inputs[i].u.rv == rv) return true;
    }
    return false;
}

/* " for meta_schedule.unroll_explicit": the annotation that a number goes to. */
static void put_annotation(const hone_trace *trace, const hone_inst *inst, hone_str *out) {
    for (uint32_t i = 0; i < trace->count; i++) {
        const hone_inst *user = &trace->insts[i];
        bool is_it = user->kind == HONE_INST_ANNOTATE && user->attr_count &&
                     user->attrs[0].kind == HONE_VALUE_STRING && uses(user, inst->first_output);
        if (is_it) hone_str_printf(out, " for %s", user->attrs[0].u.s);
    }
}

static void put_name(const hone_trace *trace, const hone_report_choice *choice, hone_str *out) {
    const hone_inst *inst = &trace->insts[choice->step];
    uint32_t factors = trace->decisions[choice->step].count;
    bool is_tile = factors > 1;
    if (is_tile) {
        hone_str_printf(out, "factor %" PRIu32 " of %" PRIu32, choice->place + 1, factors);
    } else if (inst->kind == HONE_INST_SAMPLE_COMPUTE_LOCATION) {
        hone_str_append(out, "where to compute");
    } else {
        hone_str_append(out, "choice");
    }
    put_block(trace, inst, out);
    put_annotation(trace, inst, out);
}

/* ---- writing ---- */

static void put_finding(const hone_report_choices *choices, const finding *f, hone_str *out) {
    const hone_trace *trace = trace_of(choices, f->first->sketch);
    hone_str name = {0};
    if (trace && f->first->step < trace->count) put_name(trace, f->first, &name);
    hone_report_key(out, NULL);
    hone_str_append_char(out, '{');
    hone_report_put_text(out, "name", hone_str_text(&name));
    hone_report_put_i64(out, "sketch", f->first->sketch);
    hone_report_put_i64(out, "step", f->first->step);
    hone_report_put_i64(out, "values", (int64_t)f->values);
    hone_report_put_i64(out, "trials", (int64_t)f->trials);
    hone_report_put_i64(out, "best_value", f->best_value);
    hone_report_put_about(out, "share", f->share);
    hone_str_append_char(out, '}');
    out->failed |= name.failed;
    hone_str_deinit(&name);
}

hone_status hone_report_put_choices(hone_report_choices *choices, hone_str *out) {
    HONE_VEC(finding) findings = {0};
    bool ok = true;
    size_t count = choices->items.count;
    const hone_report_choice *items = choices->items.data;
    if (count) qsort(choices->items.data, count, sizeof *items, by_value);
    for (size_t from = 0, to; from < count && ok; from = to) {
        for (to = from; to < count && by_place(&items[to], &items[from]) == 0;)
            to++;
        finding f = judge(items + from, to - from);
        if (f.trials >= LEAST_TRIALS && f.values > 1) ok = hone_vec_push(&findings, f);
    }
    if (findings.count) qsort(findings.data, findings.count, sizeof *findings.data, by_share);
    hone_report_key(out, "choices");
    hone_str_append_char(out, '[');
    for (size_t i = 0; i < findings.count && i < MOST_CHOICES; i++)
        put_finding(choices, &findings.data[i], out);
    hone_str_append_char(out, ']');
    hone_vec_deinit(&findings);
    return ok ? hone_str_check(out) : HONE_ERROR(HONE_CODE_NO_MEMORY, "report");
}
