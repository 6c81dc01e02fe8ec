/* ir/identity/structural.h - structural equality and hash: programs that differ in the names of
 * variables, buffers, blocks and functions only are equal; everything else counts (dtypes, loop
 * kinds, annotations, order).
 *
 * The hash is 128 bits over a canonical serialisation with a version. It holds no enum values and
 * no addresses, and is the identity of a workload in databases, so it never changes within a
 * version (golden tests). The function attributes "global_symbol" and "tir.is_scheduled" do not
 * count.
 */
#ifndef HONE_IR_IDENTITY_STRUCTURAL_H
#define HONE_IR_IDENTITY_STRUCTURAL_H

#include "ir/core/module.h"
#include "support/data/hash.h"

#define HONE_STRUCTURAL_VERSION 1

/* All zero when memory was short. */
hone_hash128 hone_func_hash(const hone_func *func);
/* A hash that does not look at whole numbers: programs of one kind differ in sizes, strides and
 * offsets only. No identity: it is not stored anywhere. All zero when memory was short. */
hone_hash128 hone_func_kind_hash(const hone_func *func);
hone_hash128 hone_graph_hash(const hone_module *module, const hone_graph_func *graph);
/* The hash of all members with their names, in order of name. */
hone_hash128 hone_module_hash(const hone_module *module);

/* Are they structurally equal? out_difference (may be NULL): the first difference is appended in
 * words. */
bool hone_func_equal(const hone_func *a, const hone_func *b, hone_str *out_difference);
bool hone_module_equal(const hone_module *a, const hone_module *b, hone_str *out_difference);

#endif
