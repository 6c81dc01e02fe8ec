/* tuner/space/space_inline.c - inlines what is not worth a loop nest of its own
 * (schedule/nests/nest_facts.h says what that is). The epilogue of a reduction thereby becomes
 * one block, which tiling moves into the tiles. */
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

hone_status hone_rule_auto_inline(hone_schedule *sch, const char *block_name,
                                  const hone_target *target, hone_rule_results *out_results) {
    (void)target;
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    if (node != HONE_NO_ID && hone_nest_should_inline(sch, node)) {
        hone_rv block;
        bool is_done;
        st = hone_rule_attempt(hone_sch_get_block(sch, block_name, &block), &is_done);
        if (!st && is_done) {
            st = hone_rule_attempt(hone_sch_compute_inline(sch, block), &is_done);
        }
    }
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}
