/* runtime/model/symbol.c - external functions of a library by the names that programs call them. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtime/model/model_rt.h"

enum { LONGEST_NAME = 255 };

/* "env.linear" is no name in C: env_linear stands for it. */
static void *find_c_name(void *library, const char *name) {
    char c_name[LONGEST_NAME + 1];
    int length = snprintf(c_name, sizeof c_name, "%s", name);
    if (length < 0 || length > LONGEST_NAME) return NULL;
    for (char *at = c_name; *at; at++)
        if (*at == '.') *at = '_';
    return dlsym(library, c_name);
}

static bool is_of_tensors(const char *name) {
    size_t length = strlen(name), ending = strlen(HONE_EXTERN_DLPACK_ENDING);
    return length > ending && strcmp(name + length - ending, HONE_EXTERN_DLPACK_ENDING) == 0;
}

static void *find_with_ending(void *library, const char *name,
                              void *(*find)(void *library, const char *name)) {
    char whole[LONGEST_NAME + 1];
    int length = snprintf(whole, sizeof whole, "%s%s", name, HONE_EXTERN_DLPACK_ENDING);
    return length < 0 || length > LONGEST_NAME ? NULL : find(library, whole);
}

/* What a program registered with libhone, when one is loaded in the process. */
static void *find_registered(void *library, const char *name) {
    (void)library;
    void *symbol = dlsym(RTLD_DEFAULT, HONE_EXTERN_FINDER), *(*find)(const char *name);
    if (!symbol) return NULL;
    memcpy(&find, &symbol, sizeof find); /* ISO C has no cast for this */
    return find(name);
}

void *hone_model_rt_find_symbol(void *library, const char *name) {
    if (library == RTLD_DEFAULT) {
        void *registered = find_registered(library, name);
        if (registered) return registered;
        if (find_with_ending(library, name, find_registered)) return NULL; /* in the other form */
    }
    void *found = dlsym(library, name);
    if (!found && strchr(name, '.')) found = find_c_name(library, name);
    return found && is_of_tensors(name) ? hone_model_rt_as_plain(found) : found;
}

void *hone_model_rt_find_packed(void *library, const char *name) {
    void *found = hone_model_rt_find_symbol(library, name);
    return found ? found : find_with_ending(library, name, hone_model_rt_find_symbol);
}
