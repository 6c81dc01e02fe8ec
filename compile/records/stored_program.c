/* compile/records/stored_program.c - reads programs of databases and compares them with their
 * identity. */
#include "compile/records/stored_program.h"

#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/read/script.h"

static hone_status pick_func(const hone_module *module, const hone_func **out_func) {
    const hone_member *member;
    HONE_TRY(hone_module_pick(module, NULL, &member));
    if (member->kind != HONE_MEMBER_FUNC)
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is not a PrimFunc", member->name);
    *out_func = member->func;
    return HONE_OK;
}

hone_status hone_stored_program_read(const char *text, hone_module **out_module,
                                     const hone_func **out_func) {
    *out_module = NULL;
    *out_func = NULL;
    HONE_TRY(hone_script_parse_outline(text, strlen(text), "stored program", out_module));
    hone_status st = pick_func(*out_module, out_func);
    if (!st) return HONE_OK;
    hone_module_release(*out_module);
    *out_module = NULL;
    return st;
}

hone_status hone_stored_program_check(const hone_db_workload *workload) {
    hone_module *module;
    const hone_func *func;
    char named[HONE_HASH_HEX_BYTES], is[HONE_HASH_HEX_BYTES];
    if (workload->hash_version != HONE_STRUCTURAL_VERSION) return HONE_OK;
    hone_status st = hone_stored_program_read(workload->program, &module, &func);
    if (st)
        return hone_status_consume(st) == HONE_CODE_NO_MEMORY ? HONE_NO_MEMORY("stored program")
                                                              : HONE_OK;
    hone_hash128 hash = hone_func_hash(func);
    hone_module_release(module);
    if (hone_hash128_is_zero(hash)) return HONE_NO_MEMORY("stored program");
    if (hone_hash128_equal(hash, workload->hash)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "the program '%s' is another one than its hash %s says, its own is %s: the "
                      "text was altered",
                      workload->name, hone_hash128_print(workload->hash, named),
                      hone_hash128_print(hash, is));
}
