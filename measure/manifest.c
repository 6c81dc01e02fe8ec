/* measure/manifest.c - sizes of arguments, and what a sane manifest is. */
#include "measure/manifest.h"

bool hone_dtype_is_measurable(hone_dtype dtype) {
    return dtype.lanes == 1 && hone_dtype_is_storable(dtype) && !hone_dtype_is_handle(dtype);
}

int64_t hone_arg_elements(const hone_arg *arg) {
    if (arg->rank > HONE_MAX_RANK) return -1;
    int64_t elements = 1;
    bool empty = false;
    for (uint32_t i = 0; i < arg->rank; i++) {
        if (arg->shape[i] < 0) return -1;
        if (arg->shape[i] == 0) empty = true;
    }
    for (uint32_t i = 0; i < arg->rank && !empty; i++) {
        if (elements > HONE_ARG_MAX_BYTES / arg->shape[i]) return -1;
        elements *= arg->shape[i];
    }
    return empty ? 0 : elements;
}

int64_t hone_arg_bytes(const hone_arg *arg) {
    int64_t elements = hone_arg_elements(arg);
    int64_t each = (int64_t)hone_dtype_bytes(arg->dtype);
    if (elements < 0 || (each > 0 && elements > HONE_ARG_MAX_BYTES / each)) return -1;
    return elements * each;
}

const char *hone_arg_role_name(hone_arg_role role) {
    static const char *const names[] = {"in", "out", "inout"};
    return (unsigned)role < HONE_COUNT(names) ? names[role] : "unknown";
}

static hone_status check_arg(const hone_arg *arg, size_t index) {
    const char *name = arg->name ? arg->name : "";
    if ((unsigned)arg->role > HONE_ARG_INOUT) {
        return HONE_ERROR(HONE_CODE_INVALID, "argument %zu '%s' has the unknown role %d", index,
                          name, (int)arg->role);
    }
    if (!hone_dtype_is_measurable(arg->dtype)) {
        return HONE_ERROR(HONE_CODE_INVALID, "argument %zu '%s' has elements of type '%s'", index,
                          name, HONE_DTYPE_NAME(arg->dtype));
    }
    if (arg->rank > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_INVALID, "argument %zu '%s' has rank %u, at most %d can be",
                          index, name, arg->rank, HONE_MAX_RANK);
    }
    if (hone_arg_bytes(arg) < 0) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "argument %zu '%s' has a negative extent or is too large", index, name);
    }
    return HONE_OK;
}

static hone_status check_count(const char *what, size_t count, size_t limit, const void *items) {
    if (count > limit) {
        return HONE_ERROR(HONE_CODE_INVALID, "manifest has %zu %s, at most %zu can be", count, what,
                          limit);
    }
    if (count && !items) return HONE_ERROR(HONE_CODE_INVALID, "manifest has no list of %s", what);
    return HONE_OK;
}

static hone_status check_counts(const hone_manifest *m) {
    HONE_TRY(check_count("arguments", m->arg_count, HONE_MANIFEST_MAX_ARGS, m->args));
    HONE_TRY(check_count("sizes", m->size_count, HONE_MANIFEST_MAX_SIZES, m->sizes));
    HONE_TRY(
        check_count("external functions", m->extern_count, HONE_MANIFEST_MAX_EXTERNS, m->externs));
    HONE_TRY(check_count("values", m->value_count, HONE_LAUNCH_MAX_VALUES, m->values));
    HONE_TRY(check_count("scratch buffers", m->scratch_count, HONE_LAUNCH_MAX_SCRATCH, m->scratch));
    return check_count("launches", m->launch_count, HONE_LAUNCH_MAX_COUNT, m->launches);
}

hone_status hone_manifest_check(const hone_manifest *manifest) {
    if (!manifest->entry || !manifest->entry[0]) {
        return HONE_ERROR(HONE_CODE_INVALID, "manifest names no entry function");
    }
    HONE_TRY(check_counts(manifest));
    for (size_t i = 0; i < manifest->arg_count; i++)
        HONE_TRY(check_arg(&manifest->args[i], i));
    for (size_t i = 0; i < manifest->extern_count; i++) {
        if (!manifest->externs[i] || !manifest->externs[i][0]) {
            return HONE_ERROR(HONE_CODE_INVALID, "external function %zu has no name", i);
        }
    }
    return hone_launches_check(manifest);
}
