/* tuner/loop/put_back.h - makes records that do not help where they are used make way. */
#ifndef HONE_TUNER_PUT_BACK_H
#define HONE_TUNER_PUT_BACK_H

#include "database/database.h"

/* From now on the best record of a task is that of `program`, which was used before: all records
 * that stand before it get its confirmed time times `ratio`, their time in place over its (at least
 * a little above 1). Nothing happens where the program has no record that is ok. */
HONE_NODISCARD hone_status hone_put_back(hone_db *db, const hone_hash128 *workload,
                                         const hone_hash128 *target, const hone_hash128 *program,
                                         double ratio);

#endif
