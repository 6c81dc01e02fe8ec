/* tools/verbs/verb_keygen.c - `hone keygen`: a key pair for a member of a farm. */
#include "net/key.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tools/cli/cli.h"
#include "tools/verbs/verbs.h"

static hone_status put_json(hone_cli *cli, const char *key, const char *dir) {
    hone_json *json = hone_json_make_object();
    char *secret = hone_path_join(dir, HONE_KEY_SECRET_FILE);
    char *public_file = hone_path_join(dir, HONE_KEY_PUBLIC_FILE);
    bool ok = secret && public_file && hone_json_set_text(json, "public_key", key) &&
              hone_json_set_text(json, "secret_file", secret) &&
              hone_json_set_text(json, "public_file", public_file);
    hone_free(secret);
    hone_free(public_file);
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

static hone_status keygen(hone_cli *cli, const char *dir) {
    hone_key_pair pair;
    char text[HONE_KEY_TEXT_BYTES];
    HONE_TRY(hone_key_pair_create(&pair));
    hone_key_print(&pair.public_key, text);
    hone_status st = hone_key_pair_save(&pair, dir);
    hone_key_pair_wipe(&pair);
    if (st) return st;
    if (cli->json) return put_json(cli, text, dir);
    hone_str_printf(&cli->out, "%s\n", text);
    HONE_LOG(&cli->log, HONE_LOG_INFO, "the secret key is in %s/%s: it stays on this machine", dir,
             HONE_KEY_SECRET_FILE);
    return HONE_OK;
}

int hone_verb_keygen(int argc, char **argv) {
    const char *dir = ".";
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("out", 'o', "DIR", TEXT, &dir,
                        "where the two files go (made when it is not there; default: here)"),
        {0},
    };
    const hone_cli_command command = {
        .name = "keygen",
        .usage = "[--out DIR]",
        .summary = "Makes a key pair for a tracker, a runner, a tuner or an admin of a farm and "
                   "prints the public key, by which others know it.",
        .example = "hone keygen --out /tmp/pi4",
        .notes =
            "DIR/" HONE_KEY_SECRET_FILE " is the secret key: only its owner may read it, and it "
            "need not leave the machine.\nDIR/" HONE_KEY_PUBLIC_FILE
            " is the public key again. Files that are there are never overwritten.",
        .options = options,
        .max_args = 0,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, keygen(&cli, dir));
}
