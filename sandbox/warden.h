/* sandbox/warden.h - the process that watches a held one: opens for it, keeps the quiet gate for
 * it, says how it ended.
 *
 * Lifetime: create/destroy by one owner. Threads: thread-compatible.
 */
#ifndef HONE_SANDBOX_WARDEN_H
#define HONE_SANDBOX_WARDEN_H

#include "sandbox/sandbox.h"

typedef struct hone_warden hone_warden;

/* `toolchain` as for hone_file_policy_create. */
HONE_NODISCARD hone_status hone_warden_create(const hone_sandbox_options *options,
                                              const hone_loader_dirs *toolchain,
                                              hone_warden **out_warden);
void hone_warden_destroy(hone_warden *warden); /* NULL is allowed */

/* Serves until the held process has ended (then the outside is told) or the outside has gone away.
 * `end_fd` brings the status of wait(2). */
void hone_warden_watch(hone_warden *warden, int channel_fd, int end_fd, bool has_namespaces);

#endif
