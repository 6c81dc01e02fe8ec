/* tests/fuzz/fuzz_key.c - any bytes as the text of a key file, of a content hash and of an address:
 * reading must not crash, and what was read prints and reads again. */
#include <stdlib.h>
#include <string.h>

#include "net/blob_hash.h"
#include "net/net_impl.h"
#include "support/core/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void read_key(const char *text, size_t count) {
    hone_key key, again;
    char printed[HONE_KEY_TEXT_BYTES];
    hone_status st = hone_key_parse_file_text(text, count, &key);
    if (!st) {
        hone_key_print(&key, printed);
        if (hone_key_parse(printed, strlen(printed), &again)) abort();
        if (!hone_key_equal(&key, &again)) abort();
    }
    hone_status_free(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char *text = hone_strndup((const char *)bytes, count);
    char printed[HONE_BLOB_HASH_HEX_BYTES];
    hone_blob_hash hash, again;
    if (!text) return 0;
    read_key((const char *)bytes, count);
    if (hone_blob_hash_parse(text, &hash)) {
        if (!hone_blob_hash_parse(hone_blob_hash_print(&hash, printed), &again)) abort();
        if (!hone_blob_hash_equal(&hash, &again)) abort();
    }
    const hone_net_server_options insecure = {.address = text, .is_insecure = true};
    hone_status st = hone_net_check_server(&insecure);
    if (!st && !strstr(text, "127.") && !strstr(text, "::1") && !strstr(text, "localhost")) {
        abort();
    }
    hone_status_free(st);
    hone_free(text);
    return 0;
}
