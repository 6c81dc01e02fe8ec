/* tests/support_room/test_number.c - numbers as text where the program has set another locale: one
 * with decimal commas, made of C.UTF-8 by turning its point over. */
#include "support/core/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/text/duration.h"
#include "support/text/json.h"
#include "tests/support/hone_test.h"

/* ---- the locale ---- */

static hone_status write_comma_locale(const char *folder) {
    char path[512], *bytes = NULL;
    size_t count = 0;
    snprintf(path, sizeof path, "%s/commas", folder);
    HONE_TRY(hone_fs_mkdirs(path));
    HONE_TRY(hone_fs_read("/usr/lib/locale/C.utf8/LC_NUMERIC", 1 << 16, &bytes, &count));
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '.') bytes[i] = ',';
    }
    snprintf(path, sizeof path, "%s/commas/LC_NUMERIC", folder);
    hone_status st = hone_fs_write_atomic(path, bytes, count);
    hone_free(bytes);
    return st;
}

/* From here on; false where no such locale can be made. */
static bool set_commas(void) {
    char *folder = NULL;
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-locale", &folder));
    hone_status st = write_comma_locale(folder);
    bool is_set = !st;
    setenv("LOCPATH", folder, 1);
    if (is_set) is_set = setlocale(LC_NUMERIC, "commas") != NULL;
    hone_status_free(st);
    HONE_ASSERT_OK(hone_fs_remove_tree(folder));
    hone_free(folder);
    return is_set;
}

/* ---- numbers ---- */

static const struct row {
    const char *text;
    double value;
    int fewest;
} rows[] = {
    {"0.5",                      0.5,                      1 },
    {"0.1",                      0.1,                      15},
    {"0.3333333333333333",       1.0 / 3,                  1 },
    {"3",                        3,                        1 },
    {"1e+20",                    1e20,                     15},
    {"-2.2250738585072014e-308", -2.2250738585072014e-308, 1 },
    {"inf",                      INFINITY,                 1 },
};

static void goes_there_and_back(void **state) {
    const struct row *row = *state;
    char text[HONE_NUMBER_BYTES], *end;
    assert_string_equal(hone_number_print(row->value, row->fewest, text), row->text);
    assert_true(hone_number_parse(row->text, &end) == row->value && *end == '\0');
}

static void texts_have_points(void **state) {
    (void)state;
    char text[64], *end;
    hone_str out = {0};
    int64_t ns = 0;
    assert_true(hone_number_parse("0,5", &end) == 0 && *end == ',');
    assert_true(hone_number_parse_f32("1.5]", &end) == 1.5F && *end == ']');
    hone_snprintf(text, sizeof text, "%.2f and %g", 0.25, 1.5);
    assert_string_equal(text, "0.25 and 1.5");
    hone_str_printf(&out, "%.3g ", 2.5);
    hone_json_print_f64(0.75, &out);
    assert_string_equal(hone_str_text(&out), "2.5 0.75");
    assert_string_equal(hone_duration_print(1500000, text), "1.5 ms");
    assert_true(hone_duration_parse("1.5m", &ns) && ns == 90 * HONE_NS_PER_S);
    hone_str_deinit(&out);
}

static void others_keep_their_commas(void **state) {
    (void)state;
    char text[16];
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5");
}

static void letters_are_ascii(void **state) {
    (void)state;
    assert_true(hone_lower('I') == 'i' && hone_upper('i') == 'I');
    assert_true(hone_lower('_') == '_' && hone_upper('\xdf') == '\xdf');
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_have_points),
                                       cmocka_unit_test(letters_are_ascii)};
    const struct CMUnitTest others[] = {cmocka_unit_test(texts_have_points),
                                        cmocka_unit_test(others_keep_their_commas)};
    int failed = HONE_RUN_ROWS("support/number", rows, goes_there_and_back) +
                 cmocka_run_group_tests_name("support/number texts", tests, NULL, NULL);
    if (!set_commas()) return failed; /* not with the C library of this machine */
    return failed + HONE_RUN_ROWS("support/number in commas", rows, goes_there_and_back) +
           cmocka_run_group_tests_name("support/number with commas", others, NULL, NULL);
}
