#include "schedule/tensor_intrin_impl.h"

#include <string.h>

#include "support/attributes.h"

/* The built-in tensor intrinsics, by TVM's names. */

static const tensor_intrin_text texts[] = {
    {"", ""},
};

const tensor_intrin_text *tensor_intrin_find_builtin(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(texts); i++) {
        if (strcmp(texts[i].name, name) == 0) return &texts[i];
    }
    return NULL;
}

const char *hone_tensor_intrin_builtin(size_t index) {
    return index < HONE_COUNT(texts) ? texts[index].name : NULL;
}
