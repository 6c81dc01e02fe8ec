/* runtime/model/symbol.c - external functions of a library by the names that programs call them. */
#include <dlfcn.h>
#include <string.h>

#include "runtime/model/model_rt.h"

enum { LONGEST_NAME = 255 };

/* "env.linear" is no name in C: env_linear stands for it. */
void *hone_model_rt_find_symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    size_t length = strlen(name);
    if (found || !strchr(name, '.') || length > LONGEST_NAME) return found;
    char c_name[LONGEST_NAME + 1];
    for (size_t i = 0; i <= length; i++)
        c_name[i] = name[i] == '.' ? '_' : name[i];
    return dlsym(library, c_name);
}
