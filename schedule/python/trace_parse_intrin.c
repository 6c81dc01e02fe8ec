/* schedule/python/trace_parse_intrin.c - TensorIntrin.register("name", desc, impl) in the Python
 * form of traces: both functions stand in the same text, or the intrinsic is known already (hone's
 * --intrin). */
#include <string.h>

#include "schedule/intrin/tensor_intrin.h"
#include "schedule/python/trace_parse_impl.h"

hone_status pytrace_note_program(pytrace *p, const py_node *node) {
    pytrace_program *program = hone_arena_alloc(p->arena, sizeof *program);
    if (!program) return py_no_memory();
    *program = (pytrace_program){node->name, node, p->programs};
    p->programs = program;
    return HONE_OK;
}

static const pytrace_program *find_program(const pytrace *p, const py_value *v) {
    if (!v || v->kind != PYV_UNKNOWN) return NULL;
    const pytrace_program *program = p->programs;
    while (program && strcmp(program->name, v->u.s) != 0)
        program = program->before;
    return program;
}

static void show(const pytrace *p, const py_node *node, char *text) {
    memcpy(text + node->at, p->source.text + node->at, node->end - node->at);
}

/* The text with blanks for everything else: places in it stay what they are. */
static char *text_of(const pytrace *p, const pytrace_program *desc, const pytrace_program *impl) {
    size_t length = p->source.length;
    char *text = hone_arena_alloc(p->arena, length + 1);
    if (!text) return NULL;
    for (size_t i = 0; i < length; i++)
        text[i] = p->source.text[i] == '\n' ? '\n' : ' ';
    text[length] = '\0';
    show(p, desc->node, text);
    show(p, impl->node, text);
    return text;
}

static const py_value *argument(const py_args *args, uint32_t index, const char *name) {
    return index < args->count ? &args->items[index] : py_keyword(args, name);
}

static bool is_known(const pytrace *p, const char *name) {
    hone_module *module = NULL;
    const hone_func *desc, *impl;
    const hone_tensor_intrins *set = p->context ? p->context->intrins : NULL;
    hone_status st = hone_tensor_intrin_find(set, name, &module, &desc, &impl);
    bool is = !st;
    hone_status_free(st);
    hone_module_release(module);
    return is;
}

hone_status pytrace_register_intrin(pytrace *p, uint32_t where, const py_args *args) {
    const py_value *name = argument(args, 0, "name");
    const pytrace_program *desc = find_program(p, argument(args, 1, "desc"));
    const pytrace_program *impl = find_program(p, argument(args, 2, "impl"));
    if (!name || name->kind != PYV_STRING) {
        return py_fail_at(&p->run, where,
                          "an intrinsic is registered by name: (\"name\", desc, impl)");
    }
    hone_tensor_intrins *set = p->context ? p->context->registered : NULL;
    if (!desc || !impl || !set) {
        if (is_known(p, name->u.s)) return HONE_OK;
        return py_fail_about(&p->run, where, "intrinsic ", name->u.s,
                             set ? ": both functions must stand before it in this text, as "
                                   "T.prim_func; or give it with --intrin NAME=FILE.py"
                                 : " cannot be registered here: give it with --intrin "
                                   "NAME=FILE.py");
    }
    char *text = text_of(p, desc, impl);
    if (!text) return py_no_memory();
    return hone_tensor_intrins_add_pair(set, name->u.s, text, strlen(text), p->source.name,
                                        desc->name, impl->name);
}
