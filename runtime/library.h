/* runtime/library.h - opens shared objects, and says why one cannot be opened. Inside runtime/
 * only.
 */
#ifndef HONE_RUNTIME_LIBRARY_H
#define HONE_RUNTIME_LIBRARY_H

#include "support/core/status.h"

/* INVALID with the reason, which names the processor when it is that of another machine; NO_MEMORY,
 * and IO without descriptors, are this machine's want. A path without a slash is a file of the
 * working directory. For dlclose; what it needs stays loaded. */
HONE_NODISCARD hone_status hone_library_open(const char *path, void **out_library);

#endif
