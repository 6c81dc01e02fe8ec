/* tools/verbs/verb_doctor.c - `hone doctor`: is this machine fit for building and measuring? */

#include "tools/cli/cli.h"
#include "tools/cli/cli_table.h"
#include "tools/doctor/doctor.h"
#include "tools/farm/farm_client.h"
#include "tools/verbs/verbs.h"

static const char *const levels[] = {"ok", "note", "warning", "problem"};

static hone_status put_json(hone_cli *cli, const hone_checkup *checkup) {
    hone_json *json = hone_json_make_object(), *list = hone_json_make_array();
    bool ok = true;
    for (size_t i = 0; i < checkup->count; i++) {
        const hone_finding_line *line = &checkup->items[i];
        hone_json *item = hone_json_make_object();
        ok &= hone_json_set_text(item, "check", line->check);
        ok &= hone_json_set_text(item, "level", levels[line->level]);
        ok &= hone_json_set_text(item, "found", line->found);
        ok &= hone_json_set_text(item, "advice", line->advice);
        ok &= hone_json_append(list, item);
    }
    ok &= hone_json_set_bool(json, "fit", checkup->worst != HONE_DOCTOR_PROBLEM);
    ok &= hone_json_set(json, "checks", list);
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

static void put_text(hone_cli *cli, const hone_checkup *checkup) {
    hone_table table;
    hone_table_init(&table, cli->arena, "check||~found");
    for (size_t i = 0; i < checkup->count; i++) {
        hone_table_add(&table, "%s", checkup->items[i].check);
        hone_table_add(&table, "%s", levels[checkup->items[i].level]);
        hone_table_add(&table, "%s", checkup->items[i].found);
    }
    hone_cli_put_table(cli, &table);
    bool is_first = true;
    for (size_t i = 0; i < checkup->count; i++) {
        const hone_finding_line *line = &checkup->items[i];
        if (!line->advice) continue;
        if (is_first) hone_str_append(&cli->out, "\nwhat to do\n");
        is_first = false;
        hone_str_printf(&cli->out, "  %s: %s\n", line->check, line->advice);
    }
}

static hone_status doctor(hone_cli *cli, hone_farm_access *access) {
    hone_checkup checkup = {.arena = cli->arena};
    hone_farm_access_from_environment(access);
    HONE_TRY(hone_farm_access_check(cli, access));
    hone_doctor_tools(&checkup);
    hone_doctor_candidates(&checkup);
    hone_doctor_machine(&checkup);
    hone_doctor_timing(&checkup);
    if (access->tracker) hone_doctor_farm(&checkup, access);
    if (checkup.failed) return HONE_ERROR(HONE_CODE_NO_MEMORY, "doctor");
    if (checkup.worst == HONE_DOCTOR_PROBLEM) cli->exit_code = HONE_EXIT_NO;
    if (cli->json) return put_json(cli, &checkup);
    put_text(cli, &checkup);
    return HONE_OK;
}

int hone_verb_doctor(int argc, char **argv) {
    hone_farm_access access = {0};
    const hone_cli_option options[] = {HONE_FARM_ACCESS_OPTIONS(access), {0}};
    const hone_cli_command command = {
        .name = "doctor",
        .usage = "[--tracker URL] [--json]",
        .summary = "Looks at what building and measuring need: programs, what holds "
                   "candidates, cores, clock, noise, governor, devices, with --tracker also keys "
                   "and the farm; each with what to "
                   "do. Exit code 1: something is missing.",
        .options = options,
        .example = "hone doctor",
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, doctor(&cli, &access));
}
