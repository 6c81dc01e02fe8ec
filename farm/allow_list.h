/* farm/allow_list.h - which public keys may come in, and as what.
 *
 * A file that people may edit, `allowed` in the tracker's directory of keys; a line for each key:
 *
 *     # comment
 *     Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID runner board in the cellar
 *
 * Changes are written before they hold, and keep the other lines as they are.
 * Lifetime: open/close. Threads: one thread at a time.
 */
#ifndef HONE_FARM_ALLOW_LIST_H
#define HONE_FARM_ALLOW_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/farm.h"
#include "net/key.h"
#include "support/core/status.h"

#define HONE_ALLOW_LIST_FILE "allowed"

typedef struct hone_allow_list hone_allow_list;

typedef struct hone_allowed {
    hone_key key;
    hone_farm_role role;
    char name[HONE_FARM_NAME_BYTES];
} hone_allowed;

/* Reads DIR/allowed; none is an empty list. INVALID with file and line: no key, no role, a key
 * twice. IO. */
HONE_NODISCARD hone_status hone_allow_list_open(const char *dir, hone_allow_list **out_list);
void hone_allow_list_close(hone_allow_list *list); /* NULL is allowed */

/* Reads the file again; when that fails the list stays as it was. */
HONE_NODISCARD hone_status hone_allow_list_reload(hone_allow_list *list);

size_t hone_allow_list_count(const hone_allow_list *list);
const hone_allowed *hone_allow_list_at(const hone_allow_list *list, size_t index);
/* NULL: this key may not come in. Valid until the list changes. */
const hone_allowed *hone_allow_list_find(const hone_allow_list *list, const hone_key *key);

/* For hone_net_server_options.allow; `list` is a hone_allow_list. */
bool hone_allow_list_allows(void *list, const hone_key *key);

/* Adds a key, or gives it another role and name. INVALID: a name with odd characters. IO. */
HONE_NODISCARD hone_status hone_allow_list_allow(hone_allow_list *list, const hone_key *key,
                                                 hone_farm_role role, const char *name);
/* NOT_FOUND: it is not in the list. IO. */
HONE_NODISCARD hone_status hone_allow_list_revoke(hone_allow_list *list, const hone_key *key);

#endif
