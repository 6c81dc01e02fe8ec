/* schedule/intrin/tensor_intrin_builtin.c - the built-in tensor intrinsics: a table of names, and
 * how a name is taken apart. */
#include "schedule/intrin/tensor_intrin_impl.h"

#include <stdlib.h>
#include <string.h>

#include "support/core/attributes.h"

typedef struct builtin {
    const char *name;
    void (*write)(const intrin_words *words, hone_str *out);
} builtin;

static const builtin builtins[] = {
#define HONE_TENSOR_INTRIN(name, family) {name, intrin_write_##family},
#include "schedule/intrin/tensor_intrin_names.def"
#undef HONE_TENSOR_INTRIN
};

static const struct {
    const char *word, *dtype;
} types[] = {
    {"f16",  "float16"      },
    {"bf16", "bfloat16"     },
    {"f32",  "float32"      },
    {"tf32", "float32"      },
    {"s4",   "int4"         },
    {"i16",  "int16"        },
    {"s8",   "int8"         },
    {"i8",   "int8"         },
    {"u8",   "uint8"        },
    {"s32",  "int32"        },
    {"i32",  "int32"        },
    {"u32",  "uint32"       },
    {"e4m3", "float8_e4m3fn"},
    {"e5m2", "float8_e5m2"  },
};

/* "f16f16f32" is three types; a word that is something else is none. */
static void take_types(const char *word, size_t length, intrin_words *out) {
    const char *found[3];
    uint32_t count = 0;
    for (size_t at = 0; at < length;) {
        size_t i = 0, n = 0;
        for (; i < HONE_COUNT(types); i++) {
            n = strlen(types[i].word);
            if (n <= length - at && memcmp(word + at, types[i].word, n) == 0) break;
        }
        if (i == HONE_COUNT(types) || count == HONE_COUNT(found)) return;
        found[count++] = types[i].dtype;
        out->is_rounded |= strcmp(types[i].word, "tf32") == 0;
        at += n;
    }
    memcpy(out->types, found, count * sizeof *found);
    out->type_count = count;
}

/* "16x16x16", "m16n8k8" */
static void take_dims(const char *word, size_t length, intrin_words *out) {
    const char *end = word + length;
    bool is_dims = strchr("m0123456789", *word) && length > 2;
    for (const char *c = word; c < end; c++)
        is_dims = is_dims && strchr("mnkx0123456789", *c);
    if (!is_dims) return;
    while (word < end) {
        if (strchr("mnkx", *word)) word++;
        char *next;
        out->dims[out->dim_count++] = (int)strtol(word, &next, 10);
        word = next;
    }
}

static bool is_word(const char *word, size_t length, const char *wanted) {
    return strlen(wanted) == length && memcmp(word, wanted, length) == 0;
}

static void take_word(const char *word, size_t length, intrin_words *out) {
    const char *next = word[length] ? word + length + 1 : "";
    if (is_word(word, length, "trans")) {
        bool of_a = next[0] == 'a', of_b = next[0] == 'b';
        out->is_trans_a |= of_a;
        out->is_trans_b |= of_b;
        out->is_trans |= !of_a && !of_b;
    } else if (is_word(word, length, "b") || is_word(word, length, "B")) {
        out->is_b = true;
    } else if (is_word(word, length, "dyn")) {
        out->scope = "shared.dyn";
    } else if (is_word(word, length, "shared")) {
        out->scope = "shared";
    } else if (is_word(word, length, "global")) {
        out->scope = "global";
    } else if (is_word(word, length, "simple")) {
        out->is_simple = true;
    } else if (length > 0) {
        take_dims(word, length, out);
        take_types(word, length, out);
    }
}

/* $x in the text gives way to its value. */
void intrin_expand(hone_str *out, const char *text, const char *names, const char *const *values) {
    for (const char *c = text; *c; c++) {
        const char *name = *c == '$' ? strchr(names, c[1]) : NULL;
        if (name) {
            hone_str_append(out, values[name - names]);
            c++;
        } else {
            hone_str_append_char(out, *c);
        }
    }
}

bool tensor_intrin_write_builtin(const char *name, hone_str *out) {
    for (size_t i = 0; i < HONE_COUNT(builtins); i++) {
        if (strcmp(builtins[i].name, name) != 0) continue;
        intrin_words words = {0};
        for (const char *word = name;;) {
            size_t length = strcspn(word, "_");
            take_word(word, length, &words);
            if (!word[length]) break;
            word += length + 1;
        }
        hone_str_append(out, "from tvm.script import tirx as T\n");
        builtins[i].write(&words, out);
        return true;
    }
    return false;
}

const char *hone_tensor_intrin_builtin(size_t index) {
    return index < HONE_COUNT(builtins) ? builtins[index].name : NULL;
}
