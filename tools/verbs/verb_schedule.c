/* tools/verbs/verb_schedule.c - `hone schedule`: applies a trace to a program. */
#include <inttypes.h>
#include <string.h>

#include "graph/module/module_parts.h"
#include "ir/core/written_schedule.h"
#include "ir/verify/verify.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "schedule/trace/trace.h"
#include "schedule/trace/trace_parts.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_intrins.h"
#include "tools/cli/cli_model.h"
#include "tools/verbs/verbs.h"

typedef struct schedule_options {
    const char *trace, *func, *output, *dialect_name;
    hone_dialect dialect;
    int64_t seed;
    bool has_seed, steps, show_trace;
    hone_cli_list intrins;
} schedule_options;

/* A trace on its way through the functions that it works on. */
typedef struct scheduling {
    hone_cli *cli;
    const schedule_options *options;
    hone_module *module; /* with what was scheduled so far */
    hone_tensor_intrins *intrins;
    hone_trace trace; /* with the decisions that were made so far */
} scheduling;

/* The instruction that was just done is the last of the schedule's own trace. */
static hone_status print_step(const scheduling *s, const hone_schedule *sch, uint32_t step) {
    const hone_print_options style = {.mark = HONE_NO_ID, .dialect = s->options->dialect};
    hone_str *out = &s->cli->out;
    hone_str_printf(out, "# step %" PRIu32, step + 1);
    if (sch->trace.count) {
        hone_str_append(out, ": ");
        uint32_t last = sch->trace.count - 1;
        HONE_TRY(style.dialect == HONE_DIALECT_CLASSIC
                     ? hone_inst_print_classic(&sch->trace, last, out)
                     : hone_inst_print_python(&sch->trace, last, out));
    }
    hone_str_append_char(out, '\n');
    HONE_TRY(hone_func_print(sch->func, &style, out));
    hone_str_append_char(out, '\n');
    return hone_cli_flush(s->cli);
}

static void print_decision(const hone_decision *decision, hone_str *out) {
    hone_str_append_char(out, '[');
    for (uint32_t i = 0; i < decision->count; i++)
        hone_str_printf(out, "%s%" PRId64, i ? ", " : "", decision->values[i]);
    hone_str_append_char(out, ']');
}

/* A decision that does not fit (factors whose product is not the extent) was repaired: say so. */
static hone_status note_repair(const scheduling *s, uint32_t step, const hone_decision *made) {
    const hone_decision *given = &s->trace.decisions[step];
    bool is_same = given->count == made->count &&
                   (!made->count ||
                    memcmp(given->values, made->values, made->count * sizeof *made->values) == 0);
    if (!given->count || is_same) return HONE_OK;
    hone_str text = {0};
    hone_str_printf(&text, "%s: step %" PRIu32 ": the decision ", s->cli->args[0], step + 1);
    print_decision(given, &text);
    hone_str_append(&text, " does not fit, it became ");
    print_decision(made, &text);
    hone_status st = hone_str_check(&text);
    if (!st) hone_log_line(&s->cli->log, HONE_LOG_WARNING, "%s", hone_str_text(&text));
    hone_str_deinit(&text);
    return st;
}

/* What was drawn holds for the functions that follow, too. */
static hone_status keep_decision(scheduling *s, const hone_schedule *sch, uint32_t step) {
    if (!hone_inst_is_sampling(s->trace.insts[step].kind) || !sch->trace.count) return HONE_OK;
    const hone_decision *made = &sch->trace.decisions[sch->trace.count - 1];
    if (!made->count) return HONE_OK;
    HONE_TRY(note_repair(s, step, made));
    size_t bytes = made->count * sizeof *made->values;
    const int64_t *values = hone_arena_copy(s->cli->arena, made->values, bytes);
    if (!values) return HONE_ERROR(HONE_CODE_NO_MEMORY, "decision");
    s->trace.decisions[step] = (hone_decision){made->count, values};
    return HONE_OK;
}

static hone_status after_step(void *ctx, hone_schedule *sch, uint32_t step) {
    scheduling *s = ctx;
    HONE_TRY(keep_decision(s, sch, step));
    return s->options->steps ? print_step(s, sch, step) : HONE_OK;
}

/* Message of the refusal, then the program as it was with the place marked. */
static hone_status explain_refusal(const hone_cli *cli, const hone_schedule *sch, hone_status st) {
    st = hone_status_annotate(st, "%s", cli->args[0]);
    if (sch->blame == HONE_NO_ID) return st;
    hone_str text = {0};
    hone_status printed = hone_schedule_print_blame(sch, "here", &text);
    if (!printed) {
        while (text.length && text.data[text.length - 1] == '\n') {
            hone_str_truncate(&text, text.length - 1);
        }
        hone_code code = hone_status_code(st);
        hone_status full =
            HONE_ERROR(code, "%s\n%s", hone_status_message(st), hone_str_text(&text));
        hone_status_free(st);
        st = full;
    }
    hone_status_free(printed);
    hone_str_deinit(&text);
    return st;
}

/* of_inst as in hone_trace_name_funcs. */
static hone_status put_trace(hone_cli *cli, const schedule_options *options,
                             const hone_trace *trace, const hone_trace_part *parts,
                             const uint32_t *of_inst) {
    hone_str text = {0};
    hone_trace named;
    HONE_TRY(hone_trace_name_funcs(cli->arena, trace, parts, of_inst, &named));
    hone_status st = options->dialect == HONE_DIALECT_CLASSIC
                         ? hone_trace_print_classic(&named, &text)
                         : hone_trace_print_python(&named, &text);
    if (!st) st = hone_cli_put_result(cli, options->output, &text);
    hone_str_deinit(&text);
    return st;
}

/* To stderr: what the program computes may differ, and by which steps. */
static hone_status warn_of_unsafe_steps(hone_cli *cli, const hone_trace *trace) {
    for (uint32_t i = 0; i < trace->count && trace->is_unsafe; i++) {
        if (!hone_inst_is_unsafe(&trace->insts[i])) continue;
        hone_str text = {0};
        hone_status st = hone_inst_print_python(trace, i, &text);
        if (!st) {
            hone_log_line(&cli->log, HONE_LOG_WARNING, "%s: step %" PRIu32 " is unsafe by name: %s",
                          cli->args[0], i + 1, hone_str_text(&text));
        }
        hone_str_deinit(&text);
        HONE_TRY(st);
    }
    return HONE_OK;
}

static hone_status apply(scheduling *s, const hone_trace_part *part, hone_schedule *sch) {
    const hone_apply_options how = {
        .is_left_out = part->is_left_out, .after_step = after_step, .ctx = s};
    sch->intrins = s->intrins;
    sch->wants_reasons = true;
    sch->rng = hone_rng_from_seed((uint64_t)s->options->seed);
    hone_status st = hone_trace_apply(&s->trace, sch, &how);
    if (st) return explain_refusal(s->cli, sch, st);
    return warn_of_unsafe_steps(s->cli, &sch->trace);
}

/* To stderr: a pipeline whose loop has other statements by now. More steps may mend that. */
static hone_status warn_of_pipelines(hone_cli *cli, hone_schedule *sch) {
    hone_status st = hone_check_pipelines(sch->func, &sch->blame);
    if (hone_status_code(st) != HONE_CODE_INVALID) return st;
    st = explain_refusal(cli, sch, st);
    hone_log_line(&cli->log, HONE_LOG_WARNING, "%s", hone_status_message(st));
    hone_status_free(st);
    return HONE_OK;
}

/* Where the loops do not show that somebody scheduled them, an attribute says so. */
static hone_status mark_as_scheduled(hone_schedule *sch) {
    hone_attrs *attrs = &sch->func->attrs;
    if (!sch->trace.count || hone_func_carries_schedule(sch->func)) return HONE_OK;
    bool ok =
        hone_attrs_with(sch->arena, attrs, HONE_ATTR_IS_SCHEDULED, HONE_VALUE_OF_BOOL(true), attrs);
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "schedule");
}

/* One function, which takes the place of the one before in the module. is_whole: no other one. */
static hone_status schedule_func(scheduling *s, const hone_trace_part *part, bool is_whole) {
    hone_schedule *sch = NULL;
    hone_module *made;
    HONE_TRY(hone_cli_check_func(s->cli->args[0], part->func));
    HONE_TRY(hone_status_annotate(hone_schedule_create(part->func, &sch), "%s", s->cli->args[0]));
    hone_status st = apply(s, part, sch);
    if (!st) st = warn_of_pipelines(s->cli, sch);
    if (!st) st = mark_as_scheduled(sch);
    if (!st && s->options->show_trace && is_whole) {
        st = put_trace(s->cli, s->options, &sch->trace, part, NULL);
    } else if (!st && (st = hone_module_with_func(s->module, sch->func, &made)) == HONE_OK) {
        hone_module_release(s->module);
        hone_module_freeze(made);
        s->module = made;
    }
    hone_schedule_destroy(sch);
    return st;
}

/* Where the module has no function that is meant without a name, the steps must name theirs. */
static hone_status pick_default(const scheduling *s, const hone_func **out_func) {
    const hone_member *member;
    const char *name = s->options->func;
    *out_func = NULL;
    hone_status st = name ? HONE_OK : hone_module_pick(s->module, NULL, &member);
    bool is_open = !name && (st || member->kind != HONE_MEMBER_FUNC) && s->module->member_count > 1;
    hone_status_free(st);
    return is_open ? HONE_OK : hone_cli_pick_func(s->module, s->cli->args[0], name, out_func);
}

static hone_status schedule_all(scheduling *s) {
    const hone_func *func = NULL;
    hone_trace_parts parts;
    size_t line = 0;
    const schedule_options *options = s->options;
    HONE_TRY(pick_default(s, &func));
    const hone_trace_context context = {func, s->intrins, s->module, s->intrins};
    HONE_TRY(hone_trace_load(s->cli->arena, options->trace, &context, &line, &s->trace));
    if (line) {
        hone_log_line(&s->cli->log, HONE_LOG_INFO, "%s: the record of line %zu", options->trace,
                      line);
    }
    HONE_TRY(hone_status_annotate(
        hone_trace_split_parts(s->cli->arena, &s->trace, &context, &parts), "%s", s->cli->args[0]));
    for (uint32_t i = 0; options->has_seed && i < s->trace.count; i++)
        s->trace.decisions[i] = (hone_decision){0};
    /* the module is replaced as functions are scheduled; the parts' functions are of the first */
    hone_module *first = hone_module_retain(s->module);
    hone_status st = HONE_OK;
    for (uint32_t i = 0; !st && i < parts.count; i++)
        st = schedule_func(s, &parts.items[i], parts.count == 1);
    hone_module_release(first);
    if (!st && options->show_trace && parts.count > 1)
        st = put_trace(s->cli, options, &s->trace, parts.items, parts.of_inst);
    if (st || options->show_trace || (options->steps && !options->output)) return st;
    const hone_print_options style = {.mark = HONE_NO_ID, .dialect = options->dialect};
    return hone_cli_put_program(s->cli, options->output, s->module, &style);
}

static hone_status schedule(hone_cli *cli, schedule_options *options) {
    HONE_TRY(hone_cli_parse_dialect(options->dialect_name, &options->dialect));
    if (!options->trace) return HONE_ERROR(HONE_CODE_INVALID, "--trace FILE is missing");
    if (strcmp(options->trace, "-") == 0 && strcmp(cli->args[0], "-") == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "program and trace cannot both be standard input");
    }
    scheduling s = {.cli = cli, .options = options};
    hone_trace_init(&s.trace, cli->arena);
    hone_status st = hone_cli_load_outline(cli->args[0], &s.module);
    if (!st) hone_module_freeze(s.module);
    if (!st) st = hone_cli_open_intrins(cli, &options->intrins, &s.intrins);
    if (!st && !s.intrins) st = hone_tensor_intrins_create(&s.intrins);
    if (!st) st = schedule_all(&s);
    hone_tensor_intrins_destroy(s.intrins);
    hone_module_release(s.module);
    return st;
}

int hone_verb_schedule(int argc, char **argv) {
    schedule_options o = {.dialect_name = "tvm-0.27"};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("trace", 0, "FILE", TEXT, &o.trace,
                        "the trace: .json (also TVM's tuning records), or .py as TVM prints it"),
        HONE_CLI_OPTION("func", 0, "NAME", TEXT, &o.func,
                        "the function of steps that name none; default: main, or the only one"),
        HONE_CLI_PROGRAM_OUTPUT_OPTION(&o.output),
        HONE_CLI_OPTION(
            "seed", 0, "N", NUMBER, &o.seed,
            "draw all decisions afresh, from this seed; without it those that are missing are "
            "drawn, the same each time",
            .was_given = &o.has_seed),
        HONE_CLI_INTRIN_OPTION(
            &o.intrins, "a tensor intrinsic (functions desc and impl, or …_desc and …_impl)"),
        HONE_CLI_DIALECT_OPTION(&o.dialect_name),
        HONE_CLI_OPTION("steps", 0, NULL, SWITCH, &o.steps, "print the program after each step"),
        HONE_CLI_OPTION("show-trace", 0, NULL, SWITCH, &o.show_trace,
                        "print the trace with its decisions instead of the program"),
        {0},
    };
    const hone_cli_command command = {
        .name = "schedule",
        .usage = "FILE --trace FILE [--func NAME] [-o FILE] [--seed N] [--intrin NAME=FILE.py] "
                 "[--steps]",
        .summary = "Applies a trace, decisions included, to a tensor program. A step that is not "
                   "legal ends with exit code 2, its number, the call and the reason.",
        .example = "hone schedule tests/programs/matmul_relu.py --trace tests/cli/data/tile.py",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, schedule(&cli, &o));
}
