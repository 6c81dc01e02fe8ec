/* tests/ir/arith/arith_text.h - index expressions from text, for tables of tests.
 *
 * Python's operators and precedences; min, max, select, truncdiv, truncmod, likely, i64 as calls.
 * One-letter variables of int32: a b c d loops of extent 4, 8, 16, 3; i in [0, n), j in [0, m),
 * k in [0, m); n m p sizes >= 1; all others unknown.
 */
#ifndef HONE_TESTS_IR_ARITH_ARITH_TEXT_H
#define HONE_TESTS_IR_ARITH_ARITH_TEXT_H

#include "ir/arith/arith.h"
#include "support/core/strbuf.h"

/* NULL when the text is wrong. */
const hone_expr *text_expr(hone_ir *ir, const char *text);
void text_bind(hone_arith *arith);
/* Minimal parentheses: what text_expr reads. */
void text_print(const hone_expr *e, hone_str *out);

#endif
