/* support/os/progress.c - see progress.h. */
#include "support/os/progress.h"

#include <math.h>
#include <unistd.h>

#include "support/os/terminal.h"
#include "support/text/utf8.h"

#define HALF_LIFE_NS (10.0 * 1e9)
#define TERMINAL_INTERVAL_NS (100 * HONE_NS_PER_MS)
#define PLAIN_INTERVAL_NS (5 * HONE_NS_PER_S)
enum { LEAST_NAME = 8 }; /* columns */

void hone_progress_meter_init(hone_progress_meter *meter, int64_t now_ns) {
    *meter = (hone_progress_meter){.start_ns = now_ns, .last_ns = now_ns};
}

void hone_progress_meter_feed(hone_progress_meter *meter, int64_t now_ns,
                              hone_progress_state *state) {
    int64_t elapsed = now_ns - meter->last_ns;
    if (elapsed > 0) {
        double recent = (double)(state->done - meter->last_done) / ((double)elapsed / 1e9);
        double keep = exp2(-(double)elapsed / HALF_LIFE_NS);
        bool is_first = meter->last_ns == meter->start_ns;
        meter->rate = is_first ? recent : keep * meter->rate + (1 - keep) * recent;
        meter->last_ns = now_ns;
        meter->last_done = state->done;
    }
    int64_t passed = meter->last_ns - meter->start_ns;
    state->rate = passed > 0 ? (double)state->done / ((double)passed / 1e9) : 0;
    state->eta_ns = -1;
    if (meter->rate > 0 && state->total > 0) {
        double left = (double)(state->total - state->done) / meter->rate;
        if (left < 1e9) state->eta_ns = left > 0 ? (int64_t)(left * 1e9) : 0;
    }
}

static void print_line(const hone_progress_state *state, size_t name_columns, hone_str *out) {
    char left[HONE_DURATION_BYTES];
    if (state->label) hone_str_printf(out, "%s  ", state->label);
    hone_str_printf(out, "%lld", (long long)state->done);
    if (state->total > 0) {
        hone_str_printf(out, "/%lld (%d%%)", (long long)state->total,
                        (int)(100.0 * (double)state->done / (double)state->total));
    }
    if (state->rate > 0) hone_str_printf(out, "  %.3g/s", state->rate);
    if (state->best) hone_str_append(out, "  best ");
    if (state->best && state->name) {
        hone_utf8_append_short(out, state->name, name_columns);
        hone_str_append(out, ": ");
    }
    if (state->best) hone_str_append(out, state->best);
    if (state->eta_ns >= 0) {
        hone_str_printf(out, "  %s left", hone_duration_print(state->eta_ns, left));
    }
    if (state->detail) hone_str_printf(out, "  %s", state->detail);
}

void hone_progress_print(const hone_progress_state *state, size_t columns, hone_str *out) {
    size_t name = state->name ? hone_utf8_columns(state->name) : 0, start = out->length;
    print_line(state, name, out);
    size_t all = hone_utf8_columns(hone_str_text(out) + start);
    if (!columns || all <= columns || name <= LEAST_NAME) return;
    size_t over = all - columns;
    hone_str_truncate(out, start);
    print_line(state, over + LEAST_NAME < name ? name - over : LEAST_NAME, out);
}

/* ---- renderer ---- */

void hone_progress_renderer_init(hone_progress_renderer *renderer, FILE *out,
                                 const hone_clock *clock) {
    bool is_terminal = isatty(fileno(out)) == 1;
    *renderer = (hone_progress_renderer){
        .out = out,
        .clock = clock,
        .is_terminal = is_terminal,
        .interval_ns = is_terminal ? TERMINAL_INTERVAL_NS : PLAIN_INTERVAL_NS,
        .last_ns = -1,
    };
}

void hone_progress_renderer_clear(hone_progress_renderer *renderer) {
    if (!renderer->is_drawn) return;
    fputs("\r\033[K", renderer->out);
    fflush(renderer->out);
    renderer->is_drawn = false;
}

/* Columns of a line that does not wrap, 0 where no line does. */
static size_t room_of(const hone_progress_renderer *renderer) {
    if (!renderer->is_terminal) return 0;
    int columns =
        renderer->columns ? renderer->columns : hone_terminal_columns(fileno(renderer->out));
    return columns > 2 ? (size_t)columns - 1 : 1;
}

static void draw(hone_progress_renderer *renderer) {
    const char *line = hone_str_text(&renderer->line);
    if (renderer->is_terminal) {
        int bytes = (int)hone_utf8_prefix(line, room_of(renderer));
        fprintf(renderer->out, "\r%.*s\033[K", bytes, line);
        renderer->is_drawn = true;
    } else {
        fprintf(renderer->out, "%s\n", line);
    }
    fflush(renderer->out);
    renderer->has_pending = false;
}

static void renderer_update(void *context, const hone_progress_state *state) {
    hone_progress_renderer *renderer = context;
    int64_t now = hone_clock_now(renderer->clock);
    hone_str text = {0};
    hone_str_clear(&renderer->line);
    hone_progress_print(state, room_of(renderer), &text);
    hone_utf8_append_shown(&renderer->line, hone_str_text(&text), text.length, false);
    hone_str_deinit(&text);
    renderer->has_pending = true;
    if (renderer->last_ns >= 0 && now - renderer->last_ns < renderer->interval_ns) return;
    renderer->last_ns = now;
    draw(renderer);
}

static void renderer_finish(void *context) {
    hone_progress_renderer *renderer = context;
    if (renderer->has_pending) draw(renderer);
    if (renderer->is_drawn) fputc('\n', renderer->out);
    renderer->is_drawn = false;
    renderer->last_ns = -1;
    fflush(renderer->out);
}

hone_progress hone_progress_renderer_sink(hone_progress_renderer *renderer) {
    return (hone_progress){
        .update = renderer_update, .finish = renderer_finish, .context = renderer};
}

void hone_progress_renderer_deinit(hone_progress_renderer *renderer) {
    hone_progress_renderer_clear(renderer);
    hone_str_deinit(&renderer->line);
}
