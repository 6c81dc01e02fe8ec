/* tools/doctor/doctor.h - the single checks of `hone doctor`. */
#ifndef HONE_TOOLS_DOCTOR_DOCTOR_H
#define HONE_TOOLS_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "support/core/arena.h"
#include "support/core/attributes.h"

typedef enum hone_doctor_level {
    HONE_DOCTOR_OK,
    HONE_DOCTOR_NOTE,    /* good to know */
    HONE_DOCTOR_WARNING, /* times will be worse than they could be */
    HONE_DOCTOR_PROBLEM, /* something will not work */
} hone_doctor_level;

typedef struct hone_finding_line {
    const char *check;
    hone_doctor_level level;
    const char *found;
    const char *advice; /* NULL = nothing to do */
} hone_finding_line;

typedef struct hone_checkup {
    hone_arena *arena;
    hone_finding_line items[96];
    size_t count;
    hone_doctor_level worst;
    bool failed; /* out of memory */
} hone_checkup;

/* Adds a line; advice may be NULL, and is dropped when the level is OK. */
void hone_doctor_say(hone_checkup *checkup, const char *check, hone_doctor_level level,
                     const char *advice, const char *found_format, ...) HONE_PRINTF(5, 6);

void hone_doctor_tools(hone_checkup *checkup);      /* programs that are started, directories */
void hone_doctor_candidates(hone_checkup *checkup); /* what holds them */
void hone_doctor_machine(hone_checkup *checkup);    /* cores, governor, turbo, SMT, load, devices */
void hone_doctor_cards(hone_checkup *checkup);      /* of NVIDIA's */
void hone_doctor_opencl(hone_checkup *checkup);     /* its devices */
void hone_doctor_timing(hone_checkup *checkup);     /* clock, noise floor, distance between cores */
/* Keys and the way to a tracker, which is asked how it is. */
struct hone_farm_access;
void hone_doctor_farm(hone_checkup *checkup, const struct hone_farm_access *access);

#endif
