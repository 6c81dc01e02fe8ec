/* tests/graph/test_onnx_backend.c - the ONNX project's own operator tests (Debian:
 * libonnx-testdata), each by name: onnx_cases.txt says what becomes of every case, and a case that
 * ends otherwise, is not listed or is listed in vain is a failure.
 *
 *     test_onnx_backend             all of them, up to MAX_STEPS steps of the interpreter
 *     test_onnx_backend PART        those whose name holds PART
 *     test_onnx_backend --slow      those listed as slow, to their end: they must pass
 *
 * HONE_UPDATE=1 writes the table anew (review it), but never that wrong values are as they should
 * be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/data/map.h"
#include "support/os/fs.h"
#include "tests/graph/onnx_case.h"
#include "tests/support/hone_test.h"

#define DATA "/usr/share/libonnx-testdata/data"
#define TABLE "tests/graph/onnx_cases.txt"

enum { MAX_STEPS = 10000000 };

static const char *const words[] = {[ONNX_PASS] = "pass",
                                    [ONNX_REFUSED] = "refused: ",
                                    [ONNX_SLOW] = "slow: ",
                                    [ONNX_ABSENT] = "absent: ",
                                    [ONNX_WRONG] = "wrong: "};

typedef struct book {
    char *text;         /* the table; the map points into it */
    hone_strmap listed; /* GROUP/NAME: its status; those that were met are taken out */
    hone_str fresh;     /* the table as it should be */
    const char *filter, *group;
    bool slow_only, updates;
    int ends[ONNX_WRONG + 1], failed;
} book;

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* A line is "GROUP/NAME: STATUS"; the comment at the head goes into the fresh table as it is. */
static void read_line(book *b, char *line) {
    char *colon = strstr(line, ": ");
    if (*line == '#') {
        hone_str_printf(&b->fresh, "%s\n", line);
        return;
    }
    if (!colon) fail_msg(TABLE ": '%s' is no \"GROUP/NAME: STATUS\"", line);
    *colon = 0;
    if (hone_strmap_find(&b->listed, line, NULL)) fail_msg(TABLE ": '%s' is there twice", line);
    assert_true(hone_strmap_put(&b->listed, line, (uint64_t)(colon + 2 - b->text)));
}

static void read_table(book *b) {
    size_t length;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(TABLE), 1 << 20, &b->text, &length));
    for (char *at = b->text, *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = 0;
        read_line(b, at);
    }
}

/* What is broken in the data is listed by hand: it must go wrong, and nobody says how. */
static bool is_as_listed(const char *listed, onnx_end end, const char *status) {
    if (!listed) return false;
    if (starts_with(listed, "broken: ")) return end == ONNX_WRONG;
    return end != ONNX_WRONG && strcmp(listed, status) == 0;
}

static void check_case(book *b, const char *key, const char *listed, onnx_end end,
                       const char *status) {
    bool is_right = is_as_listed(listed, end, status), keeps = is_right || end == ONNX_WRONG;
    if (listed || !keeps) hone_str_printf(&b->fresh, "%s: %s\n", key, keeps ? listed : status);
    if (is_right || (b->updates && !keeps)) return;
    printf("FAIL %s\n  listed: %s\n  now:    %s\n", key, listed ? listed : "not at all", status);
    b->failed++;
}

static bool visit_case(void *context, const char *name) {
    book *b = context;
    char key[256], folder[512];
    snprintf(key, sizeof key, "%s/%s", b->group, name);
    snprintf(folder, sizeof folder, "%s/%s", DATA, key);
    uint64_t at = 0;
    const char *listed = hone_strmap_find(&b->listed, key, &at) ? b->text + at : NULL;
    bool is_slow = listed && starts_with(listed, words[ONNX_SLOW]);
    hone_strmap_remove(&b->listed, key);
    if ((b->filter && !strstr(key, b->filter)) || (b->slow_only && !is_slow)) return true;
    hone_str status = {0}, why = {0};
    onnx_end end = onnx_case_run(folder, b->slow_only ? 0 : MAX_STEPS, &why);
    hone_str_printf(&status, "%s%s", words[end], hone_str_text(&why));
    b->ends[end]++;
    check_case(b, key, b->slow_only ? words[ONNX_PASS] : listed, end, hone_str_text(&status));
    hone_str_deinit(&status);
    hone_str_deinit(&why);
    return true;
}

static bool visit_group(void *context, const char *group) {
    book *b = context;
    char path[256];
    b->group = group;
    snprintf(path, sizeof path, "%s/%s", DATA, group);
    HONE_ASSERT_OK(hone_fs_list(path, visit_case, b));
    return true;
}

/* What no folder took out of the table. */
static void check_rest(book *b) {
    const char *key;
    for (size_t at = 0; !b->updates && hone_strmap_next(&b->listed, &at, &key, NULL);) {
        printf("FAIL %s\n  is listed, and not in the data\n", key);
        b->failed++;
    }
}

int main(int argc, char **argv) {
    const char *argument = argc > 1 ? argv[1] : NULL;
    book b = {.slow_only = argument && strcmp(argument, "--slow") == 0};
    if (!b.slow_only) b.filter = argument;
    b.updates = getenv("HONE_UPDATE") && !argument;
    if (!hone_fs_is_dir(DATA)) hone_test_skip_all("libonnx-testdata is not installed");
    read_table(&b);
    HONE_ASSERT_OK(hone_fs_list(DATA, visit_group, &b));
    check_rest(&b);
    printf("onnx backend tests: %d pass, %d refused, %d slow, %d without a model, %d wrong; "
           "%d not as listed\n",
           b.ends[ONNX_PASS], b.ends[ONNX_REFUSED], b.ends[ONNX_SLOW], b.ends[ONNX_ABSENT],
           b.ends[ONNX_WRONG], b.failed);
    if (b.updates) {
        HONE_ASSERT_OK(
            hone_fs_write_atomic(hone_test_source_path(TABLE), b.fresh.data, b.fresh.length));
    }
    hone_strmap_deinit(&b.listed);
    hone_str_deinit(&b.fresh);
    hone_free(b.text);
    return b.failed ? 1 : 0;
}
