/* runner/farm/remote_files.c - the files of the remote runner's trials: hashed when submitted, sent
 * in parts when the tracker asks for them. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/blob_hash.h"
#include "runner/farm/remote_impl.h"
#include "support/core/alloc.h"
#include "support/os/proc.h"

static hone_farm_hash farm_hash(const hone_blob_hash *hash) {
    hone_farm_hash out;
    memcpy(out.bytes, hash->bytes, sizeof out.bytes);
    return out;
}

/* ---- hashing ---- */

static int64_t modified_ns(const struct stat *info) {
    return (int64_t)info->st_mtim.tv_sec * HONE_NS_PER_S + info->st_mtim.tv_nsec;
}

static bool is_known(const remote_known_hash *known, const char *path, const struct stat *info) {
    return known->path && strcmp(known->path, path) == 0 && known->bytes == info->st_size &&
           known->modified_ns == modified_ns(info) && known->inode == (int64_t)info->st_ino;
}

static void remember(runner_remote *r, const char *path, const struct stat *info,
                     const hone_farm_hash *hash) {
    remote_known_hash *known = &r->known[r->next_known++ % REMOTE_KNOWN_HASHES];
    hone_free(known->path);
    *known = (remote_known_hash){.path = hone_strdup(path),
                                 .bytes = info->st_size,
                                 .modified_ns = modified_ns(info),
                                 .inode = (int64_t)info->st_ino,
                                 .hash = *hash};
}

/* `is_shared`: other trials have this file, too, so its hash is worth keeping. */
static hone_status hash_file(runner_remote *r, const char *path, bool is_shared,
                             hone_farm_blob *out) {
    struct stat info;
    bool has_info = is_shared && stat(path, &info) == 0;
    for (int i = 0; has_info && i < REMOTE_KNOWN_HASHES; i++) {
        if (!is_known(&r->known[i], path, &info)) continue;
        out->hash = r->known[i].hash;
        out->bytes = r->known[i].bytes;
        return HONE_OK;
    }
    hone_blob_hash hash;
    uint64_t bytes = 0;
    HONE_TRY(hone_blob_hash_file(path, &hash, &bytes));
    out->hash = farm_hash(&hash);
    out->bytes = bytes > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)bytes;
    if (has_info && out->bytes == info.st_size) remember(r, path, &info, &out->hash);
    return HONE_OK;
}

static hone_status check_size(const remote_file *file) {
    int64_t bytes = file->blob.bytes;
    const char *name = file->path ? file->path : "the artifact";
    if (bytes < 1) return HONE_ERROR(HONE_CODE_INVALID, "%s is empty", name);
    if (bytes <= HONE_FARM_MAX_BLOB) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s has %lld bytes, a farm takes at most %lld", name,
                      (long long)bytes, (long long)HONE_FARM_MAX_BLOB);
}

static hone_status add_file(runner_remote *r, remote_trial *trial, hone_farm_blob_role role,
                            const char *path) {
    remote_file *file = &trial->files[trial->file_count++];
    file->blob.role = role;
    file->path = hone_arena_strdup(trial->arena, path);
    if (!file->path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
    HONE_TRY(hash_file(r, path, role != HONE_FARM_BLOB_ARTIFACT, &file->blob));
    return check_size(file);
}

static hone_status add_artifact_bytes(const hone_run_request *request, remote_trial *trial) {
    remote_file *file = &trial->files[trial->file_count++];
    size_t count = request->artifact_byte_count;
    hone_blob_hash hash = hone_blob_hash_of(request->artifact_bytes, count);
    file->blob = (hone_farm_blob){HONE_FARM_BLOB_ARTIFACT, farm_hash(&hash), (int64_t)count};
    file->data = hone_arena_copy(trial->arena, request->artifact_bytes, count);
    return file->data ? check_size(file) : HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
}

hone_status remote_add_files(runner_remote *r, const hone_run_request *request,
                             remote_trial *trial) {
    if (request->artifact_path) {
        HONE_TRY(add_file(r, trial, HONE_FARM_BLOB_ARTIFACT, request->artifact_path));
    } else {
        HONE_TRY(add_artifact_bytes(request, trial));
    }
    if (request->check_path) {
        HONE_TRY(add_file(r, trial, HONE_FARM_BLOB_BUNDLE, request->check_path));
    }
    if (request->extern_path) {
        HONE_TRY(add_file(r, trial, HONE_FARM_BLOB_EXTERN, request->extern_path));
    }
    return HONE_OK;
}

void remote_files_destroy(runner_remote *r) {
    for (int i = 0; i < REMOTE_KNOWN_HASHES; i++)
        hone_free(r->known[i].path);
}

/* ---- sending ---- */

static const remote_file *find_file(const runner_remote *r, const hone_farm_hash *hash) {
    for (const remote_trial *t = r->trials; t; t = t->next) {
        if (t->state == REMOTE_DONE) continue; /* its files may be gone */
        for (size_t i = 0; i < t->file_count; i++) {
            if (hone_farm_hash_equal(&t->files[i].blob.hash, hash)) return &t->files[i];
        }
    }
    return NULL;
}

/* Reads a part of a file; false when there is not so much. */
static bool read_part(const remote_file *file, int64_t offset, uint32_t count, uint8_t *out) {
    if (!file->path) {
        memcpy(out, file->data + offset, count);
        return true;
    }
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = 0;
    uint32_t done = 0;
    while (done < count && (got = pread(fd, out + done, count - done, offset + done)) > 0)
        done += (uint32_t)got;
    hone_fd_close(&fd);
    return done == count;
}

static void send_missing(runner_remote *r, const hone_farm_message *want, const char *why) {
    hone_farm_message answer = {.kind = HONE_FARM_BLOB_MISSING, .id = want->id};
    answer.u.blob_missing.hash = want->u.blob_want.hash;
    hone_farm_set_text(answer.u.blob_missing.text, sizeof answer.u.blob_missing.text, why);
    farm_link_send(&r->link, &answer);
}

void remote_on_blob_want(runner_remote *r, const hone_farm_message *message) {
    const hone_farm_blob_want *want = &message->u.blob_want;
    const remote_file *file = find_file(r, &want->hash);
    if (!file) {
        send_missing(r, message, "no trial needs that file any more");
        return;
    }
    if (want->offset >= file->blob.bytes) {
        send_missing(r, message, "the file is shorter");
        return;
    }
    int64_t left = file->blob.bytes - want->offset;
    uint32_t count = want->count < r->link.chunk_bytes ? want->count : r->link.chunk_bytes;
    if (count > left) count = (uint32_t)left;
    uint8_t *bytes = hone_arena_alloc(r->link.arena, count);
    if (!bytes) return; /* it asks again */
    if (!read_part(file, want->offset, count, bytes)) {
        send_missing(r, message, "the file cannot be read");
        return;
    }
    hone_farm_message chunk = {.kind = HONE_FARM_BLOB_CHUNK, .id = message->id};
    chunk.u.blob_chunk = (hone_farm_blob_chunk){
        want->hash, file->blob.bytes, want->offset, {bytes, count}
    };
    farm_link_send(&r->link, &chunk);
}
