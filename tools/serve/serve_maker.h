/* tools/serve/serve_maker.h - makes the data of the page in a thread of its own, from databases
 * that it has open for itself: whoever asks for something else does not wait.
 *
 * Data are made again when somebody asks and the databases have changed, but not so often that
 * making them is most of the work. Who asks waits for that, but not for long: then what was made
 * before is the answer. Threads: start, put and stop from one.
 */
#ifndef HONE_TOOLS_SERVE_SERVE_MAKER_H
#define HONE_TOOLS_SERVE_SERVE_MAKER_H

#include "tools/report/report.h"

typedef struct hone_serve_maker hone_serve_maker;

/* Takes the databases, to be closed when it stops; titles outlive it. Begins at once. */
HONE_NODISCARD hone_status hone_serve_maker_start(const hone_report_source *sources, size_t count,
                                                  hone_serve_maker **out_maker);
void hone_serve_maker_stop(hone_serve_maker *maker); /* NULL is allowed */

/* Appends the tag of the data, and, unless `tag` (may be NULL) is that, the data, an object: each
 * to a text of its own. Errors: those of making them. */
HONE_NODISCARD hone_status hone_serve_maker_put(hone_serve_maker *maker, const char *tag,
                                                hone_str *out_tag, hone_str *out_data);

#endif
