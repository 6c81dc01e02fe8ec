#include "ir/core/grow.h"
#include "schedule/python/trace_parse_impl.h"

/* What names stand for in the Python form of traces: those of the text, and in a call those of the
 * function, behind which are those of where it was written. */

pytrace_scope *pytrace_new_scope(pytrace *p, pytrace_scope *outer) {
    pytrace_scope *scope = hone_arena_zalloc(p->arena, sizeof *scope);
    if (!scope) return NULL;
    scope->outer = outer;
    scope->next = p->scopes;
    p->scopes = scope;
    return scope;
}

void pytrace_end_scopes(pytrace *p) {
    for (pytrace_scope *scope = p->scopes; scope; scope = scope->next)
        hone_strmap_deinit(&scope->names);
    p->scopes = NULL;
}

const pytrace_value *pytrace_find(const pytrace *p, const char *name) {
    uint64_t at = 0;
    for (const pytrace_scope *scope = p->scope; scope; scope = scope->outer) {
        if (hone_strmap_find(&scope->names, name, &at)) return &p->slots[at];
    }
    return NULL;
}

hone_status pytrace_bind(pytrace *p, const char *name, const pytrace_value *value) {
    uint64_t at = 0;
    const pytrace_value copy = *value; /* it may lie among the slots */
    if (hone_strmap_find(&p->scope->names, name, &at)) {
        p->slots[at] = copy;
        return HONE_OK;
    }
    bool has_room = hone_grow(p->arena, (void **)&p->slots, &p->slot_capacity, p->slot_count,
                              sizeof *p->slots) &&
                    hone_strmap_put(&p->scope->names, name, p->slot_count);
    if (!has_room) return pytrace_no_memory();
    p->slots[p->slot_count++] = copy;
    return HONE_OK;
}
