/* tests/ir/text/test_script_programs.c - every program under tests/programs is read, printed in
 * both dialects and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

enum { MOST = 256 };
typedef struct row {
    const char *name;
} row;

static row rows[MOST];
static size_t row_count;

static bool collect(void *context, const char *name) {
    (void)context;
    size_t length = strlen(name);
    bool is_program = length > 3 && strcmp(name + length - 3, ".py") == 0;
    bool needs_weights = strcmp(name, "mlp_params.py") == 0; /* test_script_files.c */
    if (is_program && !needs_weights && row_count < MOST) rows[row_count++].name = strdup(name);
    return true;
}

static void again(const hone_module *module, hone_dialect dialect, const char *name) {
    hone_print_options options = {.dialect = dialect, .mark = HONE_NO_ID};
    hone_str first = {0}, second = {0}, difference = {0};
    hone_module *copy = NULL;
    HONE_ASSERT_OK(hone_module_print(module, &options, &first));
    HONE_ASSERT_OK(hone_script_parse(first.data, first.length, name, &copy));
    HONE_ASSERT_OK(hone_module_print(copy, &options, &second));
    bool same = hone_module_equal(module, copy, &difference);
    if (!same) print_error("%s: %s\n", name, hone_str_text(&difference));
    bool same_text = strcmp(first.data, second.data) == 0;
    if (!same_text) print_error("%s\n---\n%s", first.data, second.data);
    hone_str_deinit(&first);
    hone_str_deinit(&second);
    hone_str_deinit(&difference);
    hone_module_release(copy);
    assert_true(same);
    assert_true(same_text);
}

static void check_program(void **state) {
    const row *r = *state;
    char relative[300];
    snprintf(relative, sizeof relative, "tests/programs/%s", r->name);
    hone_module *module = NULL;
    HONE_ASSERT_OK(hone_script_load(hone_test_source_path(relative), &module));
    assert_true(module->member_count > 0);
    again(module, HONE_DIALECT_TVM_0_27, r->name);
    again(module, HONE_DIALECT_CLASSIC, r->name);
    hone_module_release(module);
}

int main(void) {
    hone_status st = hone_fs_list(hone_test_source_path("tests/programs"), collect, NULL);
    if (st || row_count < 20) {
        printf("tests/programs: %zu programs found %s\n", row_count, hone_status_message(st));
        hone_status_free(st);
        return 1;
    }
    int failed =
        hone_test_run_rows("ir/script_programs", rows, sizeof rows[0], row_count, check_program);
    for (size_t i = 0; i < row_count; i++) {
        char *name = NULL;
        memcpy(&name, &rows[i].name, sizeof name);
        free(name);
    }
    return failed;
}
