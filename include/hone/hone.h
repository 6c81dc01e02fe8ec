/* hone/hone.h - the whole public interface of libhone.
 *
 * Manners: what can fail returns a hone_error *, NULL for success; outputs come last and are
 * cleared on failure. Texts that come out (char **) are freed with hone_text_free. The library
 * never prints, never ends the process and keeps no state of its own: different objects may be used
 * by different threads, one object by one thread at a time.
 */
#ifndef HONE_HONE_H
#define HONE_HONE_H

#include <hone/error.h>
#include <hone/formula.h>
#include <hone/model.h>
#include <hone/pass.h>
#include <hone/program.h>
#include <hone/records.h>
#include <hone/steps.h>
#include <hone/term.h>
#include <hone/version.h>

#endif
