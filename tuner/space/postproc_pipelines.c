/* tuner/space/postproc_pipelines.c - drops candidates whose steps left a software pipeline other
 * statements than it has stages for: code generation would refuse them (lower/pipeline). */
#include "ir/core/annotation.h"
#include "ir/verify/verify.h"
#include "tuner/space/space_rule.h"

bool hone_rule_is_pipeline(const hone_node *node) {
    return node->kind == HONE_NODE_FOR &&
           hone_attrs_find(&node->u.loop.annotations, HONE_PIPELINE_STAGE);
}

hone_status hone_verify_pipelines(hone_schedule *sch) {
    hone_status st = hone_check_pipelines(sch->func, &sch->blame);
    if (hone_status_code(st) != HONE_CODE_INVALID) return st;
    hone_status refusal = HONE_ERROR(HONE_CODE_ILLEGAL, "%s", hone_status_message(st));
    hone_status_free(st);
    return refusal;
}
