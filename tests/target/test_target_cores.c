/* tests/target/test_target_cores.c - boards whose cores differ, as files of their systems: which
 * core describes them, and as what. */
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/fs.h"
#include "target/target_impl.h"
#include "tests/support/hone_test.h"

/* A core: NULL = its system has no such file. */
typedef struct core_files {
    const char *midr, *capacity, *l2;
} core_files;

enum { MAX_CORES = 6 };

/* clang-format off */
static const struct row {
    const char *name;
    core_files files[MAX_CORES];
    const char *cpuinfo;
    int cores[MAX_CORES];
    size_t count;
    int strongest;
    const char *cpu; /* NULL = nobody knows */
    int64_t l2_bytes;
} rows[] = {
#define A55                                                                                        \
    { "0x00000000412fd050", "530", "128K" }
#define A76                                                                                        \
    { "0x00000000414fd0b0", "1024", "512K" }
    {"all cores", {A55, A55, A76, A76}, NULL, {0, 1, 2, 3}, 4, 2, "cortex-a76", 512 << 10},
    {"the little", {A55, A55, A76, A76}, NULL, {0, 1}, 2, 0, "cortex-a55", 128 << 10},
    {"the big", {A55, A55, A76, A76}, NULL, {3}, 1, 3, "cortex-a76", 512 << 10},
    {"big ones first", {A76, A76, A55}, NULL, {0, 1, 2}, 3, 0, "cortex-a76", 512 << 10},
    {"no capacities",
     {{"0x410fd034", NULL, NULL}, {"0x410fd083", NULL, NULL}},
     NULL,
     {1, 0},
     2,
     1,
     "cortex-a72",
     7},
    /* part 0x001 is Fujitsu's A64FX, Qualcomm's Oryon, or nothing of ARM's */
    {"of Fujitsu", {{"0x460f0010", NULL, "8M"}}, NULL, {0}, 1, 0, "a64fx", 8 << 20},
    {"of Qualcomm", {{"0x510f0011", NULL, NULL}}, NULL, {0}, 1, 0, "oryon-1", 7},
    {"of nobody", {{"0x7f0f0011", NULL, NULL}}, NULL, {0}, 1, 0, NULL, 7},
    {"from cpuinfo",
     {{NULL, "446", "256K"}, {NULL, "1024", "2M"}},
     "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n"
     "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd44\n\n",
     {0, 1},
     2,
     1,
     "cortex-x1",
     2 << 20},
    {"cpuinfo, taskset",
     {{NULL, "446", "256K"}, {NULL, "1024", "2M"}},
     "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n"
     "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd44\n\n",
     {0},
     1,
     0,
     "cortex-a55",
     256 << 10},
    {"cpuinfo that does not know the core",
     {{NULL, NULL, NULL}, {NULL, NULL, "2M"}},
     "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\nprocessor\t: 1\n\n",
     {1},
     1,
     1,
     NULL,
     2 << 20},
    {"no files", {{NULL, NULL, NULL}}, NULL, {0}, 1, 0, NULL, 7},
    {"no cores", {{NULL, NULL, NULL}}, NULL, {0}, 0, 0, NULL, 7},
};
/* clang-format on */

static hone_status put(const char *root, int core, const char *dir, const char *name,
                       const char *text) {
    hone_str path = {0};
    if (!text) return HONE_OK;
    hone_str_printf(&path, "%s/sys/devices/system/cpu/cpu%d/%s", root, core, dir);
    hone_status st = hone_fs_mkdirs(hone_str_text(&path));
    hone_str_printf(&path, "/%s", name);
    if (!st) st = hone_fs_write_atomic(hone_str_text(&path), text, strlen(text));
    hone_str_deinit(&path);
    return st;
}

static hone_status put_core(const char *root, int core, const core_files *files) {
    HONE_TRY(put(root, core, "regs/identification", "midr_el1", files->midr));
    HONE_TRY(put(root, core, ".", "cpu_capacity", files->capacity));
    HONE_TRY(put(root, core, "cache/index0", "level", files->l2 ? "2\n" : NULL));
    HONE_TRY(put(root, core, "cache/index0", "type", "Unified\n"));
    HONE_TRY(put(root, core, "cache/index0", "size", files->l2));
    HONE_TRY(put(root, core, "cache/index1", "level", "2\n")); /* which nothing is packed for */
    HONE_TRY(put(root, core, "cache/index1", "type", "Instruction\n"));
    return put(root, core, "cache/index1", "size", "9K");
}

static hone_status put_board(const char *root, const struct row *row) {
    hone_str path = {0};
    for (int core = 0; core < MAX_CORES; core++)
        HONE_TRY(put_core(root, core, &row->files[core]));
    if (!row->cpuinfo) return HONE_OK;
    hone_str_printf(&path, "%s/proc", root);
    hone_status st = hone_fs_mkdirs(hone_str_text(&path));
    hone_str_append(&path, "/cpuinfo");
    if (!st) st = hone_fs_write_atomic(hone_str_text(&path), row->cpuinfo, strlen(row->cpuinfo));
    hone_str_deinit(&path);
    return st;
}

static void check_row(void **state) {
    const struct row *row = *state;
    char *root = NULL;
    hone_target target = {.l2_bytes = 7};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-cores-", &root));
    hone_status st = put_board(root, row);
    int strongest = hone_target_strongest_core(root, row->cores, row->count);
    const char *cpu = hone_target_arm_name(root, strongest);
    hone_target_detect_caches(root, strongest, &target);
    st = hone_status_join(st, hone_fs_remove_tree(root));
    hone_free(root);
    HONE_ASSERT_OK(st);
    assert_int_equal(strongest, row->strongest);
    assert_string_equal(cpu ? cpu : "nobody", row->cpu ? row->cpu : "nobody");
    assert_int_equal(target.l2_bytes, row->l2_bytes);
}

/* What detection can say is a name that LLVM knows. */
static void names_are_known(void **state) {
    static const char *const names[] = {
#define HONE_CPU(name, vendor, family, from, to) "llvm -mtriple=x86_64-linux-gnu -mcpu=" name,
#define HONE_ARM_PART(name, implementer, part) "llvm -mtriple=aarch64-linux-gnu -mcpu=" name,
#include "target/cpu_table.def"
#undef HONE_CPU
#undef HONE_ARM_PART
    };
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        hone_target target;
        HONE_ASSERT_OK(hone_target_parse(names[i], &target));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_known)};
    int failed = HONE_RUN_ROWS("target/cores", rows, check_row);
    return failed + cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
