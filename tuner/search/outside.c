/* tuner/search/outside.c - the lines to and from a program that proposes. */
#include "tuner/search/outside.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schedule/python/trace_parse.h"
#include "support/core/alloc.h"
#include "support/text/json.h"
#include "tuner/search/outside_link.h"

/* Lines that are read for one batch; a program that answered the last question is waited for, and
 * one that has just been started. */
enum { MOST_LINES = 64, PATIENCE_MS = 300, START_MS = 3000, ID_BYTES = 256 };

struct hone_outside {
    hone_link link;
    const char *command;
    const hone_log *log;
    hone_map128 known;      /* tasks that it was told of */
    int patience_ms;        /* none: it did not answer the last question as it should */
    bool is_gone;           /* and that was said */
    char *held[MOST_LINES]; /* answers for other tasks than was asked for last; owned */
    uint32_t held_count;
    int64_t answers, refused; /* proposals that came, and those that are no candidates */
    char why[160];            /* the last of these is none; cut off where it is long */
};

hone_status hone_outside_open(const char *command, const hone_log *log, hone_outside **out) {
    *out = NULL;
    hone_outside *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "proposals from outside");
    self->command = command;
    self->log = log;
    self->patience_ms = START_MS;
    hone_status st = hone_link_open(command, &self->link);
    if (st) {
        hone_outside_close(self);
        return hone_status_annotate(st, "--propose");
    }
    *out = self;
    return HONE_OK;
}

void hone_outside_close(hone_outside *self) {
    if (!self) return;
    if (self->refused) {
        hone_log_line(self->log, HONE_LOG_WARNING,
                      "%" PRId64 " of %" PRId64 " proposals of '%s' were refused; the last: %s",
                      self->refused, self->answers, self->command, self->why);
    }
    hone_link_close(&self->link);
    for (uint32_t i = 0; i < self->held_count; i++)
        hone_free(self->held[i]);
    hone_map128_deinit(&self->known);
    hone_free(self);
}

/* Once: from here on the search is alone. */
static bool is_there(hone_outside *self) {
    if (self->link.fd < 0 && !self->is_gone) {
        self->is_gone = true;
        hone_log_line(self->log, HONE_LOG_WARNING,
                      "no more proposals come from '%s': %s; the search goes on without",
                      self->command, self->link.why);
    }
    return !self->is_gone;
}

/* ---- telling ---- */

/* Takes the object. */
static hone_status send(hone_outside *self, hone_json *message) {
    hone_str text = {0};
    if (!message) return HONE_ERROR(HONE_CODE_NO_MEMORY, "proposals from outside");
    hone_json_print(message, &(hone_json_style){.is_compact = true}, &text);
    hone_status st = hone_str_check(&text);
    if (!st) hone_link_send(&self->link, &text);
    hone_str_deinit(&text);
    hone_json_destroy(message);
    return st;
}

static hone_json *begin(const char *event, const hone_tune_task *task) {
    hone_json *message = hone_json_make_object();
    if (hone_json_set_text(message, "event", event) &&
        hone_json_set_text(message, "task", task->task->name)) {
        return message;
    }
    hone_json_destroy(message);
    return NULL;
}

/* The message, or NULL when it could not be filled in. */
static hone_json *if_whole(hone_json *message, bool is_whole) {
    if (is_whole) return message;
    hone_json_destroy(message);
    return NULL;
}

static hone_json *parse_text(const char *text) {
    hone_json *json = NULL;
    hone_status_free(hone_json_parse(text, strlen(text), &json));
    return json;
}

/* As the program wrote it; NULL: it did not. */
static bool set_id(hone_json *message, const char *label) {
    if (!label) return hone_json_set_text(message, "id", NULL);
    return hone_json_set(message, "id", parse_text(label));
}

static hone_status add_trace(const hone_trace *trace, hone_json *to) {
    hone_str text = {0};
    hone_status st = hone_trace_print_json(trace, &text);
    if (!st && !hone_json_append(to, parse_text(hone_str_text(&text))))
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "proposals from outside");
    hone_str_deinit(&text);
    return st;
}

static hone_status tell_task(hone_outside *self, hone_tune_task *task) {
    if (hone_map128_find(&self->known, task->task->hash, NULL)) return HONE_OK;
    hone_candidate before;
    const char *trace = NULL;
    hone_str target = {0};
    hone_json *sketches = hone_json_make_array(), *message = begin("task", task);
    hone_target_print(task->target, &target);
    hone_status st = hone_str_check(&target);
    if (!st) st = hone_tune_task_before(task, task->arena, &before);
    if (!st) st = hone_tune_task_trace(task, task->arena, &trace);
    for (uint32_t i = 0; i < task->space.count && !st; i++)
        st = add_trace(&task->space.sketches[i], sketches);
    bool ok = !st && hone_map128_put(&self->known, task->task->hash, 0) &&
              hone_json_set_text(message, "program", task->program) &&
              hone_json_set_text(message, "target", hone_str_text(&target)) &&
              hone_json_set(message, "default", parse_text(trace));
    ok = hone_json_set(message, "sketches", sketches) && ok; /* takes them in any case */
    hone_str_deinit(&target);
    message = if_whole(message, ok);
    return st ? st : send(self, message);
}

static hone_status ask(hone_outside *self, hone_tune_task *task, uint32_t count) {
    hone_json *message = begin("ask", task);
    bool ok = hone_json_set_i64(message, "count", count) &&
              hone_json_set_i64(message, "tried", task->folded) &&
              hone_json_set_f64(message, "default_ns", task->before_ns) &&
              hone_json_set_f64(message, "best_ns", task->best_ns);
    return send(self, if_whole(message, ok));
}

hone_status hone_outside_tell(hone_outside *self, hone_tune_task *task,
                              const hone_candidate *candidate, const hone_outside_result *result) {
    if (!is_there(self)) return HONE_OK;
    HONE_TRY(tell_task(self, task));
    hone_json *message = begin("result", task);
    bool ok = set_id(message, candidate->label) &&
              hone_json_set_text(message, "source", candidate->source ? "outside" : "search") &&
              hone_json_set(message, "trace", parse_text(candidate->trace)) &&
              hone_json_set_text(message, "outcome", result->outcome) &&
              hone_json_set_text(message, "message", result->message) &&
              hone_json_set_f64(message, "time_ns", result->time_ns) &&
              hone_json_set_f64(message, "spread", result->spread);
    return send(self, if_whole(message, ok));
}

/* Whether it is legal and new; reason: NULL, or why not. */
static hone_status tell_verdict(hone_outside *self, const hone_tune_task *task, const char *label,
                                bool is_legal, const char *reason) {
    hone_json *message = begin("verdict", task);
    bool ok = set_id(message, label) && hone_json_set_bool(message, "legal", is_legal) &&
              hone_json_set_bool(message, "taken", is_legal && !reason) &&
              hone_json_set_text(message, "reason", reason);
    return send(self, if_whole(message, ok));
}

/* ---- taking ---- */

/* A trace as JSON of TVM's kind, or as Python. */
static hone_status read_trace(const hone_tune_task *task, const hone_json *value,
                              hone_trace *out_trace) {
    if (hone_json_is(value, HONE_JSON_TEXT)) {
        const hone_trace_context context = {.func = task->task->func,
                                            .intrins = task->schedule->intrins};
        const char *text = hone_json_text(value);
        return hone_trace_parse_script(task->arena, &context, text, strlen(text), "trace",
                                       out_trace);
    }
    if (!hone_json_is(value, HONE_JSON_ARRAY))
        return HONE_ERROR(HONE_CODE_INVALID, "'trace' is missing, or neither an array nor text");
    hone_str text = {0};
    hone_json_print(value, NULL, &text);
    hone_status st = hone_str_check(&text);
    if (!st) {
        st = hone_trace_parse_json(task->arena, hone_str_text(&text), text.length, "trace",
                                   out_trace);
    }
    hone_str_deinit(&text);
    return st;
}

/* Answers need not name the task that was asked for last. */
static bool is_for(const hone_json *answer, const hone_tune_task *task) {
    const hone_json *name = hone_json_find(answer, "task");
    return !name || (hone_json_is(name, HONE_JSON_TEXT) &&
                     strcmp(hone_json_text(name), task->task->name) == 0);
}

static bool is_for_sibling(const hone_json *answer, const hone_tune_task *task) {
    if (is_for(answer, task)) return false;
    for (uint32_t i = 0; i < task->sibling_count; i++) {
        if (is_for(answer, task->siblings[i])) return true;
    }
    return false;
}

static hone_status read_candidate(hone_tune_task *task, const hone_json *answer, hone_rng rng,
                                  hone_candidate *out) {
    hone_trace trace;
    if (!is_for(answer, task)) return HONE_ERROR(HONE_CODE_INVALID, "there is no such task");
    HONE_TRY(read_trace(task, hone_json_find(answer, "trace"), &trace));
    HONE_TRY(hone_tune_task_adopt(task, &trace, rng, out));
    return hone_tune_task_trace(task, task->arena, &out->trace);
}

/* What is wrong with an answer is told; only want of memory is ours. */
static hone_status judge(hone_outside *self, hone_tune_task *task, const char *label,
                         hone_status st, bool *out_ok) {
    *out_ok = st == HONE_OK;
    self->answers++;
    if (!st || hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    self->refused++;
    snprintf(self->why, sizeof self->why, "%s", hone_status_message(st));
    hone_status told = tell_verdict(self, task, label, false, hone_status_message(st));
    hone_status_free(st);
    return told;
}

typedef struct taking {
    hone_outside *self;
    hone_tune_task *task;
    hone_rng rng;
    hone_candidate *out;
    uint32_t most, count, lines;
    int64_t until_ns;           /* it is waited for */
    bool has_answered, is_over; /* over: {"pass": true}, that is all for this time */
} taking;

static void wait_on(taking *t, int milliseconds) {
    t->until_ns = hone_clock_now(hone_clock_system()) + milliseconds * INT64_C(1000000);
}

/* What a program calls its proposal, as JSON. */
static hone_status read_id(hone_arena *arena, const hone_json *answer, const char **out_label) {
    const hone_json *id = hone_json_find(answer, "id");
    hone_str text = {0};
    *out_label = NULL;
    if (hone_json_is(id, HONE_JSON_NULL)) return HONE_OK;
    hone_json_print(id, &(hone_json_style){.is_compact = true}, &text);
    hone_status st = hone_str_check(&text);
    if (!st && text.length > ID_BYTES)
        st = HONE_ERROR(HONE_CODE_INVALID, "'id' has more than %d bytes", ID_BYTES);
    if (!st) *out_label = hone_arena_strdup(arena, hone_str_text(&text));
    hone_str_deinit(&text);
    return st || *out_label ? st : HONE_NO_MEMORY("proposals from outside");
}

static hone_status take_legal(taking *t, hone_candidate *c, const char *label, bool *out_new) {
    HONE_TRY(hone_tune_task_note_program(t->task, c->program, out_new));
    c->source = t->self->command;
    c->label = label;
    c->score = NAN;
    t->has_answered = true;
    wait_on(t, PATIENCE_MS);
    if (*out_new) t->out[t->count++] = *c;
    return tell_verdict(t->self, t->task, label, true,
                        *out_new ? NULL : "its program was tried before");
}

/* Of what is not taken nothing stays: a program may send such for as long as it likes. */
static hone_status take_candidate(taking *t, const hone_json *answer, hone_status st) {
    bool is_legal = false, is_new = false;
    hone_candidate c = {0};
    const char *label = NULL;
    hone_arena_mark mark = hone_arena_get_mark(t->task->arena);
    if (!st) st = read_id(t->task->arena, answer, &label);
    if (!st) st = read_candidate(t->task, answer, hone_rng_split(&t->rng, t->lines), &c);
    st = judge(t->self, t->task, label, st, &is_legal);
    if (!st && is_legal) st = take_legal(t, &c, label, &is_new);
    if (!is_new) hone_arena_rewind(t->task->arena, mark);
    return st;
}

/* Kept until its task is asked for; beyond some, it is forgotten. */
static void hold(hone_outside *self, const char *line) {
    if (self->held_count == MOST_LINES) return;
    char *copy = hone_strdup(line);
    if (copy) self->held[self->held_count++] = copy;
}

static hone_status take_line(taking *t, const char *line) {
    hone_json *answer = NULL;
    hone_status st = hone_json_parse(line, strlen(line), &answer);
    bool is_held = !st && is_for_sibling(answer, t->task);
    bool is_pass = hone_json_find(answer, "pass") != NULL;
    t->lines++;
    t->is_over = is_pass && !is_held;
    t->has_answered = t->has_answered || is_pass || is_held;
    if (is_held && !is_pass) hold(t->self, line);
    if (!is_held && !is_pass) st = take_candidate(t, answer, st);
    hone_json_destroy(answer);
    return st;
}

/* What came for this task while another one was asked for. */
static hone_status take_held(taking *t) {
    hone_outside *self = t->self;
    uint32_t count = self->held_count;
    char *lines[MOST_LINES];
    memcpy(lines, self->held, count * sizeof *lines);
    self->held_count = 0;
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (t->count == t->most)
            hold(self, lines[i]);
        else if (!st)
            st = take_line(t, lines[i]);
        hone_free(lines[i]);
    }
    return st;
}

/* A line may come in pieces. */
static const char *next_line(const taking *t) {
    hone_link *link = &t->self->link;
    const char *line;
    while (!(line = hone_link_take(link)) && link->fd >= 0) {
        int64_t left_ns = t->until_ns - hone_clock_now(hone_clock_system());
        if (left_ns <= 0) break;
        hone_link_await(link, (int)(left_ns / 1000000) + 1);
    }
    return line;
}

hone_status hone_outside_propose(hone_outside *self, hone_tune_task *task, hone_rng rng,
                                 uint32_t count, hone_candidate *out, uint32_t *out_count) {
    *out_count = 0;
    if (!is_there(self) || count == 0) return HONE_OK;
    HONE_TRY(tell_task(self, task));
    HONE_TRY(ask(self, task, count));
    taking t = {.self = self, .task = task, .rng = rng, .out = out, .most = count};
    hone_status st = take_held(&t);
    t.has_answered = false;
    wait_on(&t, self->patience_ms);
    while (!st && !t.is_over && t.lines < MOST_LINES && t.count < count) {
        const char *line = next_line(&t);
        if (!line) break;
        st = take_line(&t, line);
    }
    self->patience_ms = t.has_answered ? PATIENCE_MS : 0;
    *out_count = t.count;
    return st;
}
