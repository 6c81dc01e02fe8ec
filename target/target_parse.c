/* target/target_parse.c - reads the text forms of a target: words, tags, triples.
 *
 * Every form becomes a list of options that are applied in order; what an option does not say is
 * filled in at the end from the cpu name. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/attributes.h"
#include "support/text/nearest.h"
#include "target/cpu_info.h"
#include "target/target_impl.h"
#include "target/target_json.h"

typedef enum option_type { OPTION_TEXT, OPTION_INT32, OPTION_INT64, OPTION_IGNORED } option_type;

#define TEXT(name, of, member)                                                                     \
    {                                                                                              \
        name, OPTION_TEXT, HONE_DEVICE_##of, offsetof(hone_target, member),                        \
            sizeof(((hone_target *)0)->member)                                                     \
    }
#define INT32(name, of, member)                                                                    \
    { name, OPTION_INT32, HONE_DEVICE_##of, offsetof(hone_target, member), 0 }
#define INT64(name, of, member)                                                                    \
    { name, OPTION_INT64, HONE_DEVICE_##of, offsetof(hone_target, member), 0 }
#define IGNORED(name)                                                                              \
    { name, OPTION_IGNORED, HONE_DEVICE_ANY, 0, 0 }

/* Every spelling of every option, and what sort of device has it; '-' and '_' in names are the
 * same. */
static const struct option {
    const char *name;
    option_type type;
    hone_device_sort of;
    size_t offset, bytes;
} options[] = {
    TEXT("mtriple", CPU, triple),
    TEXT("mcpu", ANY, cpu),
    TEXT("arch", GPU, cpu),
    TEXT("mattr", CPU, features),
    INT32("vector-width", ANY, vector_bits),
    INT32("num-cores", ANY, num_cores),
    INT32("num-threads", ANY, num_threads),
    INT32("cache-line", ANY, cache_line_bytes),
    INT64("l1d-cache", CPU, l1d_bytes),
    INT64("l2-cache", ANY, l2_bytes),
    INT64("l3-cache", CPU, l3_bytes),
    INT32("max-threads-per-block", GPU, max_threads_per_block),
    INT32("max-num-threads", GPU, max_threads_per_block),
    INT32("thread-warp-size", GPU, warp_size),
    INT64("max-shared-memory-per-block", GPU, max_shared_bytes),
    INT64("registers-per-block", GPU, registers_per_block),
    INT64("l2-cache-size-bytes", ANY, l2_bytes),
    /* TVM's, without a meaning here */
    IGNORED("keys"),
    IGNORED("tag"),
    IGNORED("device"),
    IGNORED("model"),
    IGNORED("libs"),
    IGNORED("opt-level"),
    IGNORED("mfloat-abi"),
    IGNORED("mabi"),
    IGNORED("host"),
    IGNORED("from-device"),
    IGNORED("target-device-type"),
    IGNORED("max-function-args"),
    IGNORED("image-base-address-alignment"),
    IGNORED("texture-depth-limit"),
    IGNORED("texture-spatial-limit"),
};

enum { MOST_GIVEN = HONE_COUNT(options) };

/* What was said, so that the rest can be derived. */
typedef struct parse_state {
    hone_target *target;
    const struct option *given[MOST_GIVEN]; /* in the order of the text */
    size_t given_count;
    bool has_cpu, has_features, has_cores, has_threads, has_width, has_shared;
} parse_state;

static bool names_match(const char *name, const char *text, size_t length) {
    if (strlen(name) != length) return false;
    for (size_t i = 0; i < length; i++) {
        char a = name[i] == '_' ? '-' : name[i], b = text[i] == '_' ? '-' : text[i];
        if (a != b) return false;
    }
    return true;
}

static hone_status unknown_option(const char *name, size_t length) {
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    const char *meant = hone_name_suggest(text, options, HONE_COUNT(options), sizeof options[0]);
    return HONE_ERROR(HONE_CODE_INVALID, "target: unknown option '%.*s'%s%s%s", (int)length, name,
                      meant ? ", did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

static hone_status set_number(const struct option *option, hone_target *target, const char *text) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno) {
        return HONE_ERROR(HONE_CODE_INVALID, "target: %s is '%s', must be an integer", option->name,
                          text);
    }
    char *at = (char *)target + option->offset;
    if (option->type == OPTION_INT64) {
        int64_t wide = value;
        memcpy(at, &wide, sizeof wide);
        return HONE_OK;
    }
    if (value < INT32_MIN || value > INT32_MAX) {
        return HONE_ERROR(HONE_CODE_INVALID, "target: %s is %lld, which is too %s", option->name,
                          value, value > 0 ? "large" : "small");
    }
    int32_t narrow = (int32_t)value; /* its own limits are looked at by hone_target_check */
    memcpy(at, &narrow, sizeof narrow);
    return HONE_OK;
}

static bool at_member(const struct option *option, size_t offset) {
    return option->offset == offset;
}

/* The first of two would be forgotten. TVM has two words for the threads of a block, and its texts
 * have both. */
static hone_status note_given(parse_state *state, const struct option *option) {
    bool may_be_said_again = at_member(option, offsetof(hone_target, max_threads_per_block));
    for (size_t i = 0; i < state->given_count; i++) {
        const struct option *other = state->given[i];
        bool is_same_value = option->type != OPTION_IGNORED && other->type != OPTION_IGNORED &&
                             !may_be_said_again && other->offset == option->offset;
        if (other != option && !is_same_value) continue;
        if (other == option)
            return HONE_ERROR(HONE_CODE_INVALID, "target: %s is given twice", option->name);
        return HONE_ERROR(HONE_CODE_INVALID, "target: %s and %s say the same", other->name,
                          option->name);
    }
    assert(state->given_count < MOST_GIVEN); /* each option once */
    state->given[state->given_count++] = option;
    return HONE_OK;
}

static hone_status apply(void *ctx, const char *name, size_t length, const char *value) {
    parse_state *state = ctx;
    const struct option *option = NULL;
    for (size_t i = 0; i < HONE_COUNT(options) && !option; i++) {
        if (names_match(options[i].name, name, length)) option = &options[i];
    }
    if (!option) return unknown_option(name, length);
    if (!(option->of & hone_target_device(state->target))) {
        return HONE_ERROR(HONE_CODE_INVALID, "target: %s is an option of %s, '%s' is none",
                          option->name, option->of == HONE_DEVICE_GPU ? "GPUs" : "CPUs",
                          hone_target_kind_name(state->target->kind));
    }
    HONE_TRY(note_given(state, option));
    if (option->type == OPTION_IGNORED) return HONE_OK;
    if (option->type == OPTION_TEXT) {
        char *at = (char *)state->target + option->offset;
        if (strlen(value) >= option->bytes) {
            return HONE_ERROR(HONE_CODE_INVALID, "target: %s has %zu characters, at most %zu fit",
                              option->name, strlen(value), option->bytes - 1);
        }
        snprintf(at, option->bytes, "%s", value);
    } else {
        HONE_TRY(set_number(option, state->target, value));
    }
    state->has_cpu |= at_member(option, offsetof(hone_target, cpu));
    state->has_features |= at_member(option, offsetof(hone_target, features));
    state->has_cores |= at_member(option, offsetof(hone_target, num_cores));
    state->has_threads |= at_member(option, offsetof(hone_target, num_threads));
    state->has_width |= at_member(option, offsetof(hone_target, vector_bits));
    state->has_shared |= at_member(option, offsetof(hone_target, max_shared_bytes));
    return HONE_OK;
}

/* "-mcpu=native", as compilers have it: the CPU of this machine. */
static hone_status take_own_cpu(parse_state *state) {
    hone_target own, *t = state->target;
    HONE_TRY(hone_target_detect(&own));
    if (strcmp(hone_target_arch(t), hone_target_arch(&own)) != 0) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "target: mcpu 'native' is a CPU of %s, this one's, and the target is %s",
                          hone_target_arch(&own), hone_target_arch(t));
    }
    snprintf(t->cpu, sizeof t->cpu, "%s", own.cpu);
    if (!state->has_features) snprintf(t->features, sizeof t->features, "%s", own.features);
    return HONE_OK;
}

/* The rest of the code, and the names of tools, know one name of an architecture. */
static hone_status name_arch(hone_target *t) {
    static const struct {
        const char *alias, *arch;
    } rows[] = {
        {"amd64-", "x86_64-" },
        {"arm64-", "aarch64-"}
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        size_t length = strlen(rows[i].alias);
        if (strncmp(t->triple, rows[i].alias, length) != 0) continue;
        char rest[sizeof t->triple];
        snprintf(rest, sizeof rest, "%s", t->triple + length);
        int wrote = snprintf(t->triple, sizeof t->triple, "%s%s", rows[i].arch, rest);
        if (wrote < (int)sizeof t->triple) return HONE_OK;
        return HONE_ERROR(HONE_CODE_INVALID, "target: mtriple '%s…' is too long", t->triple);
    }
    return HONE_OK;
}

/* "aarch64-unknown-linux-gnu", as LLVM and Rust write it, is "aarch64-linux-gnu": so tools are
 * named, and targets compared. */
static void drop_no_vendor(hone_target *t) {
    static const char *const vendors[] = {"-unknown-linux-gnu", "-pc-linux-gnu", "-none-linux-gnu"};
    char *dash = strchr(t->triple, '-');
    for (size_t i = 0; dash && i < HONE_COUNT(vendors); i++) {
        if (strcmp(dash, vendors[i]) == 0) memcpy(dash, "-linux-gnu", sizeof "-linux-gnu");
    }
}

static hone_status finish(parse_state *state) {
    hone_target *t = state->target;
    HONE_TRY(name_arch(t));
    drop_no_vendor(t);
    if (!hone_target_is_gpu(t)) {
        if (state->has_cpu && strcmp(t->cpu, "native") == 0) HONE_TRY(take_own_cpu(state));
        if (!state->has_width && (state->has_cpu || state->has_features)) {
            t->vector_bits = hone_target_default_vector_bits(t);
        }
    }
    if (t->kind == HONE_TARGET_CUDA && state->has_cpu && !state->has_shared) {
        int64_t shared_bytes = hone_target_arch_shared_bytes(t);
        if (shared_bytes) t->max_shared_bytes = shared_bytes;
    }
    if (state->has_cores && !state->has_threads) t->num_threads = t->num_cores;
    if (!state->has_cores && t->num_threads > t->num_cores) t->num_cores = t->num_threads;
    HONE_TRY(hone_target_check(t));
    return hone_target_check_names(t);
}

/* "-num-cores=2", "--num-cores=2" and "-num-cores 2", separated by spaces. */
static hone_status apply_words(parse_state *state, const char *text) {
    const char *at = text + strspn(text, " \t\n");
    while (*at) {
        if (*at != '-') {
            return HONE_ERROR(HONE_CODE_INVALID, "target: expected an option, got '%s'", at);
        }
        const char *name = at + strspn(at, "-");
        size_t length = strcspn(name, "= \t\n");
        const char *value = name + length;
        value += *value == '=' ? 1 : strspn(value, " \t\n");
        size_t value_length = strcspn(value, " \t\n");
        char copy[512];
        if (value_length == 0 || value_length >= sizeof copy) {
            return HONE_ERROR(HONE_CODE_INVALID, "target: option '%.*s' has no value", (int)length,
                              name);
        }
        memcpy(copy, value, value_length);
        copy[value_length] = 0;
        HONE_TRY(apply(state, name, length, copy));
        at = value + value_length;
        at += strspn(at, " \t\n");
    }
    return HONE_OK;
}

static bool is_word(const char *word, size_t length, const char *want) {
    return strlen(want) == length && memcmp(word, want, length) == 0;
}

static hone_status unknown_target(const char *word, size_t length) {
    const hone_target_name *names = hone_target_names();
    size_t count = 0;
    char text[64];
    while (names[count].name)
        count++;
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    if (strstr(text, "-linux")) return hone_target_no_code(text);
    static const char *const kinds[] = {"host", "native", "llvm", "cuda", "opencl", "metal"};
    const char *meant = hone_name_suggest(text, names, count, sizeof *names);
    if (!meant) meant = hone_name_suggest(text, kinds, HONE_COUNT(kinds), sizeof *kinds);
    return meant
               ? HONE_ERROR(HONE_CODE_INVALID, "target: unknown target '%s', did you mean '%s'?",
                            text, meant)
               : HONE_ERROR(HONE_CODE_INVALID,
                            "target: unknown target '%.*s'; expected 'host', 'llvm', 'cuda', "
                            "'opencl', 'metal', 'c', a name of 'hone target --list' or a triple as "
                            "'aarch64-linux-gnu'",
                            (int)length, word);
}

/* "aarch64-linux-gnu"; that it is one that code is made for is seen later. */
static bool take_triple(hone_target *t, const char *word, size_t length) {
    const char *dash = memchr(word, '-', length);
    hone_target_init(t, HONE_TARGET_LLVM);
    if (!dash || !memchr(dash + 1, '-', length - (size_t)(dash + 1 - word))) return false;
    if (length >= sizeof t->triple) return false;
    memcpy(t->triple, word, length);
    t->triple[length] = 0;
    return strcmp(hone_target_arch(t), "unknown") != 0;
}

static hone_status begin(parse_state *state, const char *word, size_t length) {
    hone_target *t = state->target;
    if (is_word(word, length, "host") || is_word(word, length, "native")) {
        state->has_cores = true;
        return hone_target_detect(t);
    }
    for (int kind = 0; kind < HONE_TARGET_KIND_COUNT; kind++) {
        if (is_word(word, length, hone_target_kind_name((hone_target_kind)kind))) {
            hone_target_init(t, (hone_target_kind)kind);
            return HONE_OK;
        }
    }
    for (const hone_target_name *name = hone_target_names(); name->name; name++) {
        if (is_word(word, length, name->name)) {
            return hone_target_parse_cores(name->text, t, &state->has_cores);
        }
    }
    return take_triple(t, word, length) ? HONE_OK : unknown_target(word, length);
}

static hone_status begin_kind(void *ctx, const char *kind) {
    parse_state *state = ctx;
    return begin(state, kind, strlen(kind));
}

static hone_status parse(parse_state *state, const char *text) {
    text += strspn(text, " \t\n");
    if (*text == '{') {
        HONE_TRY(target_json_read(text, begin_kind, apply, state));
        return finish(state);
    }
    size_t length = strcspn(text, " \t\n");
    if (length == 0) return HONE_ERROR(HONE_CODE_INVALID, "target: the text is empty");
    HONE_TRY(begin(state, text, length));
    HONE_TRY(apply_words(state, text + length));
    return finish(state);
}

hone_status hone_target_parse_cores(const char *text, hone_target *out_target,
                                    bool *out_says_cores) {
    memset(out_target, 0, sizeof *out_target);
    *out_says_cores = false;
    hone_target target;
    parse_state state = {.target = &target};
    HONE_TRY(parse(&state, text));
    *out_target = target;
    *out_says_cores = state.has_cores || state.has_threads;
    return HONE_OK;
}

hone_status hone_target_parse(const char *text, hone_target *out_target) {
    bool says_cores;
    return hone_target_parse_cores(text, out_target, &says_cores);
}
