/* tests/support_room/test_progress.c - progress lines and log lines, on a virtual clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/os/log.h"
#include "support/os/progress.h"
#include "tests/support/hone_test.h"

/* clang-format off */
static const struct row {
    const char *want; /* names the test */
    hone_progress_state state;
    size_t columns;
} rows[] = {
    {"5", {.done = 5, .eta_ns = -1}, 0},
    {"tune  5/20 (25%)", {.label = "tune", .done = 5, .total = 20, .eta_ns = -1}, 0},
    {"5/20 (25%)  3.4/s  best 1 ms  1m 05s left  building",
     {.done = 5,
      .total = 20,
      .rate = 3.4,
      .eta_ns = 65 * HONE_NS_PER_S,
      .best = "1 ms",
      .detail = "building"},
     0},
    {"5  best größe: 1 ms  1m 05s left",
     {.done = 5, .eta_ns = 65 * HONE_NS_PER_S, .name = "größe", .best = "1 ms"},
     0},
    {"5  best fused_conv2..mean_relu_1: 1 ms  1m 05s left",
     {.done = 5,
      .eta_ns = 65 * HONE_NS_PER_S,
      .name = "fused_conv2d_add_multiply_clip_mean_relu_1",
      .best = "1 ms"},
     51},
    {"5  best fus..u_1: 1 ms  1m 05s left", /* numbers stay */
     {.done = 5,
      .eta_ns = 65 * HONE_NS_PER_S,
      .name = "fused_conv2d_add_multiply_clip_mean_relu_1",
      .best = "1 ms"},
     10},
};
/* clang-format on */

static void prints(void **state) {
    const struct row *row = *state;
    hone_str text = {0};
    hone_progress_print(&row->state, row->columns, &text);
    assert_string_equal(text.data, row->want);
    hone_str_deinit(&text);
}

static void measures_rates(void **state) {
    (void)state;
    hone_progress_meter meter;
    hone_progress_state s = {.total = 100};
    hone_progress_meter_init(&meter, 0);
    hone_progress_meter_feed(&meter, 0, &s);
    assert_true(s.rate == 0 && s.eta_ns == -1);
    for (int i = 1; i <= 50; i++) {
        s.done = i;
        hone_progress_meter_feed(&meter, i * HONE_NS_PER_S, &s);
    }
    assert_true(s.rate > 0.999 && s.rate < 1.001);
    assert_true(s.eta_ns > 49 * HONE_NS_PER_S && s.eta_ns < 51 * HONE_NS_PER_S);
}

/* Runs 30 updates, one per 500 ms, and returns what was written; the caller frees it. */
static char *render(bool is_terminal) {
    char *text = NULL;
    size_t size = 0;
    hone_virtual_clock clock;
    hone_progress_renderer renderer;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    hone_virtual_clock_init(&clock, 1000);
    hone_progress_renderer_init(&renderer, out, &clock.clock);
    renderer.is_terminal = is_terminal;
    renderer.columns = 8;
    if (is_terminal) renderer.interval_ns = 100 * HONE_NS_PER_MS;
    hone_progress sink = hone_progress_renderer_sink(&renderer);
    for (int i = 0; i < 30; i++) {
        hone_progress_update(&sink, &(hone_progress_state){.done = i, .total = 30, .eta_ns = -1});
        hone_virtual_clock_advance(&clock, 500 * HONE_NS_PER_MS);
    }
    hone_progress_finish(&sink);
    hone_progress_renderer_deinit(&renderer);
    fclose(out);
    return text;
}

static void writes_plain_lines_seldom(void **state) {
    (void)state;
    char *text = render(false);
    assert_string_equal(text, "0/30 (0%)\n10/30 (33%)\n20/30 (66%)\n29/30 (96%)\n");
    free(text);
}

static void redraws_one_line_on_terminals(void **state) {
    (void)state;
    char *text = render(true);
    assert_non_null(strstr(text, "\r28/30 (\033[K\r29/30 (\033[K\n"));
    assert_null(strstr(text, "%"));
    free(text);
}

static void no_sink_is_fine(void **state) {
    (void)state;
    hone_progress_update(NULL, &(hone_progress_state){0});
    hone_progress_finish(NULL);
    hone_log_line(NULL, HONE_LOG_ERROR, "x");
    HONE_LOG((const hone_log *)NULL, HONE_LOG_ERROR, "x");
}

/* "2026-11-26T10:45:38Z hone: fine" */
static void logs_with_the_time(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    hone_log_printer printer = {.out = out, .program = "hone", .has_time = true};
    hone_log log = hone_log_to_printer(&printer, HONE_LOG_INFO);
    HONE_LOG(&log, HONE_LOG_INFO, "fine");
    fclose(out);
    assert_int_equal(strlen(text), strlen("2026-11-26T10:45:38Z hone: fine\n"));
    assert_string_equal(text + 20, " hone: fine\n");
    free(text);
}

static void logs_by_level(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    hone_log_printer printer = {.out = out, .program = "hone"};
    hone_log log = hone_log_to_printer(&printer, HONE_LOG_INFO);
    HONE_LOG(&log, HONE_LOG_WARNING, "disk is %d%% full", 99);
    HONE_LOG(&log, HONE_LOG_INFO, "fine");
    HONE_LOG(&log, HONE_LOG_DEBUG, "not shown");
    HONE_LOG(&log, HONE_LOG_ERROR, "gone");
    fclose(out);
    assert_non_null(strstr(text, "hone: warning: disk is 99% full\nhone: fine\nhone: error: "
                                 "gone\n"));
    assert_null(strstr(text, "not shown"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_rates),
        cmocka_unit_test(writes_plain_lines_seldom),
        cmocka_unit_test(redraws_one_line_on_terminals),
        cmocka_unit_test(no_sink_is_fine),
        cmocka_unit_test(logs_by_level),
        cmocka_unit_test(logs_with_the_time),
    };
    return HONE_RUN_ROWS("support/progress lines", rows, prints) +
           cmocka_run_group_tests_name("support/progress", tests, NULL, NULL);
}
