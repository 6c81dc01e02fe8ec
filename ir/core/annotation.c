/* ir/core/annotation.c - which annotations are known, and of what kind their values must be. */
#include "ir/core/annotation.h"

#include <string.h>

#include "ir/core/expr.h"
#include "support/core/attributes.h"

typedef enum note_kind { NOTE_INT, NOTE_TEXT, NOTE_INTS, NOTE_TEXTS } note_kind;

static const struct note {
    const char *key;
    note_kind kind;
} notes[] = {
    {"pragma_auto_unroll_max_step",                NOTE_INT  },
    {"pragma_unroll_explicit",                     NOTE_INT  },
    {"pragma_unroll",                              NOTE_INT  },
    {"disable_unroll",                             NOTE_INT  },
    {"pragma_vector_reduce",                       NOTE_INT  },
    {"pragma_prefetch",                            NOTE_INT  },
    {"pragma_prefetch_stores",                     NOTE_INT  },
    {"pragma_streaming_store",                     NOTE_INT  },
    {"pragma_bf16_dot",                            NOTE_INT  },
    {"pragma_import_c",                            NOTE_TEXT },
    {"pragma_import_llvm",                         NOTE_TEXT },
    {"meta_schedule.parallel",                     NOTE_INT  },
    {"meta_schedule.vectorize",                    NOTE_INT  },
    {"meta_schedule.unroll_explicit",              NOTE_INT  },
    {"meta_schedule.unroll_implicit",              NOTE_INT  },
    {"meta_schedule.cooperative_fetch",            NOTE_INT  },
    {"meta_schedule.thread_extent_low_inclusive",  NOTE_INT  },
    {"meta_schedule.thread_extent_high_inclusive", NOTE_INT  },
    {"meta_schedule.tiling_structure",             NOTE_TEXT },
    {"meta_schedule.auto_tensorize",               NOTE_TEXT },
    {"meta_schedule.auto_tensorize_init",          NOTE_TEXT },
    {"hone.chunk",                                 NOTE_INT  },
    {"hone.scheduled",                             NOTE_INT  },
    {"hone.synced",                                NOTE_INT  },
    {"hone.relaxed",                               NOTE_INT  },
    {"hone.min_blocks",                            NOTE_INT  },
    {"hone.import_c",                              NOTE_TEXTS},
    {"hone.import_llvm",                           NOTE_TEXTS},
    {HONE_DOUBLE_BUFFER,                           NOTE_INT  },
    {HONE_PIPELINE_STAGE,                          NOTE_INTS },
    {HONE_PIPELINE_ORDER,                          NOTE_INTS },
    {"software_pipeline_async_stages",             NOTE_INTS },
};

static bool is_int(const hone_value *value) {
    return value->kind == HONE_VALUE_INT || value->kind == HONE_VALUE_BOOL ||
           (value->kind == HONE_VALUE_EXPR && hone_expr_is_int(value->u.expr));
}

static bool is_text(const hone_value *value) {
    return value->kind == HONE_VALUE_STRING;
}

static bool is_list_of(const hone_value *value, bool (*is_one)(const hone_value *item)) {
    if (value->kind != HONE_VALUE_LIST) return false;
    for (uint32_t i = 0; i < value->count; i++) {
        if (!is_one(&value->u.items[i])) return false;
    }
    return true;
}

const char *hone_annotation_misfit(const char *key, const hone_value *value) {
    for (size_t i = 0; i < HONE_COUNT(notes); i++) {
        if (strcmp(notes[i].key, key) != 0) continue;
        switch (notes[i].kind) {
        case NOTE_INT:
            return is_int(value) ? NULL : "a whole number";
        case NOTE_TEXT:
            return is_text(value) ? NULL : "a text";
        case NOTE_INTS:
            return is_list_of(value, is_int) ? NULL : "a list of whole numbers";
        case NOTE_TEXTS:
            return is_list_of(value, is_text) ? NULL : "a list of texts";
        }
    }
    return NULL;
}
