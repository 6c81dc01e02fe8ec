/* tools/cli/cli_made_up.c - inputs that nobody gave, and outputs whose sizes nobody knows. */
#include <string.h>

#include "ir/text/print/script_print.h"
#include "ir/values/input_fill.h"
#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/data/rng.h"
#include "support/data/vec.h"
#include "tools/cli/cli_dims.h"
#include "tools/cli/cli_tensors.h"

enum { INPUT_SEED = 20 };

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "tensors");
}

/* ---- inputs ---- */

static hone_status no_such_size(const hone_cli_want *want, int32_t d) {
    return HONE_ERROR(HONE_CODE_INVALID,
                      "'%s': dimension %d, '%s', is no size for these sizes; --shape gives others",
                      want->name, (int)d, want->dim_names[d] ? want->dim_names[d] : "any");
}

static hone_status make_shape(const hone_cli_want *want, const hone_dim_variant *sizes,
                              int64_t *shape) {
    for (int32_t d = 0; d < want->rank; d++) {
        shape[d] = want->shape[d];
        if (shape[d] >= 0) continue;
        bool is_known = hone_cli_dim_value(want->dim_names[d], sizes, 1, &shape[d]);
        if (!is_known || shape[d] < 0) return no_such_size(want, d);
    }
    return HONE_OK;
}

static hone_status make_up(hone_cli *cli, const hone_cli_want *want, const hone_dim_variant *sizes,
                           hone_rng *rng, hone_cli_tensors *set) {
    int64_t shape[HONE_MAX_RANK], size = 1;
    hone_tensor *tensor;
    HONE_TRY(make_shape(want, sizes, shape));
    HONE_TRY(hone_tensor_create(want->dtype, want->rank, shape, &tensor));
    if (want->is_size) {
        (void)hone_cli_dim_value(want->name, sizes, 1, &size);
        hone_tensor_set_i64(tensor, 0, size);
    } else if (want->suits) {
        if (!hone_input_values_fill(want->suits, false, cli->arena, rng, tensor)) {
            hone_tensor_destroy(tensor);
            return no_memory();
        }
    } else {
        hone_tensor_fill_random(tensor, rng, hone_dtype_is_float(want->dtype) ? -1 : 0, 1);
    }
    HONE_TRY(hone_cli_tensors_add(set, want->name, tensor));
    set->data[set->count - 1].is_made_up = !want->is_size;
    return HONE_OK;
}

hone_status hone_cli_make_up(hone_cli *cli, const hone_cli_want *wants, size_t count,
                             const hone_cli_list *shapes, hone_cli_tensors *set) {
    hone_dim_variants sizes = {0};
    hone_status st = hone_dim_variants_parse(shapes->items, shapes->count, &sizes);
    hone_rng rng = hone_rng_from_seed(INPUT_SEED);
    for (size_t i = 0; i < count && !st; i++)
        st = make_up(cli, &wants[i], sizes.count ? &sizes.items[0] : NULL, &rng, set);
    hone_dim_variants_deinit(&sizes);
    return st;
}

/* ---- inputs that suit ---- */

/* Whole numbers that most programs take: an index, a divisor, a shift. */
static const int64_t plain_numbers[] = {1, 0};

static bool is_whole_made_up(const hone_cli_tensor *input) {
    return input->is_made_up && !hone_dtype_is_float(input->tensor->dtype);
}

static bool has_whole_numbers(const hone_cli_tensors *inputs) {
    bool has_some = false;
    for (size_t i = 0; i < inputs->count; i++)
        has_some |= is_whole_made_up(&inputs->data[i]);
    return has_some;
}

/* All whole numbers are `number`; false: there are none. */
static bool refill(const hone_cli_tensors *inputs, int64_t number) {
    for (size_t i = 0; i < inputs->count; i++) {
        hone_tensor *tensor = inputs->data[i].tensor;
        if (!is_whole_made_up(&inputs->data[i])) continue;
        for (int64_t e = hone_tensor_count(tensor) - 1; e >= 0; e--)
            hone_tensor_set_i64(tensor, e, number);
    }
    return has_whole_numbers(inputs);
}

/* Takes and returns failed. */
static hone_status say_made_up(hone_status failed) {
    hone_status st = HONE_ERROR(hone_status_code(failed),
                                "%s; the inputs are made up, --in NAME=FILE gives others",
                                hone_status_message(failed));
    hone_status_free(failed);
    return st;
}

hone_status hone_cli_run_made_up(const hone_cli_tensors *inputs, bool are_final,
                                 hone_status (*run)(void *ctx), void *ctx) {
    hone_status first = run(ctx);
    if (hone_status_code(first) != HONE_CODE_ILLEGAL) return first;
    for (size_t i = 0; i < HONE_COUNT(plain_numbers); i++) {
        if (are_final && has_whole_numbers(inputs)) break;
        if (!refill(inputs, plain_numbers[i])) return first;
        hone_status st = run(ctx);
        bool is_over = hone_status_code(st) != HONE_CODE_ILLEGAL;
        hone_status_free(is_over ? first : st);
        if (is_over) return st;
    }
    return say_made_up(first);
}

/* ---- outputs ---- */

/* The sizes that are known: by name, those of --shape last. */
typedef struct known_sizes {
    HONE_VEC(hone_graph_dim) dims;
} known_sizes;

static bool know(known_sizes *known, const char *name, int64_t size) {
    hone_graph_dim dim = {.name = name, .size = size};
    return !name || hone_vec_push(&known->dims, dim);
}

static bool know_inputs(known_sizes *known, const hone_model_entry *entry,
                        hone_tensor *const *inputs) {
    bool ok = true;
    for (int32_t i = 0; i < entry->input_count; i++) {
        const hone_model_port *port = &entry->inputs[i];
        bool is_number = port->ndim == 0 && !hone_dtype_is_float(hone_model_port_dtype(port));
        if (is_number) ok &= know(known, port->name, hone_tensor_get_i64(inputs[i], 0));
        for (int32_t d = 0; d < port->ndim && d < inputs[i]->rank; d++)
            ok &= know(known, port->dim_names[d], inputs[i]->shape[d]);
    }
    return ok;
}

static bool is_known(void *ctx, const char *name, size_t length) {
    const known_sizes *known = ctx;
    for (size_t i = 0; i < known->dims.count; i++) {
        if (hone_is_name_printed(known->dims.data[i].name, name, length)) return true;
    }
    return false;
}

/* A name may look like what is computed. */
static bool is_dim_known(const char *dim, known_sizes *known) {
    return !dim || is_known(known, dim, strlen(dim)) || hone_cli_dim_visit(dim, is_known, known);
}

/* Does the library find them by itself? */
static bool follow_from_inputs(const hone_model_entry *entry, known_sizes *known) {
    for (int32_t i = 0; i < entry->output_count; i++) {
        const hone_model_port *port = &entry->outputs[i];
        bool is_made = port->sized == HONE_MODEL_MADE;
        for (int32_t d = 0; d < port->ndim && !is_made; d++)
            if (port->shape[d] < 0 && !is_dim_known(port->dim_names[d], known)) return false;
    }
    return true;
}

static hone_status make_output(const hone_model_port *port, const hone_dim_variant *sizes,
                               int64_t others, hone_tensor **out) {
    int64_t shape[HONE_MAX_RANK];
    for (int32_t d = 0; d < port->ndim && d < HONE_MAX_RANK; d++) {
        shape[d] = port->shape[d];
        if (shape[d] >= 0 ||
            (hone_cli_dim_value(port->dim_names[d], sizes, others, &shape[d]) && shape[d] > 0))
            continue;
        return HONE_ERROR(HONE_CODE_INVALID,
                          "the shape of '%s' does not follow from the inputs; --shape gives sizes",
                          port->name);
    }
    return hone_tensor_create(hone_model_port_dtype(port), port->ndim, shape, out);
}

static hone_status make_outputs(const hone_model_entry *entry, const hone_dim_variant *sizes,
                                int64_t others, hone_tensor ***out_outputs) {
    *out_outputs = hone_calloc((size_t)entry->output_count + 1, sizeof **out_outputs);
    if (!*out_outputs) return no_memory();
    hone_status st = HONE_OK;
    for (int32_t i = 0; i < entry->output_count && !st; i++)
        st = make_output(&entry->outputs[i], sizes, others, &(*out_outputs)[i]);
    if (!st) return HONE_OK;
    hone_model_free_outputs(entry, *out_outputs);
    *out_outputs = NULL;
    return st;
}

hone_status hone_cli_make_outputs(const hone_loaded_model *model, const hone_model_entry *entry,
                                  hone_tensor *const *inputs, const hone_cli_list *shapes,
                                  bool are_made_up, hone_tensor ***out_outputs) {
    known_sizes known = {{0}};
    hone_dim_variants named = {0};
    *out_outputs = NULL;
    hone_status st = know_inputs(&known, entry, inputs) ? HONE_OK : no_memory();
    bool is_easy = !st && follow_from_inputs(entry, &known);
    if (is_easy) st = hone_loaded_model_make_outputs(model, entry, inputs, out_outputs);
    if (is_easy || st) goto done;
    HONE_TRY_GOTO(st, hone_dim_variants_parse(shapes->items, shapes->count, &named), done);
    for (size_t i = 0; i < named.items[0].dim_count && !st; i++)
        if (!know(&known, named.items[0].dims[i].name, named.items[0].dims[i].size))
            st = no_memory();
    const hone_dim_variant sizes = {known.dims.data, known.dims.count};
    if (!st) st = make_outputs(entry, &sizes, are_made_up ? 1 : -1, out_outputs);
done:
    hone_dim_variants_deinit(&named);
    hone_vec_deinit(&known.dims);
    return st;
}

/* ---- names of sizes ---- */

typedef struct size_list {
    hone_arena *arena;
    HONE_VEC(const char *) names;
} size_list;

static bool add_size(void *ctx, const char *name, size_t length) {
    size_list *list = ctx;
    const char *copy = hone_arena_strndup(list->arena, name, length);
    return copy && hone_vec_push(&list->names, copy);
}

hone_status hone_cli_check_entry_sizes(hone_cli *cli, const hone_model_entry *entry,
                                       const hone_cli_want *wants, const hone_cli_list *shapes) {
    size_list list = {.arena = cli->arena};
    bool ok = true;
    for (int32_t i = 0; i < entry->output_count; i++) {
        for (int32_t d = 0; d < entry->outputs[i].ndim; d++)
            ok &= hone_cli_dim_visit(entry->outputs[i].dim_names[d], add_size, &list);
    }
    hone_status st = ok ? hone_cli_check_sizes(wants, (size_t)entry->input_count, list.names.data,
                                               list.names.count, shapes)
                        : no_memory();
    hone_vec_deinit(&list.names);
    return st;
}
