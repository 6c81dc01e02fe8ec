/* ir/text/tvm_json.h - a reader for graphs of objects as TVM writes them in JSON. Inside ir/ only.
 *
 *   {"root_index": 4, "nodes": [{"type": "None"}, {"type": "ir.Var", "data": {"name": 2, …}}, …]}
 *
 * A member of an object is the number of a node, or a value. Before 0.20 TVM said "root",
 * "type_key", "attrs" and "repr_str", and wrote all values as text. Both are read. Names of types
 * are compared from their last dot on, since the words before it have changed more than once.
 */
#ifndef HONE_IR_TEXT_TVM_JSON_H
#define HONE_IR_TEXT_TVM_JSON_H

#include "support/text/json.h"

/* Finds the list of nodes, and the number of the root among them; false when it is no such graph.
 */
bool tvm_json_open(const hone_json *json, const hone_json **out_nodes, int64_t *out_root);
/* Node number `index`, or NULL. */
const hone_json *tvm_json_at(const hone_json *nodes, int64_t index);
const char *tvm_json_type(const hone_json *node); /* "" for none */
bool tvm_json_is(const hone_json *node, const char *type);
const hone_json *tvm_json_member(const hone_json *node, const char *key);
/* An integer, which old texts put in quotes. */
bool tvm_json_number(const hone_json *json, int64_t *out);
/* The node that a member refers to; NULL where it refers to none. */
const hone_json *tvm_json_child(const hone_json *nodes, const hone_json *node, const char *key,
                                int64_t *out_index);
/* The text of a string node: "data" now, "repr_str" before. */
const char *tvm_json_text(const hone_json *node);
/* A member that is a text, in its place or as a node. */
const char *tvm_json_text_member(const hone_json *nodes, const hone_json *node, const char *key);

#endif
