/* tools/farm/farm_client.h - how the verbs of `hone` reach a tracker: options, keys, question and
 * answer.
 *
 * Every verb that speaks to a tracker has the same options, with the same environment variables
 * behind them, and makes its endpoint's options by hone_farm_access_resolve.
 */
#ifndef HONE_TOOLS_FARM_FARM_CLIENT_H
#define HONE_TOOLS_FARM_FARM_CLIENT_H

#include "measure/farm.h"
#include "runner/farm/farm_access.h"
#include "tools/cli/cli.h"

/* Rows of an option table; `access` is a hone_farm_access. */
#define HONE_FARM_ACCESS_OPTIONS(access)                                                           \
    HONE_CLI_OPTION("tracker", 0, "URL", TEXT, &(access).tracker,                                  \
                    "the farm's tracker, tcp://HOST:9190; HONE_TRACKER serves as well"),           \
        HONE_CLI_OPTION("key", 0, "FILE", TEXT, &(access).key_path,                                \
                        "your secret key, made by 'hone keygen'; or HONE_KEY_FILE"),               \
        HONE_CLI_OPTION("tracker-key", 0, "PUB", TEXT, &(access).tracker_key,                      \
                        "the tracker's public key, or a file with it; or HONE_TRACKER_KEY"),       \
        HONE_CLI_OPTION("insecure", 0, NULL, SWITCH, &(access).is_insecure,                        \
                        "no keys, no encryption; on this machine only")

/* INVALID when one of these options stands in the command line and would do nothing: without a
 * tracker, or keys without a use for them. After hone_farm_access_from_environment. */
HONE_NODISCARD hone_status hone_farm_access_check(const hone_cli *cli,
                                                  const hone_farm_access *access);

/* A connection on which questions are asked one after the other. */
typedef struct hone_farm_client hone_farm_client;

/* Connects and says hello as an admin; waits for up to `timeout_ns`. UNAVAILABLE: nobody answers;
 * INVALID: refused, or a wrong key, with the reason. */
HONE_NODISCARD hone_status hone_farm_client_open(const hone_farm_access *access, int64_t timeout_ns,
                                                 hone_farm_client **out_client);
void hone_farm_client_close(hone_farm_client *client); /* NULL is allowed */

/* Asks, again and again, until the answer comes: of kind `wanted`, valid until the next question.
 * INVALID: refused, with the reason. TIMEOUT. */
HONE_NODISCARD hone_status hone_farm_client_ask(hone_farm_client *client,
                                                const hone_farm_message *question,
                                                hone_farm_kind wanted,
                                                hone_farm_message *out_answer);

/* What the tracker said in WELCOME. */
const hone_farm_welcome *hone_farm_client_terms(const hone_farm_client *client);

#endif
