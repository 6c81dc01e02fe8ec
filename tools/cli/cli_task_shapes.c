/* tools/cli/cli_task_shapes.c - the tensors of a kernel, which tell it from others of its name. */
#include <inttypes.h>

#include "compile/records/stored_program.h"
#include "tools/cli/cli_db.h"

static void print_tensor(const hone_buffer_info *buffer, hone_str *out) {
    if (!buffer->rank) hone_str_append_char(out, '1');
    for (uint32_t d = 0; d < buffer->rank; d++) {
        hone_str_append(out, d ? "x" : "");
        if (buffer->shape[d]->kind == HONE_EXPR_INT) {
            hone_str_printf(out, "%" PRId64, buffer->shape[d]->u.i);
        } else {
            hone_str_append_char(out, '?');
        }
    }
    if (!hone_dtype_equal(buffer->dtype, HONE_DTYPE_F32))
        hone_str_printf(out, ":%s", HONE_DTYPE_NAME(buffer->dtype));
}

const char *hone_cli_text_of_shapes(hone_arena *arena, const hone_func *func) {
    hone_str text = {0};
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        if (text.length) hone_str_append_char(&text, ' ');
        print_tensor(&func->buffers[func->params[i].buffer], &text);
    }
    const char *copy = hone_arena_strdup(arena, hone_str_text(&text));
    hone_str_deinit(&text);
    return copy ? copy : "";
}

typedef struct reading {
    hone_arena *arena;
    const char *shapes;
} reading;

static bool read_shapes(void *ctx, const hone_db_workload *workload) {
    reading *r = ctx;
    hone_module *module;
    const hone_func *func;
    hone_status st = hone_stored_program_read(workload->program, &module, &func);
    if (!st) r->shapes = hone_cli_text_of_shapes(r->arena, func);
    hone_status_free(st);
    hone_module_release(module);
    return true;
}

/* hone_cli_text_of_shapes of a stored workload, "-" where its program is not to be read; in arena.
 */
static hone_status stored_shapes(hone_db *db, hone_arena *arena, const hone_hash128 *workload,
                                 const char **out_shapes) {
    reading r = {.arena = arena, .shapes = "-"};
    HONE_TRY(hone_db_workloads(db, workload, read_shapes, &r));
    *out_shapes = r.shapes;
    return HONE_OK;
}

hone_status hone_cli_list_task_shapes(hone_db *db, hone_db_rows *rows) {
    rows->shapes = hone_arena_zalloc(rows->arena, (rows->count + 1) * sizeof *rows->shapes);
    if (!rows->shapes) return HONE_ERROR(HONE_CODE_NO_MEMORY, "rows of the database");
    for (size_t i = 0; i < rows->count; i++) {
        const hone_hash128 *workload = &rows->tasks[i].workload;
        HONE_TRY(stored_shapes(db, rows->arena, workload, &rows->shapes[i]));
    }
    return HONE_OK;
}
