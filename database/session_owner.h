/* database/session_owner.h - which process is at a session, and whether it still is.
 *
 * An owner is text: "HOST/NAMESPACE BOOT PID START", where the last two name one process of one
 * boot of one host, whatever pids are used again.
 */
#ifndef HONE_DATABASE_SESSION_OWNER_H
#define HONE_DATABASE_SESSION_OWNER_H

#include <stdbool.h>

enum { HONE_DB_OWNER_BYTES = 256 };

/* This process; "" where the system does not tell. */
void hone_db_owner_print(char out[HONE_DB_OWNER_BYTES]);

/* Whether the process is known to have ended: it was on this host, and is not any more. */
bool hone_db_owner_is_gone(const char *owner);

#endif
