/* tests/costmodel/test_prior.c - what a cost model knows before the first trial: its file, who
 * refuses it, and that it ranks workloads that it was not trained on. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "costmodel/feature.h"
#include "costmodel/prior.h"
#include "costmodel/rank_quality.h"
#include "support/core/alloc.h"
#include "support/data/vec.h"
#include "support/os/fs.h"

static void what_is_shipped_is_for_these_features(void **state) {
    (void)state;
    tree_forest *forest = NULL;
    HONE_ASSERT_OK(hone_prior_shipped(&forest));
    assert_non_null(forest);
    assert_true(tree_forest_count(forest) >= 50);
    tree_forest_release(forest);
}

static void a_file_says_the_same_again(void **state) {
    (void)state;
    tree_forest *forest = NULL, *again = NULL;
    hone_str text = {0}, second = {0};
    HONE_ASSERT_OK(hone_prior_shipped(&forest));
    hone_prior_print(forest, &text);
    HONE_ASSERT_OK(hone_prior_read(hone_str_text(&text), text.length, &again));
    hone_prior_print(again, &second);
    assert_string_equal(hone_str_text(&text), hone_str_text(&second));
    tree_forest_release(forest);
    tree_forest_release(again);
    hone_str_deinit(&text);
    hone_str_deinit(&second);
}

static tree_forest *forest_of(const char *text) {
    tree_forest *forest = NULL;
    HONE_ASSERT_OK(tree_forest_read(text, strlen(text), 2, &forest));
    return forest;
}

static void a_mean_is_between_its_forests(void **state) {
    (void)state;
    tree_forest *of[] = {forest_of("0<1 =2 1<5 =4 =8\n"), NULL, forest_of("=1\n1<3 =10 =20\n"),
                         NULL};
    const tree_forest *said[] = {of[0], of[1], of[2], of[3]};
    const float rows[][2] = {
        {0, 0},
        {1, 4},
        {2, 9}
    };
    tree_forest *mean = NULL, *nothing = NULL;
    HONE_ASSERT_OK(tree_forest_mean(said, HONE_COUNT(said), &mean));
    assert_int_equal(tree_forest_count(mean), 3);
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        double sum = tree_forest_row(of[0], rows[i]) + tree_forest_row(of[2], rows[i]);
        assert_true(fabs(tree_forest_row(mean, rows[i]) - sum / 4) < 1e-6);
    }
    HONE_ASSERT_OK(tree_forest_mean(&said[1], 1, &nothing));
    assert_null(nothing);
    for (size_t i = 0; i < HONE_COUNT(of); i++)
        tree_forest_release(of[i]);
    tree_forest_release(mean);
}

typedef struct bad_row {
    const char *name;
    const char *head; /* %s: the head of a good file */
    const char *trees;
    hone_code code;
} bad_row;

/* clang-format off */
static const bad_row bad_rows[] = {
    {"empty", "", "", HONE_CODE_INVALID},
    {"something else", "solid teapot\n", "", HONE_CODE_INVALID},
    {"other features", "hone cost model 1, features 0, columns 164\n", "", HONE_CODE_VERSION},
    {"other columns", "hone cost model 1, features 1, columns 3\n", "", HONE_CODE_VERSION},
    {"a node is missing", "%s", "0<1 =1\n", HONE_CODE_INVALID},
    {"a node too many", "%s", "=1 =2\n", HONE_CODE_INVALID},
    {"a column too many", "%s", "9999<1 =1 =2\n", HONE_CODE_INVALID},
    {"no number", "%s", "0<one =1 =2\n", HONE_CODE_INVALID},
    {"infinite", "%s", "0<1 =inf =2\n", HONE_CODE_INVALID},
    {"cut", "%s", "0<1 =1 =2", HONE_CODE_INVALID},
    {"a tree that has no end", "%s", "0<1 1<1 2<1 3<1\n", HONE_CODE_INVALID},
};
/* clang-format on */

static void bad_files_are_refused(void **state) {
    const bad_row *row = *state;
    tree_forest *forest = NULL;
    hone_str text = {0}, good = {0};
    HONE_ASSERT_OK(hone_prior_shipped(&forest));
    hone_prior_print(forest, &good);
    const char *end = strchr(hone_str_text(&good), '\n') + 1;
    if (strcmp(row->head, "%s") == 0) {
        hone_str_append_n(&text, hone_str_text(&good), (size_t)(end - hone_str_text(&good)));
    } else {
        hone_str_append(&text, row->head);
    }
    hone_str_append(&text, row->trees);
    tree_forest_release(forest);
    HONE_ASSERT_CODE(hone_prior_read(hone_str_text(&text), text.length, &forest), row->code);
    assert_null(forest);
    hone_str_deinit(&text);
    hone_str_deinit(&good);
}

/* ---- ranking ---- */

/* Trials of workloads that are in no training (scripts/model): group, time, rows, features. */
typedef struct held_out {
    HONE_VEC(rank_item) items;
    HONE_VEC(hone_costmodel_rows) rows; /* data: owned */
} held_out;

static void read_line(char *line, held_out *out) {
    char *at = line;
    rank_item item = {.group = {.lo = strtoull(at, &at, 10) + 1}};
    item.time_ns = strtod(at + 1, &at);
    uint32_t rows = (uint32_t)strtoul(at + 1, &at, 10);
    size_t count = (size_t)rows * hone_feature_count();
    float *data = hone_calloc(count + 1, sizeof *data);
    assert_non_null(data);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(*at, ',');
        data[i] = strtof(at + 1, &at);
    }
    assert_int_equal(*at, 0);
    hone_costmodel_rows of = {data, rows};
    assert_true(hone_vec_push(&out->items, item) && hone_vec_push(&out->rows, of));
}

static void read_held_out(held_out *out) {
    char *text = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path("tests/costmodel/held_out.csv"), SIZE_MAX,
                                &text, &count));
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        assert_non_null(end);
        *end = 0;
        read_line(line, out);
    }
    hone_free(text);
}

static double accuracy(const held_out *data, bool begins_untrained) {
    hone_costmodel *model;
    const hone_costmodel_options options = {
        .feature_count = hone_feature_count(), .seed = 3, .begins_untrained = begins_untrained};
    const hone_hash128 group = {0};
    HONE_ASSERT_OK(hone_costmodel_create_xgboost(&options, &model));
    held_out scored = {0};
    for (size_t i = 0; i < data->items.count; i++) {
        rank_item item = data->items.data[i];
        HONE_ASSERT_OK(hone_costmodel_score(model, &group, &data->rows.data[i], 1, &item.score));
        assert_true(hone_vec_push(&scored.items, item));
    }
    rank_quality quality = rank_quality_of(scored.items.data, scored.items.count);
    hone_vec_deinit(&scored.items);
    hone_costmodel_destroy(model);
    return rank_quality_accuracy(&quality);
}

static void workloads_that_are_new_are_ranked(void **state) {
    (void)state;
    held_out data = {0};
    read_held_out(&data);
    assert_true(data.items.count >= 40);
    double known = accuracy(&data, false), unknown = accuracy(&data, true);
    print_message("pairs right: %.3f, at random %.3f\n", known, unknown);
    assert_true(known > 0.72);
    assert_true(unknown > 0.3 && unknown < 0.65);
    for (size_t i = 0; i < data.rows.count; i++)
        hone_free((void *)(uintptr_t)data.rows.data[i].data);
    hone_vec_deinit(&data.items);
    hone_vec_deinit(&data.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shipped_is_for_these_features),
        cmocka_unit_test(a_file_says_the_same_again),
        cmocka_unit_test(a_mean_is_between_its_forests),
        cmocka_unit_test(workloads_that_are_new_are_ranked),
    };
    return HONE_RUN_ROWS("costmodel/prior_refused", bad_rows, bad_files_are_refused) +
           cmocka_run_group_tests_name("costmodel/prior", tests, NULL, NULL);
}
