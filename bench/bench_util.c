/* bench/bench_util.c - samples, tables and rows of all benches. */
#include "bench/bench_util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/os/clock.h"
#include "support/os/fs.h"

enum { MIN_PAIRS = 7, MAX_PAIRS = 4001, SETTLE_NS = 15000000 };
static const double sample_ns = 2e6;

void bench_must(hone_status st) {
    if (!st) return;
    fprintf(stderr, "bench: %s\n", hone_status_message(st));
    hone_status_free(st);
    exit(1);
}

static void usage(const char *name, int code) {
    fprintf(code ? stderr : stdout,
            "usage: bench_%s [--json FILE] [--quick] [--seconds S] [--threads N] [--only TEXT] "
            "[--set NAME] [--peer NAME]\n",
            name);
    exit(code);
}

void bench_begin(bench *b, const char *name, int argc, char **argv) {
    *b = (bench){.name = name, .rows = hone_json_make_array()};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--help") == 0) usage(name, 0);
        if (strcmp(argv[i], "--quick") == 0) {
            b->is_quick = true;
            continue;
        }
        if (!value) usage(name, 2);
        if (strcmp(argv[i], "--json") == 0)
            b->json_path = value;
        else if (strcmp(argv[i], "--seconds") == 0)
            b->seconds = strtod(value, NULL);
        else if (strcmp(argv[i], "--threads") == 0)
            b->threads = (int)strtol(value, NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            b->only = value;
        else if (strcmp(argv[i], "--set") == 0)
            b->set = value;
        else if (strcmp(argv[i], "--peer") == 0)
            b->peer = value;
        else
            usage(name, 2);
        i++;
    }
}

bool bench_wants(const bench *b, const char *name) {
    return !b->only || strstr(name, b->only);
}

void bench_add(bench *b, const bench_row *row) {
    hone_json *json = hone_json_make_object();
    hone_json_set_text(json, "work", row->work);
    hone_json_set_text(json, "metric", row->metric);
    hone_json_set_text(json, "unit", row->unit);
    hone_json_set_f64(json, "hone", row->hone);
    hone_json_set_text(json, "peer_name", row->peer_name);
    hone_json_set_f64(json, "peer", row->peer_name ? row->peer : (double)NAN);
    hone_json_set_f64(json, "ratio", row->peer_name ? row->ratio : (double)NAN);
    bool has_interval = row->peer_name && row->high > 0;
    hone_json_set_f64(json, "low", has_interval ? row->low : (double)NAN);
    hone_json_set_f64(json, "high", has_interval ? row->high : (double)NAN);
    hone_json_set_f64(json, "spread", row->spread);
    hone_json_append(b->rows, json);
}

void bench_add_pair(bench *b, const char *work, const char *unit, double ns_per_unit,
                    const char *peer_name, const bench_pair *pair) {
    bench_row row = {work,        "time",
                     unit,        pair->hone_ns / ns_per_unit,
                     peer_name,   pair->peer_ns / ns_per_unit,
                     pair->ratio, pair->spread,
                     pair->low,   pair->high};
    bench_add(b, &row);
}

void bench_skip(const bench *b, const char *work, const char *reason) {
    fprintf(stderr, "bench_%s: %s is left out: %s\n", b->name, work, reason);
}

/* ---- the table ---- */

static const char *text_of(const hone_json *row, const char *key) {
    const hone_json *value = hone_json_find(row, key);
    return hone_json_is(value, HONE_JSON_TEXT) ? hone_json_text(value) : "-";
}

/* decimals < 0: by size */
static const char *number_of(const hone_json *row, const char *key, int decimals, char *out,
                             size_t size) {
    const hone_json *value = hone_json_find(row, key);
    bool is_number = hone_json_is(value, HONE_JSON_REAL) || hone_json_is(value, HONE_JSON_INT);
    if (!is_number) return "-";
    double x = hone_json_f64(value);
    if (decimals < 0) decimals = fabs(x) >= 1000 ? 0 : fabs(x) >= 10 ? 1 : 3;
    snprintf(out, size, "%.*f", decimals, x);
    return out;
}

static void print_row(const hone_json *row) {
    char a[40], p[40], r[40], s[40], low[40], high[40];
    printf("%-44s %-8s %10s %-8s %10s %-14s %6s %6s %6s %6s\n", text_of(row, "work"),
           text_of(row, "metric"), number_of(row, "hone", -1, a, sizeof a), text_of(row, "unit"),
           number_of(row, "peer", -1, p, sizeof p), text_of(row, "peer_name"),
           number_of(row, "ratio", 3, r, sizeof r), number_of(row, "low", 3, low, sizeof low),
           number_of(row, "high", 3, high, sizeof high), number_of(row, "spread", 3, s, sizeof s));
}

int bench_finish(bench *b) {
    printf("%-44s %-8s %10s %-8s %10s %-14s %6s %6s %6s %6s\n", b->name, "metric", "hone", "unit",
           "peer", "named", "ratio", "low", "high", "spread");
    for (size_t i = 0; i < hone_json_count(b->rows); i++)
        print_row(hone_json_at(b->rows, i));
    if (b->json_path) {
        hone_str text = {0};
        hone_json_print(b->rows, &(hone_json_style){.indent = 1}, &text);
        hone_str_append(&text, "\n");
        bench_must(hone_str_check(&text));
        bench_must(hone_fs_write_atomic(b->json_path, text.data, text.length));
        hone_str_deinit(&text);
    }
    hone_json_destroy(b->rows);
    b->rows = NULL;
    return 0;
}

/* ---- time ---- */

int64_t bench_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(double *values, int count, double quantile) {
    if (count < 1) return (double)NAN;
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    double at = quantile * (count - 1);
    int below = (int)at;
    int above = below + 1 < count ? below + 1 : below;
    return values[below] + (at - below) * (values[above] - values[below]);
}

static double relative_range(double *values, int count) {
    double low = bench_quantile(values, count, 0.25), high = bench_quantile(values, count, 0.75);
    return (high - low) / bench_quantile(values, count, 0.5);
}

static double time_by(const hone_clock *clock, bench_work work, int repeats) {
    if (work.time) return work.time(work.ctx, repeats);
    int64_t start = hone_clock_now(clock);
    for (int i = 0; i < repeats; i++)
        work.run(work.ctx);
    return (double)(hone_clock_now(clock) - start) / repeats;
}

/* Nanoseconds of one run, over `repeats` of them. */
static double time_runs(bench_work work, int repeats) {
    return time_by(hone_clock_system(), work, repeats);
}

static double time_thread(bench_work work, int repeats) {
    return time_by(hone_clock_thread(), work, repeats);
}

static int choose_repeats(bench_work work, double (*sample)(bench_work work, int repeats)) {
    work.run(work.ctx);
    int repeats = 1;
    while (repeats < 1000000) {
        double each = sample(work, repeats);
        if (each * repeats >= sample_ns / 4) return (int)fmax(1, sample_ns / each);
        repeats *= 4;
    }
    return repeats;
}

/* The 95 % interval of the median of n sorted values: ranks n/2 -+ 1.96 * sqrt(n)/2. */
static void median_interval(const double *sorted, int n, double *out_low, double *out_high) {
    double half = 0.98 * sqrt(n);
    int low = (int)floor((n - 1) / 2.0 - half), high = (int)ceil((n - 1) / 2.0 + half);
    *out_low = sorted[low < 0 ? 0 : low];
    *out_high = sorted[high > n - 1 ? n - 1 : high];
}

static double time_settled(bench_work work, int repeats) {
    struct timespec pause = {.tv_nsec = SETTLE_NS};
    nanosleep(&pause, NULL);
    time_runs(work, 1);
    return time_runs(work, repeats);
}

static bench_pair run_pairs(bench_work hone, bench_work peer, double seconds,
                            double (*sample)(bench_work work, int repeats)) {
    static double a[MAX_PAIRS], b[MAX_PAIRS], ratio[MAX_PAIRS];
    double (*rough)(bench_work work, int repeats) = sample == time_settled ? time_runs : sample;
    int hone_repeats = choose_repeats(hone, rough), peer_repeats = choose_repeats(peer, rough);
    int n = 0;
    int64_t deadline = bench_now_ns() + (int64_t)(seconds * 1e9);
    while (n < MIN_PAIRS || (n < MAX_PAIRS && bench_now_ns() < deadline)) {
        bool hone_first = n % 2 == 0;
        if (hone_first) a[n] = sample(hone, hone_repeats);
        b[n] = sample(peer, peer_repeats);
        if (!hone_first) a[n] = sample(hone, hone_repeats);
        ratio[n] = b[n] / a[n];
        n++;
    }
    bench_pair pair = {.hone_ns = bench_quantile(a, n, 0.5),
                       .peer_ns = bench_quantile(b, n, 0.5),
                       .ratio = bench_quantile(ratio, n, 0.5),
                       .spread = relative_range(ratio, n)};
    median_interval(ratio, n, &pair.low, &pair.high);
    return pair;
}

bench_pair bench_run_pair(bench_work hone, bench_work peer, double seconds) {
    return run_pairs(hone, peer, seconds, time_runs);
}

bench_pair bench_run_thread_pair(bench_work hone, bench_work peer, double seconds) {
    return run_pairs(hone, peer, seconds, time_thread);
}

bench_pair bench_run_settled_pair(bench_work hone, bench_work peer, double seconds) {
    return run_pairs(hone, peer, seconds, time_settled);
}

double bench_run_one(bench_work work, double seconds, double *out_spread) {
    static double a[MAX_PAIRS];
    int repeats = choose_repeats(work, time_runs), n = 0;
    int64_t deadline = bench_now_ns() + (int64_t)(seconds * 1e9);
    while (n < MIN_PAIRS || (n < MAX_PAIRS && bench_now_ns() < deadline))
        a[n++] = time_runs(work, repeats);
    if (out_spread) *out_spread = relative_range(a, n);
    return bench_quantile(a, n, 0.5);
}
