/* costmodel/tree_forest.c - see tree_forest.h.
 *
 * The nodes of all trees stand in one array; children are indices into it and always behind their
 * parent, so a walk ends. A leaf has column LEAF and its value in `threshold`.
 */
#include "costmodel/tree_forest.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/number.h"
#include "support/data/vec.h"

#define LEAF UINT32_MAX

enum { MAX_NODE_ID = 1 << 16 };

typedef struct tree_node {
    uint32_t column;
    float threshold; /* row[column] < threshold: go to yes */
    uint32_t yes, no;
} tree_node;

struct tree_forest {
    atomic_int references;
    HONE_VEC(tree_node) nodes;
    HONE_VEC(uint32_t) roots;
};

static tree_forest *make(void) {
    tree_forest *forest = hone_calloc(1, sizeof *forest);
    if (forest) atomic_init(&forest->references, 1);
    return forest;
}

tree_forest *tree_forest_retain(tree_forest *forest) {
    if (forest) atomic_fetch_add(&forest->references, 1);
    return forest;
}

void tree_forest_release(tree_forest *forest) {
    if (!forest || atomic_fetch_sub(&forest->references, 1) != 1) return;
    hone_vec_deinit(&forest->nodes);
    hone_vec_deinit(&forest->roots);
    hone_free(forest);
}

size_t tree_forest_count(const tree_forest *forest) {
    return forest ? forest->roots.count : 0;
}

double tree_forest_row(const tree_forest *forest, const float *row) {
    const tree_node *nodes = forest->nodes.data;
    double sum = 0;
    for (size_t i = 0; i < forest->roots.count; i++) {
        const tree_node *node = &nodes[forest->roots.data[i]];
        while (node->column != LEAF) {
            node = &nodes[row[node->column] < node->threshold ? node->yes : node->no];
        }
        sum += (double)node->threshold;
    }
    return sum;
}

double tree_forest_rows(const tree_forest *forest, const float *rows, uint32_t row_count,
                        uint32_t columns) {
    double sum = 0;
    for (uint32_t r = 0; r < row_count && forest; r++)
        sum += tree_forest_row(forest, rows + (size_t)r * columns);
    return sum;
}

/* ---- several as one ---- */

/* Adds the trees of a forest, each leaf a part of what it was. */
static bool add_part(const tree_forest *of, float part, tree_forest *io) {
    uint32_t first = (uint32_t)io->nodes.count;
    for (size_t i = 0; i < of->nodes.count; i++) {
        tree_node node = of->nodes.data[i];
        if (node.column == LEAF) {
            node.threshold *= part;
        } else {
            node.yes += first;
            node.no += first;
        }
        if (!hone_vec_push(&io->nodes, node)) return false;
    }
    for (size_t i = 0; i < of->roots.count; i++) {
        if (!hone_vec_push(&io->roots, of->roots.data[i] + first)) return false;
    }
    return true;
}

hone_status tree_forest_mean(const tree_forest *const *forests, size_t count,
                             tree_forest **out_forest) {
    tree_forest *mean = make();
    bool ok = mean != NULL;
    *out_forest = NULL;
    for (size_t i = 0; i < count && ok; i++)
        ok = !forests[i] || add_part(forests[i], 1 / (float)count, mean);
    if (ok && mean->roots.count) {
        *out_forest = mean;
    } else {
        tree_forest_release(mean);
    }
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "trees of the cost model");
}

/* ---- XGBoost's text: "0:[f3<1.5] yes=1,no=2,missing=1\n\t1:leaf=0.25\n..." ---- */

typedef struct parsed_node {
    bool is_there, is_leaf;
    uint32_t feature, yes, no;
    float threshold;
} parsed_node;

typedef HONE_VEC(parsed_node) parsed_vec;

/* Expects a literal text and steps over it. */
static bool eat(const char **at, const char *text) {
    size_t length = strlen(text);
    if (strncmp(*at, text, length) != 0) return false;
    *at += length;
    return true;
}

static bool eat_number(const char **at, uint32_t *out) {
    char *end;
    unsigned long value = strtoul(*at, &end, 10);
    if (end == *at || value > MAX_NODE_ID) return false;
    *at = end;
    *out = (uint32_t)value;
    return true;
}

static bool eat_float(const char **at, float *out) {
    char *end;
    *out = hone_number_parse_f32(*at, &end);
    if (end == *at || !isfinite(*out)) return false;
    *at = end;
    return true;
}

static bool parse_line(const char **at, uint32_t *out_id, parsed_node *node) {
    uint32_t missing;
    *node = (parsed_node){.is_there = true};
    *at += strspn(*at, "\t ");
    if (!eat_number(at, out_id) || !eat(at, ":")) return false;
    node->is_leaf = eat(at, "leaf=");
    if (node->is_leaf) return eat_float(at, &node->threshold) && eat(at, "\n");
    return eat(at, "[f") && eat_number(at, &node->feature) && eat(at, "<") &&
           eat_float(at, &node->threshold) && eat(at, "] yes=") && eat_number(at, &node->yes) &&
           eat(at, ",no=") && eat_number(at, &node->no) && eat(at, ",missing=") &&
           eat_number(at, &missing) && eat(at, "\n");
}

/* Fills `nodes` by node id. False: no text of a tree; memory shows in *out_full. */
static bool parse_tree(const char *text, parsed_vec *nodes, bool *out_full) {
    *out_full = false;
    hone_vec_clear(nodes);
    while (*text) {
        uint32_t id;
        parsed_node node;
        if (!parse_line(&text, &id, &node)) return false;
        if (id >= nodes->count && !hone_vec_resize(nodes, (size_t)id + 1)) {
            *out_full = true;
            return false;
        }
        nodes->data[id] = node;
    }
    return nodes->count > 0;
}

/* Copies the parsed tree below `id` behind what is there, children after parents. */
static hone_status copy_tree(tree_forest *forest, const parsed_vec *parsed, const uint32_t *columns,
                             size_t column_count) {
    HONE_VEC(uint32_t) ids = {0}; /* ids.data[k] stands at nodes[base + k] */
    size_t base = forest->nodes.count;
    bool ok = hone_vec_push(&ids, 0u) && hone_vec_push(&forest->roots, (uint32_t)base);
    bool sound = true;
    for (size_t k = 0; ok && sound && k < ids.count; k++) {
        uint32_t id = ids.data[k];
        sound = id < parsed->count && parsed->data[id].is_there && ids.count <= 2 * parsed->count;
        if (!sound) break;
        const parsed_node *from = &parsed->data[id];
        sound = from->is_leaf || from->feature < column_count;
        if (!sound) break;
        tree_node node = {.column = LEAF, .threshold = from->threshold};
        if (!from->is_leaf) {
            node.column = columns[from->feature];
            node.yes = (uint32_t)(base + ids.count);
            node.no = node.yes + 1;
            ok = hone_vec_push(&ids, from->yes) && hone_vec_push(&ids, from->no);
        }
        ok = ok && hone_vec_push(&forest->nodes, node);
    }
    hone_vec_deinit(&ids);
    if (!ok) return HONE_NO_MEMORY("trees of the cost model");
    return sound ? HONE_OK : HONE_ERROR(HONE_CODE_INTERNAL, "a tree of the cost model is broken");
}

hone_status tree_forest_parse(const char *const *trees, size_t tree_count, const uint32_t *columns,
                              size_t column_count, tree_forest **out_forest) {
    *out_forest = NULL;
    tree_forest *forest = make();
    if (!forest) return HONE_NO_MEMORY("trees of the cost model");
    parsed_vec parsed = {0};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < tree_count && !st; i++) {
        bool full = false;
        if (parse_tree(trees[i], &parsed, &full)) {
            st = copy_tree(forest, &parsed, columns, column_count);
        } else if (full) {
            st = HONE_NO_MEMORY("trees of the cost model");
        } else {
            st = HONE_ERROR(HONE_CODE_INTERNAL, "cannot read tree %zu of XGBoost", i);
        }
    }
    hone_vec_deinit(&parsed);
    if (st) {
        tree_forest_release(forest);
        return st;
    }
    *out_forest = forest;
    return HONE_OK;
}

/* ---- our own text ---- */

static size_t end_of_tree(const tree_forest *forest, size_t tree) {
    return tree + 1 < forest->roots.count ? forest->roots.data[tree + 1] : forest->nodes.count;
}

void tree_forest_print(const tree_forest *forest, hone_str *out) {
    for (size_t t = 0; t < tree_forest_count(forest); t++) {
        for (size_t i = forest->roots.data[t]; i < end_of_tree(forest, t); i++) {
            const tree_node *node = &forest->nodes.data[i];
            if (i > forest->roots.data[t]) hone_str_append_char(out, ' ');
            if (node->column != LEAF) hone_str_printf(out, "%u<", (unsigned)node->column);
            if (node->column == LEAF) hone_str_append_char(out, '=');
            hone_str_printf(out, "%.9g", (double)node->threshold);
        }
        hone_str_append_char(out, '\n');
    }
}

static hone_status bad_text(void) {
    return HONE_ERROR(HONE_CODE_INVALID, "the trees of a cost model are broken");
}

static bool read_node(const char **at, uint32_t columns, tree_node *out) {
    *out = (tree_node){.column = LEAF};
    if (eat(at, "=")) return eat_float(at, &out->threshold);
    return eat_number(at, &out->column) && out->column < columns && eat(at, "<") &&
           eat_float(at, &out->threshold);
}

/* A line: the children of each inner node are the next two that nobody has yet. */
static hone_status read_tree(const char **at, uint32_t columns, tree_forest *forest) {
    uint32_t root = (uint32_t)forest->nodes.count, open = root + 1;
    if (!hone_vec_push(&forest->roots, root)) return HONE_NO_MEMORY("trees of the cost model");
    do {
        tree_node node;
        if (forest->nodes.count >= open || !read_node(at, columns, &node)) return bad_text();
        node.yes = open;
        node.no = open + 1;
        if (node.column != LEAF) open += 2;
        if (!hone_vec_push(&forest->nodes, node)) return HONE_NO_MEMORY("trees of the cost model");
    } while (eat(at, " "));
    return forest->nodes.count == open && eat(at, "\n") ? HONE_OK : bad_text();
}

hone_status tree_forest_read(const char *text, size_t length, uint32_t columns,
                             tree_forest **out_forest) {
    const char *at = text;
    *out_forest = NULL;
    if (memchr(text, 0, length) || text[length]) return bad_text();
    tree_forest *forest = make();
    hone_status st = forest ? HONE_OK : HONE_NO_MEMORY("trees of the cost model");
    while (!st && at < text + length)
        st = read_tree(&at, columns, forest);
    if (st) {
        tree_forest_release(forest);
        return st;
    }
    *out_forest = forest;
    return HONE_OK;
}
