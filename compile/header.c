/* compile/header.c - OUT.h: the calling convention, then the model's own functions. */
#include <string.h>

#include "compile/extern_calls.h"
#include "compile/parts.h"

#define HONE_MT_FEATURE(id, name, leaf, sub_leaf, reg, bit, system) name,
#define HONE_MT_ARM_FEATURE(id, name, word, bit) name,
static const char *const feature_names[] = {
#include "runtime/model/cpu_features.def"
};
#undef HONE_MT_FEATURE
#undef HONE_MT_ARM_FEATURE

void parts_print_features(const hone_target *target, hone_str *out) {
    for (size_t i = 0; i < HONE_COUNT(feature_names); i++) {
        if (!hone_target_has_feature(target, feature_names[i])) continue;
        hone_str_printf(out, "%s%s", out->length ? "," : "", feature_names[i]);
    }
}

static const embedded_file *find_embedded(const char *name) {
    const embedded_file *f = hone_embedded_files;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

/* Names come from models: nothing in them may end a comment. */
static void comment_text(hone_str *out, const char *text) {
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        bool is_times = c == '*' && at > text && at[-1] == ' ' && at[1] == ' ';
        bool is_odd = c < 32 || (c == '*' && !is_times) || c == '\\' || c > 126;
        hone_str_append_char(out, is_odd ? '_' : (char)c);
    }
}

/* "4", "N", "n <= 12" */
static void comment_dim(hone_str *out, const part_port *port, uint32_t d) {
    bool is_bound = port->sized == HONE_MODEL_AT_MOST && port->dim_names[d];
    if (port->shape[d] < 0 || is_bound) {
        comment_text(out, port->dim_names[d] ? port->dim_names[d] : "?");
    }
    if (is_bound && port->shape[d] >= 0) hone_str_append(out, " <= ");
    if (port->shape[d] >= 0) hone_str_printf(out, "%lld", (long long)port->shape[d]);
}

static void comment_ports(hone_str *out, const char *what, const part_port *ports, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        hone_str_printf(out, " *   %s %u: ", what, i);
        comment_text(out, ports[i].name);
        hone_str_printf(out, " %s[", HONE_DTYPE_NAME(ports[i].dtype));
        for (uint32_t d = 0; d < ports[i].rank; d++) {
            if (d) hone_str_append(out, ", ");
            comment_dim(out, &ports[i], d);
        }
        static const char *const sized[] = {"", ", its shape set by the call",
                                            ", made by the call"};
        hone_str_printf(out, "]%s%s\n", ports[i].is_updated ? ", updated in place" : "",
                        sized[ports[i].sized]);
    }
}

static void declare_entry(const parts *p, const part_entry *entry, hone_str *out) {
    hone_str_append(out, "\n/* Function '");
    comment_text(out, entry->name);
    hone_str_append(out, "':\n");
    comment_ports(out, "input", entry->inputs, entry->input_count);
    comment_ports(out, "output", entry->outputs, entry->output_count);
    hone_str_append(out, " */\n");
    hone_str_printf(out,
                    "int32_t %s_%s(const hone_rt *rt, DLTensor *const *inputs,\n"
                    "    DLTensor *const *outputs);\n",
                    p->prefix, entry->suffix);
    hone_str_printf(out,
                    "int32_t %s_%s_shapes(DLTensor *const *inputs, DLTensor *const *outputs);\n",
                    p->prefix, entry->suffix);
}

static hone_status find_externs(const parts *p, hone_extern_calls *calls) {
    for (size_t e = 0; e < p->entries.count; e++) {
        for (size_t n = 0; n < p->entries.data[e].plans.count; n++) {
            const part_plan *plan = &p->entries.data[e].plans.data[n];
            for (size_t i = 0; i < plan->steps.count; i++) {
                const part_step *step = &plan->steps.data[i];
                const hone_extern_call call = {.name = step->name, .is_packed = true};
                if (step->kind != HONE_MT_EXTERN) continue;
                HONE_TRY(hone_extern_calls_add(calls, &call));
            }
        }
    }
    for (size_t k = 0; k < p->kernels.count; k++)
        HONE_TRY(hone_extern_calls_of_func(calls, p->kernels.data[k].func, NULL));
    return HONE_OK;
}

/* What the program that loads the model must have. */
static hone_status list_externs(const parts *p, hone_str *out) {
    hone_extern_calls calls = {.arena = p->arena};
    HONE_TRY(find_externs(p, &calls));
    if (calls.count) hone_str_append(out, "\n/* External functions, which the process has:\n");
    for (size_t i = 0; i < calls.count; i++) {
        hone_str text = {0};
        hone_str_append(out, " *   ");
        comment_text(out, calls.items[i].name);
        if (calls.items[i].is_packed) {
            hone_str_append(out, ": ");
            hone_extern_print_prototypes(calls.items[i].name, &text);
            hone_str_append(out, hone_str_text(&text));
        } else {
            hone_str_append(out, ": ");
            hone_str_append(out, calls.items[i].c_prototype);
        }
        hone_str_append_char(out, '\n');
        hone_str_deinit(&text);
    }
    if (calls.count) hone_str_append(out, " */\n");
    return HONE_OK;
}

hone_status parts_print_header(const parts *p, hone_str *out) {
    const embedded_file *abi = find_embedded("model_abi.h");
    if (!abi) return HONE_ERROR(HONE_CODE_INTERNAL, "model_abi.h is not embedded");
    hone_str_append_n(out, (const char *)abi->bytes, abi->count);
    hone_str_printf(out, "\n#ifndef HONE_MODEL_%s_H\n#define HONE_MODEL_%s_H\n", p->prefix,
                    p->prefix);
    hone_str_append(out, "/* This model. Compiled for: ");
    comment_text(out, p->target_text);
    hone_str_append(out, " */\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    for (size_t e = 0; e < p->entries.count; e++)
        declare_entry(p, &p->entries.data[e], out);
    hone_str_printf(out,
                    "\nconst hone_model_info *%s_info(void);\n"
                    "const char *%s_last_error(void); /* of this thread */\n"
                    "int32_t %s_rt_create(int32_t threads, hone_rt **out_rt);\n"
                    "void %s_rt_destroy(hone_rt *rt);\n",
                    p->prefix, p->prefix, p->prefix, p->prefix);
    HONE_TRY(list_externs(p, out));
    hone_str_append(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
    return hone_str_check(out);
}
