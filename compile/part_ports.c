/* compile/part_ports.c - the tensors of an entry, which its plans must agree about. */
#include "compile/parts.h"
#include "ir/text/print/script_print.h"

static bool have_one_shape(const part_port *a, const part_port *b) {
    for (uint32_t d = 0; d < a->rank && d < b->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

/* Bounds that differ are none. */
static void merge(part_port *into, const part_port *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (from[i].sized > into[i].sized) into[i].sized = from[i].sized;
        if (into[i].sized && !have_one_shape(&into[i], &from[i])) into[i].sized = HONE_MODEL_MADE;
        for (uint32_t d = 0; d < into[i].rank && d < from[i].rank; d++) {
            if (into[i].shape[d] != from[i].shape[d]) into[i].shape[d] = -1;
            if (!into[i].dim_names[d]) into[i].dim_names[d] = from[i].dim_names[d];
            if (into[i].sized == HONE_MODEL_MADE && into[i].dim_names[d]) into[i].shape[d] = -1;
        }
    }
}

hone_status parts_name_dim(parts *p, const hone_func *vars, const hone_expr *e,
                           const char **out_name) {
    hone_str text = {0};
    *out_name = NULL;
    if (hone_expr_is_int(e)) return HONE_OK;
    hone_status st = hone_size_print(vars, e, &text);
    if (!st) *out_name = hone_arena_strdup(p->arena, hone_str_text(&text));
    hone_str_deinit(&text);
    return st || *out_name ? st : parts_no_memory();
}

hone_status parts_put_ports(part_entry *entry, part_port *inputs, uint32_t input_count,
                            part_port *outputs, uint32_t output_count) {
    if (!entry->inputs) {
        entry->inputs = inputs;
        entry->outputs = outputs;
        entry->input_count = input_count;
        entry->output_count = output_count;
        return HONE_OK;
    }
    if (entry->input_count != input_count || entry->output_count != output_count) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "plans of '%s' differ in their tensors", entry->name);
    }
    merge(entry->inputs, inputs, input_count);
    merge(entry->outputs, outputs, output_count);
    return HONE_OK;
}

hone_status parts_guard(part_plan *plan, const part_port *ports, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < ports[i].rank; d++) {
            hone_mt_guard guard = {(int32_t)i, (int32_t)d, ports[i].shape[d]};
            if (guard.wanted < 0) continue;
            if (!hone_vec_push(&plan->guards, guard)) return parts_no_memory();
        }
    }
    return HONE_OK;
}
