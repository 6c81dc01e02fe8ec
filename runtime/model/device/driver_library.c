/* runtime/model/device/driver_library.c - see driver_library.h. */
#include "runtime/model/device/driver_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The first symbol that the library lacks, or NULL. */
static const char *fill(const hone_driver_library *of, void *library, void *out_table) {
    for (size_t i = 0; i < of->count; i++) {
        void *symbol = dlsym(library, of->rows[i].symbol);
        if (!symbol) return of->rows[i].symbol;
        memcpy((char *)out_table + of->rows[i].offset, &symbol, sizeof symbol); /* ISO C: no cast */
    }
    return NULL;
}

bool hone_driver_library_open(const hone_driver_library *of, const char *path, void *out_table,
                              char *out_why, size_t why_capacity) {
    memset(out_table, 0, of->table_bytes);
    void *library = dlopen(path ? path : of->file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *why = dlerror();
        snprintf(out_why, why_capacity, "no %s: %s", of->name, why ? why : "no reason given");
        return false;
    }
    const char *lacks = fill(of, library, out_table);
    dlclose(library); /* stays, by RTLD_NODELETE */
    if (lacks) snprintf(out_why, why_capacity, "%s has no '%s'%s", of->name, lacks, of->hint);
    return !lacks;
}
