/* measure/failure.c - names of outcomes. */
#include "measure/failure.h"

#include <string.h>

static const struct row {
    const char *name, *meaning;
    hone_fault fault;
} rows[] = {
#define HONE_FAILURE(name, spelling, whose, meaning) {spelling, meaning, HONE_FAULT_##whose},
#include "measure/failures.def"
#undef HONE_FAILURE
};

const char *hone_failure_name(hone_failure failure) {
    return (unsigned)failure < HONE_FAILURE_COUNT ? rows[failure].name : "unknown";
}

const char *hone_failure_meaning(hone_failure failure) {
    return (unsigned)failure < HONE_FAILURE_COUNT ? rows[failure].meaning : "not a known outcome";
}

hone_fault hone_failure_fault(hone_failure failure) {
    return (unsigned)failure < HONE_FAILURE_COUNT ? rows[failure].fault : HONE_FAULT_MACHINE;
}

bool hone_failure_parse(const char *name, hone_failure *out_failure) {
    *out_failure = HONE_FAILURE_NONE;
    for (unsigned i = 0; i < HONE_FAILURE_COUNT; i++) {
        if (strcmp(name, rows[i].name) == 0) {
            *out_failure = (hone_failure)i;
            return true;
        }
    }
    return false;
}
