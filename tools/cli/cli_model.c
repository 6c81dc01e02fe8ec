/* tools/cli/cli_model.c - reading what users name. */
#include "tools/cli/cli_model.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "compile/model_tasks.h"
#include "graph/frontend/onnx_import.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/fs.h"

static const size_t MOST_BYTES = (size_t)1 << 31;

/* Text has no control characters but white space; a protobuf has some among its first bytes. */
static bool looks_like_text(const char *bytes, size_t count) {
    if (count > 4096) count = 4096;
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < 32 && c != '\n' && c != '\t' && c != '\r' && c != '\f') return false;
    }
    return true;
}

/* Files of other kinds, by their first bytes. */
static hone_status check_kind(const char *bytes, size_t count, const char *name) {
    static const struct {
        const char *begin, *what;
    } kinds[] = {
        {"SQLite format 3", "a database of records"              },
        {"\177ELF",         "a library or object file"           },
        {"\x93NUMPY",       "a tensor"                           },
        {"PK\003\004",      "an archive: of tensors, or of files"},
        {"\x1f\x8b",        "a compressed file"                  },
    };
    for (size_t i = 0; i < HONE_COUNT(kinds); i++) {
        size_t length = strlen(kinds[i].begin);
        if (count < length || memcmp(bytes, kinds[i].begin, length) != 0) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "%s: is %s, a model or program is wanted", name,
                          kinds[i].what);
    }
    return HONE_OK;
}

static hone_status load_by_content(const char *path, const hone_graph_options *options,
                                   bool is_outline, hone_module **out_module) {
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    char *bytes = NULL;
    size_t count = 0;
    HONE_TRY(hone_fs_read(path, MOST_BYTES, &bytes, &count));
    hone_status st = check_kind(bytes, count, name);
    if (st) {
        hone_free(bytes);
        return st;
    }
    if (!looks_like_text(bytes, count)) {
        st = hone_onnx_parse(bytes, count, name, NULL, options, out_module);
    } else if (is_outline) {
        st = hone_script_parse_outline(bytes, count, name, out_module);
    } else {
        st = hone_script_parse(bytes, count, name, out_module);
    }
    hone_free(bytes);
    return st;
}

static hone_status load(const char *path, const hone_graph_options *options, bool is_outline,
                        hone_module **out_module) {
    *out_module = NULL;
    const char *extension = hone_path_extension(path);
    if (strcasecmp(extension, ".onnx") == 0) return hone_onnx_load(path, options, out_module);
    if (strcasecmp(extension, ".py") != 0) {
        return load_by_content(path, options, is_outline, out_module);
    }
    return is_outline ? hone_script_load_outline(path, out_module)
                      : hone_script_load(path, out_module);
}

/* With the numbers of its sizes from the beginning: some operators are read in no other way. */
static bool load_bound(const char *path, const hone_graph_options *options,
                       hone_module **out_module) {
    hone_graph_options bound = *options;
    bound.keeps_sizes = false;
    return !hone_status_consume(load(path, &bound, false, out_module));
}

hone_status hone_cli_load_module(const char *path, const hone_graph_options *options,
                                 hone_module **out_module) {
    hone_status st = load(path, options, false, out_module);
    hone_code code = hone_status_code(st);
    bool is_refused = code == HONE_CODE_INVALID || code == HONE_CODE_UNSUPPORTED;
    bool may_help = is_refused && options && options->keeps_sizes && options->dim_count > 0;
    if (!may_help || !load_bound(path, options, out_module)) return st;
    hone_status_free(st);
    return HONE_OK;
}

hone_status hone_cli_other_sizes(hone_cli *cli, const hone_module *module,
                                 const hone_cli_list *shapes, hone_cli_list *out_others) {
    const char **items = hone_arena_zalloc(cli->arena, (shapes->count + 1) * sizeof *items);
    *out_others = (hone_cli_list){.items = items};
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shapes");
    for (size_t i = 0; i < shapes->count; i++) {
        int64_t size;
        const char *spec = shapes->items[i], *equals = strrchr(spec, '=');
        const char *name =
            equals ? hone_arena_strndup(cli->arena, spec, (size_t)(equals - spec)) : spec;
        if (!name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "shapes");
        if (!hone_dim_is_bound(module, name, &size)) items[out_others->count++] = spec;
    }
    return HONE_OK;
}

hone_status hone_cli_load_outline(const char *path, hone_module **out_module) {
    return load(path, NULL, true, out_module);
}

hone_status hone_cli_put_program(hone_cli *cli, const char *path_or_null, const hone_module *module,
                                 const hone_print_options *style) {
    if (path_or_null && strcmp(path_or_null, "-") != 0) {
        return hone_script_save(module, path_or_null, style);
    }
    hone_str text = {0};
    hone_status st = hone_module_print(module, style, &text);
    if (!st) st = hone_cli_put_result(cli, NULL, &text);
    hone_str_deinit(&text);
    return st;
}

hone_status hone_cli_parse_dialect(const char *name, hone_dialect *out_dialect) {
    bool is_classic = strcmp(name, "classic") == 0;
    *out_dialect = is_classic ? HONE_DIALECT_CLASSIC : HONE_DIALECT_TVM_0_27;
    if (is_classic || strcmp(name, "tvm-0.27") == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "there is no dialect '%s': tvm-0.27 or classic", name);
}

hone_status hone_cli_pick_func(const hone_module *module, const char *path,
                               const char *name_or_null, const hone_func **out_func) {
    *out_func = NULL;
    const hone_member *member = NULL;
    hone_status st = hone_module_pick(module, name_or_null, &member);
    if (st && !name_or_null) {
        hone_status hint =
            HONE_ERROR(hone_status_code(st), "%s; choose one with --func", hone_status_message(st));
        hone_status_free(st);
        st = hint;
    }
    if (st) return hone_status_annotate(st, "%s", path);
    if (member->kind != HONE_MEMBER_FUNC) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%s: '%s' is a %s, a tensor program (T.prim_func) is wanted; choose one "
                          "with --func",
                          path, member->name,
                          member->kind == HONE_MEMBER_GRAPH
                              ? "graph function"
                              : "declaration of an external function");
    }
    *out_func = member->func;
    return HONE_OK;
}

void hone_cli_quote(const char *source, uint32_t line, uint32_t column, hone_str *out) {
    for (uint32_t i = 1; source && i < line; i++) {
        source = strchr(source, '\n');
        if (source) source++;
    }
    if (!source || !*source || !line) return;
    size_t length = strcspn(source, "\r\n");
    hone_str_append(out, "    ");
    hone_str_append_n(out, source, length);
    hone_str_append(out, "\n    ");
    for (uint32_t i = 1; i < column && i <= length; i++) {
        hone_str_append_char(out, source[i - 1] == '\t' ? '\t' : ' ');
    }
    hone_str_append(out, "^\n");
}

static const hone_finding *first_error(const hone_findings *findings) {
    for (uint32_t i = 0; i < findings->count; i++) {
        if (!findings->items[i].is_warning) return &findings->items[i];
    }
    return NULL;
}

/* The place that a message of the verifier begins with, "12:5: ", is taken off. */
static const char *take_place(const char *message, uint32_t *out_line, uint32_t *out_column) {
    int length = 0;
    bool is_place =
        sscanf(message, "%" SCNu32 ":%" SCNu32 ": %n", out_line, out_column, &length) == 2 &&
        length;
    if (!is_place) *out_line = *out_column = 0;
    return message + (is_place ? length : 0);
}

hone_status hone_cli_place(const char *path, uint32_t line, uint32_t column, hone_status failed) {
    char *source = NULL;
    size_t count = 0;
    hone_str quote = {0};
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    const char *message = hone_status_message(failed);
    if (!line) message = take_place(message, &line, &column);
    if (!line) return hone_status_annotate(failed, "%s", name);
    if (strcmp(hone_path_extension(path), ".py") == 0) {
        /* Only for the quotation: the message stands without it. */
        hone_status_free(hone_fs_read(path, MOST_BYTES, &source, &count));
    }
    hone_cli_quote(source, line, column, &quote);
    if (quote.length) hone_str_truncate(&quote, quote.length - 1);
    hone_status st =
        HONE_ERROR(hone_status_code(failed), "%s:%" PRIu32 ":%" PRIu32 ": %s%s%s", name, line,
                   column, message, quote.length ? "\n" : "", hone_str_text(&quote));
    hone_status_free(failed);
    hone_str_deinit(&quote);
    hone_free(source);
    return st;
}

hone_status hone_cli_check_func(const char *path, const hone_func *func) {
    hone_findings findings = {.arena = hone_arena_create(4096), .errors_only = true};
    if (!findings.arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    hone_status st = hone_verify_func(func, &findings);
    if (!st && findings.error_count) {
        const hone_finding *first = first_error(&findings);
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", first->text);
        st = hone_cli_place(path, first->line, first->column, st);
    }
    hone_arena_destroy(findings.arena);
    return st;
}

hone_status hone_cli_load_tasks(const char *path, const hone_cli_list *shapes,
                                const hone_target *target, hone_task_list *out_tasks) {
    *out_tasks = (hone_task_list){0};
    hone_module *module = NULL;
    hone_dim_variants variants = {0};
    hone_status st = hone_dim_variants_parse(shapes->items, shapes->count, &variants);
    if (!st) {
        const hone_graph_options given = {.dims = variants.items[0].dims,
                                          .dim_count = variants.items[0].dim_count,
                                          .keeps_sizes = true};
        st = hone_cli_load_module(path, &given, &module);
    }
    if (!st) {
        hone_module_freeze(module);
        st = hone_dim_variants_drop_bound(&variants, module);
        if (!st) st = hone_model_tasks(module, target, &variants, out_tasks);
        if (st) st = hone_cli_place(path, 0, 0, st);
    }
    hone_dim_variants_deinit(&variants);
    hone_module_release(module);
    return st;
}

void hone_cli_warn_of_left_out(const hone_log *log, const char *path, const char *said) {
    if (!said) return;
    bool has_place = isdigit((unsigned char)*said);
    hone_log_line(log, HONE_LOG_WARNING, "%s:%s%s", path, has_place ? "" : " ", said);
}

void hone_cli_warn_of_file(const hone_log *log, const char *path, const hone_module *module) {
    if (module->note) HONE_LOG(log, HONE_LOG_WARNING, "%s: %s", path, module->note);
}

void hone_cli_warn_of_threads(const hone_log *log, const hone_target *target) {
    if (target->num_threads <= target->num_cores) return;
    HONE_LOG(log, HONE_LOG_WARNING, "%d threads on %d cores wait for each other",
             (int)target->num_threads, (int)target->num_cores);
}
