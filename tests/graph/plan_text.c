/* tests/graph/plan_text.c - plans as text. */
#include "tests/graph/plan_text.h"

static void print_expr(const hone_plan *plan, const hone_expr *e, hone_str *out) {
    if (hone_expr_is_int(e)) {
        hone_str_printf(out, "%lld", (long long)e->u.i);
    } else if (e->kind == HONE_EXPR_VAR) {
        hone_str_append(out, plan->vars[e->u.var].name);
    } else if (e->kind == HONE_EXPR_BINARY) {
        const char *op = hone_op_spelling((hone_op)e->op);
        hone_str_append(out, "(");
        print_expr(plan, e->args[0], out);
        hone_str_printf(out, " %s ", op ? op : "?");
        print_expr(plan, e->args[1], out);
        hone_str_append(out, ")");
    } else {
        hone_str_append(out, "?");
    }
}

static void print_place(const hone_plan *plan, const hone_plan_tensor *tensor, hone_str *out) {
    static const char *const names[] = {"input", "output", "constant"};
    if (tensor->place == HONE_PLAN_WORKSPACE) {
        hone_str_append(out, "workspace");
        if (tensor->index) hone_str_printf(out, "%u", tensor->index);
        hone_str_append(out, "+");
        print_expr(plan, tensor->offset, out);
    } else {
        hone_str_printf(out, "%s %u", names[tensor->place], tensor->index);
    }
}

static void print_tensor(const hone_plan *plan, uint32_t index, hone_str *out) {
    const hone_plan_tensor *tensor = &plan->tensors[index];
    hone_str_printf(out, "  t%u: %s[", index, HONE_DTYPE_NAME(tensor->dtype));
    for (uint32_t d = 0; d < tensor->rank; d++) {
        if (d) hone_str_append(out, ", ");
        print_expr(plan, tensor->shape[d], out);
    }
    hone_str_append(out, "] at ");
    print_place(plan, tensor, out);
    hone_str_append(out, "\n");
}

static void print_step(const hone_plan *plan, const hone_plan_step *step, hone_str *out) {
    uint32_t inputs = step->arg_count - step->output_count;
    if (step->kind == HONE_PLAN_SIZES) {
        hone_str_printf(out, "  phase %u: sizes(t%u), workspace ", step->phase, step->args[0]);
        print_expr(plan, plan->workspace_bytes[step->phase], out);
        hone_str_append(out, "\n");
        return;
    }
    hone_str_printf(out, "  %s%s(", step->kind == HONE_PLAN_EXTERN ? "extern " : "", step->callee);
    for (uint32_t i = 0; i < step->arg_count; i++) {
        hone_str_printf(out, "%st%u", i == inputs ? " -> " : i ? ", " : "", step->args[i]);
    }
    for (uint32_t i = 0; i < step->size_count; i++) {
        hone_str_append(out, i ? ", " : "; ");
        print_expr(plan, step->sizes[i], out);
    }
    bool goes = step->kind == HONE_PLAN_UNLESS || step->kind == HONE_PLAN_GO ||
                step->kind == HONE_PLAN_NEXT;
    hone_str_append(out, ")");
    if (goes) hone_str_printf(out, " to %u", step->target);
    if (step->kind == HONE_PLAN_DEMAND) hone_str_printf(out, " %u", step->demand);
    hone_str_append(out, "\n");
}

static void print_check(const hone_plan *plan, const hone_plan_check *check, hone_str *out) {
    hone_str_printf(out, "  '%s': %s is ", check->place, check->what);
    print_expr(plan, check->got, out);
    static const char *const words[] = {"", "at least ", "at most "};
    hone_str_printf(out, ", wants %s", words[check->relation]);
    print_expr(plan, check->wanted, out);
    if (check->demand)
        hone_str_printf(out, " (demand %u)", check->demand);
    else if (check->phase)
        hone_str_printf(out, " (phase %u)", check->phase);
    hone_str_append(out, "\n");
}

void plan_text(const hone_plan *plan, hone_str *out) {
    hone_str_printf(out, "plan %s: %u inputs, %u outputs, workspace ", plan->name,
                    plan->input_count, plan->output_count);
    print_expr(plan, plan->workspace_bytes[0], out);
    if (plan->unplanned_bytes >= 0) {
        hone_str_printf(out, " of %lld", (long long)plan->unplanned_bytes);
    }
    hone_str_append(out, " bytes\ntensors\n");
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        print_tensor(plan, i, out);
    if (plan->check_count) hone_str_append(out, "checks\n");
    for (uint32_t i = 0; i < plan->check_count; i++)
        print_check(plan, &plan->checks[i], out);
    hone_str_append(out, "steps\n");
    for (uint32_t i = 0; i < plan->step_count; i++)
        print_step(plan, &plan->steps[i], out);
}
