/* include/api_extern.c - external functions that were registered: the one thing that the library
 * keeps, because models that it does not know ask for them. */
#include <hone/extern.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "include/api.h"
#include "runtime/model/model_rt.h"
#include "support/core/alloc.h"

enum { LONGEST_NAME = 255 };

typedef struct registered {
    char *name;  /* owned */
    void *plain; /* NULL: no more */
    hone_extern_form form;
} registered;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static registered *entries;
static size_t count;

static registered *find(const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

static hone_status put(const char *name, void *plain, hone_extern_form form) {
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
    entry->form = form;
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
    if (!st) st = put(name, plain, form);
    pthread_mutex_unlock(&lock);
    return hone_api_error(st);
}

static void *find_in_form(const char *name, hone_extern_form form) {
    const registered *entry = find(name);
    return entry && entry->form == form ? entry->plain : NULL;
}

/* "env.relu" of "env.relu__dlpack"; "": the name does not end so, or is too long. */
static void cut_ending(const char *name, char out[LONGEST_NAME + 1]) {
    size_t length = strlen(name), ending = strlen(HONE_EXTERN_DLPACK_ENDING);
    bool ends_so = length > ending && length - ending <= LONGEST_NAME &&
                   strcmp(name + length - ending, HONE_EXTERN_DLPACK_ENDING) == 0;
    snprintf(out, LONGEST_NAME + 1, "%.*s", ends_so ? (int)(length - ending) : 0, name);
}

void *hone_extern_find(const char *name) {
    char of_tensors[LONGEST_NAME + 1];
    if (!name) return NULL;
    cut_ending(name, of_tensors);
    pthread_mutex_lock(&lock);
    void *plain = find_in_form(name, HONE_EXTERN_PLAIN);
    if (!plain) plain = find_in_form(of_tensors, HONE_EXTERN_DLPACK);
    pthread_mutex_unlock(&lock);
    return plain;
}
