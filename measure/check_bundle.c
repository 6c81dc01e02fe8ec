/* measure/check_bundle.c - the file that says what is right.
 *
 *     0   "HONEBNDL"                32  CBOR head (head_bytes)
 *     8   version, u32 LE           …   zeros up to a multiple of 64
 *     12  head_bytes, u32 LE        …   references and inputs, each at a multiple of 64
 *     16  hash of all from byte 32
 */
#include "measure/check_bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/cborio.h"
#include "support/core/alloc.h"
#include "support/data/hash.h"
#include "support/os/fs.h"

#define MAGIC "HONEBNDL"
#define VERSION 2
#define FIXED_BYTES 32
#define ALIGNMENT 64

/* Keys of the head. */
enum { KEY_SEED = 1, KEY_TENSORS = 2 };
/* Keys of a tensor. */
enum {
    KEY_DTYPE = 1,
    KEY_ROLE,
    KEY_COUNT,
    KEY_GENERATOR_KIND,
    KEY_LOW,
    KEY_HIGH,
    KEY_REFERENCE_DTYPE,
    KEY_OFFSET,
    KEY_BOUND,
    KEY_DEVIATION,
    KEY_REFERENCE_MAX,
    KEY_VALUES, /* offset */
};
#define NO_PLACE UINT64_MAX

static size_t round_up(size_t value) {
    return (value + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool has_input(const hone_check_tensor *t) {
    return t->role != HONE_ARG_OUT;
}

static bool has_output(const hone_check_tensor *t) {
    return t->role != HONE_ARG_IN;
}

/* Bytes of so many elements; -1 when that is not sane. */
static int64_t bytes_of(const hone_check_tensor *t, hone_dtype dtype) {
    int64_t each = (int64_t)hone_dtype_bytes(dtype);
    if (t->count < 0 || each < 1 || t->count > HONE_ARG_MAX_BYTES / each) return -1;
    return t->count * each;
}

static int64_t reference_bytes(const hone_check_tensor *t) {
    return bytes_of(t, t->reference_dtype);
}

static hone_status check_tensor(const hone_check_tensor *t, size_t index) {
    hone_status st = HONE_OK;
    if ((unsigned)t->role > HONE_ARG_INOUT) {
        st = HONE_ERROR(HONE_CODE_INVALID, "role %d is unknown", (int)t->role);
    } else if (!hone_dtype_is_measurable(t->dtype)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "elements are of type '%s'", HONE_DTYPE_NAME(t->dtype));
    } else if (t->count < 0 || t->count > HONE_ARG_MAX_BYTES) {
        st = HONE_ERROR(HONE_CODE_INVALID, "the number of elements, %lld, is not sane",
                        (long long)t->count);
    } else if (has_output(t) &&
               (!hone_dtype_is_measurable(t->reference_dtype) || reference_bytes(t) < 0)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "the reference is of type '%s'",
                        HONE_DTYPE_NAME(t->reference_dtype));
    } else if (has_output(t) && !(t->bound >= 0)) { /* also when it is NaN */
        st = HONE_ERROR(HONE_CODE_INVALID, "the error bound is %g", t->bound);
    } else if (has_input(t)) {
        st = hone_generator_check(&t->generator);
        if (!st && bytes_of(t, t->dtype) < 0) {
            st = HONE_ERROR(HONE_CODE_INVALID, "%lld elements are too many", (long long)t->count);
        }
    }
    return hone_status_annotate(st, "check bundle: tensor %zu", index);
}

bool hone_check_bundle_is_complete(const hone_check_bundle *bundle) {
    for (size_t i = 0; i < bundle->count; i++) {
        const hone_check_tensor *t = &bundle->tensors[i];
        if (has_output(t) && t->count && !t->reference) return false;
    }
    return true;
}

/* What stands behind the head: the reference of each tensor, then its values. */
typedef struct part {
    const void *data; /* NULL = there is none */
    size_t bytes;
} part;

enum { PARTS = 2 };

static void parts_of(const hone_check_tensor *t, part out[PARTS]) {
    bool has_reference = has_output(t) && t->reference, has_values = has_input(t) && t->values;
    out[0] = has_reference ? (part){t->reference, (size_t)reference_bytes(t)} : (part){0};
    out[1] = has_values ? (part){t->values, (size_t)bytes_of(t, t->dtype)} : (part){0};
}

/* What older builds can read is written as they know it. */
static uint32_t version_of(const hone_check_bundle *bundle) {
    for (size_t i = 0; i < bundle->count; i++) {
        if (has_input(&bundle->tensors[i]) && bundle->tensors[i].values) return 2;
    }
    return hone_check_bundle_is_complete(bundle) ? 1 : 2;
}

/* ---- writing ---- */

static void put_dtype(hone_str *out, hone_dtype dtype) {
    hone_cbor_put_text(out, HONE_DTYPE_NAME(dtype));
}

/* offset: of the first part, from the end of the head. */
static void put_tensor(hone_str *head, const hone_check_tensor *t, size_t offset) {
    part parts[PARTS];
    parts_of(t, parts);
    bool has_place = !has_output(t) || parts[0].data || !t->count;
    hone_cbor_put_map(head, 10 + (size_t)has_place + (parts[1].data != NULL));
    hone_cbor_put_uint(head, KEY_DTYPE);
    put_dtype(head, t->dtype);
    hone_cbor_put_uint(head, KEY_ROLE);
    hone_cbor_put_uint(head, t->role);
    hone_cbor_put_uint(head, KEY_COUNT);
    hone_cbor_put_int(head, t->count);
    hone_cbor_put_uint(head, KEY_GENERATOR_KIND);
    hone_cbor_put_uint(head, t->generator.kind);
    hone_cbor_put_uint(head, KEY_LOW);
    hone_cbor_put_double(head, t->generator.low);
    hone_cbor_put_uint(head, KEY_HIGH);
    hone_cbor_put_double(head, t->generator.high);
    hone_cbor_put_uint(head, KEY_REFERENCE_DTYPE);
    put_dtype(head, t->reference_dtype);
    if (has_place) {
        hone_cbor_put_uint(head, KEY_OFFSET);
        hone_cbor_put_uint(head, offset);
    }
    hone_cbor_put_uint(head, KEY_BOUND);
    hone_cbor_put_double(head, t->bound);
    hone_cbor_put_uint(head, KEY_DEVIATION);
    hone_cbor_put_double(head, t->plain_deviation);
    hone_cbor_put_uint(head, KEY_REFERENCE_MAX);
    hone_cbor_put_double(head, t->reference_max);
    if (!parts[1].data) return;
    hone_cbor_put_uint(head, KEY_VALUES);
    hone_cbor_put_uint(head, offset + round_up(parts[0].bytes));
}

static void put_head(hone_str *head, const hone_check_bundle *bundle) {
    hone_cbor_put_map(head, 2);
    hone_cbor_put_uint(head, KEY_SEED);
    hone_cbor_put_uint(head, bundle->seed);
    hone_cbor_put_uint(head, KEY_TENSORS);
    hone_cbor_put_array(head, bundle->count);
    size_t offset = 0;
    for (size_t i = 0; i < bundle->count; i++) {
        const hone_check_tensor *t = &bundle->tensors[i];
        part parts[PARTS];
        parts_of(t, parts);
        put_tensor(head, t, offset);
        for (size_t k = 0; k < PARTS; k++)
            offset += round_up(parts[k].bytes);
    }
    size_t used = FIXED_BYTES + head->length;
    hone_str_append_repeat(head, 0, round_up(used) - used);
}

static void store_u32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t load_u32(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void store_hash(uint8_t *at, hone_hash128 hash) {
    for (int i = 0; i < 8; i++) {
        at[i] = (uint8_t)(hash.lo >> (8 * i));
        at[8 + i] = (uint8_t)(hash.hi >> (8 * i));
    }
}

/* All parts in order, with the zeros behind each. */
static hone_status for_each_piece(const hone_check_bundle *bundle,
                                  hone_status (*take)(void *ctx, const void *data, size_t bytes),
                                  void *ctx) {
    static const uint8_t zeros[ALIGNMENT];
    for (size_t i = 0; i < bundle->count; i++) {
        part parts[PARTS];
        parts_of(&bundle->tensors[i], parts);
        for (size_t k = 0; k < PARTS; k++) {
            if (!parts[k].bytes) continue;
            HONE_TRY(take(ctx, parts[k].data, parts[k].bytes));
            HONE_TRY(take(ctx, zeros, round_up(parts[k].bytes) - parts[k].bytes));
        }
    }
    return HONE_OK;
}

static hone_status hash_piece(void *ctx, const void *data, size_t bytes) {
    hone_hasher_bytes(ctx, data, bytes);
    return HONE_OK;
}

static hone_status hash_of(const hone_str *head, const hone_check_bundle *bundle,
                           hone_hash128 *out_hash) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    hone_hasher_bytes(&hasher, head->data, head->length);
    HONE_TRY(for_each_piece(bundle, hash_piece, &hasher));
    *out_hash = hone_hasher_finish(&hasher);
    return HONE_OK;
}

static hone_status write_piece(void *ctx, const void *data, size_t bytes) {
    const int *fd = ctx;
    return hone_fd_write_full(*fd, data, bytes);
}

static hone_status write_parts(int fd, const uint8_t *fixed, const hone_str *head,
                               const hone_check_bundle *bundle) {
    HONE_TRY(hone_fd_write_full(fd, fixed, FIXED_BYTES));
    HONE_TRY(hone_fd_write_full(fd, head->data, head->length));
    return for_each_piece(bundle, write_piece, &fd);
}

static hone_status write_file(const char *path, const uint8_t *fixed, const hone_str *head,
                              const hone_check_bundle *bundle) {
    hone_fs_draft draft;
    HONE_TRY(hone_fs_draft_open(path, &draft));
    hone_status st = write_parts(draft.fd, fixed, head, bundle);
    if (!st) return hone_fs_draft_commit(&draft);
    hone_fs_draft_abandon(&draft);
    return hone_status_annotate(st, "%s", path);
}

hone_status hone_check_bundle_write(hone_check_bundle *bundle, const char *path) {
    if (bundle->count > HONE_MANIFEST_MAX_ARGS) {
        return HONE_ERROR(HONE_CODE_INVALID, "check bundle has %zu tensors, at most %d can be",
                          bundle->count, HONE_MANIFEST_MAX_ARGS);
    }
    size_t with = 0, without = 0;
    for (size_t i = 0; i < bundle->count; i++) {
        const hone_check_tensor *t = &bundle->tensors[i];
        HONE_TRY(check_tensor(t, i));
        if (!has_output(t) || !t->count) continue;
        ++*(t->reference ? &with : &without);
        if (with && without) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "check bundle: some outputs have no reference, others do");
        }
    }
    uint8_t fixed[FIXED_BYTES] = MAGIC;
    hone_str head = {0};
    put_head(&head, bundle);
    hone_status st = hone_str_check(&head);
    hone_hash128 hash;
    if (!st) st = hash_of(&head, bundle, &hash);
    if (!st) {
        store_u32(fixed + 8, version_of(bundle));
        store_u32(fixed + 12, (uint32_t)head.length);
        store_hash(fixed + 16, hash);
        hone_hash128_print(hash, bundle->id);
        st = write_file(path, fixed, &head, bundle);
    }
    hone_str_deinit(&head);
    return st;
}

/* ---- reading ---- */

static hone_dtype get_dtype(hone_cbor_reader *reader) {
    const char *text = NULL;
    size_t count = 0;
    hone_dtype dtype = HONE_DTYPE_VOID;
    hone_cbor_get_text(reader, &text, &count);
    if (text && !hone_dtype_parse_n(text, count, &dtype)) {
        hone_cbor_reader_fail(reader, "has an unknown element type");
    }
    return dtype;
}

/* places: where the parts are, NO_PLACE = there is none. */
static void get_tensor(hone_cbor_reader *reader, hone_check_tensor *t, uint64_t places[PARTS]) {
    uint64_t kind = 0, role = 0;
    places[0] = places[1] = NO_PLACE;
    size_t pairs = hone_cbor_get_map(reader);
    for (size_t i = 0; i < pairs && hone_cbor_reader_ok(reader); i++) {
        switch (hone_cbor_get_uint(reader)) {
        case KEY_DTYPE:
            t->dtype = get_dtype(reader);
            break;
        case KEY_ROLE:
            role = hone_cbor_get_uint(reader);
            break;
        case KEY_COUNT:
            t->count = hone_cbor_get_int(reader);
            break;
        case KEY_GENERATOR_KIND:
            kind = hone_cbor_get_uint(reader);
            break;
        case KEY_LOW:
            t->generator.low = hone_cbor_get_double(reader);
            break;
        case KEY_HIGH:
            t->generator.high = hone_cbor_get_double(reader);
            break;
        case KEY_REFERENCE_DTYPE:
            t->reference_dtype = get_dtype(reader);
            break;
        case KEY_OFFSET:
            places[0] = hone_cbor_get_uint(reader);
            break;
        case KEY_VALUES:
            places[1] = hone_cbor_get_uint(reader);
            break;
        case KEY_BOUND:
            t->bound = hone_cbor_get_double(reader);
            break;
        case KEY_DEVIATION:
            t->plain_deviation = hone_cbor_get_double(reader);
            break;
        case KEY_REFERENCE_MAX:
            t->reference_max = hone_cbor_get_double(reader);
            break;
        default:
            hone_cbor_skip(reader);
        }
    }
    if (role > HONE_ARG_INOUT || kind >= HONE_GENERATOR_COUNT) {
        hone_cbor_reader_fail(reader, "has an unknown role or generator");
        return;
    }
    t->role = (hone_arg_role)role;
    t->generator.kind = (hone_generator_kind)kind;
}

/* The part at `place` from byte `base` on; NULL where there is none. */
static hone_status find_part(const uint8_t *bytes, size_t byte_count, size_t base, uint64_t place,
                             size_t part_bytes, const void **out_part) {
    uint64_t room = byte_count - base;
    if (place == NO_PLACE) return HONE_OK;
    if (place % ALIGNMENT || place > room || part_bytes > room - place) {
        return HONE_ERROR(HONE_CODE_INVALID, "it lies outside of the file");
    }
    *out_part = bytes + base + place;
    return HONE_OK;
}

static hone_status place_tensor(const uint8_t *bytes, size_t byte_count, size_t base,
                                const uint64_t places[PARTS], size_t index, hone_check_tensor *t) {
    HONE_TRY(check_tensor(t, index));
    hone_status st = HONE_OK;
    if (has_output(t)) {
        st = find_part(bytes, byte_count, base, places[0], (size_t)reference_bytes(t),
                       &t->reference);
    }
    if (!st && has_input(t)) {
        st = find_part(bytes, byte_count, base, places[1], (size_t)bytes_of(t, t->dtype),
                       &t->values);
    }
    return hone_status_annotate(st, "check bundle: tensor %zu", index);
}

static hone_status parse_tensors(hone_cbor_reader *reader, const uint8_t *bytes, size_t byte_count,
                                 size_t base, hone_check_bundle *bundle) {
    size_t count = hone_cbor_get_array(reader);
    if (count > HONE_MANIFEST_MAX_ARGS || bundle->tensors) {
        return HONE_ERROR(HONE_CODE_INVALID, "check bundle: %zu tensors are too many", count);
    }
    bundle->tensors = hone_calloc(count ? count : 1, sizeof *bundle->tensors);
    if (!bundle->tensors) return HONE_ERROR(HONE_CODE_NO_MEMORY, "check bundle");
    for (size_t i = 0; i < count && hone_cbor_reader_ok(reader); i++) {
        uint64_t places[PARTS];
        get_tensor(reader, &bundle->tensors[i], places);
        HONE_TRY(hone_cbor_reader_check(reader, "check bundle", false));
        HONE_TRY(place_tensor(bytes, byte_count, base, places, i, &bundle->tensors[i]));
        bundle->count = i + 1;
    }
    return HONE_OK;
}

static hone_status parse_head(const uint8_t *bytes, size_t byte_count, size_t head_bytes,
                              hone_check_bundle *bundle) {
    hone_cbor_reader reader;
    hone_cbor_reader_init(&reader, bytes + FIXED_BYTES, head_bytes);
    size_t pairs = hone_cbor_get_map(&reader);
    for (size_t i = 0; i < pairs && hone_cbor_reader_ok(&reader); i++) {
        switch (hone_cbor_get_uint(&reader)) {
        case KEY_SEED:
            bundle->seed = hone_cbor_get_uint(&reader);
            break;
        case KEY_TENSORS:
            HONE_TRY(parse_tensors(&reader, bytes, byte_count, FIXED_BYTES + head_bytes, bundle));
            break;
        default:
            hone_cbor_skip(&reader);
        }
    }
    return hone_cbor_reader_check(&reader, "check bundle", false);
}

static hone_status parse(const uint8_t *bytes, size_t byte_count, hone_check_bundle *bundle) {
    if (byte_count < FIXED_BYTES || memcmp(bytes, MAGIC, 8) != 0 || load_u32(bytes + 8) == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "not a check bundle");
    }
    uint32_t version = load_u32(bytes + 8), head_bytes = load_u32(bytes + 12);
    if (version > VERSION) {
        return HONE_ERROR(HONE_CODE_VERSION,
                          "check bundle has format %u, this build reads up to %d", version,
                          VERSION);
    }
    if (head_bytes > byte_count - FIXED_BYTES || (FIXED_BYTES + head_bytes) % ALIGNMENT) {
        return HONE_ERROR(HONE_CODE_INVALID, "check bundle is truncated");
    }
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    hone_hasher_bytes(&hasher, bytes + FIXED_BYTES, byte_count - FIXED_BYTES);
    hone_hash128 hash = hone_hasher_finish(&hasher);
    uint8_t stored[16];
    store_hash(stored, hash);
    if (memcmp(stored, bytes + 16, sizeof stored) != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "check bundle is damaged: its hash does not fit");
    }
    hone_hash128_print(hash, bundle->id);
    return parse_head(bytes, byte_count, head_bytes, bundle);
}

hone_status hone_check_bundle_parse(const void *bytes, size_t byte_count,
                                    hone_check_bundle *out_bundle) {
    *out_bundle = (hone_check_bundle){0};
    hone_status st = parse(bytes, byte_count, out_bundle);
    if (st) hone_check_bundle_close(out_bundle);
    return st;
}

static hone_status map_file(const char *path, void **out_mapping, size_t *out_bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info)) {
        hone_code code = errno == ENOENT ? HONE_CODE_NOT_FOUND : HONE_CODE_IO;
        hone_status st = HONE_ERROR(code, "check bundle '%s': %s", path, strerror(errno));
        if (fd >= 0) close(fd);
        return st;
    }
    bool is_empty = info.st_size == 0 || !S_ISREG(info.st_mode);
    void *mapping =
        is_empty ? NULL : mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    int error = errno;
    close(fd);
    if (is_empty)
        return HONE_ERROR(HONE_CODE_INVALID, "check bundle '%s' is empty, or no file", path);
    if (mapping == MAP_FAILED) { /* this machine's want, nothing about the bundle */
        return HONE_ERROR(error == ENOMEM ? HONE_CODE_NO_MEMORY : HONE_CODE_IO,
                          "check bundle '%s' cannot be mapped: %s", path, strerror(error));
    }
    *out_mapping = mapping;
    *out_bytes = (size_t)info.st_size;
    return HONE_OK;
}

hone_status hone_check_bundle_open(const char *path, hone_check_bundle *out_bundle) {
    void *mapping = NULL;
    size_t bytes = 0;
    *out_bundle = (hone_check_bundle){0};
    HONE_TRY(map_file(path, &mapping, &bytes));
    hone_status st = hone_check_bundle_parse(mapping, bytes, out_bundle);
    if (st) {
        munmap(mapping, bytes);
        return hone_status_annotate(st, "%s", path);
    }
    out_bundle->mapping = mapping;
    out_bundle->map_bytes = bytes;
    return HONE_OK;
}

void hone_check_bundle_close(hone_check_bundle *bundle) {
    hone_free(bundle->tensors);
    if (bundle->mapping) munmap(bundle->mapping, bundle->map_bytes);
    *bundle = (hone_check_bundle){0};
}

hone_status hone_check_bundle_fits(const hone_check_bundle *bundle, const hone_manifest *manifest) {
    if (bundle->count != manifest->arg_count) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "check bundle has %zu tensors, the artifact has %zu arguments",
                          bundle->count, manifest->arg_count);
    }
    for (size_t i = 0; i < bundle->count; i++) {
        const hone_check_tensor *t = &bundle->tensors[i];
        const hone_arg *arg = &manifest->args[i];
        if (t->role != arg->role || !hone_dtype_equal(t->dtype, arg->dtype) ||
            t->count != hone_arg_elements(arg)) {
            return HONE_ERROR(HONE_CODE_INVALID,
                              "argument %zu '%s' is %s %s of %lld elements, in the check bundle it "
                              "is %s %s of %lld",
                              i, arg->name ? arg->name : "", hone_arg_role_name(arg->role),
                              HONE_DTYPE_NAME(arg->dtype), (long long)hone_arg_elements(arg),
                              hone_arg_role_name(t->role), HONE_DTYPE_NAME(t->dtype),
                              (long long)t->count);
        }
    }
    return HONE_OK;
}

hone_status hone_check_bundle_fill(const hone_check_bundle *bundle, size_t index, void *data) {
    const hone_check_tensor *t = &bundle->tensors[index];
    if (t->values) {
        memcpy(data, t->values, (size_t)bytes_of(t, t->dtype));
        return HONE_OK;
    }
    return hone_generate(&t->generator, bundle->seed, (uint32_t)index, t->dtype, t->count, data);
}
