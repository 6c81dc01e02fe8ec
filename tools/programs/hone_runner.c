/* tools/programs/hone_runner.c - `hone-runner`: runs candidates on this machine for others.
 *
 * Small on purpose, so that it fits on a board: no program representation, no code generator, no
 * database is linked.
 */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/farm.h"
#include "runner/executor.h"
#include "runtime/device.h"
#include "sandbox/held.h"
#include "sandbox/sandbox.h"
#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/core/status.h"
#include "support/text/duration.h"
#include "support/text/utf8.h"
#include "tools/programs/hone_runner_farm.h"
#include "tools/programs/hone_runner_status.h"

enum exit_code { EXIT_DONE = 0, EXIT_USAGE = 2, EXIT_WORLD = 3, EXIT_BUG = 4 };

static const char help[] =
    "Usage: hone-runner --tracker URL --key FILE --tracker-key PUB [options]\n"
    "       hone-runner --check FILE | --check-alive FILE\n"
    "       hone-runner --executor [--device NAME] [--memory SIZE] [--quiet FILE] [--unsandboxed]\n"
    "Runs built kernels on this machine and reports how long they took.\n"
    "\n"
    "  --tracker URL      serve a tracker, tcp://host:9190, until SIGTERM or Ctrl-C (a second\n"
    "                     one ends at once); HONE_TRACKER serves as well\n"
    "  --key FILE         this runner's secret key, made by 'hone keygen'; HONE_KEY_FILE\n"
    "  --tracker-key PUB  the tracker's public key, or a file with it; HONE_TRACKER_KEY\n"
    "  --insecure         no keys and no encryption; loopback addresses only\n"
    "  --name NAME        of this runner in the farm; default: of host and cache\n"
    "  --device-key NAME  what tuners ask for; default: the name of the CPU\n"
    "  --target TARGET    corrects what is detected: 'host -mcpu=cortex-a76 -num-cores=2'\n"
    "  --device NAME      what candidates run on: cpu, opencl, cuda, cuda:1; default: cpu\n"
    "  --slots N          trials at a time, default 1: timings share the machine\n"
    "  --cache DIR        where artifacts are kept; default: ~/.cache/hone/runner\n"
    "  --cache-size SIZE  at most so much of them, default 4G\n"
    "  --memory SIZE      of a trial's process, 0 = no limit; default: 3/4 of this machine\n"
    "  --quiet FILE|none  lock file of the quiet gate, taken alone while timing; default: that\n"
    "                     of this user\n"
    "  --idle-exit TIME   end when there was nothing to do for so long: 90s, 10m, 1h; default: "
    "never\n"
    "  --drain-on SIGNAL  after SIGUSR1, say, take nothing new and end when what runs has ended; "
    "a\n"
    "                     plain SIGTERM gives it 15 s\n"
    "  --status FILE      every few seconds, say in FILE that this runner lives and serves\n"
    "  --check FILE       exit 0 if the runner that writes FILE serves a tracker, else 3; for "
    "probes\n"
    "  --check-alive FILE the same of one that lives, with a tracker or without\n"
    "  --launcher WORDS   start trials through a program: 'qemu-aarch64-static'\n"
    "  --unsandboxed      hold nothing back: let kernels start processes, open sockets, write "
    "files;\n"
    "                     without it, a machine that cannot hold them is refused\n"
    "  --without LAYERS   leave out second layers of the sandbox, to see that the first one holds\n"
    "                     alone: user,namespaces,landlock\n"
    "  --executor         serve one local runner over descriptor 3; `hone tune` starts it so\n"
    "  --verbose          say what becomes of each trial\n"
    "      --help         this text\n"
    "      --version      the version\n"
    "\n"
    "Example, beside 'hone tracker --insecure' on this machine:\n"
    "  hone-runner --tracker tcp://127.0.0.1:9190 --insecure\n";

typedef struct command {
    runner_farm_options farm;
    bool is_executor, has_memory;
    unsigned without; /* the same layers, for an executor */
    uint32_t given;   /* the options that stand in the line, as bits */
    int64_t memory_bytes;
    const char *check_path; /* of --check or --check-alive */
    char *launcher;         /* the words, cut up; owned */
} command;

static int usage(const char *message, const char *what) {
    fprintf(stderr, "hone-runner: %s", message);
    if (what) {
        fputs(" '", stderr);
        hone_utf8_put_shown(stderr, what, false);
        fputc('\'', stderr);
    }
    fputs("; see hone-runner --help\n", stderr);
    return EXIT_USAGE;
}

/* In less no executor starts; one of a card has its memory counted there. */
#define LEAST_MEMORY (INT64_C(16) << 20)

/* "1000", "64M", "4G". */
static bool read_size(const char *text, int64_t *out_bytes) {
    static const char units[] = "KMGT";
    char *end = NULL;
    if (*text < '0' || *text > '9') return false;
    long long value = strtoll(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (unit) end++;
    if (*end || value > (INT64_MAX >> shift)) return false;
    *out_bytes = (int64_t)value << shift;
    return true;
}

static bool read_slots(const char *text, int32_t *out_slots) {
    char *end = NULL;
    long value = strtol(text, &end, 10);
    *out_slots = (int32_t)value;
    return *text && !*end && value >= 1 && value <= HONE_FARM_MAX_SLOTS;
}

/* At most RUNNER_LAUNCHER_WORDS words between spaces. */
static bool read_launcher(const char *text, command *c) {
    size_t count = 0;
    hone_free(c->launcher);
    c->launcher = hone_strdup(text);
    for (char *at = c->launcher; at && *at;) {
        at += strspn(at, " ");
        if (!*at) break;
        if (count == RUNNER_LAUNCHER_WORDS) return false;
        c->farm.launcher[count++] = at;
        at += strcspn(at, " ");
        if (*at) *at++ = 0;
    }
    c->farm.launcher[count] = NULL;
    return count > 0;
}

static int report(hone_status st) {
    if (!st) return EXIT_DONE;
    hone_code code = hone_status_code(st);
    fputs("hone-runner: ", stderr);
    hone_utf8_put_shown(stderr, hone_status_message(st), true);
    fputc('\n', stderr);
    hone_status_free(st);
    if (code == HONE_CODE_INTERNAL) return EXIT_BUG;
    return code == HONE_CODE_INVALID ? EXIT_USAGE : EXIT_WORLD;
}

enum {
    OPTION_TRACKER = 256,
    OPTION_KEY,
    OPTION_TRACKER_KEY,
    OPTION_INSECURE,
    OPTION_NAME,
    OPTION_DEVICE,
    OPTION_DEVICE_KEY,
    OPTION_TARGET,
    OPTION_SLOTS,
    OPTION_CACHE,
    OPTION_CACHE_SIZE,
    OPTION_MEMORY,
    OPTION_QUIET,
    OPTION_IDLE_EXIT,
    OPTION_DRAIN_ON,
    OPTION_STATUS,
    OPTION_CHECK,
    OPTION_CHECK_ALIVE,
    OPTION_LAUNCHER,
    OPTION_UNSANDBOXED,
    OPTION_WITHOUT,
    OPTION_EXECUTOR,
    OPTION_VERBOSE,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option options[] = {
    {"tracker",     required_argument, NULL, OPTION_TRACKER    },
    {"key",         required_argument, NULL, OPTION_KEY        },
    {"tracker-key", required_argument, NULL, OPTION_TRACKER_KEY},
    {"insecure",    no_argument,       NULL, OPTION_INSECURE   },
    {"name",        required_argument, NULL, OPTION_NAME       },
    {"device",      required_argument, NULL, OPTION_DEVICE     },
    {"device-key",  required_argument, NULL, OPTION_DEVICE_KEY },
    {"target",      required_argument, NULL, OPTION_TARGET     },
    {"slots",       required_argument, NULL, OPTION_SLOTS      },
    {"cache",       required_argument, NULL, OPTION_CACHE      },
    {"cache-size",  required_argument, NULL, OPTION_CACHE_SIZE },
    {"memory",      required_argument, NULL, OPTION_MEMORY     },
    {"quiet",       required_argument, NULL, OPTION_QUIET      },
    {"idle-exit",   required_argument, NULL, OPTION_IDLE_EXIT  },
    {"drain-on",    required_argument, NULL, OPTION_DRAIN_ON   },
    {"status",      required_argument, NULL, OPTION_STATUS     },
    {"check",       required_argument, NULL, OPTION_CHECK      },
    {"check-alive", required_argument, NULL, OPTION_CHECK_ALIVE},
    {"launcher",    required_argument, NULL, OPTION_LAUNCHER   },
    {"unsandboxed", no_argument,       NULL, OPTION_UNSANDBOXED},
    {"without",     required_argument, NULL, OPTION_WITHOUT    },
    {"executor",    no_argument,       NULL, OPTION_EXECUTOR   },
    {"verbose",     no_argument,       NULL, OPTION_VERBOSE    },
    {"help",        no_argument,       NULL, OPTION_HELP       },
    {"version",     no_argument,       NULL, OPTION_VERSION    },
    {NULL,          0,                 NULL, 0                 },
};

#define BIT_OF(choice) (UINT32_C(1) << ((choice)-OPTION_TRACKER))
#define BIT(option) BIT_OF(OPTION_##option)
#define EXECUTOR_OPTIONS                                                                           \
    (BIT(EXECUTOR) | BIT(DEVICE) | BIT(MEMORY) | BIT(QUIET) | BIT(UNSANDBOXED) | BIT(WITHOUT) |    \
     BIT(VERBOSE))

/* The name of the first of these that was given, or NULL. */
static const char *given_of(const command *c, uint32_t bits) {
    for (size_t i = 0; options[i].name; i++) {
        if (c->given & bits & BIT_OF(options[i].val)) return options[i].name;
    }
    return NULL;
}

static int serve_farm(command *c) {
    runner_farm_options *o = &c->farm;
    const char *idle = o->is_insecure ? given_of(c, BIT(KEY) | BIT(TRACKER_KEY)) : NULL;
    if (idle) return usage("--insecure uses no", idle);
    const char *file = getenv("HONE_KEY_FILE"), *key = getenv("HONE_TRACKER_KEY");
    if (!o->key_path && file && *file) o->key_path = file;
    if (!o->tracker_key && key && *key) o->tracker_key = key;
    if (!o->is_insecure && !o->key_path) {
        return usage("--key FILE is missing; 'hone keygen' makes one", NULL);
    }
    if (!o->is_insecure && !o->tracker_key) {
        return usage("--tracker-key PUB is missing; 'hone tracker' prints it", NULL);
    }
    o->memory_bytes = c->memory_bytes;
    if (c->has_memory && !c->memory_bytes) o->memory_bytes = INT64_MAX;
    return report(runner_farm_serve(o));
}

static int check(const command *c) {
    const uint32_t own = BIT(CHECK) | BIT(CHECK_ALIVE);
    const char *idle = given_of(c, ~own);
    if (idle) return usage("a check uses no", idle);
    if ((c->given & own) == own) return usage("--check and --check-alive are two questions", NULL);
    return report(runner_status_check(c->check_path, c->given & BIT(CHECK)));
}

static int serve(command *c) {
    const char *tracker = getenv("HONE_TRACKER");
    if (c->check_path) return check(c);
    if (c->is_executor) {
        const char *idle = given_of(c, ~EXECUTOR_OPTIONS);
        if (idle) return usage("--executor uses no", idle);
        const hone_executor_options executor = {.fd = HONE_EXECUTOR_FD,
                                                .control_fd = HONE_HELD_CONTROL_FD,
                                                .device = c->farm.device,
                                                .memory_bytes = c->memory_bytes,
                                                .quiet_path = c->farm.quiet_path,
                                                .unsandboxed = c->farm.is_unsandboxed,
                                                .without = c->without};
        return report(hone_executor_serve(&executor));
    }
    if (!c->farm.tracker && tracker && *tracker) c->farm.tracker = tracker;
    if (!c->farm.tracker) return usage("nothing to do: --tracker URL is missing", NULL);
    return serve_farm(c);
}

/* "SIGUSR1" or "USR1": one of those that may be caught for it. */
static bool read_signal(const char *text, int *out_signal) {
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"TERM", SIGTERM},
        {"INT",  SIGINT },
        {"HUP",  SIGHUP },
        {"USR1", SIGUSR1},
        {"USR2", SIGUSR2}
    };
    const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (size_t i = 0; i < HONE_COUNT(signals); i++) {
        if (strcmp(signals[i].name, name) == 0) *out_signal = signals[i].number;
    }
    return *out_signal != 0;
}

static bool is_name(const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '/') return false;
    }
    return length > 0 && length < HONE_FARM_NAME_BYTES;
}

static bool is_device(const char *name) {
    hone_status st = hone_device_name_check(name);
    bool is_one = !st;
    hone_status_free(st);
    return is_one;
}

/* NULL, or what is wrong with the option's value. */
static const char *take(command *c, int choice, const char *value) {
    runner_farm_options *o = &c->farm;
    switch (choice) {
    case OPTION_TRACKER:
        o->tracker = value;
        return NULL;
    case OPTION_KEY:
        o->key_path = value;
        return NULL;
    case OPTION_TRACKER_KEY:
        o->tracker_key = value;
        return NULL;
    case OPTION_INSECURE:
        o->is_insecure = true;
        return NULL;
    case OPTION_NAME:
        o->name = value;
        return is_name(value) ? NULL : "--name wants up to 63 characters without '/', not";
    case OPTION_DEVICE:
        o->device = value;
        return is_device(value) ? NULL : "--device wants cpu, opencl, cuda or cuda:1, not";
    case OPTION_DEVICE_KEY:
        o->device_key = value;
        return is_name(value) ? NULL : "--device-key wants up to 63 characters without '/', not";
    case OPTION_TARGET:
        o->target = value;
        return NULL;
    case OPTION_SLOTS:
        return read_slots(value, &o->slots) ? NULL : "--slots wants a number from 1 to 64, not";
    case OPTION_CACHE:
        o->cache_dir = value;
        return *value ? NULL : "--cache wants a directory, not";
    case OPTION_CACHE_SIZE:
        return read_size(value, &o->cache_bytes) && o->cache_bytes
                   ? NULL
                   : "--cache-size wants a size like 64M, not";
    case OPTION_MEMORY:
        c->has_memory = true;
        return read_size(value, &c->memory_bytes) &&
                       (c->is_executor || c->memory_bytes == 0 || c->memory_bytes >= LEAST_MEMORY)
                   ? NULL
                   : "--memory wants a size like 64M, from 16M on, or 0, not";
    case OPTION_QUIET:
        o->is_loud = strcmp(value, "none") == 0;
        o->quiet_path = o->is_loud ? NULL : value;
        return NULL;
    case OPTION_IDLE_EXIT:
        return hone_duration_parse(value, &o->idle_exit_ns) && o->idle_exit_ns > 0
                   ? NULL
                   : "--idle-exit wants a time like 10m, not";
    case OPTION_DRAIN_ON:
        return read_signal(value, &o->drain_signal)
                   ? NULL
                   : "--drain-on wants SIGTERM, SIGINT, SIGHUP, SIGUSR1 or SIGUSR2, not";
    case OPTION_STATUS:
        o->status_path = value;
        return NULL;
    case OPTION_CHECK:
    case OPTION_CHECK_ALIVE:
        c->check_path = value;
        return NULL;
    case OPTION_LAUNCHER:
        return read_launcher(value, c) ? NULL : "--launcher wants 1 to 16 words, not";
    case OPTION_UNSANDBOXED:
        o->is_unsandboxed = true;
        return NULL;
    case OPTION_WITHOUT:
        o->without = value;
        return hone_sandbox_read_layers(value, &c->without)
                   ? NULL
                   : "--without wants some of user,namespaces,landlock, not";
    case OPTION_EXECUTOR:
        c->is_executor = true;
        return NULL;
    default:
        o->is_verbose = true;
        return NULL;
    }
}

static int run(command *c, int argc, char **argv) {
    opterr = 0;
    for (int choice; (choice = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (choice == OPTION_HELP) {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (choice == OPTION_VERSION) {
            puts("hone-runner " HONE_RUNNER_VERSION);
            return EXIT_DONE;
        }
        if (choice == '?') return usage("unknown option or missing value:", argv[optind - 1]);
        bool is_apart = optarg == argv[optind - 1];
        if (optarg && !*optarg) return usage("empty value of", argv[optind - 1 - is_apart]);
        if (optarg && (c->given & BIT_OF(choice)))
            return usage("given twice:", options[choice - OPTION_TRACKER].name);
        c->given |= BIT_OF(choice);
        const char *problem = take(c, choice, optarg);
        if (problem) return usage(problem, optarg);
    }
    if (optind < argc) return usage("unexpected argument", argv[optind]);
    return serve(c);
}

int main(int argc, char **argv) {
    command c = {.is_executor = false};
    int code = run(&c, argc, argv);
    hone_free(c.launcher);
    return code;
}
