/* ir/text/script_weights.c - see script_weights.h. */
#include "ir/text/script_weights.h"

#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"

enum {
    MOST_NUMBERS = 16, /* longer ones stand beside the text */
    MOST_WEIGHTS = 1 << 20
};

bool script_is_weight(const hone_tensor *t) {
    int64_t count = hone_tensor_count(t);
    return count > MOST_NUMBERS || count == 0 || t->dtype.lanes != 1;
}

char *script_weights_path(const char *path) {
    hone_str out = {0};
    hone_str_append(&out, path);
    size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".py") == 0) hone_str_truncate(&out, length - 3);
    hone_str_append(&out, ".safetensors");
    return hone_str_take(&out);
}

hone_status script_weights_sort(const hone_tensor_set *set, hone_tensor ***out_weights,
                                uint32_t *out_count) {
    uint32_t count = (uint32_t)(set->count < MOST_WEIGHTS ? set->count : MOST_WEIGHTS);
    for (size_t i = 0; i < set->count; i++) {
        unsigned number = 0;
        bool numbered = sscanf(set->data[i].name, "constant.%u", &number) == 1;
        if (numbered && number < MOST_WEIGHTS && number >= count) count = number + 1;
    }
    hone_tensor **weights = hone_calloc(count ? count : 1, sizeof(hone_tensor *));
    if (!weights) return HONE_ERROR(HONE_CODE_NO_MEMORY, "weights");
    for (size_t i = 0; i < set->count; i++) {
        unsigned number = 0;
        bool numbered = sscanf(set->data[i].name, "constant.%u", &number) == 1;
        if (!numbered) number = (unsigned)i; /* a file of another tool: in its order */
        if (number < count) weights[number] = set->data[i].tensor;
    }
    *out_weights = weights;
    *out_count = count;
    return HONE_OK;
}

hone_status script_weights_save(const hone_module *module, const char *path) {
    hone_tensor_set set = {0};
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < module->constant_count && !st; i++) {
        if (!module->constants[i] || !script_is_weight(module->constants[i])) continue;
        char name[32];
        hone_tensor *copy = NULL;
        snprintf(name, sizeof name, "constant.%u", i);
        HONE_TRY_GOTO(st, hone_tensor_share(module->constants[i], &copy), done);
        st = hone_tensor_set_add(&set, name, copy);
    }
    if (!st && set.count) st = hone_tensor_set_save(path, &set);
done:
    hone_tensor_set_deinit(&set);
    return st;
}
