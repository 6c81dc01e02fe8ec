/* support/os/text_file.h - files of text. */
#ifndef HONE_SUPPORT_OS_TEXT_FILE_H
#define HONE_SUPPORT_OS_TEXT_FILE_H

#include "support/core/arena.h"
#include "support/core/status.h"

/* A whole file ("-": standard input) in the arena, at most so many bytes. The codes of
 * hone_fs_read; INVALID, too, when a NUL byte is in it: what stands behind would be lost. */
HONE_NODISCARD hone_status hone_text_file_read(const char *path, size_t most_bytes,
                                               hone_arena *arena, const char **out_text);

#endif
