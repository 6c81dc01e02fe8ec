/* ir/ops/graph_op.c - the table of graph operators, by name and parameter. */
#include "ir/ops/graph_op.h"

#include <string.h>

#include "ir/ops/graph_infer.h"

static const hone_graph_op ops[] = {
#define HONE_GRAPH_OP(name, args, attrs, pattern, rule)                                            \
    {name, args, attrs, HONE_PATTERN_##pattern, HONE_INFER_##rule},
#include "ir/ops/graph_ops.def"
#undef HONE_GRAPH_OP
};

const hone_graph_op *hone_graph_op_find(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(ops); i++) {
        if (strcmp(ops[i].name, name) == 0) return &ops[i];
    }
    return NULL;
}

static const char *const names[] = {
#define HONE_GRAPH_NAME(name) name,
#define HONE_GRAPH_MADE(name) name,
#include "ir/ops/graph_names.def"
#undef HONE_GRAPH_MADE
#undef HONE_GRAPH_NAME
};

static const char *const made[] = {
#define HONE_GRAPH_NAME(name)
#define HONE_GRAPH_MADE(name) name,
#include "ir/ops/graph_names.def"
#undef HONE_GRAPH_MADE
#undef HONE_GRAPH_NAME
};

bool hone_graph_op_runs(const char *name) {
    for (size_t i = 0; i < HONE_COUNT(made); i++) {
        if (strcmp(made[i], name) == 0) return true;
    }
    return hone_graph_op_find(name) != NULL;
}

const char *hone_graph_op_name_at(size_t index) {
    if (index < HONE_COUNT(ops)) return ops[index].name;
    index -= HONE_COUNT(ops);
    return index < HONE_COUNT(names) ? names[index] : NULL;
}

bool hone_graph_op_is_named(const char *name) {
    const char *known;
    for (size_t i = 0; (known = hone_graph_op_name_at(i)) != NULL; i++) {
        size_t length = strlen(known);
        bool is_family = known[length - 1] == '.';
        if (is_family ? strncmp(known, name, length) == 0 && name[length]
                      : strcmp(known, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The word number *position of a list, counting it down over the words passed. */
static const char *word_at(const char *list, size_t *position, size_t *out_length) {
    while (*list) {
        size_t length = strcspn(list, " ");
        if (*position == 0) {
            *out_length = length;
            return list;
        }
        --*position;
        list += length;
        list += strspn(list, " ");
    }
    return NULL;
}

const char *hone_graph_op_param(const hone_graph_op *op, size_t position, size_t *out_length,
                                bool *out_is_attr) {
    size_t length = 0;
    *out_is_attr = false;
    const char *word = word_at(op->args, &position, &length);
    if (!word) {
        *out_is_attr = true;
        word = word_at(op->attrs, &position, &length);
    }
    *out_length = word ? strcspn(word, "=?* ") : 0;
    return word;
}
