/* ir/verify/verify.h - is this program well formed? Independent of the parser, so that passes are
 * checked by the same rules as people. */
#ifndef HONE_IR_VERIFY_VERIFY_H
#define HONE_IR_VERIFY_VERIFY_H

#include "ir/core/module.h"
#include "target/target.h"

typedef struct hone_finding {
    bool is_warning;
    hone_node_id node;     /* where; HONE_NO_ID for a whole function */
    uint32_t line, column; /* in the text, 0 = unknown */
    const char *text;      /* names the block or loop and the reason */
} hone_finding;

typedef struct hone_findings {
    hone_arena *arena; /* owns the texts; given by the caller */
    hone_finding *items;
    uint32_t count, capacity, error_count;
    bool errors_only; /* leave out searches that only end in warnings */
} hone_findings;

/* Collects all findings. The status is about memory only; ill-formed programs are data. */
HONE_NODISCARD hone_status hone_verify_func(const hone_func *func, hone_findings *out);
HONE_NODISCARD hone_status hone_verify_module(const hone_module *module, hone_findings *out);
/* Adds an error for each call of an operator that is read and printed, and not implemented, when
 * its value is used. Such a module is no worse for passes that leave the call as it is. */
HONE_NODISCARD hone_status hone_verify_operators(const hone_module *module, hone_findings *out);
/* Runs the tensor programs of a module for a while on made-up inputs, when nothing was found in it
 * so far, and adds what goes wrong as a warning: it costs up to some 100 ms. */
HONE_NODISCARD hone_status hone_verify_trial(const hone_module *module, hone_findings *out);
/* What does not fit into a GPU: threads of a block, shared memory; or is not for a CPU: loops bound
 * to threads. A CPU has no other limits. */
void hone_verify_target(const hone_module *module, const hone_target *target, hone_findings *out);
/* Whether the software pipelines of a function fit their loops: one stage and one place in the
 * order for each statement of the body. INVALID of the first that does not, whose loop out_loop
 * gets. */
HONE_NODISCARD hone_status hone_check_pipelines(const hone_func *func, hone_node_id *out_loop);
/* The first error as a status (INVALID), or HONE_OK. */
HONE_NODISCARD hone_status hone_check_func(const hone_func *func);
HONE_NODISCARD hone_status hone_check_module(const hone_module *module);

#endif
