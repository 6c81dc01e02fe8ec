/* tests/compile/test_demo_records.c - every record of a database that `make demo` made once: the
 * stored programs are still read, hash as they did, and each trace makes the program that was
 * measured. A change that alters one of these numbers changes this table, and says why. And what
 * the models' kernels of today make of these records: all of them are used. */
#include <string.h>

#include "compile/records/record_choice.h"
#include "graph/frontend/onnx_import.h"
#include "graph/passes/prepare.h"
#include "ir/identity/structural.h"
#include "ir/text/read/script.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *workload;
    const char *task;
    int records, replayed; /* of these: to the program that was measured */
} rows[] = {
    {"02226fab4d9930ade28eeee26887bf03", "fused_conv2d_add_relu",  4, 4},
    {"d3dd8365ea2557bfdc96336051634bbf", "fused_conv2d_add_relu",  3, 3},
    {"71c63df3b50bb6ff22ccf0ad494aec3e", "fused_conv2d_add_relu1", 4, 4},
    {"7eaff155801b2f49d5928610727d74c2", "fused_conv2d_add_relu1", 4, 4},
    {"21f48f121620943bf7843442965a24fe", "fused_matmul_add",       4, 4},
    {"2bf9005742ddd353f6b9c78f8b4dddbb", "fused_matmul_add",       3, 3},
    {"58975335c5a8ca9a6a04ae2ee5e794e1", "fused_matmul_add",       3, 3},
    {"d2d045ef12a96c7e4d6a2d11c18e27c2", "fused_matmul_add",       3, 3},
    {"306296f074fad36df84315de7943eb08", "fused_matmul_add_relu",  4, 4},
    {"4001bda8451133728b5f3dea6c94ad4b", "fused_matmul_add_relu",  4, 4},
    {"0c4150cd314b68f01246f87455655aed", "max_pool2d",             3, 3},
    {"3db4a332e97610fe61b49c5df92cb1df", "max_pool2d",             3, 3},
    {"2a27816d1a463793d00a63ff386eaa8a", "max_pool2d1",            3, 3},
    {"55ceec20aa677c8ed2ea0b5f56787b99", "max_pool2d1",            3, 3},
};

/* One workload's records. */
typedef struct walk {
    hone_arena *arena;
    hone_hash128 hash;
    hone_module *module;
    const hone_func *func;
    char task[32];
    int records, replayed;
    hone_status st;
} walk;

static hone_status read_program(walk *w, const hone_db_workload *workload) {
    const hone_member *member;
    strncpy(w->task, workload->name, sizeof w->task - 1);
    HONE_TRY(
        hone_script_parse(workload->program, strlen(workload->program), "workload", &w->module));
    HONE_TRY(hone_module_pick(w->module, NULL, &member));
    w->func = member->func;
    if (hone_hash128_equal(hone_func_hash(w->func), w->hash)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "the stored program has another hash now");
}

static bool visit_workload(void *ctx, const hone_db_workload *workload) {
    walk *w = ctx;
    w->st = read_program(w, workload);
    return false;
}

static bool visit_trial(void *ctx, const hone_db_trial *trial) {
    walk *w = ctx;
    hone_schedule *sch;
    w->records++;
    w->st = hone_record_replay(trial->trace, w->func, NULL, w->arena, &sch);
    if (!w->st) w->replayed += hone_hash128_equal(hone_func_hash(sch->func), trial->program);
    hone_schedule_destroy(sch);
    return !w->st;
}

static hone_status look(hone_db *db, walk *w) {
    hone_db_filter filter = {.workload = &w->hash};
    HONE_TRY(hone_db_workloads(db, &w->hash, visit_workload, w));
    HONE_TRY(w->st);
    if (!w->func) return HONE_ERROR(HONE_CODE_NOT_FOUND, "no such workload");
    HONE_TRY(hone_db_trials(db, &filter, visit_trial, w));
    return w->st;
}

static hone_db *demo; /* a copy: even readers leave files beside a database */

static void check_row(void **state) {
    const struct row *row = *state;
    walk w = {.arena = hone_arena_create(1 << 14)};
    bool is_hash = hone_hash128_parse(row->workload, &w.hash);
    hone_status st = is_hash && w.arena ? look(demo, &w) : HONE_ERROR(HONE_CODE_INVALID, "row");
    hone_module_release(w.module);
    hone_arena_destroy(w.arena);
    HONE_ASSERT_OK(st);
    assert_string_equal(w.task, row->task);
    assert_int_equal(w.records, row->records);
    assert_int_equal(w.replayed, row->replayed);
}

static hone_status open_copy(const char *dir) {
    char *bytes = NULL;
    size_t count;
    hone_str path = {0};
    HONE_TRY(hone_fs_read(hone_test_source_path("tests/compile/fixtures/demo.db"), 1 << 24, &bytes,
                          &count));
    hone_str_printf(&path, "%s/demo.db", dir);
    hone_status st = hone_fs_write_atomic(hone_str_text(&path), bytes, count);
    hone_db_options options = {.path = hone_str_text(&path), .mode = HONE_DB_WRITE};
    if (!st) st = hone_db_open_sqlite(&options, &demo); /* migrates an older schema */
    hone_str_deinit(&path);
    hone_free(bytes);
    return st;
}

/* ---- the kernels of today ---- */

/* How many kernels get a record of their own program, and how many one of an earlier one: those of
 * Relu and MaxPool lost NaN then. */
static const struct model {
    const char *path;
    int exact, translated;
} models[] = {
    {"examples/fashion_mnist/mlp.onnx", 1, 1},
    {"examples/fashion_mnist/cnn.onnx", 1, 4},
};

static bool take_target(void *ctx, const hone_db_target *target) {
    HONE_ASSERT_OK(hone_target_parse(target->text, ctx));
    return false;
}

static hone_status count_choices(hone_record_chooser *chooser, const hone_module *module,
                                 hone_arena *arena, struct model *counts) {
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_record_choice choice;
        if (module->members[i].kind != HONE_MEMBER_FUNC) continue;
        HONE_TRY(hone_record_choose(chooser, module->members[i].func, arena, &choice));
        counts->exact += choice.match == HONE_RECORD_EXACT;
        counts->translated += choice.match == HONE_RECORD_TRANSLATED;
    }
    return HONE_OK;
}

static void check_model(void **state) {
    const struct model *model = *state;
    struct model counts = {0};
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_module *module = NULL, *prepared = NULL;
    hone_record_chooser *chooser = NULL;
    hone_target target = {0};
    hone_status st = hone_db_targets(demo, NULL, take_target, &target);
    if (!st) st = hone_onnx_load(hone_test_source_path(model->path), NULL, &module);
    if (!st) st = hone_graph_prepare(module, NULL, &prepared);
    if (!st) st = hone_record_chooser_create(demo, &target, NULL, &chooser);
    if (!st) st = count_choices(chooser, prepared, arena, &counts);
    hone_record_chooser_destroy(chooser);
    hone_module_release(prepared);
    hone_module_release(module);
    hone_arena_destroy(arena);
    HONE_ASSERT_OK(st);
    assert_int_equal(counts.exact, model->exact);
    assert_int_equal(counts.translated, model->translated);
}

/* No workload is left out of the table. */
static void check_count(void **state) {
    (void)state;
    hone_db_stats stats;
    HONE_ASSERT_OK(hone_db_get_stats(demo, &stats));
    assert_int_equal(stats.workloads, sizeof rows / sizeof rows[0]);
}

int main(void) {
    static const struct { const char *name; } all[] = {{"all workloads are listed"}};
    char *dir = NULL;
    hone_status st = hone_fs_temp_dir("hone-demo", &dir);
    if (!st) st = open_copy(dir);
    int code = st ? 1 : 0;
    if (st) print_error("%s\n", hone_status_message(st));
    if (!st) code = HONE_RUN_ROWS("compile/demo_records", rows, check_row);
    if (!st) code |= HONE_RUN_ROWS("compile/demo_workloads", all, check_count);
    if (!st) code |= HONE_RUN_ROWS("compile/demo_kernels", models, check_model);
    hone_status_free(st);
    hone_db_close(demo);
    if (dir) hone_status_free(hone_fs_remove_tree(dir));
    hone_free(dir);
    return code;
}
