/* tests/ir/test_module.c - members of modules by name, few and many. */
#include <stdio.h>

#include "ir/core/module.h"
#include "tests/support/hone_test.h"

static void add(hone_module *module, const char *name) {
    HONE_ASSERT_OK(hone_module_add_extern(module, name));
}

/* "add", "add1", …, "add<count - 1>". */
static hone_module *module_of(uint32_t count) {
    hone_module *module;
    char name[32];
    HONE_ASSERT_OK(hone_module_create(&module));
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, i ? "add%u" : "add", i);
        add(module, name);
    }
    return module;
}

static void check_members(const hone_module *module) {
    for (uint32_t i = 0; i < module->member_count; i++)
        assert_ptr_equal(hone_module_find(module, module->members[i].name), &module->members[i]);
    assert_null(hone_module_find(module, "ad"));
    assert_null(hone_module_find(module, "add01"));
    assert_null(hone_module_find(module, "add1000"));
}

static void finds_members(void **state) {
    (void)state;
    for (uint32_t count = 1; count < 120; count++) {
        hone_module *module = module_of(count);
        check_members(module);
        HONE_ASSERT_ERROR(hone_module_add_extern(module, "add"), HONE_CODE_INVALID,
                          "function 'add' is defined twice");
        assert_int_equal(hone_module_last_number(module, "add"), count - 1);
        assert_int_equal(hone_module_last_number(module, "add1"),
                         count > 19   ? count < 110 ? 9 : (int)count - 101
                         : count > 11 ? (int)count - 11
                         : count > 1  ? 0
                                      : -1);
        assert_int_equal(hone_module_last_number(module, "sub"), -1);
        hone_module_release(module);
    }
}

/* Every second one goes; names are free again, and numbers are those of who stays. */
static void drops_members(void **state) {
    (void)state;
    for (uint32_t count = 2; count < 100; count += 7) {
        hone_module *module = module_of(count);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; i += 2)
            module->members[kept++] = module->members[i];
        hone_module_cut(module, kept);
        check_members(module);
        assert_null(hone_module_find(module, "add1"));
        assert_int_equal(hone_module_last_number(module, "add"), 2 * (kept - 1));
        add(module, "add1");
        add(module, "add007");
        add(module, "add5000000000");
        check_members(module);
        assert_int_equal(hone_module_last_number(module, "add"),
                         kept > 1 ? 2 * (int)(kept - 1) : 1);
        hone_module_release(module);
    }
}

/* A name that is too long for the index: members are looked through. */
static void takes_long_names(void **state) {
    (void)state;
    char name[400];
    hone_module *module = module_of(50);
    snprintf(name, sizeof name, "%0300d_7", 0);
    add(module, name);
    add(module, "add50");
    check_members(module);
    assert_non_null(hone_module_find(module, name));
    assert_int_equal(hone_module_last_number(module, "add"), 50);
    hone_module_release(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_members),
        cmocka_unit_test(drops_members),
        cmocka_unit_test(takes_long_names),
    };
    return cmocka_run_group_tests_name("ir/module", tests, NULL, NULL);
}
