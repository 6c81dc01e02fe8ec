/* database/network_fs.h - which file systems are reached over a network. */
#ifndef HONE_DATABASE_NETWORK_FS_H
#define HONE_DATABASE_NETWORK_FS_H

#include <stdbool.h>

/* True when a file system of this kind (statfs.f_type) is reached over a network, where the shared
 * memory of a write-ahead log does not work. */
bool hone_db_is_network_fs(long kind);

#endif
