/* database/network_fs.c - see network_fs.h. Numbers from linux/magic.h and the file systems' own
 * headers. */
#include "database/network_fs.h"

#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"

bool hone_db_is_network_fs(long kind) {
    static const long kinds[] = {
        0x6969,           /* NFS */
        0x517b,           /* SMB */
        (long)0xff534d42, /* CIFS */
        (long)0xfe534d42, /* SMB2 */
        0x5346414f,       /* AFS */
        0x73757245,       /* Coda */
        0x00c36400,       /* Ceph */
        0x0bd00bd0,       /* Lustre */
        0x47504653,       /* GPFS */
        (long)0xaad7aaea, /* Panasas */
        (long)0x7461636f, /* OCFS2 */
        0x01161970,       /* GFS2 */
    };
    for (size_t i = 0; i < HONE_COUNT(kinds); i++) {
        if ((uint32_t)kinds[i] == (uint32_t)kind) return true;
    }
    return false;
}
