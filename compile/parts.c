/* compile/parts.c - what a module gives: entries, kernels, weights. */
#include "compile/parts.h"

#include <ctype.h>
#include <string.h>

#include "compile/first_schedule.h"
#include "graph/module/module_parts.h"
#include "graph/passes/left_out.h"
#include "graph/passes/prepare.h"
#include "ir/identity/structural.h"
#include "lower/signature/signature.h"

hone_status parts_no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "compilation");
}

const char *parts_identifier(hone_arena *arena, const char *text) {
    bool is_led_by_digit = isdigit((unsigned char)*text) || !*text;
    char *name = hone_arena_printf(arena, "%s%s", is_led_by_digit ? "m_" : "", text);
    for (char *c = name; c && *c; c++) {
        if (!isalnum((unsigned char)*c)) *c = '_';
    }
    return name;
}

uint64_t parts_constants_of(const part_plan *plan, const int32_t *args, uint32_t count) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count && i < 64; i++) {
        if (plan->tensors.data[args[i]].weight) bits |= UINT64_C(1) << i;
    }
    return bits;
}

/* A name that no other kernel's function has in one text: kernels of several sizes share theirs. */
static const char *make_title(parts *p, const hone_func *func) {
    const char *symbol = hone_attrs_string(&func->attrs, "global_symbol", func->name);
    const char *stem = parts_identifier(p->arena, symbol), *title = stem;
    for (unsigned i = 1; title && hone_strmap_find(&p->titles, title, NULL); i++)
        title = hone_arena_printf(p->arena, "%s_%u", stem, i);
    return title && hone_strmap_put(&p->titles, title, 1) ? title : NULL;
}

hone_status parts_add_kernel(parts *p, const hone_func *func, uint64_t constants,
                             uint32_t *out_index) {
    hone_hash128 hash = hone_func_hash(func);
    hone_hasher key;
    hone_hasher_init(&key, constants);
    hone_hasher_u64(&key, hash.hi);
    hone_hasher_u64(&key, hash.lo);
    hone_hash128 both = hone_hasher_finish(&key);
    uint64_t known;
    if (hone_map128_find(&p->kernel_of, both, &known)) {
        p->kernels.data[known].facts.calls++;
        *out_index = (uint32_t)known;
        return HONE_OK;
    }
    *out_index = (uint32_t)p->kernels.count;
    part_kernel kernel = {.func = func, .constants = constants};
    kernel.facts = (hone_compile_kernel){.hash = hash, .calls = 1};
    HONE_TRY(hone_record_chooser_note(p->chooser, hash));
    kernel.facts.name = hone_arena_strdup(p->arena, func->name);
    kernel.symbol = hone_arena_printf(p->arena, "hone_kernel_%u_%s", (unsigned)*out_index,
                                      parts_identifier(p->arena, func->name));
    kernel.title = make_title(p, func);
    if (!kernel.facts.name || !kernel.symbol || !kernel.title ||
        !hone_vec_push(&p->kernels, kernel) || !hone_map128_put(&p->kernel_of, both, *out_index)) {
        return parts_no_memory();
    }
    return HONE_OK;
}

/* only: the graph function that is wanted, or NULL */
static hone_status prepare(parts *p, const hone_module *module, const char *only,
                           const hone_dim_variant *variant, hone_module **out_module) {
    hone_graph_options options = {.only = only,
                                  .left_out = &p->left_out,
                                  .writes_whole = hone_writes_whole,
                                  .weights = p->options->weight_values,
                                  .weight_count = p->options->weight_count};
    hone_note_device(&options, &p->options->target);
    if (variant) {
        options.dims = variant->dims;
        options.dim_count = variant->dim_count;
    }
    HONE_TRY(hone_graph_prepare(module, &options, out_module));
    if (hone_vec_push(&p->modules, *out_module)) return HONE_OK;
    hone_module_release(*out_module);
    return parts_no_memory();
}

/* The graph function that is compiled alone; NULL: there is none of the name. */
static const hone_member *find_main(const hone_module *module) {
    const hone_member *member = hone_module_find(module, "main");
    return member && member->kind == HONE_MEMBER_GRAPH ? member : NULL;
}

static bool is_wanted(const parts *p, const hone_module *module, const hone_member *member) {
    if (p->options->func) return strcmp(member->name, p->options->func) == 0;
    if (member->kind == HONE_MEMBER_GRAPH) {
        const hone_member *main_one = find_main(module);
        if (main_one) return member == main_one;
        if (hone_graph_is_left_out(&p->left_out, member->name)) return false;
        return !member->graph->is_private || !hone_module_calls(module, member->name);
    }
    return member->kind == HONE_MEMBER_FUNC && !hone_module_has_graph(module);
}

/* Whether the database has a record of a kernel, be it a stale one or one of an earlier program:
 * these sizes were tuned. */
static hone_status is_recorded(parts *p, const hone_func *func, bool *out_is) {
    hone_record_choice choice;
    HONE_TRY(hone_record_choose(p->chooser, func, p->arena, &choice));
    *out_is = choice.trial != NULL || choice.earlier > 0;
    return HONE_OK;
}

static hone_status has_record(parts *p, const hone_module *prepared, bool *out_has) {
    *out_has = false;
    for (uint32_t i = 0; i < prepared->member_count && !*out_has; i++) {
        if (prepared->members[i].kind != HONE_MEMBER_FUNC) continue;
        HONE_TRY(is_recorded(p, prepared->members[i].func, out_has));
    }
    return HONE_OK;
}

/* The module with the sizes of one choice; NULL where it has no sizes, or those of another model.
 */
static hone_status prepare_variant(parts *p, const hone_module *module, const char *only,
                                   const hone_dim_variant *variant, hone_module **out_module) {
    *out_module = NULL;
    if (variant->dim_count == 0) return HONE_OK;
    hone_status st = prepare(p, module, only, variant, out_module);
    if (!p->options->only_recorded || hone_status_code(st) != HONE_CODE_INVALID) return st;
    hone_status_free(st);
    *out_module = NULL;
    return HONE_OK;
}

static hone_status add_variant(parts *p, const hone_module *module, const char *name,
                               const hone_dim_variant *variant, size_t entry) {
    hone_module *prepared;
    HONE_TRY(prepare_variant(p, module, name, variant, &prepared));
    bool is_wanted_plan = prepared != NULL;
    if (prepared && p->options->only_recorded) HONE_TRY(has_record(p, prepared, &is_wanted_plan));
    if (!is_wanted_plan) return HONE_OK;
    return parts_add_graph(p, prepared, name, variant, &p->entries.data[entry]);
}

static hone_status add_entry(parts *p, const char *name) {
    part_entry entry = {.name = hone_arena_strdup(p->arena, name),
                        .suffix = parts_identifier(p->arena, name)};
    bool ok = entry.name && entry.suffix && hone_vec_push(&p->entries, entry);
    return ok ? HONE_OK : parts_no_memory();
}

/* One graph function: a plan per choice of sizes, the general one last. */
static hone_status collect_graph(parts *p, const hone_module *module, const char *name) {
    HONE_TRY(add_entry(p, name));
    size_t at = p->entries.count - 1;
    const hone_dim_variants *variants = p->options->variants;
    hone_module *prepared;
    for (size_t i = 0; variants && i < variants->count; i++)
        HONE_TRY(add_variant(p, module, name, &variants->items[i], at));
    if (p->options->exact && p->entries.data[at].plans.count > 0) return HONE_OK;
    HONE_TRY(prepare(p, module, name, NULL, &prepared));
    return parts_add_graph(p, prepared, name, NULL, &p->entries.data[at]);
}

/* A plan for the sizes of one choice, where the function has such sizes. */
static hone_status add_special(parts *p, const hone_module *special, const hone_func *general,
                               bool takes_weights, part_entry *entry) {
    const hone_member *member = special ? hone_module_find(special, general->name) : NULL;
    if (!member || member->kind != HONE_MEMBER_FUNC) return HONE_OK;
    hone_hash128 hash = hone_func_hash(member->func);
    if (hone_hash128_equal(hash, hone_func_hash(general))) return HONE_OK;
    bool is_wanted_plan = true;
    if (p->options->only_recorded) HONE_TRY(is_recorded(p, member->func, &is_wanted_plan));
    if (!is_wanted_plan) return HONE_OK;
    return parts_add_func(p, member->func, general, takes_weights, entry);
}

static hone_status collect_func(parts *p, const hone_func *general, hone_module *const *specials,
                                size_t count, bool takes_weights) {
    HONE_TRY(add_entry(p, general->name));
    part_entry *entry = &hone_vec_last(&p->entries);
    for (size_t i = 0; i < count; i++)
        HONE_TRY(add_special(p, specials[i], general, takes_weights, entry));
    if (p->options->exact && entry->plans.count > 0) return HONE_OK;
    return parts_add_func(p, general, general, takes_weights, entry);
}

/* PrimFuncs: a plan per choice of sizes, the general one last. */
static hone_status collect_funcs(parts *p, const hone_module *module) {
    const hone_dim_variants *variants = p->options->variants;
    size_t count = variants ? variants->count : 0;
    hone_module **specials = hone_arena_zalloc(p->arena, (count + 1) * sizeof *specials);
    hone_module *general;
    if (!specials) return parts_no_memory();
    HONE_TRY(prepare(p, module, NULL, NULL, &general));
    for (size_t i = 0; i < count; i++)
        HONE_TRY(prepare_variant(p, module, NULL, &variants->items[i], &specials[i]));
    for (uint32_t i = 0; i < general->member_count; i++) {
        const hone_member *member = &general->members[i];
        if (member->kind != HONE_MEMBER_FUNC || !is_wanted(p, module, member)) continue;
        HONE_TRY(collect_func(p, member->func, specials, count, !hone_module_has_graph(module)));
    }
    return HONE_OK;
}

/* Whether `name` or `name`_shapes is taken already. */
static bool is_taken(const hone_strmap *names, const char *name, hone_str *room) {
    hone_str_clear(room);
    hone_str_printf(room, "%s_shapes", name);
    return hone_strmap_find(names, name, NULL) ||
           hone_strmap_find(names, hone_str_text(room), NULL);
}

static bool take(hone_strmap *names, const char *name, hone_str *room) {
    is_taken(names, name, room); /* leaves the second name in room */
    return !room->failed && hone_strmap_put(names, name, 1) &&
           hone_strmap_put(names, hone_str_text(room), 1);
}

static hone_status name_entry(parts *p, part_entry *entry, hone_strmap *names, hone_str *room) {
    /* "run" is how one calls the only thing there is */
    bool is_main = p->entries.count == 1 || strcmp(entry->name, "main") == 0;
    if (is_main) entry->suffix = "run";
    while (entry->suffix && is_taken(names, entry->suffix, room)) {
        entry->suffix = hone_arena_printf(p->arena, "%s_", entry->suffix);
    }
    return entry->suffix && take(names, entry->suffix, room) ? HONE_OK : parts_no_memory();
}

/* C names: no two the same, and none of those that every model has. */
static hone_status name_entries(parts *p) {
    static const char *const fixed[] = {"info", "last_error", "rt_create", "rt_destroy"};
    hone_strmap names = {0};
    hone_str room = {0};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < HONE_COUNT(fixed) && !st; i++) {
        if (!hone_strmap_put(&names, fixed[i], 1)) st = parts_no_memory();
    }
    for (size_t i = 0; i < p->entries.count && !st; i++)
        st = name_entry(p, &p->entries.data[i], &names, &room);
    hone_strmap_deinit(&names);
    hone_str_deinit(&room);
    return st;
}

hone_status parts_collect(parts *p, const hone_module *module) {
    if (p->options->func) {
        const hone_member *member;
        HONE_TRY(hone_module_pick(module, p->options->func, &member));
    }
    bool has_func = false;
    if (!p->options->func && !find_main(module))
        HONE_TRY(hone_graph_find_left_out(module, p->arena, &p->left_out));
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        if (!is_wanted(p, module, member)) continue;
        if (member->kind == HONE_MEMBER_GRAPH) {
            HONE_TRY(collect_graph(p, module, member->name));
        }
        has_func |= member->kind == HONE_MEMBER_FUNC;
    }
    if (has_func) HONE_TRY(collect_funcs(p, module));
    if (p->entries.count == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "there is no function to compile");
    }
    return name_entries(p);
}

static void deinit_entry(part_entry *entry) {
    for (size_t i = 0; i < entry->plans.count; i++) {
        part_plan *plan = &entry->plans.data[i];
        hone_vec_deinit(&plan->guards);
        hone_vec_deinit(&plan->values);
        hone_vec_deinit(&plan->tensors);
        hone_vec_deinit(&plan->checks);
        hone_vec_deinit(&plan->steps);
    }
    hone_vec_deinit(&entry->plans);
}

void parts_deinit(parts *p) {
    for (size_t i = 0; i < p->entries.count; i++)
        deinit_entry(&p->entries.data[i]);
    for (size_t i = 0; i < p->plans.count; i++)
        hone_plan_destroy(p->plans.data[i]);
    for (size_t i = 0; i < p->modules.count; i++)
        hone_module_release(p->modules.data[i]);
    hone_vec_deinit(&p->entries);
    hone_vec_deinit(&p->plans);
    hone_vec_deinit(&p->modules);
    hone_vec_deinit(&p->kernels);
    parts_close_weights(p);
    hone_map128_deinit(&p->kernel_of);
    hone_strmap_deinit(&p->titles);
    hone_map128_deinit(&p->weight_of);
    hone_record_chooser_destroy(p->chooser);
    hone_tensor_intrins_destroy(p->intrins);
}
