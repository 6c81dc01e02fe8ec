/* tests/net/test_key.c - keys: text, pairs, files, and who may read them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/key.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

/* The pair of RFC 32 / the CURVE man page of ZeroMQ. */
static const char known_public[] = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
static const char known_secret[] = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";

static void check_known_pair(void **state) {
    (void)state;
    hone_key secret;
    hone_key_pair pair;
    char text[HONE_KEY_TEXT_BYTES];
    HONE_ASSERT_OK(hone_key_parse(known_secret, strlen(known_secret), &secret));
    HONE_ASSERT_OK(hone_key_pair_from_secret(&secret, &pair));
    assert_string_equal(hone_key_print(&pair.public_key, text), known_public);
}

/* clang-format off */
static const struct row {
    const char *name, *text;
    hone_code code;
    const char *part;
} rows[] = {
    {"a key", "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", HONE_CODE_OK, ""},
    {"white space", " \tYne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\r\n", HONE_CODE_OK, ""},
    {"comment and key", "# public key\n#\n\nYne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", HONE_CODE_OK,
     ""},
    {"nothing", "", HONE_CODE_INVALID, "no key"},
    {"comments only", "# a\n# b\n", HONE_CODE_INVALID, "no key"},
    {"too short", "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hI", HONE_CODE_INVALID,
     "40 characters, not 39"},
    {"too long", "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hIDD", HONE_CODE_INVALID, "not 41"},
    {"wrong character", "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hI~", HONE_CODE_INVALID,
     "cannot have"},
    {"not ASCII", "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hI\xc3", HONE_CODE_INVALID, "cannot have"},
    {"above 32 bits", "%nSc0-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV#####", HONE_CODE_INVALID, "cannot have"},
    {"two keys",
     "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\nYne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\n",
     HONE_CODE_INVALID, "more than one"},
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    hone_key key;
    memset(&key, 1, sizeof key);
    hone_status st = hone_key_parse_file_text(row->text, strlen(row->text), &key);
    hone_code code = hone_status_code(st);
    bool has_part = strstr(hone_status_message(st), row->part) != NULL;
    hone_status_free(st);
    assert_int_equal(code, row->code);
    assert_true(has_part);
    assert_int_equal(hone_key_is_zero(&key), code != HONE_CODE_OK && strcmp(row->name, "two keys"));
}

static void check_round_trip(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++) {
        hone_key key, again;
        char text[HONE_KEY_TEXT_BYTES];
        for (int k = 0; k < HONE_KEY_BYTES; k++)
            key.bytes[k] = (uint8_t)(i * 7 + k * 31);
        hone_key_print(&key, text);
        HONE_ASSERT_OK(hone_key_parse(text, strlen(text), &again));
        assert_true(hone_key_equal(&key, &again));
        again.bytes[i % HONE_KEY_BYTES] ^= 1;
        assert_false(hone_key_equal(&key, &again));
    }
}

static void check_made_keys(void **state) {
    (void)state;
    hone_key_pair a, b, c;
    char text[HONE_KEY_TEXT_BYTES];
    HONE_ASSERT_OK(hone_key_pair_create(&a));
    HONE_ASSERT_OK(hone_key_pair_create(&b));
    assert_false(hone_key_equal(&a.secret_key, &b.secret_key));
    HONE_ASSERT_OK(hone_key_pair_from_secret(&a.secret_key, &c));
    assert_true(hone_key_equal(&a.public_key, &c.public_key));
    hone_key_print(&a.public_key, text);
    assert_null(strpbrk(text, "!*?&<>()[]{}$#^"));
    assert_null(strchr("-.:+=/@%", text[0]));
    hone_key_pair_wipe(&a);
    assert_true(hone_key_is_zero(&a.secret_key));
    HONE_ASSERT_CODE(hone_key_pair_from_secret(&a.secret_key, &c), HONE_CODE_INVALID);
}

static unsigned mode_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? info.st_mode & 0777 : 0;
}

static void check_files(void **state) {
    (void)state;
    hone_key_pair pair, loaded;
    hone_key key;
    char *dir = NULL;
    HONE_ASSERT_OK(hone_key_pair_create(&pair));
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-key", &dir));
    char *sub = hone_path_join(dir, "keys/a");
    char *secret = hone_path_join(sub, HONE_KEY_SECRET_FILE);
    char *public = hone_path_join(sub, HONE_KEY_PUBLIC_FILE);
    HONE_ASSERT_OK(hone_key_pair_save(&pair, sub));
    assert_int_equal(mode_of(secret), 0600);
    HONE_ASSERT_OK(hone_key_pair_load(secret, &loaded));
    assert_memory_equal(&loaded, &pair, sizeof pair);
    HONE_ASSERT_OK(hone_key_read_public(public, &key));
    assert_true(hone_key_equal(&key, &pair.public_key));
    /* never overwritten; nothing is left when one of the two is there */
    HONE_ASSERT_ERROR(hone_key_pair_save(&pair, sub), HONE_CODE_INVALID, "never overwritten");
    HONE_ASSERT_OK(hone_fs_remove_file(secret));
    HONE_ASSERT_ERROR(hone_key_pair_save(&pair, sub), HONE_CODE_INVALID, HONE_KEY_PUBLIC_FILE);
    assert_false(hone_fs_exists(secret));
    HONE_ASSERT_CODE(hone_key_pair_load(secret, &loaded), HONE_CODE_NOT_FOUND);
    /* a secret that others may read */
    HONE_ASSERT_OK(hone_fs_remove_file(public));
    HONE_ASSERT_OK(hone_key_pair_save(&pair, sub));
    assert_int_equal(chmod(secret, 0640), 0);
    HONE_ASSERT_ERROR(hone_key_pair_load(secret, &loaded), HONE_CODE_INVALID, "chmod 600");
    assert_true(hone_key_is_zero(&loaded.secret_key));
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(sub);
    hone_free(secret);
    hone_free(public);
    hone_free(dir);
}

/* Whether another process of the same user can look into this one. */
static bool is_open_to_others(void) {
    char path[64];
    int status = 0;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)getpid());
    pid_t other = fork();
    if (other == 0) _exit(open(path, O_RDONLY | O_CLOEXEC) >= 0);
    return other > 0 && waitpid(other, &status, 0) == other && WEXITSTATUS(status) == 1;
}

/* In a process of its own, which is not root: that may look into everything. */
static int guard_in_child(void) {
    hone_key_pair pair;
    if (geteuid() == 0 && (setgid(65534) || setuid(65534))) return 1;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    if (!is_open_to_others()) return 77; /* nobody can, where that is so for all */
    if (hone_status_consume(hone_key_pair_create(&pair)) != HONE_CODE_OK) return 2;
    if (is_open_to_others() || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0) return 3;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    hone_status_free(hone_key_pair_load("/nonexistent", &pair));
    return is_open_to_others() || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0 ? 4 : 0;
}

static void check_guard(void **state) {
    int status = 0;
    (void)state;
    pid_t child = fork();
    if (child == 0) _exit(guard_in_child());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_known_pair), cmocka_unit_test(check_round_trip),
        cmocka_unit_test(check_made_keys),  cmocka_unit_test(check_files),
        cmocka_unit_test(check_guard),
    };
    int failed = cmocka_run_group_tests_name("net/key", tests, NULL, NULL);
    return HONE_RUN_ROWS("net/key text", rows, check_row) + failed;
}
