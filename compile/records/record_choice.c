/* compile/records/record_choice.c - replays records and chooses one for each kernel. */
#include "compile/records/record_choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compile/records/record_variant.h"
#include "compile/records/recorded_programs.h"
#include "compile/records/variant_check.h"
#include "graph/passes/specialize.h"
#include "ir/identity/structural.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "support/core/alloc.h"
#include "support/data/map.h"

enum { ARENA_BYTES = 1 << 14, MAX_TRIES = 16 };

typedef struct rejected {
    int64_t record;
    const char *why;
} rejected;

struct hone_record_chooser {
    hone_db *db;
    recorded_target target;
    hone_variant_rules rules;
    const hone_tensor_intrins *intrins;
    hone_arena *arena; /* of what the database has */
    recorded_programs programs;
    hone_map128 todays; /* kernels of the model */
    HONE_VEC(rejected) rejected;
};

hone_status hone_record_chooser_create(hone_db *db, const hone_target *target,
                                       const hone_tensor_intrins *intrins,
                                       hone_record_chooser **out_chooser) {
    *out_chooser = NULL;
    hone_record_chooser *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_NO_MEMORY("choice of records");
    self->db = db;
    self->target.target = *target;
    self->intrins = intrins;
    self->arena = hone_arena_create(ARENA_BYTES);
    hone_status st = self->arena ? HONE_OK : HONE_NO_MEMORY("choice of records");
    if (!st && db) st = hone_db_targets_alike(db, target, self->arena, &self->target.alikes);
    if (!st && db) st = recorded_programs_load(db, &self->target, self->arena, &self->programs);
    if (st) {
        hone_record_chooser_destroy(self);
        return st;
    }
    *out_chooser = self;
    return HONE_OK;
}

void hone_record_chooser_allow(hone_record_chooser *chooser, const hone_variant_rules *rules) {
    chooser->rules = *rules;
}

void hone_record_chooser_destroy(hone_record_chooser *chooser) {
    if (!chooser) return;
    recorded_programs_deinit(&chooser->programs);
    hone_map128_deinit(&chooser->todays);
    hone_vec_deinit(&chooser->rejected);
    hone_arena_destroy(chooser->arena);
    hone_free(chooser);
}

hone_status hone_record_chooser_note(hone_record_chooser *chooser, hone_hash128 kernel) {
    return hone_map128_put(&chooser->todays, kernel, 0) ? HONE_OK
                                                        : HONE_NO_MEMORY("choice of records");
}

hone_status hone_record_chooser_reject(hone_record_chooser *chooser, int64_t record,
                                       const char *why) {
    rejected one = {record, hone_arena_strdup(chooser->arena, why)};
    return one.why && hone_vec_push(&chooser->rejected, one) ? HONE_OK
                                                             : HONE_NO_MEMORY("choice of records");
}

const char *hone_record_match_name(hone_record_match match) {
    static const char *const names[] = {"none", "other target", "stale", "translated", "exact"};
    return names[match];
}

/* ---- replay ---- */

static hone_status parse_trace(const char *text, hone_arena *arena, hone_trace *out_trace) {
    text += strspn(text, " \t\r\n");
    bool is_json = *text == '[' || *text == '{';
    return is_json ? hone_trace_parse_json(arena, text, strlen(text), "trace", out_trace)
                   : hone_trace_parse_python(arena, text, strlen(text), "trace", out_trace);
}

static hone_status apply(const hone_trace *trace, const hone_func *func,
                         const hone_tensor_intrins *intrins, hone_schedule **out_sch) {
    HONE_TRY(hone_schedule_create(func, out_sch));
    (*out_sch)->intrins = intrins;
    (*out_sch)->wants_reasons = true;
    hone_status st = hone_trace_apply(trace, *out_sch, &(hone_apply_options){0});
    if (!st) return HONE_OK;
    hone_schedule_destroy(*out_sch);
    *out_sch = NULL;
    return st;
}

hone_status hone_record_replay(const char *trace, const hone_func *func,
                               const hone_tensor_intrins *intrins, hone_arena *arena,
                               hone_schedule **out_sch) {
    hone_trace parsed;
    *out_sch = NULL;
    HONE_TRY(parse_trace(trace, arena, &parsed));
    return apply(&parsed, func, intrins, out_sch);
}

/* ---- one record ---- */

/* What is being chosen. */
typedef struct choosing {
    hone_record_chooser *chooser;
    const hone_func *func;
    hone_hash128 hash;
    hone_arena *arena;
    hone_record_choice *out;
    recorded_program *own;     /* NULL = the database does not know the kernel */
    const char *first_trouble; /* with the best of the own records */
    const char *translation;   /* why that is needed */
    int64_t other_sizes;       /* good records under its name for other parameters */
    const char *other_size;    /* the first that differs of one of these */
} choosing;

static hone_status read_program(const choosing *c, recorded_program *program) {
    hone_record_chooser *chooser = c->chooser;
    return recorded_program_read(chooser->db, &chooser->target, chooser->arena, program);
}

/* Whether a program that was read is the kernel, names aside. */
static bool is_kernel(const choosing *c, const recorded_program *program) {
    return program->func && hone_hash128_equal(hone_func_hash(program->func), c->hash);
}

/* What is wrong with a record, in its first line, is a fact and no failure. */
static hone_status excuse(const choosing *c, hone_status st, const char **out_trouble) {
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    const char *why = hone_status_message(st);
    *out_trouble = hone_arena_printf(c->arena, "%.*s", (int)strcspn(why, "\n"), why);
    hone_status_free(st);
    return *out_trouble ? HONE_OK : HONE_NO_MEMORY("choice of records");
}

/* Replays a trace; from (may be NULL): whose names it has. */
static hone_status replay(const choosing *c, const char *text, const hone_func *from,
                          const char **out_trace, hone_hash128 *out_program,
                          const char **out_trouble) {
    hone_trace trace;
    hone_schedule *sch = NULL;
    hone_str json = {0};
    *out_trouble = NULL;
    *out_trace = text;
    hone_status st = parse_trace(text, c->arena, &trace);
    if (!st && from) st = hone_trace_rename_blocks(c->arena, from, c->func, &trace);
    if (!st) st = apply(&trace, c->func, c->chooser->intrins, &sch);
    if (!st) *out_program = hone_func_hash(sch->func);
    if (!st && from) {
        st = hone_trace_print_json(&trace, &json);
        *out_trace = hone_arena_strdup(c->arena, hone_str_text(&json));
        if (!st && !*out_trace) st = HONE_NO_MEMORY("choice of records");
    }
    hone_str_deinit(&json);
    hone_schedule_destroy(sch);
    return excuse(c, st, out_trouble);
}

/* A variant of the user's is used for what it computes, not for what a record says. */
static hone_status check_given(const choosing *c, const char *trace, const char **out_trouble) {
    hone_variant variant;
    bool has;
    *out_trouble = NULL;
    HONE_TRY(hone_record_variant(trace, c->arena, &variant, &has));
    if (!has || !variant.program) return HONE_OK;
    return excuse(c, hone_variant_check(&variant, c->func), out_trouble);
}

static const char *rejection(const choosing *c, int64_t record) {
    for (size_t i = 0; i < c->chooser->rejected.count; i++) {
        if (c->chooser->rejected.data[i].record == record) return c->chooser->rejected.data[i].why;
    }
    return NULL;
}

static hone_status use(choosing *c, const hone_db_trial *trial, hone_record_match match,
                       const char *trace, hone_hash128 program) {
    hone_variant variant;
    bool has;
    const hone_db_alikes *alikes = &c->chooser->target.alikes;
    c->out->match = match;
    c->out->trial = trial;
    c->out->target_difference = alikes->differences[hone_db_alikes_find(alikes, trial->target)];
    c->out->trace = trace;
    c->out->program = program;
    HONE_TRY(hone_record_variant(trace, c->arena, &variant, &has));
    c->out->variant = has ? variant.name : NULL;
    return HONE_OK;
}

/* A record of this very workload: it must make the program that was measured, if need be under
 * other names than those it was tuned with. */
static hone_status try_own(choosing *c, const hone_db_trial *trial, const char **out_trouble) {
    const char *trace;
    hone_hash128 program;
    HONE_TRY(check_given(c, trial->trace, out_trouble));
    if (*out_trouble) return HONE_OK;
    HONE_TRY(replay(c, trial->trace, NULL, &trace, &program, out_trouble));
    hone_record_match match = HONE_RECORD_EXACT;
    if (*out_trouble) HONE_TRY(read_program(c, c->own));
    if (*out_trouble && is_kernel(c, c->own)) {
        const char *renamed_trouble;
        HONE_TRY(replay(c, trial->trace, c->own->func, &trace, &program, &renamed_trouble));
        if (renamed_trouble) return HONE_OK; /* the first trouble is what people can understand */
        *out_trouble = NULL;
        match = HONE_RECORD_TRANSLATED;
        c->translation = "it was tuned under other names of blocks";
    }
    if (*out_trouble) return HONE_OK;
    if (!hone_hash128_equal(program, trial->program)) {
        *out_trouble = "stale, its trace makes another program now";
        return HONE_OK;
    }
    return use(c, trial, match, trace, program);
}

/* ---- the records of a workload ---- */

typedef struct ranking {
    const choosing *c;
    int64_t records[MAX_TRIES];
    size_t count;
    int64_t left_out; /* before the first that may be used */
    const char *left_out_variant;
    hone_status error;
} ranking;

static bool leave_out(ranking *r, const hone_variant *variant) {
    if (r->count) return true;
    r->left_out++;
    if (!r->left_out_variant) r->left_out_variant = variant->name;
    return true;
}

static bool rank(void *ctx, const hone_db_trial *trial) {
    ranking *r = ctx;
    hone_variant variant;
    bool has;
    if (r->count == MAX_TRIES) return false;
    r->error = hone_record_variant(trial->trace, r->c->arena, &variant, &has);
    if (r->error) return false;
    if (has && !hone_variant_is_allowed(&variant, &r->c->chooser->rules))
        return leave_out(r, &variant);
    r->records[r->count++] = trial->record;
    return true;
}

/* The records that serve, in the order that all use. */
static hone_status rank_all(const choosing *c, const hone_hash128 *workload, ranking *out) {
    const hone_db_alikes *alikes = &c->chooser->target.alikes;
    hone_db_filter filter = {.workload = workload,
                             .target = alikes->hashes,
                             .target_count = alikes->count,
                             .order = HONE_DB_ORDER_BEST};
    *out = (ranking){.c = c};
    HONE_TRY(hone_db_trials(c->chooser->db, &filter, rank, out));
    return out->error;
}

static hone_status get(const choosing *c, int64_t record, const hone_db_trial **out_trial) {
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)record);
    return hone_db_get_trial(c->chooser->db, number, c->arena, out_trial);
}

static bool is_chosen(const choosing *c) {
    return c->out->match >= HONE_RECORD_TRANSLATED;
}

/* The first of a ranking that fits; those before it are told in out->stale. */
static hone_status choose_own(choosing *c) {
    ranking r;
    HONE_TRY(rank_all(c, &c->hash, &r));
    c->out->left_out = r.left_out;
    c->out->left_out_variant = r.left_out_variant;
    for (size_t i = 0; i < r.count; i++) {
        const hone_db_trial *trial;
        const char *trouble = rejection(c, r.records[i]);
        HONE_TRY(get(c, r.records[i], &trial));
        if (!trouble) HONE_TRY(try_own(c, trial, &trouble));
        if (!trouble) return HONE_OK;
        c->out->stale++;
        if (c->out->match == HONE_RECORD_STALE) continue;
        c->out->match = HONE_RECORD_STALE;
        c->out->trial = trial;
        c->first_trouble = trouble;
    }
    return HONE_OK;
}

/* The first record of an earlier program whose trace is legal today. */
static hone_status choose_earlier(choosing *c, const recorded_program *program) {
    ranking r;
    HONE_TRY(rank_all(c, &program->hash, &r));
    for (size_t i = 0; i < r.count; i++) {
        const hone_db_trial *trial;
        const char *trace, *trouble = rejection(c, r.records[i]);
        hone_hash128 made;
        HONE_TRY(get(c, r.records[i], &trial));
        if (!trouble) HONE_TRY(check_given(c, trial->trace, &trouble));
        if (!trouble) HONE_TRY(replay(c, trial->trace, program->func, &trace, &made, &trouble));
        if (trouble) continue;
        return use(c, trial, HONE_RECORD_TRANSLATED, trace, made);
    }
    return HONE_OK;
}

/* ---- earlier programs ---- */

static bool may_be_earlier(const choosing *c, const recorded_program *program) {
    return program->good > 0 && !hone_hash128_equal(program->hash, c->hash) &&
           !hone_map128_find(&c->chooser->todays, program->hash, NULL) &&
           recorded_name_is_alike(program->name, c->func->name);
}

static hone_status describe_difference(const choosing *c, const recorded_program *program,
                                       hone_str *out) {
    char hex[HONE_HASH_HEX_BYTES];
    if (program->made_by) hone_str_printf(out, "made by %s, ", program->made_by);
    if (!program->func) {
        hone_str_printf(out, "which cannot be read: %s", program->unreadable);
    } else if (is_kernel(c, program)) {
        hone_str_printf(out, "the same but for its identity (%s, hash version %d, now %d)",
                        hone_hash128_print(program->hash, hex), (int)program->hash_version,
                        HONE_STRUCTURAL_VERSION);
    } else {
        (void)hone_func_equal(program->func, c->func, out);
    }
    return hone_str_check(out);
}

static hone_status keep_text(const choosing *c, hone_status st, hone_str *text, const char **out) {
    if (!st) {
        *out = hone_arena_strdup(c->arena, hone_str_text(text));
        if (!*out) st = HONE_NO_MEMORY("choice of records");
    }
    hone_str_deinit(text);
    return st;
}

static hone_status note_other_size(choosing *c, const recorded_program *program) {
    hone_str text = {0};
    c->other_sizes += program->good;
    if (c->other_size) return HONE_OK;
    recorded_params_describe(program->func, c->func, &text);
    return keep_text(c, hone_str_check(&text), &text, &c->other_size);
}

/* Counts a program under the kernel's name; *out_is_earlier: it takes the same arguments. */
static hone_status note_earlier(choosing *c, recorded_program *program, bool *out_is_earlier) {
    *out_is_earlier = false;
    HONE_TRY(read_program(c, program));
    if (program->func && !recorded_params_are_same(program->func, c->func)) {
        return note_other_size(c, program);
    }
    *out_is_earlier = program->func != NULL;
    c->out->earlier += program->good;
    if (c->out->earlier_reason) return HONE_OK;
    hone_str text = {0};
    hone_status st = describe_difference(c, program, &text);
    return keep_text(c, st, &text, &c->out->earlier_reason);
}

static hone_status look_at_earlier(choosing *c) {
    recorded_program *alike = NULL; /* one with the same loops, for want of better */
    for (size_t i = 0; i < c->chooser->programs.count; i++) {
        recorded_program *program = &c->chooser->programs.data[i];
        bool is_earlier;
        if (!may_be_earlier(c, program)) continue;
        HONE_TRY(note_earlier(c, program, &is_earlier));
        if (!is_earlier || is_chosen(c)) continue;
        if (is_kernel(c, program)) {
            HONE_TRY(choose_earlier(c, program));
            c->translation = "its program has got another identity since";
        } else if (!alike && recorded_loops_are_same(program->func, c->func)) {
            alike = program;
        }
    }
    if (!alike || is_chosen(c)) return HONE_OK;
    c->translation = "its program had the same loops; its time is that program's";
    return choose_earlier(c, alike);
}

/* ---- in words ---- */

static void say_count(int64_t count, const char *one, const char *many, hone_str *out) {
    hone_str_printf(out, "%lld %s", (long long)count, count == 1 ? one : many);
}

static void say_match(const choosing *c, hone_str *out) {
    const hone_record_choice *choice = c->out;
    const char *variant = choice->variant;
    switch (choice->match) {
    case HONE_RECORD_EXACT:
        hone_str_append(out, isnan(choice->trial->confirmed_ns) ? "fastest record, unconfirmed"
                                                                : "fastest confirmed record");
        if (variant) hone_str_printf(out, ", by %s", variant);
        break;
    case HONE_RECORD_TRANSLATED:
        hone_str_printf(out, "translated: %s", c->translation);
        break;
    case HONE_RECORD_STALE:
        hone_str_printf(out, "record %lld is not used: %s", (long long)choice->trial->record,
                        c->first_trouble);
        if (choice->stale > 1) {
            hone_str_append(out, "; nor ");
            say_count(choice->stale - 1, "other", "others", out);
        }
        break;
    case HONE_RECORD_OTHER_TARGET:
        say_count(c->own->good_elsewhere, "record", "records", out);
        hone_str_printf(out, ", but for another target (%s)", c->own->other_target);
        break;
    case HONE_RECORD_NONE:
        hone_str_append(out, "the database has no record of it");
        break;
    }
}

static void say_others(const choosing *c, hone_str *out) {
    const hone_record_choice *choice = c->out;
    if (choice->target_difference) {
        hone_str_printf(out, "; it was made for a target that differs: %s",
                        choice->target_difference);
    }
    if (is_chosen(c) && choice->stale > 0) {
        hone_str_append(out, "; ");
        say_count(choice->stale, "better one is", "better ones are", out);
        hone_str_printf(out, " not used: %s", c->first_trouble);
    }
    if (choice->left_out > 0) {
        hone_str_append(out, "; ");
        say_count(choice->left_out, "better one is", "better ones are", out);
        hone_str_printf(out, " by %s, which --variants and --max-error do not allow",
                        choice->left_out_variant);
    }
    if (choice->earlier > 0) {
        hone_str_append(out, "; ");
        say_count(choice->earlier, "record under its name belongs to an earlier program",
                  "records under its name belong to an earlier program", out);
        hone_str_printf(out, ", %s", choice->earlier_reason);
    } else if (choice->match == HONE_RECORD_NONE && c->other_sizes > 0) {
        hone_str_append(out, "; ");
        say_count(c->other_sizes, "record under its name is for other sizes",
                  "records under its name are for other sizes", out);
        hone_str_printf(out, " (%s)", c->other_size);
    }
}

static hone_status say(choosing *c) {
    hone_str text = {0};
    say_match(c, &text);
    say_others(c, &text);
    return keep_text(c, hone_str_check(&text), &text, &c->out->reason);
}

hone_status hone_record_choose(hone_record_chooser *chooser, const hone_func *func,
                               hone_arena *arena, hone_record_choice *out_choice) {
    *out_choice = (hone_record_choice){.match = HONE_RECORD_NONE};
    choosing c = {.chooser = chooser,
                  .func = func,
                  .hash = hone_func_hash(func),
                  .arena = arena,
                  .out = out_choice};
    if (!chooser->db) {
        out_choice->reason = "no database was given";
        return HONE_OK;
    }
    for (size_t i = 0; i < chooser->programs.count && !c.own; i++) {
        if (hone_hash128_equal(chooser->programs.data[i].hash, c.hash)) {
            c.own = &chooser->programs.data[i];
        }
    }
    if (c.own) HONE_TRY(choose_own(&c));
    if (!hone_func_is_symbolic(func)) HONE_TRY(look_at_earlier(&c));
    bool is_elsewhere = c.own && c.own->good_elsewhere > 0;
    if (out_choice->match == HONE_RECORD_NONE && is_elsewhere) {
        out_choice->match = HONE_RECORD_OTHER_TARGET;
    }
    return say(&c);
}
