/* compile/records/record_choice.h - which record a kernel gets, and what is wrong with the others.
 *
 *   own records, best first ─replay─► the program that was measured ──────────────► EXACT
 *        │ tuned under other names ─names of today─► the program that was measured ► TRANSLATED
 *        └► stale, the next one
 *   records under the kernel's name (parameters alike) of a program with another identity: EARLIER
 *        ├► the same program now, or the same loops ─replay, names of today─► legal ► TRANSLATED
 *        └► counted, with the first difference
 *
 * The time of a translated record of an earlier program is that program's: it ranks, no more.
 *
 * Lifetime: a choice lives in the caller's arena. Threads: one at a time per chooser.
 * Layer:    may include schedule/, database/.
 */
#ifndef HONE_COMPILE_RECORDS_RECORD_CHOICE_H
#define HONE_COMPILE_RECORDS_RECORD_CHOICE_H

#include "database/database.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/state/schedule.h"
#include "schedule/variant/variant.h"
#include "target/target.h"

typedef enum hone_record_match {
    HONE_RECORD_NONE,
    HONE_RECORD_OTHER_TARGET, /* there are good ones, for other targets */
    HONE_RECORD_STALE,        /* there are some, and none makes the program that was measured */
    HONE_RECORD_TRANSLATED,
    HONE_RECORD_EXACT,
} hone_record_match;

typedef struct hone_record_choice {
    hone_record_match match;
    const hone_db_trial *trial; /* EXACT, TRANSLATED: to be used; STALE: the best one; else NULL */
    const char *trace;          /* JSON, under today's names; NULL unless the trial is to be used */
    hone_hash128 program;       /* what the trace makes of the kernel */
    const char *variant;        /* that the trace is about; NULL: the program as it is */
    int64_t stale;              /* own records that were tried before and do not fit */
    int64_t earlier;            /* good records that belong to earlier programs */
    const char *earlier_reason; /* the first difference of the first of these; NULL = none */
    int64_t left_out;           /* better records whose variant is not allowed */
    const char *left_out_variant;  /* of the best of these; NULL = none */
    const char *target_difference; /* of the target that it was measured for; NULL = none */
    const char *reason;            /* all of it in words */
} hone_record_choice;

typedef struct hone_record_chooser hone_record_chooser;

/* Records for the target and for those like it (database/db_targets.h) serve.
 * The database (NULL: no records) and the intrinsics (NULL: the built-in ones) must outlive it. */
HONE_NODISCARD hone_status hone_record_chooser_create(hone_db *db, const hone_target *target,
                                                      const hone_tensor_intrins *intrins,
                                                      hone_record_chooser **out_chooser);
/* From now on records of the variants that these rules allow are used; without a word of it those
 * of exact ones. What the rules point to must outlive the chooser. */
void hone_record_chooser_allow(hone_record_chooser *chooser, const hone_variant_rules *rules);
void hone_record_chooser_destroy(hone_record_chooser *chooser); /* NULL is allowed */

/* A kernel of the model: what is recorded under this hash is no earlier program of another one. */
HONE_NODISCARD hone_status hone_record_chooser_note(hone_record_chooser *chooser,
                                                    hone_hash128 kernel);
/* A record that did not build: it makes way for the next. */
HONE_NODISCARD hone_status hone_record_chooser_reject(hone_record_chooser *chooser, int64_t record,
                                                      const char *why);

HONE_NODISCARD hone_status hone_record_choose(hone_record_chooser *chooser, const hone_func *func,
                                              hone_arena *arena, hone_record_choice *out_choice);

/* "none", "other target", "stale", "translated", "exact". */
const char *hone_record_match_name(hone_record_match match);

/* The program that a trace (JSON or Python) makes of a function, in a schedule of the caller's.
 * Errors: those of the text and of the steps. */
HONE_NODISCARD hone_status hone_record_replay(const char *trace, const hone_func *func,
                                              const hone_tensor_intrins *intrins, hone_arena *arena,
                                              hone_schedule **out_sch);

#endif
