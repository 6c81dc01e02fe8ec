/* tools/farm/farm_admin.c - `hone farm drain|kick|allow|revoke|keys`: what an admin may change.
 *
 * The three about keys also work on the tracker's directory itself (--keys DIR): that is how the
 * first admin gets in.
 */
#include <string.h>

#include "farm/allow_list.h"
#include "support/os/fs.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_table.h"
#include "tools/farm/farm_client.h"
#include "tools/farm/farm_verbs.h"

/* Asks and prints what was done. */
static hone_status ask(hone_cli *cli, hone_farm_access *access, const hone_farm_message *question) {
    hone_farm_client *client;
    hone_farm_message answer;
    hone_farm_access_from_environment(access);
    HONE_TRY(hone_farm_access_check(cli, access));
    HONE_TRY(hone_farm_client_open(access, HONE_FARM_VERB_TIMEOUT_NS, &client));
    hone_status st = hone_farm_client_ask(client, question, HONE_FARM_DONE, &answer);
    if (!st) hone_str_printf(&cli->out, "%s\n", answer.u.done.text);
    hone_farm_client_close(client);
    return st;
}

/* Text from the command line into a member of a message: refused where it does not fit. */
static hone_status put_word(const char *what, const char *text, char *member, size_t capacity) {
    if (!*text && strcmp(what, "name") != 0)
        return HONE_ERROR(HONE_CODE_INVALID, "the name of the %s is empty", what);
    hone_farm_set_text(member, capacity, text);
    if (strcmp(member, text) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "%s '%s' is too long or has odd characters; up to %zu printable ones are "
                      "allowed",
                      what, text, capacity - 1);
}

/* ---- drain, kick ---- */

static hone_status drain(hone_cli *cli, hone_farm_access *access, bool is_over) {
    hone_farm_message m = {.kind = HONE_FARM_DRAIN};
    HONE_TRY(put_word("device", cli->args[0], m.u.drain.device, sizeof m.u.drain.device));
    m.u.drain.is_over = is_over;
    return ask(cli, access, &m);
}

int hone_farm_verb_drain(int argc, char **argv) {
    hone_farm_access access = {0};
    bool is_over = false;
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("undo", 0, NULL, SWITCH, &is_over, "let it have work again"),
        HONE_FARM_ACCESS_OPTIONS(access),
        {0},
    };
    const hone_cli_command command = {
        .name = "farm drain",
        .usage = "DEVICE [--undo]",
        .summary = "Gives a runner, or one slot of it (RUNNER/SLOT), nothing new; what it has it "
                   "finishes. A tracker with --state remembers it.",
        .example = "hone farm drain board1/0 --tracker tcp://127.0.0.1:9190 --insecure",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, drain(&cli, &access, is_over));
}

static hone_status kick(hone_cli *cli, hone_farm_access *access) {
    hone_farm_message m = {.kind = HONE_FARM_KICK};
    HONE_TRY(put_word("device", cli->args[0], m.u.kick.device, sizeof m.u.kick.device));
    return ask(cli, access, &m);
}

int hone_farm_verb_kick(int argc, char **argv) {
    hone_farm_access access = {0};
    const hone_cli_option options[] = {HONE_FARM_ACCESS_OPTIONS(access), {0}};
    const hone_cli_command command = {
        .name = "farm kick",
        .usage = "DEVICE",
        .summary = "Ends a runner's connection and takes its trials back; they are handed out "
                   "again. It may come back: 'hone farm revoke' keeps it out.",
        .example = "hone farm kick board1 --tracker tcp://127.0.0.1:9190 --insecure",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, kick(&cli, &access));
}

/* ---- keys ---- */

/* The directory is the tracker's own: nobody is asked. */
static hone_status refuse_access(const hone_cli *cli) {
    return hone_cli_refuse(cli, "tracker key tracker-key insecure", "a directory of keys (--keys)");
}

typedef struct key_options {
    hone_farm_access access;
    const char *dir, *role, *name;
} key_options;

#define DIR_OPTION(options)                                                                        \
    HONE_CLI_OPTION(                                                                               \
        "keys", 0, "DIR", TEXT, &(options).dir,                                                    \
        "the tracker's directory of keys: works on that, without the tracker (which reads "        \
        "it when it starts and on SIGHUP)")

static hone_status key_of(const char *text, hone_key *out_key) {
    return hone_status_annotate(hone_key_parse(text, strlen(text), out_key), "%s", text);
}

static hone_status allow_in_dir(hone_cli *cli, const key_options *o, hone_farm_role role) {
    hone_key key;
    hone_allow_list *list;
    HONE_TRY(key_of(cli->args[0], &key));
    HONE_TRY(hone_fs_mkdirs(o->dir));
    HONE_TRY(hone_allow_list_open(o->dir, &list));
    hone_status st = hone_allow_list_allow(list, &key, role, o->name);
    hone_allow_list_close(list);
    if (!st) {
        hone_str_printf(&cli->out, "key %s is allowed as %s%s%s\n", cli->args[0],
                        hone_farm_role_name(role), o->name[0] ? ", called " : "", o->name);
    }
    return st;
}

static hone_status allow(hone_cli *cli, key_options *o) {
    hone_farm_message m = {.kind = HONE_FARM_ALLOW};
    hone_farm_role role;
    if (!o->role || !hone_farm_role_parse(o->role, &role)) {
        return HONE_ERROR(HONE_CODE_INVALID, "--role wants runner, tuner or admin%s%s%s",
                          o->role ? ", not '" : "", o->role ? o->role : "", o->role ? "'" : "");
    }
    if (o->dir) HONE_TRY(refuse_access(cli));
    if (o->dir) return allow_in_dir(cli, o, role);
    hone_key key;
    HONE_TRY(key_of(cli->args[0], &key));
    HONE_TRY(put_word("key", cli->args[0], m.u.allow.key, sizeof m.u.allow.key));
    HONE_TRY(put_word("name", o->name, m.u.allow.name, sizeof m.u.allow.name));
    m.u.allow.role = role;
    return ask(cli, &o->access, &m);
}

int hone_farm_verb_allow(int argc, char **argv) {
    key_options o = {.name = ""};
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("role", 0, "ROLE", TEXT, &o.role, "runner, tuner or admin"),
        HONE_CLI_OPTION("name", 0, "N", TEXT, &o.name, "whose it is, for people"),
        DIR_OPTION(o),
        HONE_FARM_ACCESS_OPTIONS(o.access),
        {0},
    };
    const hone_cli_command command = {
        .name = "farm allow",
        .usage = "PUB --role runner|tuner|admin [--name N]",
        .summary = "Lets a public key into the farm, at once, or gives it another role.",
        .example = "hone farm allow $(hone keygen -o /tmp/board1) --role runner --name board1 "
                   "--keys /tmp",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, allow(&cli, &o));
}

/* A list that is not there has no keys, and is made by the first; a directory is meant to be. */
static hone_status check_dir(const char *dir) {
    if (hone_fs_is_dir(dir)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: %s", dir,
                      hone_fs_exists(dir) ? "is no directory" : "there is no such directory");
}

static hone_status revoke_in_dir(hone_cli *cli, const key_options *o) {
    hone_key key;
    hone_allow_list *list;
    HONE_TRY(check_dir(o->dir));
    HONE_TRY(key_of(cli->args[0], &key));
    HONE_TRY(hone_allow_list_open(o->dir, &list));
    hone_status st = hone_allow_list_revoke(list, &key);
    hone_allow_list_close(list);
    if (!st) hone_str_printf(&cli->out, "key %s is not allowed any longer\n", cli->args[0]);
    return st;
}

static hone_status revoke(hone_cli *cli, key_options *o) {
    if (o->dir) HONE_TRY(refuse_access(cli));
    if (o->dir) return revoke_in_dir(cli, o);
    hone_farm_message m = {.kind = HONE_FARM_REVOKE};
    hone_key key;
    HONE_TRY(key_of(cli->args[0], &key));
    HONE_TRY(put_word("key", cli->args[0], m.u.revoke.key, sizeof m.u.revoke.key));
    return ask(cli, &o->access, &m);
}

int hone_farm_verb_revoke(int argc, char **argv) {
    key_options o = {.name = ""};
    const hone_cli_option options[] = {
        DIR_OPTION(o),
        HONE_FARM_ACCESS_OPTIONS(o.access),
        {0},
    };
    const hone_cli_command command = {
        .name = "farm revoke",
        .usage = "PUB",
        .summary = "Keeps a public key out of the farm: whoever uses it is cut off at once, its "
                   "trials are handed out again.",
        .example = "hone farm revoke PUB --keys DIR",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, revoke(&cli, &o));
}

static hone_json *key_json(const hone_farm_key *key) {
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "key", key->key) &&
              hone_json_set_text(json, "role", hone_farm_role_name(key->role)) &&
              hone_json_set_text(json, "name", key->name) &&
              hone_json_set_i64(json, "connections", key->connections);
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}

static hone_status put_keys(hone_cli *cli, const hone_farm_key *keys, size_t count) {
    if (cli->json) {
        hone_json *list = hone_json_make_array();
        bool ok = list != NULL;
        for (size_t i = 0; i < count; i++)
            ok &= hone_json_append(list, key_json(&keys[i]));
        if (ok) return hone_cli_put_json(cli, list);
        hone_json_destroy(list);
        return hone_cli_put_json(cli, NULL);
    }
    hone_table table;
    hone_table_init(&table, cli->arena, "!key|role|>connections|name");
    for (size_t i = 0; i < count; i++) {
        hone_table_add(&table, "%s", keys[i].key);
        hone_table_add(&table, "%s", hone_farm_role_name(keys[i].role));
        hone_table_add(&table, "%u", keys[i].connections);
        hone_table_add(&table, "%s", keys[i].name);
    }
    hone_cli_put_table(cli, &table);
    return HONE_OK;
}

static hone_status keys_in_dir(hone_cli *cli, const char *dir) {
    hone_allow_list *list;
    HONE_TRY(check_dir(dir));
    HONE_TRY(hone_allow_list_open(dir, &list));
    size_t count = hone_allow_list_count(list);
    hone_farm_key *rows = hone_arena_zalloc(cli->arena, count * sizeof *rows + 1);
    for (size_t i = 0; rows && i < count; i++) {
        const hone_allowed *entry = hone_allow_list_at(list, i);
        hone_key_print(&entry->key, rows[i].key);
        rows[i].role = entry->role;
        memcpy(rows[i].name, entry->name, sizeof rows[i].name);
    }
    hone_allow_list_close(list);
    if (!rows) return HONE_ERROR(HONE_CODE_NO_MEMORY, "keys");
    return put_keys(cli, rows, count);
}

static hone_status keys(hone_cli *cli, key_options *o) {
    if (o->dir) HONE_TRY(refuse_access(cli));
    if (o->dir) return keys_in_dir(cli, o->dir);
    hone_farm_client *client;
    hone_farm_message answer, question = {.kind = HONE_FARM_KEYS};
    hone_farm_access_from_environment(&o->access);
    HONE_TRY(hone_farm_access_check(cli, &o->access));
    HONE_TRY(hone_farm_client_open(&o->access, HONE_FARM_VERB_TIMEOUT_NS, &client));
    hone_status st = hone_farm_client_ask(client, &question, HONE_FARM_KEY_LIST, &answer);
    if (!st) st = put_keys(cli, answer.u.key_list.keys.items, answer.u.key_list.keys.count);
    hone_farm_client_close(client);
    return st;
}

int hone_farm_verb_keys(int argc, char **argv) {
    key_options o = {.name = ""};
    const hone_cli_option options[] = {
        DIR_OPTION(o),
        HONE_FARM_ACCESS_OPTIONS(o.access),
        {0},
    };
    const hone_cli_command command = {
        .name = "farm keys",
        .usage = "[--json]",
        .summary = "The public keys that may come in, with their roles and how many connections "
                   "each has now.",
        .example = "hone farm keys --keys /tmp",
        .options = options,
        .max_args = 0,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, keys(&cli, &o));
}
