/* tests/support/hone_test.c - see hone_test.h. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/strbuf.h"

/* cmocka passes rows as void *; the tests only read them. */
static void *drop_const(const void *pointer) {
    return (void *)(uintptr_t)pointer;
}

int hone_test_run_rows(const char *group, const void *rows, size_t row_bytes, size_t count,
                       void (*check)(void **state)) {
    struct CMUnitTest *tests = calloc(count ? count : 1, sizeof *tests);
    if (!tests) return 1;
    for (size_t i = 0; i < count; i++) {
        const char *row = (const char *)rows + i * row_bytes;
        const char *name = NULL;
        memcpy(&name, row, sizeof name);
        tests[i].name = name ? name : "(unnamed row)";
        tests[i].test_func = check;
        tests[i].initial_state = drop_const(row);
    }
    int failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    free(tests);
    return failed;
}

void hone_test_assert_ok(hone_status st, const char *file, int line) {
    if (!st) return;
    hone_str text = {0};
    hone_status_print(st, &text);
    hone_status_free(st);
    print_error("unexpected failure: %s", text.data ? text.data : "(no memory)\n");
    hone_str_deinit(&text);
    _fail(file, line);
}

void hone_test_assert_status(hone_status st, hone_code want, const char *part, const char *file,
                             int line) {
    hone_code got = hone_status_code(st);
    int has_part = !part || strstr(hone_status_message(st), part) != NULL;
    if (got != want || !has_part) {
        print_error("status is %s '%s', want %s%s%s\n", hone_code_name(got),
                    hone_status_message(st), hone_code_name(want), part ? " with " : "",
                    part ? part : "");
    }
    hone_status_free(st);
    if (got != want || !has_part) _fail(file, line);
}

/* True when an allocation of this run was made to fail. */
static int sweep_once(hone_status (*run)(void *context), void *context, uint64_t nth, bool sticky) {
    hone_alloc_fail_nth(nth, sticky);
    hone_status st = run(context);
    int has_failed = hone_alloc_has_failed();
    hone_alloc_fail_nth(0, false);
    hone_code code = hone_status_code(st);
    if (code != HONE_CODE_OK && code != HONE_CODE_NO_MEMORY) {
        print_error("allocation %llu failed: ", (unsigned long long)nth);
        hone_test_assert_ok(st, __FILE__, __LINE__);
    }
    hone_status_free(st);
    return has_failed;
}

void hone_test_sweep_allocs(hone_status (*run)(void *context), void *context) {
    for (uint64_t nth = 1; sweep_once(run, context, nth, false); nth++) {
    }
    for (uint64_t nth = 1; sweep_once(run, context, nth, true); nth++) {
    }
}

void hone_test_skip_all(const char *reason) {
    printf("skipped: %s\n", reason);
    fflush(stdout);
    exit(77);
}

uint64_t hone_test_seed(uint64_t usual) {
    const char *text = getenv("HONE_FIRST_SEED");
    static bool is_said;
    if (!text) return usual;
    if (!is_said) print_message("HONE_FIRST_SEED=%s\n", text);
    fflush(NULL); /* the test may crash */
    is_said = true;
    return strtoull(text, NULL, 10);
}

hone_rng hone_test_rng(uint64_t usual) {
    return hone_rng_from_seed(hone_test_seed(usual));
}

/* One case in so many is tried. */
static uint64_t fewer(void) {
    const char *text = getenv("HONE_FEWER");
    return text ? strtoull(text, NULL, 10) : 1;
}

uint64_t hone_test_count(uint64_t usual) {
    const char *text = getenv("HONE_SEQUENCES");
    if (text) return strtoull(text, NULL, 10);
    uint64_t parts = fewer();
    return parts > 1 && usual > parts ? usual / parts : usual;
}

uint64_t hone_test_ways(uint64_t usual) {
    return fewer() > 4 ? 1 : usual;
}

static const char *path_under(const char *variable, const char *fallback, const char *relative,
                              char *out, size_t out_bytes) {
    const char *base = getenv(variable);
    snprintf(out, out_bytes, "%s/%s", base ? base : fallback, relative);
    return out;
}

const char *hone_test_source_path(const char *relative) {
    static char path[4096];
    return path_under("HONE_SOURCE_DIR", ".", relative, path, sizeof path);
}

const char *hone_test_build_path(const char *relative) {
    static char path[4096];
    return path_under("HONE_BUILD_DIR", "build/dev", relative, path, sizeof path);
}

/* ---- what tests draw ---- */

double hone_test_normal(hone_rng *rng) {
    double u = 1.0 - hone_rng_uniform(rng); /* in (0, 1] */
    double angle = 6.283185307179586 * hone_rng_uniform(rng);
    return sqrt(-2.0 * log(u)) * cos(angle);
}

static void swap_bytes(char *a, char *b, size_t count) {
    char chunk[64];
    while (count > 0) {
        size_t n = count < sizeof chunk ? count : sizeof chunk;
        memcpy(chunk, a, n);
        memcpy(a, b, n);
        memcpy(b, chunk, n);
        a += n, b += n, count -= n;
    }
}

void hone_test_shuffle(hone_rng *rng, void *data, size_t count, size_t element_bytes) {
    char *bytes = data;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)hone_rng_below(rng, i);
        if (j != i - 1) {
            swap_bytes(bytes + (i - 1) * element_bytes, bytes + j * element_bytes, element_bytes);
        }
    }
}

void hone_test_fill(hone_tensor *tensor, double value) {
    for (int64_t i = 0; i < hone_tensor_count(tensor); i++)
        hone_tensor_set_f64(tensor, i, value);
}

bool hone_test_close(const hone_tensor *got, const hone_tensor *want, double rtol, double atol) {
    hone_tensor_diff diff = hone_tensor_diff_make(got, want, rtol, atol);
    return diff.is_comparable && diff.bad_count == 0;
}
