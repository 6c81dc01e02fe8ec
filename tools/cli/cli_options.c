/* tools/cli/cli_options.c - the command line and hone.conf into a verb's variables.
 *
 * Two passes, because hone.conf lies beside the first argument and the command line wins: getopt
 * collects what is given, then the settings of the file are stored, then those of the line.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "support/core/alloc.h"
#include "support/core/number.h"
#include "support/os/fs.h"
#include "support/text/duration.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_impl.h"

static bool has_value(const hone_cli_option *option) {
    return option->kind != HONE_CLI_SWITCH && option->kind != HONE_CLI_COUNT;
}

static hone_status wants(const hone_cli_option *option, const char *what, const char *text) {
    return HONE_ERROR(HONE_CODE_INVALID, "option '--%s' wants %s, not '%s'", option->name, what,
                      text);
}

static hone_status set_number(const hone_cli_option *option, const char *text) {
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno) return wants(option, "a whole number", text);
    if (option->min != option->max && (value < option->min || value > option->max)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "option '--%s' is %lld, must be from %" PRId64 " to %" PRId64,
                          option->name, value, option->min, option->max);
    }
    *(int64_t *)option->to = value;
    return HONE_OK;
}

static hone_status add_to_list(hone_cli *cli, const hone_cli_option *option, const char *text) {
    hone_cli_list *list = option->to;
    const char **items = hone_arena_alloc(cli->arena, (list->count + 1) * sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "options");
    if (list->count) memcpy(items, list->items, list->count * sizeof *items);
    items[list->count] = text;
    *list = (hone_cli_list){items, list->count + 1};
    return HONE_OK;
}

static bool read_switch(const char *text, bool *out) {
    static const char *const yes[] = {"yes", "true", "on", "1", ""};
    static const char *const no[] = {"no", "false", "off", "0"};
    for (size_t i = 0; i < HONE_COUNT(yes); i++) {
        if (strcasecmp(text, yes[i]) == 0) return *out = true;
    }
    for (size_t i = 0; i < HONE_COUNT(no); i++) {
        if (strcasecmp(text, no[i]) == 0) return !(*out = false);
    }
    return false;
}

static bool is_database(const char *path) {
    static const char magic[16] = "SQLite format 3";
    char head[sizeof magic];
    hone_status st = hone_fs_read_part(path, 0, sizeof head, head);
    bool is_read = !st;
    hone_status_free(st);
    return is_read && memcmp(head, magic, sizeof magic) == 0;
}

/* What is written would go into a folder, or nowhere, or over all that was measured: told before
 * the work. */
static hone_status check_output(const hone_cli_option *option, const char *path) {
    bool is_folder = !*hone_path_basename(path) || hone_fs_is_dir(path);
    if (strcmp(path, "-") == 0) return HONE_OK;
    if (is_folder)
        return HONE_ERROR(HONE_CODE_INVALID, "option '--%s' wants a file, '%s' is a directory",
                          option->name, path);
    if (is_database(path))
        return HONE_ERROR(HONE_CODE_INVALID,
                          "option '--%s': '%s' is a database, which is not written over; give "
                          "another name",
                          option->name, path);
    return hone_status_annotate(hone_fs_check_place(path, 0), "option '--%s'", option->name);
}

static hone_status check_time(const hone_cli_option *option) {
    if (*(const int64_t *)option->to >= option->min) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "option '--%s' is 0, must be more", option->name);
}

/* text NULL: a switch of the command line. */
static hone_status set_option(hone_cli *cli, const hone_cli_option *option, const char *text) {
    if (text && !*text && has_value(option)) {
        return HONE_ERROR(HONE_CODE_INVALID, "option '--%s' is empty, wants %s", option->name,
                          option->value);
    }
    if (option->was_given) *option->was_given = true;
    char *end = NULL;
    double real;
    switch (option->kind) {
    case HONE_CLI_SWITCH:
        if (!text) return *(bool *)option->to = true, HONE_OK;
        return read_switch(text, option->to) ? HONE_OK : wants(option, "yes or no", text);
    case HONE_CLI_OUTPUT:
        HONE_TRY(check_output(option, text));
        *(const char **)option->to = text;
        return HONE_OK;
    case HONE_CLI_TEXT:
        *(const char **)option->to = text;
        return HONE_OK;
    case HONE_CLI_NUMBER:
        return set_number(option, text);
    case HONE_CLI_REAL:
        real = hone_number_parse(text, &end);
        if (end == text || *end || !isfinite(real)) return wants(option, "a number", text);
        *(double *)option->to = real;
        return HONE_OK;
    case HONE_CLI_TIME:
        if (hone_duration_parse(text, option->to)) return check_time(option);
        return wants(option, "a time such as 90s, 10m or 1h30m", text);
    case HONE_CLI_LIST:
        return add_to_list(cli, option, text);
    case HONE_CLI_COUNT:
        ++*(int *)option->to;
        return HONE_OK;
    }
    return HONE_OK;
}

static size_t option_count(const hone_cli_option *options) {
    size_t count = 0;
    while (options && options[count].name)
        count++;
    return count;
}

static const hone_cli_option *find_option(const hone_cli_option *options, const char *name) {
    for (; options && options->name; options++) {
        if (strcmp(options->name, name) == 0) return options;
    }
    return NULL;
}

/* ---- hone.conf ---- */

typedef struct config_reader {
    hone_cli *cli;
    const hone_cli_option *options;
    unsigned char *seen; /* by option: outside of sections (1), in the verb's own (2) */
} config_reader;

static hone_status visit_setting(void *ctx, bool is_of_section, const char *key,
                                 const char *value) {
    config_reader *reader = ctx;
    const hone_cli_option *option = find_option(reader->options, key);
    if (!option) {
        /* A key outside of sections is for all verbs that have it. */
        if (!is_of_section) return HONE_OK;
        const char *meant = hone_name_suggest(key, reader->options, option_count(reader->options),
                                              sizeof *reader->options);
        return HONE_ERROR(HONE_CODE_INVALID, "there is no option '%s'%s%s%s", key,
                          meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
    }
    if (option->is_line_only || hone_name_is_listed("config help", key)) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' can be given on the command line only", key);
    }
    unsigned char *seen = &reader->seen[option - reader->options], here = is_of_section ? 2 : 1;
    if (*seen & here && option->kind != HONE_CLI_LIST)
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is given twice", key);
    *seen |= here;
    char *copy = hone_arena_strdup(reader->cli->arena, value);
    if (!copy) return HONE_ERROR(HONE_CODE_NO_MEMORY, "options");
    return set_option(reader->cli, option, copy);
}

static hone_status read_settings(hone_cli *cli, const char *given_path,
                                 const hone_cli_option *options) {
    config_reader reader = {cli, options, hone_arena_zalloc(cli->arena, option_count(options) + 1)};
    if (!reader.seen) return HONE_ERROR(HONE_CODE_NO_MEMORY, "options");
    if (given_path) {
        return hone_cli_read_config(given_path, cli->command->name, visit_setting, &reader);
    }
    if (cli->arg_count == 0 || strcmp(cli->args[0], "-") == 0) return HONE_OK;
    char *dir = hone_path_dirname(cli->args[0]);
    char *path = dir ? hone_path_join(strcmp(dir, ".") == 0 ? "" : dir, "hone.conf") : NULL;
    hone_status st = HONE_OK;
    if (!path) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "hone.conf");
    } else if (hone_fs_exists(path)) {
        st = hone_cli_read_config(path, cli->command->name, visit_setting, &reader);
    }
    hone_free(dir);
    hone_free(path);
    return st;
}

/* ---- the command line ---- */

typedef struct given {
    const hone_cli_option *option;
    const char *text;
} given;

/* The tables that getopt wants: the verb's options and the common ones, by their index. */
static hone_status make_tables(hone_cli *cli, const hone_cli_option *options, size_t count,
                               struct option **out_long, char **out_short) {
    *out_long = hone_arena_zalloc(cli->arena, (count + 1) * sizeof **out_long);
    *out_short = hone_arena_zalloc(cli->arena, 2 * count + 2);
    if (!*out_long || !*out_short) return HONE_ERROR(HONE_CODE_NO_MEMORY, "options");
    char *letters = *out_short;
    *letters++ = ':';
    for (size_t i = 0; i < count; i++) {
        (*out_long)[i] = (struct option){options[i].name,
                                         has_value(&options[i]) ? required_argument : no_argument,
                                         NULL, 256 + (int)i};
        if (!options[i].letter) continue;
        *letters++ = options[i].letter;
        if (has_value(&options[i])) *letters++ = ':';
    }
    return HONE_OK;
}

static const hone_cli_option *option_of(const hone_cli_option *options, size_t count, int choice) {
    if (choice >= 256) return &options[choice - 256];
    for (size_t i = 0; i < count; i++) {
        if (options[i].letter && options[i].letter == choice) return &options[i];
    }
    return NULL;
}

static hone_status bad_option(const hone_cli_option *options, size_t count, const char *word,
                              bool lacks_value) {
    if (lacks_value) return HONE_ERROR(HONE_CODE_INVALID, "option '%s' wants a value", word);
    if (strncmp(word, "--", 2) != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "there is no option '-%c'", optopt);
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    if (find_option(options, name)) {
        return HONE_ERROR(HONE_CODE_INVALID, "option '--%s' takes no value", name);
    }
    const char *meant = hone_name_suggest(name, options, count, sizeof *options);
    return HONE_ERROR(HONE_CODE_INVALID, "there is no option '--%s'%s%s%s", name,
                      meant ? "; did you mean '--" : "", meant ? meant : "", meant ? "'?" : "");
}

static hone_status collect(hone_cli *cli, const hone_cli_option *options, int argc, char **argv,
                           given *out_given, size_t *out_count) {
    size_t count = option_count(options);
    struct option *long_options;
    char *letters;
    HONE_TRY(make_tables(cli, options, count, &long_options, &letters));
    opterr = 0;
    optind = 0;
    for (int choice; (choice = getopt_long(argc, argv, letters, long_options, NULL)) != -1;) {
        if (choice == '?' || choice == ':') {
            return bad_option(options, count, argv[optind - 1], choice == ':');
        }
        const hone_cli_option *option = option_of(options, count, choice);
        out_given[(*out_count)++] = (given){option, has_value(option) ? optarg : NULL};
    }
    cli->args = argv + optind;
    cli->arg_count = argc - optind;
    return HONE_OK;
}

hone_status hone_cli_refuse(const hone_cli *cli, const char *names, const char *what) {
    for (const char **at = cli->given; at && *at; at++) {
        if (!hone_name_is_listed(names, *at)) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "--%s says nothing about %s", *at, what);
    }
    return HONE_OK;
}

hone_status hone_cli_refuse_all(const hone_cli *cli, const char *but) {
    for (const char **at = cli->given; at && *at; at++) {
        if (strcmp(*at, but) == 0 || hone_name_is_listed("json config quiet verbose", *at))
            continue;
        return HONE_ERROR(HONE_CODE_INVALID, "--%s says nothing about --%s", *at, but);
    }
    if (!cli->arg_count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s' says nothing about --%s", cli->args[0], but);
}

/* The first of several would be forgotten. */
static hone_status check_once(const given *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const hone_cli_option *option = items[i].option;
        if (!has_value(option) || option->kind == HONE_CLI_LIST) continue;
        for (size_t j = 0; j < i; j++) {
            if (items[j].option != option) continue;
            return HONE_ERROR(HONE_CODE_INVALID, "option '--%s' is given twice: '%s' and '%s'",
                              option->name, items[j].text, items[i].text);
        }
    }
    return HONE_OK;
}

static hone_status written_over(const hone_cli_option *option, const char *path) {
    return HONE_ERROR(HONE_CODE_INVALID,
                      "option '--%s': '%s' is read, too, and would be written over; give another "
                      "name",
                      option->name, path);
}

/* What an option names is a file, not a function or target of the same name. */
static const char *file_of(const given *item) {
    const char *what = item->option->value, *equals = item->text ? strchr(item->text, '=') : NULL;
    bool is_file = what && (strstr(what, "FILE") || strstr(what, ".so"));
    if (!is_file || item->option->kind == HONE_CLI_OUTPUT || !item->text) return NULL;
    return equals && !hone_fs_exists(item->text) ? equals + 1 : item->text; /* NAME=FILE */
}

/* No output takes the place of what is read. But `hone print FILE -o FILE` is how one tidies it,
 * and what is no file, as /dev/null, may be both. */
static hone_status check_outputs(const hone_cli *cli, const given *items, size_t count) {
    int arg_count = strcmp(cli->command->name, "print") == 0 ? 0 : cli->arg_count;
    for (size_t i = 0; i < count; i++) {
        const char *path = items[i].text;
        if (items[i].option->kind != HONE_CLI_OUTPUT || !hone_fs_is_file(path)) continue;
        for (int a = 0; a < arg_count; a++) {
            if (hone_fs_is_same(path, cli->args[a])) return written_over(items[i].option, path);
        }
        for (size_t j = 0; j < count; j++) {
            const char *read = file_of(&items[j]);
            if (read && hone_fs_is_same(path, read)) return written_over(items[i].option, path);
        }
    }
    return HONE_OK;
}

static hone_status store(hone_cli *cli, const given *items, size_t count) {
    cli->given = hone_arena_zalloc(cli->arena, (count + 1) * sizeof *cli->given);
    if (!cli->given) return HONE_ERROR(HONE_CODE_NO_MEMORY, "options");
    HONE_TRY(check_once(items, count));
    for (size_t i = 0; i < count; i++) {
        bool is_first = true;
        for (size_t j = 0; j < i; j++)
            is_first &= items[j].option != items[i].option;
        /* The list of the line replaces that of the file. */
        if (items[i].option->kind == HONE_CLI_LIST && is_first) {
            *(hone_cli_list *)items[i].option->to = (hone_cli_list){0};
        }
        cli->given[i] = items[i].option->name;
        HONE_TRY(set_option(cli, items[i].option, items[i].text));
    }
    return check_outputs(cli, items, count);
}

hone_status hone_cli_read_options(hone_cli *cli, const hone_cli_option *options, int argc,
                                  char **argv, const char *const *config, const bool *wants_help) {
    /* Letters may be joined ("-qv"): there are never more options than bytes. */
    size_t count = 0, bytes = 0;
    for (int i = 0; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    given *items = hone_arena_alloc(cli->arena, bytes * sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "options");
    HONE_TRY(collect(cli, options, argc, argv, items, &count));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(items[i].option->name, "config") == 0 ||
            strcmp(items[i].option->name, "help") == 0) {
            HONE_TRY(set_option(cli, items[i].option, items[i].text));
        }
    }
    if (*wants_help) return HONE_OK;
    HONE_TRY(read_settings(cli, *config, options));
    return store(cli, items, count);
}
