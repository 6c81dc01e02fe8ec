/* net/key.c - see key.h. */
#include "net/key.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"

enum { MAX_FILE_BYTES = 4096 };

bool hone_key_equal(const hone_key *a, const hone_key *b) {
    return sodium_memcmp(a->bytes, b->bytes, HONE_KEY_BYTES) == 0;
}

bool hone_key_is_zero(const hone_key *key) {
    return sodium_is_zero(key->bytes, HONE_KEY_BYTES) == 1;
}

void hone_key_pair_wipe(hone_key_pair *pair) {
    sodium_memzero(pair, sizeof *pair);
}

/* ---- pairs ---- */

hone_status hone_key_pair_from_secret(const hone_key *secret, hone_key_pair *out_pair) {
    *out_pair = (hone_key_pair){.secret_key = *secret};
    if (hone_key_is_zero(secret) ||
        crypto_scalarmult_base(out_pair->public_key.bytes, secret->bytes) != 0) {
        hone_key_pair_wipe(out_pair);
        return HONE_ERROR(HONE_CODE_INVALID, "that is no secret key");
    }
    return HONE_OK;
}

/* Could it be typed into a shell as it is? About one public key in 2000. */
static bool needs_no_quotes(const char *text) {
    static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char inside[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=/@%";
    return strspn(text, plain) >= 1 && strspn(text, inside) == HONE_KEY_TEXT_BYTES - 1;
}

/* Other processes of this user cannot look into this one any more: not by /proc/PID, a debugger or
 * a core dump. Those that it starts begin anew. _create and _load call it before there is a secret.
 */
static void guard_process(void) {
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* cannot fail */
}

hone_status hone_key_pair_create(hone_key_pair *out_pair) {
    *out_pair = (hone_key_pair){0};
    guard_process();
    if (sodium_init() < 0) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "the system has no random numbers for a key");
    }
    char text[HONE_KEY_TEXT_BYTES];
    do {
        crypto_box_keypair(out_pair->public_key.bytes, out_pair->secret_key.bytes);
    } while (!needs_no_quotes(hone_key_print(&out_pair->public_key, text)));
    return HONE_OK;
}

/* ---- text ---- */

char *hone_key_print(const hone_key *key, char out[HONE_KEY_TEXT_BYTES]) {
    char *text = zmq_z85_encode(out, key->bytes, HONE_KEY_BYTES);
    assert(text);
    return text;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

hone_status hone_key_parse(const char *text, size_t count, hone_key *out_key) {
    *out_key = (hone_key){{0}};
    while (count && is_space(text[count - 1]))
        count--;
    while (count && is_space(*text))
        text++, count--;
    if (count != HONE_KEY_TEXT_BYTES - 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "a key has %d characters, not %zu",
                          HONE_KEY_TEXT_BYTES - 1, count);
    }
    char copy[HONE_KEY_TEXT_BYTES] = {0};
    memcpy(copy, text, count);
    bool ok = strlen(copy) == count && zmq_z85_decode(out_key->bytes, copy);
    sodium_memzero(copy, sizeof copy);
    if (!ok) {
        hone_key none = {{0}};
        *out_key = none;
        return HONE_ERROR(HONE_CODE_INVALID, "the key has characters that a key cannot have");
    }
    return HONE_OK;
}

hone_status hone_key_parse_file_text(const char *text, size_t count, hone_key *out_key) {
    *out_key = (hone_key){{0}};
    bool found = false;
    for (size_t at = 0; at < count;) {
        const char *line = text + at;
        const char *newline = memchr(line, '\n', count - at);
        size_t length = newline ? (size_t)(newline - line) : count - at;
        at += length + 1;
        while (length && is_space(*line))
            line++, length--;
        if (!length || *line == '#') continue; /* no Z85 of a key begins with '#' */
        if (found) return HONE_ERROR(HONE_CODE_INVALID, "more than one key");
        HONE_TRY(hone_key_parse(line, length, out_key));
        found = true;
    }
    return found ? HONE_OK : HONE_ERROR(HONE_CODE_INVALID, "there is no key in it");
}

/* ---- files ---- */

/* Makes a file that is not there yet; a failure to write leaves none. */
static hone_status write_new(const char *path, mode_t mode, const char *comment,
                             const hone_key *key) {
    char text[HONE_KEY_TEXT_BYTES];
    hone_str out = {0};
    hone_str_reserve(&out, 256); /* so that the secret is not copied about */
    hone_str_printf(&out, "# %s\n%s\n", comment, hone_key_print(key, text));
    sodium_memzero(text, sizeof text);
    hone_status st = hone_str_check(&out);
    if (st) return st;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) {
        st = HONE_ERROR(errno == EEXIST ? HONE_CODE_INVALID : HONE_CODE_IO, "%s: %s", path,
                        errno == EEXIST ? "is there already; a key is never overwritten"
                                        : strerror(errno));
    } else {
        st = hone_fd_write_full(fd, out.data, out.length);
        if (!st && fsync(fd) != 0) st = HONE_ERROR(HONE_CODE_IO, "%s", strerror(errno));
        if (close(fd) != 0 && !st) st = HONE_ERROR(HONE_CODE_IO, "%s", strerror(errno));
        if (st) {
            unlink(path);
            st = hone_status_annotate(st, "%s", path);
        }
    }
    sodium_memzero(out.data, out.length);
    hone_str_deinit(&out);
    return st;
}

hone_status hone_key_pair_save(const hone_key_pair *pair, const char *dir) {
    HONE_TRY(hone_fs_mkdirs(dir));
    hone_status st = HONE_OK;
    char *secret = hone_path_join(dir, HONE_KEY_SECRET_FILE);
    char *public = hone_path_join(dir, HONE_KEY_PUBLIC_FILE);
    if (!secret || !public) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "key files");
        goto end;
    }
    HONE_TRY_GOTO(st, write_new(secret, 0600, "secret key; keep it to yourself", &pair->secret_key),
                  end);
    st = write_new(public, 0644, "public key", &pair->public_key);
    if (st) unlink(secret);
end:
    hone_free(secret);
    hone_free(public);
    return st;
}

/* A secret that others can read is none. */
static hone_status check_private(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return HONE_ERROR(errno == ENOENT ? HONE_CODE_NOT_FOUND : HONE_CODE_IO, "%s: %s", path,
                          strerror(errno));
    }
    if (S_ISREG(info.st_mode) && info.st_mode & (S_IRWXG | S_IRWXO)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%s: others may read this secret key (mode %03o); chmod 600 it, or make "
                          "a new one if somebody may have done so",
                          path, (unsigned)(info.st_mode & 0777));
    }
    return HONE_OK;
}

static hone_status load(const char *path, hone_key *out_key) {
    char *text = NULL;
    size_t count = 0;
    *out_key = (hone_key){{0}};
    HONE_TRY(hone_fs_read(path, MAX_FILE_BYTES, &text, &count));
    hone_status st = hone_key_parse_file_text(text, count, out_key);
    sodium_memzero(text, count);
    hone_free(text);
    return hone_status_annotate(st, "%s", path);
}

hone_status hone_key_pair_load(const char *path, hone_key_pair *out_pair) {
    hone_key secret;
    *out_pair = (hone_key_pair){0};
    guard_process();
    HONE_TRY(check_private(path));
    HONE_TRY(load(path, &secret));
    hone_status st = hone_key_pair_from_secret(&secret, out_pair);
    sodium_memzero(&secret, sizeof secret);
    return hone_status_annotate(st, "%s", path);
}

hone_status hone_key_read_public(const char *text_or_path, hone_key *out_key) {
    hone_status st = hone_key_parse(text_or_path, strlen(text_or_path), out_key);
    if (!st) return HONE_OK;
    if (!hone_fs_exists(text_or_path)) {
        return hone_status_annotate(st, "a public key or a file with it is wanted");
    }
    hone_status_free(st);
    return load(text_or_path, out_key);
}
