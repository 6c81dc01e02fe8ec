/* compile/table_asm.c - the tables of runtime/model/model_table.h and the entry points, as text for
 * the assembler. Data directives are the same for all 64-bit ELF targets; the entry points, which
 * put the table before the caller's arguments and go on to the driver, are a few lines for each
 * architecture. */
#include <stdio.h>
#include <string.h>

#include "compile/parts.h"
#include "graph/plan/tasks.h"
#include "runtime/model/abi.h"
#include "support/data/dtype_dlpack.h"

/* Tables whose rows hold pointers are in .data.rel.ro; local labels are .L<what><numbers>. */

static void text(hone_str *out, const char *s) {
    hone_str_append(out, "\t.string \"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\' || c < 32 || c > 126) {
            hone_str_printf(out, "\\%03o", c);
        } else {
            hone_str_append_char(out, (char)c);
        }
    }
    hone_str_append(out, "\"\n");
}

static void indices(hone_str *out, const char *label, size_t a, size_t b, size_t c,
                    const int32_t *items, size_t count) {
    hone_str_printf(out, ".L%s_%zu_%zu_%zu:\n", label, a, b, c);
    for (size_t i = 0; i < count; i++)
        hone_str_printf(out, "\t.long %d\n", (int)items[i]);
}

/* ---- plans: constants without pointers first ---- */

static void plan_constants(const part_plan *plan, size_t e, size_t n, hone_str *out) {
    hone_str_append(out, "\t.section .rodata\n\t.p2align 3\n");
    hone_str_printf(out, ".Lguards_%zu_%zu:\n", e, n);
    for (size_t i = 0; i < plan->guards.count; i++) {
        const hone_mt_guard *g = &plan->guards.data[i];
        hone_str_printf(out, "\t.long %d, %d\n\t.quad %lld\n", (int)g->port, (int)g->dim,
                        (long long)g->wanted);
    }
    hone_str_printf(out, ".Lvalues_%zu_%zu:\n", e, n);
    for (size_t i = 0; i < plan->values.count; i++) {
        const hone_mt_value *v = &plan->values.data[i];
        hone_str_printf(out, "\t.long %d, %d, %d, %d\n\t.quad %lld\n", (int)v->op, (int)v->a,
                        (int)v->b, (int)v->phase, (long long)v->k);
    }
    for (size_t i = 0; i < plan->tensors.count; i++) {
        const part_tensor *t = &plan->tensors.data[i];
        indices(out, "tshape", e, n, i, t->shape, (size_t)t->row.rank);
    }
    for (size_t i = 0; i < plan->steps.count; i++) {
        const part_step *s = &plan->steps.data[i];
        indices(out, "args", e, n, i, s->args, s->arg_count);
        indices(out, "sizes", e, n, i, s->sizes, s->size_count);
        indices(out, "scratch", e, n, i, s->scratch, s->scratch_count);
    }
    indices(out, "workspaces", e, n, 0, plan->workspaces, plan->phase_count);
}

static void port_shapes(const part_entry *entry, const part_plan *plan, size_t e, size_t n,
                        hone_str *out) {
    for (size_t i = 0; i < plan->port_count; i++) {
        const part_port *port =
            i < entry->input_count ? &entry->inputs[i] : &entry->outputs[i - entry->input_count];
        indices(out, "pshape", e, n, i, plan->ports[i].shape, port->rank);
    }
    for (size_t i = 0; i < plan->steps.count; i++) {
        hone_str_printf(out, ".Lsname_%zu_%zu_%zu:\n", e, n, i);
        text(out, plan->steps.data[i].name);
    }
    for (size_t i = 0; i < plan->checks.count; i++) {
        hone_str_printf(out, ".Lcplace_%zu_%zu_%zu:\n", e, n, i);
        text(out, plan->checks.data[i].place);
        hone_str_printf(out, ".Lcwhat_%zu_%zu_%zu:\n", e, n, i);
        text(out, plan->checks.data[i].what);
    }
}

/* For who looks on: the bits of a double, and two texts. */
static void kernel_facts(const parts *p, const part_kernel *k, hone_str *out) {
    if (!k) {
        hone_str_append(out, "\t.quad 0, 0, 0\n");
        return;
    }
    bool is_symbolic = false;
    double flops = hone_func_flops(k->func, &is_symbolic);
    uint64_t bits = 0;
    if (!is_symbolic) memcpy(&bits, &flops, sizeof bits);
    size_t index = (size_t)(k - p->kernels.data);
    hone_str_printf(out, "\t.quad 0x%llx, .Lworkload_%zu, .Lorigin_%zu\n", (unsigned long long)bits,
                    index, index);
}

static void launch_row(const hone_mt_launch *l, const char *label, hone_str *out) {
    hone_str_printf(out, "\t.quad .Lsymbol%s\n\t.long %d, %d\n", label, (int)l->program,
                    (int)l->param_count);
    hone_str_printf(out, "\t.long %d, %d, %d, %d, %d, %d, %d, 0\n\t.quad .Lparams%s\n",
                    (int)l->grid[0], (int)l->grid[1], (int)l->grid[2], (int)l->block[0],
                    (int)l->block[1], (int)l->block[2], (int)l->shared_bytes, label);
}

static void launch_constants(const hone_mt_launch *l, const char *label, hone_str *out) {
    hone_str_printf(out, "\t.p2align 2\n.Lparams%s:\n", label);
    for (int32_t i = 0; i < l->param_count; i++)
        hone_str_printf(out, "\t.long %d, %d\n", (int)l->params[i].kind, (int)l->params[i].index);
    hone_str_printf(out, ".Lsymbol%s:\n", label);
    text(out, l->symbol);
}

/* What a GPU runs for the steps of a plan. */
static void plan_launches(const part_plan *plan, size_t e, size_t n, hone_str *out) {
    char label[96];
    for (size_t i = 0; i < plan->steps.count; i++) {
        const part_step *s = &plan->steps.data[i];
        hone_str_append(out, "\t.section .rodata\n");
        for (uint32_t k = 0; k < s->launch_count; k++) {
            snprintf(label, sizeof label, "_%zu_%zu_%zu_%u", e, n, i, k);
            launch_constants(&s->launches[k], label, out);
        }
        hone_str_append(out, "\t.section .data.rel.ro,\"aw\",@progbits\n\t.p2align 3\n");
        hone_str_printf(out, ".Llaunches_%zu_%zu_%zu:\n", e, n, i);
        for (uint32_t k = 0; k < s->launch_count; k++) {
            snprintf(label, sizeof label, "_%zu_%zu_%zu_%u", e, n, i, k);
            launch_row(&s->launches[k], label, out);
        }
    }
}

static void plan_rows(const parts *p, const part_plan *plan, size_t e, size_t n, hone_str *out) {
    hone_str_append(out, "\t.section .data.rel.ro,\"aw\",@progbits\n\t.p2align 3\n");
    hone_str_printf(out, ".Lports_%zu_%zu:\n", e, n);
    for (size_t i = 0; i < plan->port_count; i++) {
        const hone_mt_port *port = &plan->ports[i];
        hone_str_printf(out, "\t.long %d, %d, %d, 0\n\t.quad .Lpshape_%zu_%zu_%zu\n",
                        (int)port->is_input, (int)port->is_written, (int)port->phase, e, n, i);
    }
    hone_str_printf(out, ".Ltensors_%zu_%zu:\n", e, n);
    for (size_t i = 0; i < plan->tensors.count; i++) {
        const hone_mt_tensor *t = &plan->tensors.data[i].row;
        hone_str_printf(out,
                        "\t.long %d, %d\n\t.quad %lld\n\t.long %d, %d, %d, %d\n"
                        "\t.quad .Ltshape_%zu_%zu_%zu\n",
                        (int)t->place, (int)t->index, (long long)t->offset, (int)t->value,
                        (int)t->bytes, (int)t->rank, (int)t->type, e, n, i);
    }
    hone_str_printf(out, ".Lchecks_%zu_%zu:\n", e, n);
    for (size_t i = 0; i < plan->checks.count; i++) {
        const hone_mt_check *c = &plan->checks.data[i];
        hone_str_printf(out,
                        "\t.quad .Lcplace_%zu_%zu_%zu, .Lcwhat_%zu_%zu_%zu\n"
                        "\t.long %d, %d, %d, %d\n",
                        e, n, i, e, n, i, (int)c->got, (int)c->wanted, (int)c->relation,
                        (int)c->phase);
    }
    hone_str_printf(out, ".Lsteps_%zu_%zu:\n", e, n);
    for (size_t i = 0; i < plan->steps.count; i++) {
        const part_step *s = &plan->steps.data[i];
        bool is_kernel = s->kind == HONE_MT_KERNEL;
        hone_str_printf(out, "\t.long %d, %u, %u, %d\n\t.quad .Lsname_%zu_%zu_%zu\n\t.quad %s\n",
                        (int)s->kind, s->arg_count, s->size_count, (int)s->detail, e, n, i,
                        is_kernel ? p->kernels.data[s->kernel].symbol : "0");
        hone_str_printf(out, "\t.quad .Largs_%zu_%zu_%zu, .Lsizes_%zu_%zu_%zu\n", e, n, i, e, n, i);
        bool is_launch = s->kind == HONE_MT_LAUNCH;
        kernel_facts(p, is_kernel || is_launch ? &p->kernels.data[s->kernel] : NULL, out);
        hone_str_printf(out,
                        "\t.long %u, %u\n\t.quad .Llaunches_%zu_%zu_%zu, .Lscratch_%zu_%zu_%zu\n",
                        s->launch_count, s->scratch_count, e, n, i, e, n, i);
    }
}

static void plan_head(const part_plan *plan, size_t e, size_t n, hone_str *out) {
    uint32_t max_args = 0, max_sizes = 0;
    for (size_t i = 0; i < plan->steps.count; i++) {
        const part_step *s = &plan->steps.data[i];
        if (s->arg_count > max_args) max_args = s->arg_count;
        if (s->size_count > max_sizes) max_sizes = s->size_count;
    }
    hone_str_printf(out, "\t.long %zu, %zu, %zu, %zu\n\t.long %u, %u, %u, %zu\n",
                    plan->guards.count, plan->values.count, plan->tensors.count, plan->steps.count,
                    max_args, max_sizes, plan->phase_count, plan->checks.count);
    hone_str_printf(
        out,
        "\t.quad .Lguards_%zu_%zu, .Lvalues_%zu_%zu, .Lports_%zu_%zu, "
        ".Ltensors_%zu_%zu, .Lchecks_%zu_%zu, .Lsteps_%zu_%zu, .Lworkspaces_%zu_%zu_0\n",
        e, n, e, n, e, n, e, n, e, n, e, n, e, n);
}

/* ---- what a model says of itself ---- */

static void info_constants(const part_port *ports, uint32_t count, size_t e, char kind,
                           hone_str *out) {
    hone_str_append(out, "\t.section .rodata\n\t.p2align 3\n");
    for (size_t i = 0; i < count; i++) {
        hone_str_printf(out, ".Lidims_%c_%zu_%zu:\n", kind, e, i);
        for (uint32_t d = 0; d < ports[i].rank; d++)
            hone_str_printf(out, "\t.quad %lld\n", (long long)ports[i].shape[d]);
    }
    for (size_t i = 0; i < count; i++) {
        hone_str_printf(out, ".Liname_%c_%zu_%zu:\n", kind, e, i);
        text(out, ports[i].name);
        hone_str_printf(out, ".Litype_%c_%zu_%zu:\n", kind, e, i);
        text(out, HONE_DTYPE_NAME(ports[i].dtype));
        for (uint32_t d = 0; d < ports[i].rank; d++) {
            if (!ports[i].dim_names[d]) continue;
            hone_str_printf(out, ".Lidim_%c_%zu_%zu_%u:\n", kind, e, i, d);
            text(out, ports[i].dim_names[d]);
        }
    }
}

static void info_rows(const part_port *ports, uint32_t count, size_t e, char kind, hone_str *out) {
    hone_str_append(out, "\t.section .data.rel.ro,\"aw\",@progbits\n\t.p2align 3\n");
    for (size_t i = 0; i < count; i++) {
        hone_str_printf(out, ".Lidimnames_%c_%zu_%zu:\n", kind, e, i);
        for (uint32_t d = 0; d < ports[i].rank; d++) {
            if (ports[i].dim_names[d]) {
                hone_str_printf(out, "\t.quad .Lidim_%c_%zu_%zu_%u\n", kind, e, i, d);
            } else {
                hone_str_append(out, "\t.quad 0\n");
            }
        }
    }
    hone_str_printf(out, ".Linfo_%c_%zu:\n", kind, e);
    for (size_t i = 0; i < count; i++) {
        const part_port *port = &ports[i];
        hone_str_printf(out, "\t.quad .Liname_%c_%zu_%zu, .Litype_%c_%zu_%zu\n", kind, e, i, kind,
                        e, i);
        hone_str_printf(out, "\t.byte %d, %d\n\t.short %d\n\t.long %u\n",
                        hone_dtype_dlpack_code(port->dtype), (int)port->dtype.bits,
                        (int)port->dtype.lanes, port->rank);
        hone_str_printf(out, "\t.quad .Lidims_%c_%zu_%zu, .Lidimnames_%c_%zu_%zu\n\t.long %d, %d\n",
                        kind, e, i, kind, e, i, (int)port->is_updated, (int)port->sized);
    }
}

static void entry_tables(const parts *p, size_t e, hone_str *out) {
    const part_entry *entry = &p->entries.data[e];
    for (size_t n = 0; n < entry->plans.count; n++) {
        plan_constants(&entry->plans.data[n], e, n, out);
        port_shapes(entry, &entry->plans.data[n], e, n, out);
        plan_launches(&entry->plans.data[n], e, n, out);
        plan_rows(p, &entry->plans.data[n], e, n, out);
    }
    hone_str_printf(out, ".Lplans_%zu:\n", e);
    for (size_t n = 0; n < entry->plans.count; n++)
        plan_head(&entry->plans.data[n], e, n, out);
    info_constants(entry->inputs, entry->input_count, e, 'i', out);
    info_constants(entry->outputs, entry->output_count, e, 'o', out);
    hone_str_printf(out, ".Lename_%zu:\n", e);
    text(out, entry->name);
    info_rows(entry->inputs, entry->input_count, e, 'i', out);
    info_rows(entry->outputs, entry->output_count, e, 'o', out);
}

static void kernel_texts(const parts *p, hone_str *out) {
    hone_str_append(out, "\t.section .rodata\n");
    for (size_t i = 0; i < p->kernels.count; i++) {
        const hone_compile_kernel *k = &p->kernels.data[i].facts;
        char hash[HONE_HASH_HEX_BYTES], origin[40];
        const char *source = hone_compile_source_name(k->source);
        snprintf(origin, sizeof origin, "%s %lld", source, (long long)k->record);
        hone_str_printf(out, ".Lworkload_%zu:\n", i);
        text(out, hone_hash128_print(k->hash, hash));
        hone_str_printf(out, ".Lorigin_%zu:\n", i);
        text(out, k->source == HONE_COMPILE_RECORD ? origin : source);
    }
}

static void model_tables(const parts *p, hone_str *out) {
    hone_str_append(out, ".Lentry_info:\n");
    for (size_t e = 0; e < p->entries.count; e++) {
        const part_entry *entry = &p->entries.data[e];
        hone_str_printf(out,
                        "\t.quad .Lename_%zu\n\t.long %u, %u\n\t.quad .Linfo_i_%zu, .Linfo_o_%zu\n"
                        "\t.quad %s_%s, %s_%s_shapes\n",
                        e, entry->input_count, entry->output_count, e, e, p->prefix, entry->suffix,
                        p->prefix, entry->suffix);
    }
    hone_str_append(out, ".Lentries:\n");
    for (size_t e = 0; e < p->entries.count; e++) {
        hone_str_printf(out, "\t.long %zu, 0\n\t.quad .Lplans_%zu\n",
                        p->entries.data[e].plans.count, e);
    }
    hone_str_printf(out, ".Linfo:\n\t.long %d, %d\n\t.quad .Lprefix, .Ltarget\n\t.long %zu, 0\n",
                    HONE_MODEL_VERSION, (int)parts_threads(p), p->entries.count);
    hone_str_append(out, "\t.quad .Lentry_info, hone_mt_last_error, hone_mt_rt_create, "
                         "hone_mt_rt_destroy\n");
}

static bool has_cpu_kernels(const parts *p) {
    bool has = !parts_is_for_gpu(p);
    for (size_t i = 0; i < p->kernels.count; i++)
        has |= p->kernels.data[i].on_host;
    return has;
}

/* The texts of a GPU's kernels; how many there are. */
static size_t program_tables(const parts *p, hone_str *out) {
    size_t count = 0;
    for (size_t i = 0; i < p->kernels.count; i++) {
        const part_kernel *k = &p->kernels.data[i];
        if (!k->code_path) continue;
        hone_str_printf(out, "\t.section .rodata\n.Lpname_%zu:\n", i);
        text(out, k->facts.name);
        hone_str_printf(out, ".Lpcode_%zu:\n\t.incbin \"%s\"\n\t.byte 0\n", i, k->code_path);
    }
    hone_str_append(out, "\t.section .data.rel.ro,\"aw\",@progbits\n\t.p2align 3\n.Lprograms:\n");
    for (size_t i = 0; i < p->kernels.count; i++) {
        const part_kernel *k = &p->kernels.data[i];
        if (!k->code_path) continue;
        hone_str_printf(out, "\t.quad .Lpname_%zu, .Lpcode_%zu, %zu\n", i, i, k->object_bytes);
        count++;
    }
    return count;
}

static hone_mt_device_kind device_of(const parts *p) {
    if (!parts_is_for_gpu(p)) return HONE_MT_CPU;
    return p->options->target.kind == HONE_TARGET_CUDA ? HONE_MT_CUDA : HONE_MT_OPENCL;
}

static void model_head(const parts *p, const char *weights_path, const char *weights_name,
                       hone_str *out) {
    hone_str_append(out, "\t.section .rodata\n.Lprefix:\n");
    text(out, p->prefix);
    hone_str_append(out, ".Ltarget:\n");
    text(out, p->target_text);
    hone_str features = {0};
    if (has_cpu_kernels(p)) parts_print_features(&p->host, &features);
    hone_str_append(out, ".Lfeatures:\n");
    text(out, hone_str_text(&features));
    out->failed |= features.failed;
    hone_str_deinit(&features);
    if (weights_name) {
        hone_str_append(out, ".Lweights_name:\n");
        text(out, weights_name);
    }
    if (weights_path) {
        hone_str_append(out, "\t.p2align 6\n.Lweights:\n\t.incbin \"");
        hone_str_printf(out, "%s\"\n", weights_path);
    }
    size_t programs = program_tables(p, out);
    hone_str_append(out, "\t.data\n\t.p2align 3\nhone_model_table:\n");
    hone_str_printf(out, "\t.long %d, %d\n\t.quad .Linfo, .Lentries, .Lfeatures\n", HONE_MT_VERSION,
                    (int)device_of(p));
    hone_str_printf(out, "\t.quad %s, %s\n", weights_path ? ".Lweights" : "0",
                    weights_name ? ".Lweights_name" : "0");
    hone_str_printf(out, "\t.quad %lld\n\t.quad %llu, %llu\n\t.quad %zu, .Lprograms\n\t.quad 0\n",
                    (long long)p->weights_bytes, (unsigned long long)p->weights_hash.lo,
                    (unsigned long long)p->weights_hash.hi, programs);
}

/* ---- entry points ---- */

typedef struct arch_text {
    const char *prefix; /* of the triple */
    /* Three arguments to the 2nd to 4th, the number of the entry to the 5th, the table to the 1st;
     * the same for two arguments. Then jump. */
    const char *run, *shapes, *jump, *get;
} arch_text;

/* clang-format off */
static const arch_text archs[] = {
    {"x86_64",
     "\tmovl $%zu, %%r8d\n\tmovq %%rdx, %%rcx\n\tmovq %%rsi, %%rdx\n\tmovq %%rdi, %%rsi\n"
     "\tleaq hone_model_table(%%rip), %%rdi\n",
     "\tmovl $%zu, %%ecx\n\tmovq %%rsi, %%rdx\n\tmovq %%rdi, %%rsi\n"
     "\tleaq hone_model_table(%%rip), %%rdi\n",
     "\tjmp %s\n", "\tleaq .Linfo(%rip), %rax\n\tret\n"},
    {"aarch64",
     "\tmov x3, x2\n\tmov x2, x1\n\tmov x1, x0\n\tmov w4, #%zu\n"
     "\tadrp x0, hone_model_table\n\tadd x0, x0, :lo12:hone_model_table\n",
     "\tmov x2, x1\n\tmov x1, x0\n\tmov w3, #%zu\n"
     "\tadrp x0, hone_model_table\n\tadd x0, x0, :lo12:hone_model_table\n",
     "\tb %s\n", "\tadrp x0, .Linfo\n\tadd x0, x0, :lo12:.Linfo\n\tret\n"},
};
/* clang-format on */

static const arch_text *find_arch(const char *triple) {
    for (size_t i = 0; i < HONE_COUNT(archs); i++) {
        if (strncmp(archs[i].prefix, triple, strlen(archs[i].prefix)) == 0) return &archs[i];
    }
    return NULL;
}

static void begin_function(hone_str *out, const char *prefix, const char *name, const char *more) {
    hone_str_printf(out, "\t.globl %s%s%s\n\t.type %s%s%s, %%function\n%s%s%s:\n", prefix, name,
                    more, prefix, name, more, prefix, name, more);
}

/* printf with a format of the table above. */
static void number(hone_str *out, const char *format, size_t value) {
    const char *at = strstr(format, "%zu");
    for (const char *c = format; *c; c++) {
        if (c == at) {
            hone_str_printf(out, "%zu", value);
            c += 2;
        } else if (c[0] == '%' && c[1] == '%') {
            hone_str_append_char(out, *++c);
        } else {
            hone_str_append_char(out, *c);
        }
    }
}

static void jump(hone_str *out, const arch_text *arch, const char *to) {
    hone_str_append_n(out, arch->jump, (size_t)(strstr(arch->jump, "%s") - arch->jump));
    hone_str_printf(out, "%s\n", to);
}

static void entry_points(const parts *p, const arch_text *arch, hone_str *out) {
    hone_str_append(out, "\t.text\n\t.p2align 4\n");
    hone_str prefix = {0};
    hone_str_printf(&prefix, "%s_", p->prefix);
    for (size_t e = 0; e < p->entries.count; e++) {
        const char *suffix = p->entries.data[e].suffix;
        begin_function(out, hone_str_text(&prefix), suffix, "");
        number(out, arch->run, e);
        jump(out, arch, "hone_mt_run");
        begin_function(out, hone_str_text(&prefix), suffix, "_shapes");
        number(out, arch->shapes, e);
        jump(out, arch, "hone_mt_output_shapes");
    }
    begin_function(out, hone_str_text(&prefix), "last_error", "");
    jump(out, arch, "hone_mt_last_error");
    begin_function(out, hone_str_text(&prefix), "rt_create", "");
    jump(out, arch, "hone_mt_rt_create");
    begin_function(out, hone_str_text(&prefix), "rt_destroy", "");
    jump(out, arch, "hone_mt_rt_destroy");
    begin_function(out, hone_str_text(&prefix), "info", "");
    hone_str_append(out, arch->get);
    if (p->options->emit == HONE_COMPILE_SO) {
        begin_function(out, HONE_MODEL_SYMBOL, "", "");
        hone_str_append(out, arch->get);
    }
    out->failed |= prefix.failed;
    hone_str_deinit(&prefix);
}

hone_status parts_print_asm(const parts *p, const char *weights_path, const char *weights_name,
                            hone_str *out) {
    const arch_text *arch = find_arch(p->host.triple);
    if (!arch) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "libraries for '%s' cannot be made",
                          p->host.triple);
    }
    kernel_texts(p, out);
    for (size_t e = 0; e < p->entries.count; e++)
        entry_tables(p, e, out);
    model_tables(p, out);
    model_head(p, weights_path, weights_name, out);
    entry_points(p, arch, out);
    hone_str_append(out, "\t.section .note.GNU-stack,\"\",%progbits\n");
    return hone_str_check(out);
}
