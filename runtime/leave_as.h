/* runtime/leave_as.h - brings memory into the state that others' kernels leave it in.
 *
 * On several threads it matters which core has written a line last: it comes from there, which may
 * take as long as from memory. What is in memory stays what it is.
 */
#ifndef HONE_RUNTIME_LEAVE_AS_H
#define HONE_RUNTIME_LEAVE_AS_H

#include <stddef.h>

#include "runtime/model/abi.h"

/* As a producer that has just ended leaves its output: each thread has written a part, from the
 * first byte to the last. The memory is writable. */
void hone_leave_as_produced(const hone_rt *rt, void *data, size_t bytes);
/* As memory of a workspace is left, where values of other shapes lay before: threads have written
 * pages of it in turn. */
void hone_leave_as_mixed(const hone_rt *rt, void *data, size_t bytes);

#endif
