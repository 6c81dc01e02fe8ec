/* tools/cli/cli_tensors.c - tensors that users name. */
#include "tools/cli/cli_tensors.h"

#include <string.h>

#include "graph/frontend/onnx_import.h"
#include "graph/module/graph_options.h"
#include "support/core/alloc.h"
#include "support/data/vec.h"
#include "support/os/fs.h"
#include "tools/cli/cli_dims.h"

/* ---- sets ---- */

void hone_cli_tensors_deinit(hone_cli_tensors *tensors) {
    for (size_t i = 0; i < tensors->count; i++) {
        hone_free(tensors->data[i].name);
        hone_tensor_destroy(tensors->data[i].tensor);
    }
    hone_vec_deinit(tensors);
}

hone_status hone_cli_tensors_add(hone_cli_tensors *tensors, const char *name, hone_tensor *tensor) {
    hone_cli_tensor item = {.name = name ? hone_strdup(name) : NULL, .tensor = tensor};
    if ((item.name || !name) && hone_vec_push(tensors, item)) return HONE_OK;
    hone_free(item.name);
    hone_tensor_destroy(tensor);
    return HONE_NO_MEMORY("tensors");
}

/* ---- files ---- */

/* numpy.savez(file, a, b) calls them arr_0 and arr_1. */
static bool is_place_name(const char *path, const char *name) {
    if (strcmp(hone_path_extension(path), ".npz") != 0 || strncmp(name, "arr_", 4) != 0)
        return false;
    return name[4] && strspn(name + 4, "0123456789") == strlen(name + 4);
}

/* A file of several tensors: at least one. */
static hone_status load_set(const char *path, hone_tensor_set *out_set) {
    HONE_TRY(hone_tensor_set_load(path, out_set));
    if (out_set->count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s: holds no tensors", path);
}

static hone_status add_all(hone_cli_tensors *to, const char *path, const char *name) {
    hone_tensor_set file;
    HONE_TRY(load_set(path, &file));
    hone_status st = HONE_OK;
    if (name && file.count != 1) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s: holds %zu tensors, a name is for one", path,
                        file.count);
    }
    for (size_t i = 0; i < file.count && !st; i++) {
        hone_tensor *tensor = file.data[i].tensor;
        file.data[i].tensor = NULL;
        st = hone_cli_tensors_add(to, name ? name : file.data[i].name, tensor);
        if (!st)
            to->data[to->count - 1].is_casual = !name && is_place_name(path, file.data[i].name);
    }
    hone_tensor_set_deinit(&file);
    return st;
}

static hone_status add_pb(hone_cli_tensors *to, const char *path, const char *name) {
    char *own;
    hone_tensor *tensor;
    HONE_TRY(hone_onnx_load_tensor(path, &own, &tensor));
    hone_status st = hone_cli_tensors_add(to, name ? name : own, tensor);
    if (!st) to->data[to->count - 1].is_casual = !name;
    hone_free(own);
    return st;
}

static hone_status load_file(hone_cli_tensors *to, const char *path, const char *name) {
    const char *ending = hone_path_extension(path);
    hone_tensor *tensor;
    if (strcmp(ending, ".pb") == 0) return add_pb(to, path, name);
    if (strcmp(ending, ".npy") == 0) {
        HONE_TRY(hone_npy_load(path, &tensor));
        return hone_cli_tensors_add(to, name, tensor);
    }
    return add_all(to, path, name);
}

/* The '=' between name and path, or NULL: names and paths may have more of them. */
static const char *find_equals(const char *text) {
    const char *first = strchr(text, '=');
    if (!first || hone_fs_exists(text)) return NULL;
    for (const char *at = first; at; at = strchr(at + 1, '=')) {
        if (hone_fs_exists(at + 1)) return at;
    }
    return first;
}

static hone_status load_one(hone_cli_tensors *to, const char *text) {
    const char *equals = find_equals(text);
    if (!equals) return load_file(to, text, NULL);
    if (!equals[1]) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' names no file; NAME=FILE is wanted", text);
    }
    char *name = hone_strndup(text, (size_t)(equals - text));
    hone_status st =
        name ? load_file(to, equals + 1, *name ? name : NULL) : HONE_NO_MEMORY("tensors");
    hone_free(name);
    return st;
}

hone_status hone_cli_load_tensors(const hone_cli_list *files, hone_cli_tensors *out_tensors) {
    *out_tensors = (hone_cli_tensors){0};
    for (size_t i = 0; i < files->count; i++)
        HONE_TRY(load_one(out_tensors, files->items[i]));
    return HONE_OK;
}

/* NAME.npy of a folder, the others in it are left alone. */
typedef struct folder_walk {
    const char *path;
    hone_tensor_set *set;
    hone_status st;
} folder_walk;

static hone_status add_file_of_folder(const folder_walk *w, const char *file, size_t name_length) {
    hone_tensor *tensor = NULL;
    char *path = hone_path_join(w->path, file), *name = hone_strndup(file, name_length);
    hone_status st = path && name ? hone_npy_load(path, &tensor) : HONE_NO_MEMORY("tensors");
    if (!st) st = hone_tensor_set_add(w->set, name, tensor);
    hone_free(path);
    hone_free(name);
    return st;
}

static bool visit_file(void *context, const char *file) {
    folder_walk *w = context;
    const char *ending = hone_path_extension(file);
    if (strcmp(ending, ".npy") == 0) w->st = add_file_of_folder(w, file, (size_t)(ending - file));
    return !w->st;
}

static hone_status load_folder(const char *path, hone_tensor_set *out_set) {
    folder_walk w = {path, out_set, HONE_OK};
    *out_set = (hone_tensor_set){0};
    hone_status st = hone_fs_list(path, visit_file, &w);
    HONE_TRY(hone_status_join(st, w.st));
    if (out_set->count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s: there is no NAME.npy in this folder", path);
}

hone_status hone_cli_load_params(hone_cli *cli, const char *path, hone_tensor_set *out_set,
                                 const hone_graph_weight **out_weights) {
    *out_set = (hone_tensor_set){0};
    *out_weights = NULL;
    if (!path) return HONE_OK;
    bool is_folder = hone_fs_is_dir(path);
    HONE_TRY(is_folder ? load_folder(path, out_set) : load_set(path, out_set));
    hone_graph_weight *weights =
        hone_arena_alloc(cli->arena, (out_set->count + 1) * sizeof *weights);
    if (!weights) return HONE_NO_MEMORY("tensors");
    for (size_t i = 0; i < out_set->count; i++)
        weights[i] = (hone_graph_weight){out_set->data[i].name, out_set->data[i].tensor};
    *out_weights = weights;
    return HONE_OK;
}

/* ---- sizes ---- */

static bool wants_size(const hone_cli_want *want, const char *name) {
    if (want->is_size && strcmp(want->name, name) == 0) return true;
    for (int32_t d = 0; d < want->rank; d++) {
        if (hone_cli_dim_uses(want->dim_names[d], name)) return true;
    }
    return false;
}

/* All names of sizes, for the message and the search for a slip. */
typedef struct size_names {
    HONE_VEC(const char *) names;
    hone_arena *arena;
} size_names;

static bool note_dim(void *ctx, const char *name, size_t length) {
    size_names *s = ctx;
    const char *copy = hone_arena_strndup(s->arena, name, length);
    return copy && hone_vec_push(&s->names, copy);
}

static hone_status unknown_size(const char *name, const hone_cli_want *wants, size_t count,
                                const char *const *more, size_t more_count) {
    size_names s = {.arena = hone_arena_create(256)};
    bool ok = s.arena != NULL;
    for (size_t i = 0; i < count; i++) {
        if (wants[i].is_size) ok &= hone_vec_push(&s.names, wants[i].name);
        for (int32_t d = 0; d < wants[i].rank; d++)
            ok &= hone_cli_dim_visit(wants[i].dim_names[d], note_dim, &s);
    }
    for (size_t i = 0; i < more_count; i++)
        ok &= hone_vec_push(&s.names, more[i]);
    hone_status st =
        ok ? hone_dim_unknown(name, s.names.data, s.names.count) : HONE_NO_MEMORY("tensors");
    hone_vec_deinit(&s.names);
    hone_arena_destroy(s.arena);
    return st;
}

static hone_status check_size(const char *name, const hone_cli_want *wants, size_t count,
                              const char *const *more, size_t more_count) {
    for (size_t i = 0; i < count; i++) {
        if (wants_size(&wants[i], name)) return HONE_OK;
    }
    for (size_t i = 0; i < more_count; i++) {
        if (strcmp(more[i], name) == 0) return HONE_OK;
    }
    return unknown_size(name, wants, count, more, more_count);
}

hone_status hone_cli_check_sizes(const hone_cli_want *wants, size_t count, const char *const *more,
                                 size_t more_count, const hone_cli_list *shapes) {
    hone_dim_variants sizes = {0};
    hone_status st = hone_dim_variants_parse(shapes->items, shapes->count, &sizes);
    if (!st && sizes.count > 1) {
        st = HONE_ERROR(HONE_CODE_INVALID, "--shape may give one number per size here");
    }
    for (size_t i = 0; !st && i < sizes.items[0].dim_count; i++)
        st = check_size(sizes.items[0].dims[i].name, wants, count, more, more_count);
    hone_dim_variants_deinit(&sizes);
    return st;
}

/* A tensor of a file has the sizes that --shape gives. */
static hone_status check_given(const hone_cli_want *want, const hone_tensor *tensor,
                               const hone_dim_variant *sizes) {
    for (size_t i = 0; i < sizes->dim_count; i++) {
        const hone_graph_dim *dim = &sizes->dims[i];
        for (int32_t d = 0; d < want->rank && d < tensor->rank; d++) {
            bool is_it = want->dim_names[d] && strcmp(want->dim_names[d], dim->name) == 0;
            if (!is_it || tensor->shape[d] == dim->size) continue;
            return HONE_ERROR(
                HONE_CODE_INVALID, "--shape gives %s=%lld, dimension %d of '%s' is %lld", dim->name,
                (long long)dim->size, (int)d, want->name, (long long)tensor->shape[d]);
        }
    }
    return HONE_OK;
}

static hone_status check_all_given(const hone_cli_want *wants, size_t count,
                                   const hone_cli_list *shapes, hone_tensor *const *tensors) {
    hone_dim_variants sizes = {0};
    hone_status st = hone_dim_variants_parse(shapes->items, shapes->count, &sizes);
    for (size_t i = 0; i < count && !st; i++)
        st = check_given(&wants[i], tensors[i], &sizes.items[0]);
    hone_dim_variants_deinit(&sizes);
    return st;
}

/* ---- matching ---- */

enum { MOST_LISTED = 32 };

static void print_want(const hone_cli_want *want, hone_str *out) {
    hone_str_printf(out, "'%s' %s[", want->name, HONE_DTYPE_NAME(want->dtype));
    for (int32_t d = 0; d < want->rank; d++) {
        if (d) hone_str_append(out, ", ");
        if (want->shape[d] >= 0) {
            hone_str_printf(out, "%lld", (long long)want->shape[d]);
        } else {
            hone_str_append(out, want->dim_names[d] ? want->dim_names[d] : "any");
        }
    }
    hone_str_append(out, "]");
}

/* What assignment works on. */
typedef struct assignment {
    const hone_cli_want *wants;
    size_t count;
    const hone_cli_tensors *given;
    const char *option, *what;
    size_t *index; /* per want: which of the given; NONE = still open */
} assignment;

#define NONE SIZE_MAX

/* Puts the list of wants behind what is wrong. Takes and returns failed. */
static hone_status with_list(const assignment *a, hone_status failed) {
    hone_str names = {0};
    for (size_t i = 0; i < a->count && i < MOST_LISTED; i++) {
        if (i) hone_str_append(&names, ", ");
        print_want(&a->wants[i], &names);
    }
    if (a->count > MOST_LISTED) hone_str_append(&names, ", …");
    hone_status st = HONE_ERROR(hone_status_code(failed), "%s: %s", hone_status_message(failed),
                                a->count ? hone_str_text(&names) : "none");
    hone_status_free(failed);
    hone_str_deinit(&names);
    return st;
}

static bool is_about_outputs(const assignment *a) {
    return strcmp(a->what, "output") == 0;
}

static hone_status unknown_name(const assignment *a, const char *name) {
    const char *meant = hone_name_suggest(name, a->wants, a->count, sizeof *a->wants);
    return with_list(a, HONE_ERROR(HONE_CODE_INVALID, "there is no %s '%s'%s%s%s it %s", a->what,
                                   name, meant ? "; did you mean '" : ",", meant ? meant : "",
                                   meant ? "'?" : "", is_about_outputs(a) ? "gives" : "takes"));
}

/* Gives a named tensor to the want of its name. Outputs may be one value that is listed twice. */
static hone_status assign_named(const assignment *a, size_t which, size_t *out_found) {
    const char *name = a->given->data[which].name;
    *out_found = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->wants[i].name, name) != 0) continue;
        if (a->index[i] != NONE) {
            return HONE_ERROR(HONE_CODE_INVALID, "%s '%s' is given twice", a->what, name);
        }
        a->index[i] = which;
        ++*out_found;
    }
    if (*out_found <= 1 || is_about_outputs(a)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "there are %zu %ss '%s': give files without names, in order", *out_found,
                      a->what, name);
}

static hone_status wrong_count(const assignment *a) {
    return with_list(a, HONE_ERROR(HONE_CODE_INVALID, "%zu tensors are given with %s, it %s %zu",
                                   a->given->count, a->option,
                                   is_about_outputs(a) ? "gives" : "takes", a->count));
}

/* Those without a name take what is left. */
static hone_status assign_rest(const assignment *a, const bool *is_assigned) {
    size_t at = 0;
    for (size_t g = 0; g < a->given->count; g++) {
        if (is_assigned[g]) continue;
        while (at < a->count && a->index[at] != NONE)
            at++;
        if (at == a->count) return wrong_count(a);
        a->index[at] = g;
    }
    while (at < a->count && a->index[at] != NONE)
        at++;
    return at == a->count ? HONE_OK : wrong_count(a);
}

static hone_status assign(const assignment *a, bool *is_assigned) {
    for (size_t i = 0; i < a->count; i++)
        a->index[i] = NONE;
    for (size_t g = 0; g < a->given->count; g++) {
        const hone_cli_tensor *tensor = &a->given->data[g];
        size_t found = 0;
        if (tensor->name) HONE_TRY(assign_named(a, g, &found));
        if (tensor->name && !found && !tensor->is_casual) return unknown_name(a, tensor->name);
        is_assigned[g] = found > 0;
    }
    return assign_rest(a, is_assigned);
}

hone_status hone_cli_assign_tensors(const hone_cli_want *wants, size_t count,
                                    const hone_cli_tensors *given, const char *option,
                                    const char *what, size_t *out_index) {
    bool *is_assigned = hone_calloc(given->count + 1, sizeof *is_assigned);
    if (!is_assigned) return HONE_NO_MEMORY("tensors");
    const assignment a = {wants, count, given, option, what, out_index};
    hone_status st = assign(&a, is_assigned);
    hone_free(is_assigned);
    return st;
}

hone_status hone_cli_unknown_input(const hone_cli_want *wants, size_t count, const char *name) {
    return unknown_name(&(assignment){.wants = wants, .count = count, .what = "input"}, name);
}

hone_status hone_cli_take_as_few_bits(const hone_cli_want *want, hone_tensor *tensor) {
    bool is_short = want->dtype.bits < 8 && hone_dtype_is_integer(want->dtype);
    bool is_byte = tensor->dtype.bits == 8 && tensor->dtype.code == want->dtype.code;
    if (!is_short || !is_byte) return HONE_OK;
    int64_t count = hone_tensor_count(tensor);
    for (int64_t i = 0; i < count; i++) {
        int64_t value = hone_tensor_get_i64(tensor, i);
        if (value >= hone_dtype_min_int(want->dtype) && value <= hone_dtype_max_int(want->dtype))
            continue;
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is %s, and element %lld of its tensor is %lld",
                          want->name, HONE_DTYPE_NAME(want->dtype), (long long)i, (long long)value);
    }
    tensor->dtype = want->dtype;
    return HONE_OK;
}

/* Does a --shape speak of the size? */
bool hone_cli_is_told(const hone_cli_list *shapes, const char *size) {
    size_t length = size ? strlen(size) : 0;
    for (size_t i = 0; size && shapes && i < shapes->count; i++) {
        if (strncmp(shapes->items[i], size, length) == 0 && shapes->items[i][length] == '=')
            return true;
    }
    return false;
}

hone_status hone_cli_check_not_empty(const hone_cli_want *wants, size_t count,
                                     hone_tensor *const *tensors, const hone_cli_list *shapes) {
    for (size_t i = 0; i < count; i++) {
        for (int32_t d = 0; d < wants[i].rank && d < tensors[i]->rank; d++) {
            const char *size = wants[i].dim_names[d];
            if (wants[i].shape[d] >= 0 || tensors[i]->shape[d] > 0) continue;
            if (hone_cli_is_told(shapes, size)) continue;
            return HONE_ERROR(HONE_CODE_INVALID,
                              "input '%s': dimension %d is 0, must be at least 1 where there is no "
                              "--shape %s=0",
                              wants[i].name, (int)d, size ? size : "N");
        }
    }
    return HONE_OK;
}

hone_status hone_cli_match_tensors(hone_cli *cli, const hone_cli_want *wants, size_t count,
                                   const hone_cli_list *shapes, hone_cli_tensors *given,
                                   hone_tensor ***out_tensors) {
    *out_tensors = hone_arena_zalloc(cli->arena, (count + 1) * sizeof **out_tensors);
    size_t *index = hone_arena_zalloc(cli->arena, (count + 1) * sizeof *index);
    if (!*out_tensors || !index) return HONE_NO_MEMORY("tensors");
    bool are_made_up = given->count == 0;
    if (are_made_up) HONE_TRY(hone_cli_make_up(cli, wants, count, shapes, given));
    if (are_made_up && count) HONE_LOG(&cli->log, HONE_LOG_INFO, "no --in: the inputs are made up");
    if (!are_made_up) {
        HONE_TRY(hone_cli_assign_tensors(wants, count, given, "--in", "input", index));
    }
    for (size_t i = 0; i < count; i++) {
        (*out_tensors)[i] = given->data[are_made_up ? i : index[i]].tensor;
        HONE_TRY(hone_cli_take_as_few_bits(&wants[i], (*out_tensors)[i]));
    }
    return are_made_up ? HONE_OK : check_all_given(wants, count, shapes, *out_tensors);
}

/* A whole number that has the name of a dimension is that size. */
static bool is_size_port(const hone_model_entry *entry, const hone_model_port *port) {
    if (port->ndim != 0 || !hone_dtype_is_integer(hone_model_port_dtype(port))) return false;
    for (int32_t i = 0; i < entry->input_count + entry->output_count; i++) {
        const hone_model_port *other =
            i < entry->input_count ? &entry->inputs[i] : &entry->outputs[i - entry->input_count];
        for (int32_t d = 0; d < other->ndim; d++) {
            if (hone_cli_dim_uses(other->dim_names[d], port->name)) return true;
        }
    }
    return false;
}

hone_status hone_cli_wants_of_entry(hone_cli *cli, const hone_model_entry *entry,
                                    hone_cli_want **out_wants) {
    size_t count = (size_t)entry->input_count;
    hone_cli_want *wants = hone_arena_zalloc(cli->arena, (count + 1) * sizeof *wants);
    if (!wants) return HONE_NO_MEMORY("tensors");
    for (size_t i = 0; i < count; i++) {
        const hone_model_port *port = &entry->inputs[i];
        wants[i].name = port->name;
        wants[i].dtype = hone_model_port_dtype(port);
        wants[i].rank = port->ndim;
        wants[i].is_size = is_size_port(entry, port);
        if (port->ndim > HONE_MAX_RANK || hone_dtype_is_void(wants[i].dtype)) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "input '%s' has %d dimensions of type '%s'",
                              port->name, (int)port->ndim, port->dtype_name);
        }
        for (int32_t d = 0; d < port->ndim; d++) {
            wants[i].shape[d] = port->shape[d];
            wants[i].dim_names[d] = port->dim_names[d];
        }
    }
    *out_wants = wants;
    return HONE_OK;
}
