/* hone/hone.h - the whole public interface of libhone.
 *
 * Manners. Errors: what can fail returns a hone_error *, NULL for success; outputs come last and
 * are cleared on failure. A NULL where none is allowed is an error ("invalid", "path is NULL"); a
 * function that returns no error gives nothing for it. Ownership: what a *_create, *_open, *_load
 * or an `out_` gives belongs to the caller, who ends it with the *_free or *_close of its noun;
 * texts that come out (char **) with hone_text_free. What comes in is copied or only looked at
 * during the call. Threads: the library keeps no state of its own; different objects may be used by
 * different threads, one object by one thread at a time; programs do not change and may be read by
 * many. Shapes are in elements, the outermost dimension first; times in nanoseconds. The library
 * never prints and never ends the process.
 */
#ifndef HONE_HONE_H
#define HONE_HONE_H

#include <hone/compile.h>
#include <hone/database.h>
#include <hone/error.h>
#include <hone/extern.h>
#include <hone/formula.h>
#include <hone/graph.h>
#include <hone/model.h>
#include <hone/option.h>
#include <hone/pass.h>
#include <hone/program.h>
#include <hone/records.h>
#include <hone/steps.h>
#include <hone/term.h>
#include <hone/topi.h>
#include <hone/tune.h>
#include <hone/variant.h>
#include <hone/version.h>

#endif
