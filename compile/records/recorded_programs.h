/* compile/records/recorded_programs.h - the programs that a database has records of, beside those
 * of today. For record_choice.c only. */
#ifndef HONE_COMPILE_RECORDS_RECORDED_PROGRAMS_H
#define HONE_COMPILE_RECORDS_RECORDED_PROGRAMS_H

#include "database/db_targets.h"
#include "ir/core/module.h"
#include "support/data/vec.h"

/* What records must be for. */
typedef struct recorded_target {
    hone_target target;
    hone_db_alikes alikes;
} recorded_target;

typedef struct recorded_program {
    hone_hash128 hash; /* its identity when it was recorded */
    int32_t hash_version;
    const char *name, *text;
    int64_t good;             /* its good records for the target and those like it */
    int64_t good_elsewhere;   /* and for others */
    const char *other_target; /* how one of those differs; NULL = none */
    /* After recorded_program_read: */
    bool is_read;
    hone_module *module;    /* owned; NULL = the text cannot be read */
    const hone_func *func;  /* of the module */
    const char *made_by;    /* "hone 0.1.0"; NULL = not known */
    const char *unreadable; /* why; NULL = it can be read */
} recorded_program;

typedef HONE_VEC(recorded_program) recorded_programs;

/* All that the database has; what they point to lives in the arena. */
HONE_NODISCARD hone_status recorded_programs_load(hone_db *db, const recorded_target *target,
                                                  hone_arena *arena, recorded_programs *out);
void recorded_programs_deinit(recorded_programs *programs);
/* Parses the text, once. */
HONE_NODISCARD hone_status recorded_program_read(hone_db *db, const recorded_target *target,
                                                 hone_arena *arena, recorded_program *program);

/* "conv2d_relu", "conv2d_relu1" and "conv2d_relu_1": numbers only keep names of one model apart. */
bool recorded_name_is_alike(const char *a, const char *b);
/* Parameters of the same types and shapes; where not, the first that differs, in words. */
bool recorded_params_are_same(const hone_func *stored, const hone_func *today);
void recorded_params_describe(const hone_func *stored, const hone_func *today, hone_str *out);
/* Their nests are alike: loops of the same lengths, blocks with the same axes. */
bool recorded_loops_are_same(const hone_func *stored, const hone_func *today);

#endif
