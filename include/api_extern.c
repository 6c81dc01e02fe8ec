/* include/api_extern.c - external functions that were registered: the one thing that the library
 * keeps, because models that it does not know ask for them. */
#include <hone/extern.h>

#include <pthread.h>
#include <string.h>

#include "include/api.h"
#include "runtime/model/model_rt.h"
#include "support/core/alloc.h"

typedef struct registered {
    char *name;  /* owned */
    void *plain; /* NULL: no more */
} registered;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static registered *entries;
static size_t count;

static registered *find(const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

static hone_status put(const char *name, void *plain) {
    registered *entry = find(name);
    if (!entry) {
        registered *grown = hone_realloc(entries, (count + 1) * sizeof *grown);
        if (!grown) return HONE_ERROR(HONE_CODE_NO_MEMORY, "external function");
        entries = grown;
        grown[count] = (registered){.name = hone_strdup(name)};
        if (!grown[count].name) return HONE_ERROR(HONE_CODE_NO_MEMORY, "external function");
        entry = &grown[count++];
    }
    entry->plain = plain;
    return HONE_OK;
}

static hone_status plain_form(hone_extern_function function, hone_extern_form form, void **out) {
    memcpy(out, &function, sizeof *out); /* ISO C has no cast for this */
    if (!function || form == HONE_EXTERN_PLAIN) return HONE_OK;
    if (form != HONE_EXTERN_DLPACK)
        return HONE_ERROR(HONE_CODE_INVALID, "there is no form %d of functions", (int)form);
    *out = hone_model_rt_as_plain(*out);
    return *out ? HONE_OK
                : HONE_ERROR(HONE_CODE_UNAVAILABLE,
                             "64 functions of DLPack tensors are known already");
}

hone_error *hone_extern_register(const char *name, hone_extern_function function,
                                 hone_extern_form form) {
    HONE_API_NEED(name);
    void *plain = NULL;
    if (!*name) return hone_api_error(HONE_ERROR(HONE_CODE_INVALID, "the name is empty"));
    hone_status st = plain_form(function, form, &plain);
    pthread_mutex_lock(&lock);
    if (!st) st = put(name, plain);
    pthread_mutex_unlock(&lock);
    return hone_api_error(st);
}

void *hone_extern_find(const char *name) {
    if (!name) return NULL;
    pthread_mutex_lock(&lock);
    const registered *entry = find(name);
    void *plain = entry ? entry->plain : NULL;
    pthread_mutex_unlock(&lock);
    return plain;
}
