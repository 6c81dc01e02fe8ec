/* tests/graph/plan_text.h - a plan for people: tensors and steps, one per line. */
#ifndef HONE_TESTS_PLAN_TEXT_H
#define HONE_TESTS_PLAN_TEXT_H

#include "graph/plan/plan.h"

void plan_text(const hone_plan *plan, hone_str *out);

#endif
