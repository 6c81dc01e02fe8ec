/* ir/identity/structural_hash.c - hashes of functions, graphs and modules. */
#include <string.h>

#include "ir/identity/canon_impl.h"
#include "ir/identity/structural.h"

static hone_hash128 hash_func(const hone_func *func, bool leaves_numbers) {
    canon c;
    canon_init(&c, false);
    c.leaves_numbers = leaves_numbers;
    canon_write_func(&c, func);
    hone_hash128 hash = canon_digest(&c);
    canon_deinit(&c);
    return hash;
}

hone_hash128 hone_func_hash(const hone_func *func) {
    return hash_func(func, false);
}

hone_hash128 hone_func_kind_hash(const hone_func *func) {
    return hash_func(func, true);
}

hone_hash128 hone_graph_hash(const hone_module *module, const hone_graph_func *graph) {
    canon c;
    canon_init(&c, false);
    canon_write_graph(&c, module, graph);
    hone_hash128 hash = canon_digest(&c);
    canon_deinit(&c);
    return hash;
}

/* The smallest name greater than `after`; names are unique. */
static const hone_member *next_member(const hone_module *module, const char *after) {
    const hone_member *best = NULL;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        if (after && strcmp(member->name, after) <= 0) continue;
        if (!best || strcmp(member->name, best->name) < 0) best = member;
    }
    return best;
}

hone_hash128 hone_module_hash(const hone_module *module) {
    hone_hasher hasher;
    const hone_member *member = NULL;
    hone_hasher_init(&hasher, HONE_STRUCTURAL_VERSION);
    hone_hasher_u32(&hasher, module->member_count);
    while ((member = next_member(module, member ? member->name : NULL))) {
        hone_hasher_text(&hasher, member->name);
        if (member->kind == HONE_MEMBER_FUNC) {
            hone_hasher_hash(&hasher, hone_func_hash(member->func));
        } else if (member->kind == HONE_MEMBER_GRAPH) {
            hone_hasher_hash(&hasher, hone_graph_hash(module, member->graph));
        } else {
            hone_hasher_u8(&hasher, 'x');
        }
    }
    canon c;
    canon_init(&c, false);
    canon_attrs(&c, &module->attrs);
    hone_hasher_hash(&hasher, canon_digest(&c));
    canon_deinit(&c);
    return hone_hasher_finish(&hasher);
}
