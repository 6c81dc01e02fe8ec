/* runtime/model/driver_library.c - see driver_library.h. */
#include "runtime/model/driver_library.h"

#include <dlfcn.h>
#include <string.h>

const char *hone_library_fill(const char *path, const hone_library_row *rows, size_t count,
                              void *out_table) {
    const char *lacks = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return "";
    for (size_t i = 0; i < count && !lacks; i++) {
        void *symbol = dlsym(library, rows[i].symbol); /* ISO C has no cast for this */
        if (symbol) memcpy((char *)out_table + rows[i].offset, &symbol, sizeof symbol);
        if (!symbol) lacks = rows[i].symbol;
    }
    dlclose(library); /* stays, by RTLD_NODELETE */
    return lacks;
}
