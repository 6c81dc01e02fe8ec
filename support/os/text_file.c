/* support/os/text_file.c - see text_file.h. */
#include "support/os/text_file.h"

#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"

hone_status hone_text_file_read(const char *path, size_t most_bytes, hone_arena *arena,
                                const char **out_text) {
    char *bytes = NULL;
    size_t count = 0;
    *out_text = NULL;
    HONE_TRY(hone_fs_read(path, most_bytes, &bytes, &count));
    size_t length = strlen(bytes);
    if (length == count) *out_text = hone_arena_strdup(arena, bytes);
    hone_free(bytes);
    if (length < count)
        return HONE_ERROR(HONE_CODE_INVALID, "%s: is no text: byte %zu is NUL", path, length);
    return *out_text ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
}
