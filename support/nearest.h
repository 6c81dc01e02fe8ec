/* support/nearest.h - the name that was meant.
 * Threads: safe. */
#ifndef HONE_SUPPORT_NEAREST_H
#define HONE_SUPPORT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Edits and swaps of neighbours from one name to another (optimal string alignment); a large number
 * for names beyond 63 bytes. */
size_t hone_name_distance(const char *a, const char *b);
/* The same name but for upper and lower case. */
bool hone_name_is_same_but_case(const char *a, const char *b);

#endif
