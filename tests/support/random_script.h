/* tests/support/random_script.h - random legal tensor programs, as people write them.
 *
 * What random_program.h does not make, in TVMScript: all element types, sizes known at run time,
 * loops that begin late, run on behind a predicate, go backwards; blocks with several outputs, with
 * conditions and lets, with blocks and views in them; reductions of pairs, scans, gathers, updates
 * in place, buffers that two blocks write, strides and offsets found at run time; conditions around
 * blocks, loops within them, reductions within reductions, triangles and waves. Floats that a sum
 * in another order would change are never rounded or compared.
 */
#ifndef HONE_TESTS_SUPPORT_RANDOM_SCRIPT_H
#define HONE_TESTS_SUPPORT_RANDOM_SCRIPT_H

#include <stdint.h>

#include "support/core/strbuf.h"

/* The text of a program for a seed. has_sizes: with symbolic sizes (one variable, n) and
 * strides. */
void hone_random_script(uint64_t seed, bool has_sizes, hone_str *out_text);

#endif
