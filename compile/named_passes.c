/* compile/named_passes.c - finds and runs passes by name. */
#include "compile/named_passes.h"

#include <stdio.h>
#include <string.h>

#include "compile/first_schedule.h"
#include "graph/passes/pass.h"
#include "ir/verify/verify.h"
#include "lower/ground/lower.h"
#include "lower/signature/signature.h"
#include "support/core/alloc.h"
#include "support/text/nearest.h"

static const char *const lowering_names[] = {
#define HONE_LOWER_PASS(name, run, devices, makes_vectors, tvm_names, summary) name,
#include "lower/ground/lower_passes.def"
#undef HONE_LOWER_PASS
    NULL};

/* Passes of TVM whose work is done elsewhere here. */
static const struct elsewhere {
    const char *tvm_names, *where;
} elsewhere[] = {
    {"BindTarget AnnotateEntryFunc AnnotateDeviceRegions SplitHostDevice MakePackedAPI "
     "LowerTVMBuiltin LowerIntrin NarrowDataType ForceNarrowIndexToInt32 StorageRewrite "
     "CallTIRRewrite StaticPlanBlockMemory VMBuiltinLower VMShapeLower KillAfterLastUse "
     "LowerAllocTensor LowerRuntimeBuiltin ComputePrimValue RewriteDataflowReshape ToNonDataflow "
     "RemovePurityChecking RewriteCUDAGraph DispatchSampling DispatchSortScan AttachGlobalSymbol "
     "BF16ComputeLegalize FP8ComputeLegalize BF16StorageLegalize FP8StorageLegalize", "'hone compile' does it; see --emit"},
    {"MetaScheduleApplyDatabase",                                                          "'hone compile --db' does it"       },
    {"MetaScheduleTuneIRMod MetaScheduleTuneTIR",                                          "'hone tune' does it"               },
};

bool hone_named_pass_at(size_t index, hone_named_pass *out) {
    size_t graphs = hone_graph_pass_count(), lowerings;
    const hone_lower_pass *lowering = hone_lower_pipeline(&lowerings);
    *out = (hone_named_pass){0};
    if (index < graphs) {
        const hone_graph_pass *pass = hone_graph_pass_at(index);
        *out = (hone_named_pass){pass->name, pass->tvm_names, pass->help, false};
    } else if (index - graphs < lowerings) {
        lowering += index - graphs;
        *out = (hone_named_pass){lowering->name, lowering->tvm_names, lowering->summary, true};
    }
    return out->name != NULL;
}

const char *const *hone_named_pipeline(const char *name) {
    return strcmp(name, "lower") == 0 ? lowering_names : hone_graph_pipeline(name);
}

bool hone_named_pass_binds(const char *name) {
    return hone_graph_pass_find(name) && hone_graph_pass_find(name) == hone_graph_pass_find("bind");
}

bool hone_named_pass_takes_target(const char *name) {
    static const char *const of_devices[] = {"channels_last",  "fold_transpose", "stack_products",
                                             "fuse_attention", "cut_scans",      "legalize",
                                             "legalize_all"};
    const hone_graph_pass *pass = hone_graph_pass_find(name);
    for (size_t i = 0; pass && i < HONE_COUNT(of_devices); i++)
        if (strcmp(pass->name, of_devices[i]) == 0) return true;
    return !pass;
}

/* ---- names that are none ---- */

enum { MOST_NAMES = 128, MOST_BYTES = 64 };

typedef struct known_names {
    char text[MOST_NAMES][MOST_BYTES];
    const char *items[MOST_NAMES];
    size_t count;
} known_names;

static void add_names(known_names *known, const char *list) {
    while (list && *list && known->count < MOST_NAMES) {
        size_t length = strcspn(list, " ");
        char *to = known->text[known->count];
        snprintf(to, MOST_BYTES, "%.*s", (int)length, list);
        known->items[known->count++] = to;
        list += length + strspn(list + length, " ");
    }
}

const char *hone_named_pass_elsewhere(const char *name) {
    if (hone_graph_pass_find(name) || hone_lower_pass_find(name)) return NULL;
    for (size_t i = 0; i < HONE_COUNT(elsewhere); i++)
        if (hone_name_is_listed(elsewhere[i].tvm_names, name)) return elsewhere[i].where;
    return NULL;
}

hone_status hone_named_pass_check(const char *name) {
    if (hone_graph_pass_find(name) || hone_lower_pass_find(name)) return HONE_OK;
    const char *where = hone_named_pass_elsewhere(name);
    if (where) return HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no pass '%s': %s", name, where);
    known_names known = {.count = 0};
    hone_named_pass pass;
    for (size_t i = 0; hone_named_pass_at(i, &pass); i++) {
        add_names(&known, pass.name);
        add_names(&known, pass.tvm_names);
    }
    const char *dot = strrchr(name, '.');
    const char *meant =
        hone_name_suggest(dot ? dot + 1 : name, known.items, known.count, sizeof known.items[0]);
    return HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no pass '%s'%s%s%s", name,
                      meant ? "; did you mean '" : "; see hone pass --list", meant ? meant : "",
                      meant ? "'?" : "");
}

/* ---- running them ---- */

static hone_status lower_members(const hone_module *module, const hone_lower_pass *const *passes,
                                 size_t count, const hone_target *target,
                                 hone_module **out_module) {
    hone_module *copy = NULL;
    const hone_lower_options options = {.target = target};
    HONE_TRY(hone_module_copy(module, &copy));
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < copy->member_count && !st; i++) {
        hone_member *member = &copy->members[i];
        if (member->kind != HONE_MEMBER_FUNC) continue;
        hone_func *lowered = NULL;
        st = hone_check_func(member->func);
        if (!st) {
            st = hone_lower_run(member->func, passes, count, &options, copy->arena, &lowered);
        }
        if (!st) st = hone_check_func(lowered);
        if (st) st = hone_status_annotate(st, "'%s'", member->name);
        if (lowered) member->func = lowered;
    }
    if (st) {
        hone_module_release(copy);
        return st;
    }
    hone_module_freeze(copy);
    *out_module = copy;
    return HONE_OK;
}

/* From names[0] on, those of one kind; how many there were. */
static hone_status run_some(const hone_module *module, const char *const *names, size_t count,
                            const hone_named_passes_options *options, const hone_target *target,
                            hone_module **out_module, size_t *out_done) {
    enum { MOST = 64 };
    const hone_lower_pass *lowering[MOST];
    size_t done = 0;
    if (hone_graph_pass_find(names[0])) {
        while (done < count && hone_graph_pass_find(names[done]))
            done++;
        *out_done = done;
        hone_graph_options graph = options->graph;
        graph.writes_whole = hone_writes_whole;
        if (options->target) hone_note_device(&graph, options->target);
        return hone_graph_run_passes(module, names, done, &graph, out_module);
    }
    for (; done < count && done < MOST && !hone_graph_pass_find(names[done]); done++)
        lowering[done] = hone_lower_pass_find(names[done]);
    *out_done = done;
    return lower_members(module, lowering, done, target, out_module);
}

hone_status hone_named_passes_choose(const char *const *names, size_t count, const char **kept,
                                     size_t *out_count) {
    const char *first_elsewhere = NULL;
    *out_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (hone_named_pass_elsewhere(names[i])) {
            if (!first_elsewhere) first_elsewhere = names[i];
            continue;
        }
        HONE_TRY(hone_named_pass_check(names[i]));
        kept[(*out_count)++] = names[i];
    }
    return *out_count || !first_elsewhere ? HONE_OK : hone_named_pass_check(first_elsewhere);
}

static hone_status run_all(const hone_module *module, const char *const *names, size_t count,
                           const hone_named_passes_options *options, hone_module **out_module) {
    hone_target host;
    if (!options->target) HONE_TRY(hone_target_parse("host", &host));
    hone_module *now;
    HONE_TRY(hone_module_copy(module, &now));
    hone_module_freeze(now);
    for (size_t i = 0, done; i < count; i += done) {
        hone_module *next = NULL;
        hone_status st = run_some(now, names + i, count - i, options,
                                  options->target ? options->target : &host, &next, &done);
        hone_module_release(now);
        if (st) return st;
        now = next;
    }
    *out_module = now;
    return HONE_OK;
}

hone_status hone_named_passes_run(const hone_module *module, const char *const *names, size_t count,
                                  const hone_named_passes_options *options,
                                  hone_module **out_module) {
    static const hone_named_passes_options defaults = {0};
    *out_module = NULL;
    const char **kept = hone_calloc(count + 1, sizeof *kept);
    if (!kept) return HONE_NO_MEMORY("passes");
    hone_status st = hone_named_passes_choose(names, count, kept, &count);
    if (!st) st = run_all(module, kept, count, options ? options : &defaults, out_module);
    hone_free(kept);
    return st;
}
