/* schedule/trace/trace_records.h - TVM's tuning records: which of them is for a function? Within
 * schedule/ only.
 *
 *   record := [workload number, body]
 *   body   := [trace, seconds or null, target or null, arguments or null]
 *
 * A file of records has one on each line. The workload's own text is TVM's and is not read: whether
 * a record is for a function is told by the arguments, ["TENSOR", "float32", [8, 24]].
 */
#ifndef HONE_SCHEDULE_TRACE_TRACE_RECORDS_H
#define HONE_SCHEDULE_TRACE_TRACE_RECORDS_H

#include "ir/core/func.h"
#include "schedule/trace/trace.h"
#include "support/text/json.h"

/* Makes a trace of a parsed one, or of the record around it. Errors name the step. */
HONE_NODISCARD hone_status hone_trace_of_json(hone_arena *arena, const hone_json *json,
                                              hone_trace *out_trace);
/* The trace in a record or in the body of one; anything else itself. Borrowed. */
const hone_json *hone_record_trace(const hone_json *json);
/* INVALID, with the arguments of both, where json is a record whose arguments are not those of func
 * (NULL: every record fits). */
HONE_NODISCARD hone_status hone_record_check_args(const hone_json *json, const hone_func *func);
/* The text has several lines, and the first is a row of one of TVM's tables. */
bool hone_records_are_lines(const char *text, size_t length);
/* Of the records on the lines of text that are for func (NULL: of all), the one with the least
 * seconds; out_line counts from 1. The caller frees it. INVALID: a line is no record, or none is
 * for func. */
HONE_NODISCARD hone_status hone_records_pick(const char *text, size_t length, const hone_func *func,
                                             size_t *out_line, hone_json **out_record);

#endif
