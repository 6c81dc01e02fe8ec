/* net/key.h - who is who on the network: CURVE key pairs (Curve25519), their text and their files.
 *
 * A key is 32 bytes, written as 40 characters of Z85 (ZeroMQ RFC 32). Made here, the text of a
 * public key begins with a letter or digit and has no character that a shell looks at, so it can
 * be typed as it is. The public key is who a peer is; the secret one stays in a file that only its
 * owner can read.
 *
 *     DIR/hone.key    the secret key's text, mode 0600 (lines that begin with '#' are comments)
 *     DIR/hone.pub    the public key's text
 *
 * Values in the caller's storage; wipe secrets with hone_key_pair_wipe. Thread-safe (no state).
 */
#ifndef HONE_NET_KEY_H
#define HONE_NET_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"
#include "support/core/status.h"

enum {
    HONE_KEY_BYTES = 32,
    HONE_KEY_TEXT_BYTES = 41, /* 40 characters and the NUL */
};

#define HONE_KEY_SECRET_FILE "hone.key"
#define HONE_KEY_PUBLIC_FILE "hone.pub"

typedef struct hone_key {
    uint8_t bytes[HONE_KEY_BYTES];
} hone_key;

typedef struct hone_key_pair {
    hone_key public_key, secret_key;
} hone_key_pair;

/* In constant time. */
bool hone_key_equal(const hone_key *a, const hone_key *b);
bool hone_key_is_zero(const hone_key *key);

/* A new pair. INTERNAL: the system gives no random numbers. */
HONE_NODISCARD hone_status hone_key_pair_create(hone_key_pair *out_pair);
/* The pair that a secret key belongs to. */
HONE_NODISCARD hone_status hone_key_pair_from_secret(const hone_key *secret,
                                                     hone_key_pair *out_pair);
void hone_key_pair_wipe(hone_key_pair *pair);

/* Writes 40 characters and NUL; returns `out`. */
char *hone_key_print(const hone_key *key, char out[HONE_KEY_TEXT_BYTES]);

/* Reads exactly 40 characters of Z85, with white space allowed around them. INVALID says what is
 * wrong, without showing the text (it may be a secret). */
HONE_NODISCARD hone_status hone_key_parse(const char *text, size_t count, hone_key *out_key);

/* Writes both files into a directory, which is made when it is not there. INVALID: one of the files
 * is there already (nothing was changed). IO. */
HONE_NODISCARD hone_status hone_key_pair_save(const hone_key_pair *pair, const char *dir);

/* Reads a file as _save writes it. NOT_FOUND, IO; INVALID: not such a file. A secret key that group
 * or others may read is refused (INVALID, the message says how to mend it). */
HONE_NODISCARD hone_status hone_key_pair_load(const char *path, hone_key_pair *out_pair);

/* A public key as people give it: its text, or the path of a file with it. INVALID, IO. */
HONE_NODISCARD hone_status hone_key_read_public(const char *text_or_path, hone_key *out_key);

/* The text of a key file, secret or public: comments and one key. INVALID. */
HONE_NODISCARD hone_status hone_key_parse_file_text(const char *text, size_t count,
                                                    hone_key *out_key);

#endif
