/* tests/schedule/steps/trace_round_trip.c - prints, reads and replays a schedule's trace. */
#include "tests/schedule/steps/trace_round_trip.h"

#include <string.h>

#include "ir/identity/structural.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"

static hone_status print(const hone_trace *trace, bool is_json, hone_str *out) {
    return is_json ? hone_trace_print_json(trace, out) : hone_trace_print_python(trace, out);
}

static hone_status parse(hone_arena *arena, const hone_str *text, bool is_json, hone_trace *out) {
    const char *data = hone_str_text(text);
    return is_json ? hone_trace_parse_json(arena, data, text->length, "again.json", out)
                   : hone_trace_parse_python(arena, data, text->length, "again.py", out);
}

static bool same_decisions(const hone_trace *a, const hone_trace *b) {
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const hone_decision *x = &a->decisions[i], *y = &b->decisions[i];
        if (x->count != y->count) return false;
        if (x->count && memcmp(x->values, y->values, x->count * sizeof *x->values) != 0) {
            return false;
        }
    }
    return true;
}

static hone_status replay(const hone_func *base, const hone_schedule *sch,
                          const hone_trace *trace) {
    hone_schedule *fresh = NULL;
    HONE_TRY(hone_schedule_create(base, &fresh));
    fresh->rng = hone_rng_split(&sch->rng, 1); /* decisions must not be drawn anew */
    fresh->intrins = sch->intrins;
    hone_status st = hone_trace_apply(trace, fresh, NULL);
    if (!st && !hone_hash128_equal(hone_func_hash(fresh->func), hone_func_hash(sch->func))) {
        st = HONE_ERROR(HONE_CODE_INTERNAL, "the replay made another program");
    }
    if (!st && !same_decisions(&fresh->trace, &sch->trace)) {
        st = HONE_ERROR(HONE_CODE_INTERNAL, "the replay took other decisions");
    }
    hone_schedule_destroy(fresh);
    return st;
}

static hone_status go_round(const hone_func *base, const hone_schedule *sch, hone_arena *arena,
                            bool is_json, hone_str *text, hone_str *again) {
    hone_trace trace;
    HONE_TRY(print(&sch->trace, is_json, text));
    HONE_TRY(parse(arena, text, is_json, &trace));
    HONE_TRY(print(&trace, is_json, again));
    if (strcmp(hone_str_text(text), hone_str_text(again)) != 0) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "printed again as\n%s", hone_str_text(again));
    }
    return replay(base, sch, &trace);
}

static bool survives(const hone_func *base, const hone_schedule *sch, bool is_json,
                     hone_str *out_why) {
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_str text = {0}, again = {0};
    hone_status st = go_round(base, sch, arena, is_json, &text, &again);
    if (st) {
        hone_str_printf(out_why, "%s\n%s\n", hone_status_message(st), hone_str_text(&text));
    }
    bool fine = !hone_status_consume(st);
    hone_str_deinit(&text);
    hone_str_deinit(&again);
    hone_arena_destroy(arena);
    return fine;
}

bool hone_trace_survives(const hone_func *base, const hone_schedule *sch, hone_str *out_why) {
    return survives(base, sch, true, out_why) && survives(base, sch, false, out_why);
}
