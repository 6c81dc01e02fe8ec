/* sandbox/layers.h - what holds a process beside its filter. Each says whether it is in force. */
#ifndef HONE_SANDBOX_LAYERS_H
#define HONE_SANDBOX_LAYERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/sandbox.h"

/* By the warden before it forks: children live in namespaces of their own. */
bool hone_layer_namespaces(void);

/* By the held process: when root, no capabilities any more; false when it was not root. */
bool hone_layer_capabilities(void);

/* By the held process: when root, a user that nobody else is, for one `number` of each sandbox of
 * this machine, and a namespace of users. 0 when it was not root, or stays it. */
uid_t hone_layer_user(pid_t number, bool has_namespaces);

/* By the held process: nothing can be reached by path but a toolchain (may be empty), to start it.
 * The version of the interface; 0: not in force. */
int hone_layer_landlock(const hone_loader_dirs *toolchain);

HONE_NODISCARD hone_status hone_layer_limits(const hone_sandbox_options *options);

#endif
