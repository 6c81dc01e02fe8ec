/* sandbox/loader_dirs.h - the folders that the loader searches, and those of the toolchain. */
#ifndef HONE_SANDBOX_LOADER_DIRS_H
#define HONE_SANDBOX_LOADER_DIRS_H

#include <stdbool.h>

#include "support/core/status.h"
#include "support/data/vec.h"

typedef HONE_VEC(char *) hone_loader_dirs; /* absolute paths, owned */

/* The usual ones, those of ld.so.conf, those of LD_LIBRARY_PATH. NO_MEMORY. */
HONE_NODISCARD hone_status hone_loader_dirs_find(hone_loader_dirs *out_dirs);

/* /usr and its kin, where drivers of OpenCL are listed, and where the compiler and the linker of
 * PATH really live: PREFIX of PREFIX/bin/cc, unless that is somebody's home. NO_MEMORY. */
HONE_NODISCARD hone_status hone_toolchain_dirs_find(hone_loader_dirs *out_dirs);

/* An absolute path: as it is written, and where it really is. "/" is left out. False: no memory. */
bool hone_loader_dirs_add(hone_loader_dirs *dirs, const char *path);

void hone_loader_dirs_deinit(hone_loader_dirs *dirs);

#endif
