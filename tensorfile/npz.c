/* tensorfile/npz.c - NumPy's .npz: a zip archive of npy files. libzip reads and writes the zip;
 * what it says about sizes is not believed: entries grow as bytes arrive. */
#include <string.h>
#include <zip.h>

#include "support/core/alloc.h"
#include "tensorfile/tensorfile.h"

enum { CHUNK_BYTES = 1 << 18, SUFFIX_BYTES = 4 };

#define MAX_ENTRY_BYTES ((size_t)1 << 36)

static hone_status zip_failure(zip_error_t *error, const char *doing) {
    hone_code code =
        zip_error_code_zip(error) == ZIP_ER_MEMORY ? HONE_CODE_NO_MEMORY : HONE_CODE_INVALID;
    hone_status st =
        HONE_ERROR(code, "cannot %s npz archive: %s", doing, zip_error_strerror(error));
    zip_error_fini(error);
    return st;
}

/* ---- reading ---- */

static hone_status read_bytes(zip_file_t *file, const char *name, hone_str *bytes) {
    char *chunk = hone_malloc(CHUNK_BYTES);
    if (!chunk) return HONE_ERROR(HONE_CODE_NO_MEMORY, "npz entry '%s'", name);
    zip_int64_t got;
    while ((got = zip_fread(file, chunk, CHUNK_BYTES)) > 0 && !bytes->failed) {
        if (bytes->length > MAX_ENTRY_BYTES) break;
        hone_str_append_n(bytes, chunk, (size_t)got);
    }
    hone_free(chunk);
    if (bytes->failed) return HONE_ERROR(HONE_CODE_NO_MEMORY, "npz entry '%s'", name);
    if (got == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "npz entry '%s' is %s", name,
                      got > 0 ? "too large" : zip_error_strerror(zip_file_get_error(file)));
}

static hone_status read_tensor(zip_file_t *file, const char *name, hone_tensor **out_tensor) {
    hone_str bytes = {0};
    hone_status st = read_bytes(file, name, &bytes);
    if (!st) {
        st = hone_status_annotate(hone_npy_read(hone_str_text(&bytes), bytes.length, out_tensor),
                                  "npz entry '%s'", name);
    }
    hone_str_deinit(&bytes);
    return st;
}

static hone_status read_entry(zip_t *archive, zip_uint64_t index, hone_tensor_set *set) {
    const char *name = zip_get_name(archive, index, ZIP_FL_ENC_GUESS);
    size_t length = name ? strlen(name) : 0;
    if (length <= SUFFIX_BYTES || strcmp(name + length - SUFFIX_BYTES, ".npy") != 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "npz entry '%s' is no .npy file", name ? name : "");
    }
    zip_file_t *file = zip_fopen_index(archive, index, 0);
    if (!file) {
        return HONE_ERROR(HONE_CODE_INVALID, "npz entry '%s': %s", name, zip_strerror(archive));
    }
    hone_tensor *tensor = NULL;
    hone_status st = read_tensor(file, name, &tensor);
    zip_fclose(file);
    if (st) return st;
    char *stem = hone_strndup(name, length - SUFFIX_BYTES);
    if (!stem) {
        hone_tensor_destroy(tensor);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "npz entry '%s'", name);
    }
    st = hone_tensor_set_add(set, stem, tensor);
    hone_free(stem);
    return st;
}

hone_status hone_npz_read(const void *bytes, size_t count, hone_tensor_set *out_set) {
    *out_set = (hone_tensor_set){0};
    /* libzip takes no bytes at all for an archive without entries. */
    if (!count) return HONE_ERROR(HONE_CODE_INVALID, "an empty file is no npz archive");
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes, count, 0, &error);
    if (!source) return zip_failure(&error, "read");
    zip_t *archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    if (!archive) {
        zip_source_free(source);
        return zip_failure(&error, "read");
    }
    hone_status st = HONE_OK;
    zip_int64_t entries = zip_get_num_entries(archive, 0);
    for (zip_int64_t i = 0; i < entries && !st; i++) {
        st = read_entry(archive, (zip_uint64_t)i, out_set);
    }
    zip_discard(archive);
    zip_error_fini(&error);
    if (st) hone_tensor_set_deinit(out_set);
    return st;
}

/* ---- writing ---- */

/* Adds one entry; the archive owns its bytes from then on. */
static hone_status add_entry(zip_t *archive, const hone_named_tensor *item) {
    hone_str bytes = {0}, name = {0};
    hone_str_printf(&name, "%s.npy", item->name);
    hone_status st = hone_str_check(&name);
    if (!st) st = hone_status_annotate(hone_npy_write(item->tensor, &bytes), "'%s'", item->name);
    size_t length = bytes.length;
    char *owned = st ? NULL : hone_str_take(&bytes);
    zip_source_t *source = owned ? zip_source_buffer(archive, owned, length, 1) : NULL;
    zip_int64_t index = source ? zip_file_add(archive, name.data, source, ZIP_FL_ENC_UTF_8) : -1;
    if (!st && index < 0) {
        st = HONE_ERROR(HONE_CODE_INVALID, "cannot add '%s' to npz archive: %s", item->name,
                        zip_strerror(archive));
        if (source) {
            zip_source_free(source);
        } else {
            hone_free(owned);
        }
    }
    if (!st) { /* stored, and of no date: the same tensors give the same bytes */
        zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0);
        zip_file_set_dostime(archive, (zip_uint64_t)index, 0, 33, 0);
    }
    hone_str_deinit(&bytes);
    hone_str_deinit(&name);
    return st;
}

static hone_status copy_out(zip_source_t *source, hone_str *out) {
    zip_stat_t facts;
    zip_stat_init(&facts);
    bool ok = zip_source_stat(source, &facts) == 0 && (facts.valid & ZIP_STAT_SIZE) &&
              hone_str_reserve(out, facts.size) && zip_source_open(source) == 0;
    if (!ok) return HONE_ERROR(HONE_CODE_NO_MEMORY, "npz archive");
    char chunk[4096];
    zip_int64_t got;
    while ((got = zip_source_read(source, chunk, sizeof chunk)) > 0) {
        hone_str_append_n(out, chunk, (size_t)got);
    }
    zip_source_close(source);
    if (got < 0) return HONE_ERROR(HONE_CODE_INTERNAL, "cannot read the npz archive just written");
    return hone_str_check(out);
}

hone_status hone_npz_write(const hone_tensor_set *set, hone_str *out) {
    zip_error_t error;
    zip_error_init(&error);
    if (!set->count) return HONE_ERROR(HONE_CODE_INVALID, "an npz archive holds at least 1 tensor");
    zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, &error);
    if (!source) return zip_failure(&error, "write");
    zip_source_keep(source); /* for us: it outlives the archive */
    zip_t *archive = zip_open_from_source(source, ZIP_TRUNCATE, &error);
    if (!archive) {
        zip_source_free(source);
        zip_source_free(source);
        return zip_failure(&error, "write");
    }
    hone_status st = HONE_OK;
    for (size_t i = 0; i < set->count && !st; i++)
        st = add_entry(archive, &set->data[i]);
    if (!st && zip_close(archive) == 0) {
        st = copy_out(source, out);
    } else {
        if (!st) {
            st = HONE_ERROR(HONE_CODE_NO_MEMORY, "cannot write npz archive: %s",
                            zip_strerror(archive));
        }
        zip_discard(archive);
    }
    zip_source_free(source);
    zip_error_fini(&error);
    return st;
}
