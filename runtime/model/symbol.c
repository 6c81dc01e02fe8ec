/* runtime/model/symbol.c - external functions of a library by the names that programs call them. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/model/model_rt.h"

enum { LONGEST_NAME = 255 };

/* "env.linear" is no name in C: env_linear stands for it. */
static void *find_c_name(void *library, const char *name, const char *ending) {
    char c_name[LONGEST_NAME + 1];
    int length = snprintf(c_name, sizeof c_name, "%s%s", name, ending);
    if (length < 0 || length > LONGEST_NAME) return NULL;
    for (char *at = c_name; *at; at++)
        if (*at == '.') *at = '_';
    return dlsym(library, c_name);
}

/* What a program registered with libhone, when one is loaded in the process. */
static void *find_registered(const char *name) {
    void *symbol = dlsym(RTLD_DEFAULT, HONE_EXTERN_FINDER), *(*find)(const char *name);
    if (!symbol) return NULL;
    memcpy(&find, &symbol, sizeof find); /* ISO C has no cast for this */
    return find(name);
}

void *hone_model_rt_find_symbol(void *library, const char *name) {
    void *found = library == RTLD_DEFAULT ? find_registered(name) : NULL;
    if (!found) found = dlsym(library, name);
    if (!found && strchr(name, '.')) found = find_c_name(library, name, "");
    if (found) return found;
    found = find_c_name(library, name, HONE_EXTERN_DLPACK_ENDING);
    return found ? hone_model_rt_as_plain(found) : NULL;
}
