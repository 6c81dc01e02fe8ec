/* support/text/nearest.h - names compared: the one that was meant, the one of several.
 * Threads: safe. */
#ifndef HONE_SUPPORT_TEXT_NEAREST_H
#define HONE_SUPPORT_TEXT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "support/core/strbuf.h"

/* Edits and swaps of neighbours from one name to another (optimal string alignment); a large number
 * for names beyond 63 bytes. */
size_t hone_name_distance(const char *a, const char *b);
/* The names differ in upper and lower case at most. */
bool hone_name_is_same_but_case(const char *a, const char *b);
/* Few enough edits, for the length of the name, that one was meant by the other. */
bool hone_name_is_like(const char *text, const char *name);
/* The name of candidates[] (count of them, stride bytes apart, each beginning with a const char *)
 * that was probably meant, or NULL. */
const char *hone_name_suggest(const char *text, const void *candidates, size_t count,
                              size_t stride);
/* "so, a or obj": the names of candidates[], as in hone_name_suggest. */
void hone_name_list(const void *candidates, size_t count, size_t stride, hone_str *out);
/* Is it one of the names in a text with spaces between ("FuseOps FuseTIR")? A path in front of it
 * does not count ("relax.transform.FuseOps"). list NULL: no. */
bool hone_name_is_listed(const char *list, const char *name);

#endif
