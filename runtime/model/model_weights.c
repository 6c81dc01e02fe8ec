/* runtime/model/model_weights.c - weights that lie in a file beside the library. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/model/model_table.h"
#include "runtime/model/weights_sum.h"

/* The file's name behind the directory of this library. */
static int find_path(const hone_mt_model *model, char *path, size_t capacity) {
    Dl_info info = {0};
    int length = 0;
    if (dladdr((const void *)model, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        if (slash) length = (int)(slash + 1 - info.dli_fname);
    }
    int count = snprintf(path, capacity, "%.*s%s", length, info.dli_fname ? info.dli_fname : "",
                         model->weights_file);
    return count > 0 && (size_t)count < capacity;
}

static int32_t check_head(const hone_mt_model *model, const char *path, const void *memory) {
    hone_mt_weights_head head;
    memcpy(&head, memory, sizeof head);
    if (head.magic != HONE_MT_WEIGHTS_MAGIC) {
        return hone_mt_fail(HONE_MODEL_BAD_WEIGHTS, "'%s' is no file of weights", path);
    }
    if (head.bytes != (uint64_t)model->weights_bytes || head.hash[0] != model->weights_hash[0] ||
        head.hash[1] != model->weights_hash[1]) {
        return hone_mt_fail(HONE_MODEL_BAD_WEIGHTS, "'%s' belongs to another model", path);
    }
    return HONE_MODEL_OK;
}

/* A byte that was changed on the way would give wrong results without a word. */
static int32_t check_bytes(const hone_mt_model *model, const char *path, const uint8_t *weights) {
    hone_mt_sum sum;
    uint64_t got[2];
    hone_mt_sum_begin(&sum);
    hone_mt_sum_add(&sum, weights, (size_t)(model->weights_bytes / HONE_MT_SUM_BLOCK));
    hone_mt_sum_finish(&sum, got);
    if (got[0] == model->weights_hash[0] && got[1] == model->weights_hash[1]) return HONE_MODEL_OK;
    return hone_mt_fail(HONE_MODEL_BAD_WEIGHTS,
                        "'%s' is damaged: its weights are not those that were written", path);
}

static int64_t changed_ns(const struct stat *facts) {
    return (int64_t)facts->st_mtim.tv_sec * 1000000000 + facts->st_mtim.tv_nsec;
}

static int32_t was_cut(const char *path, int64_t want) {
    return hone_mt_fail(HONE_MODEL_BAD_WEIGHTS, "'%s' does not have the %lld bytes it should", path,
                        (long long)want);
}

static int32_t map_file(const hone_mt_model *model, int fd, hone_mt_weights_file *file) {
    struct stat facts;
    file->bytes = HONE_MT_WEIGHTS_HEAD + model->weights_bytes;
    if (fstat(fd, &facts) != 0 || facts.st_size != file->bytes)
        return was_cut(file->path, file->bytes);
    file->device = (uint64_t)facts.st_dev;
    file->inode = (uint64_t)facts.st_ino;
    atomic_store(&file->changed_ns, changed_ns(&facts));
    void *memory = mmap(NULL, (size_t)file->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED) {
        return hone_mt_fail(HONE_MODEL_NO_MEMORY, "'%s': %s", file->path, strerror(errno));
    }
    file->memory = memory;
    (void)posix_madvise(memory, (size_t)file->bytes, POSIX_MADV_SEQUENTIAL);
    int32_t code = check_head(model, file->path, memory);
    if (!code) code = check_bytes(model, file->path, (uint8_t *)memory + HONE_MT_WEIGHTS_HEAD);
    (void)posix_madvise(memory, (size_t)file->bytes, POSIX_MADV_NORMAL);
    return code;
}

int32_t hone_mt_map_weights(const hone_mt_model *model, hone_mt_weights_file *out_file,
                            const uint8_t **out_base) {
    char path[4096];
    *out_base = NULL;
    memset(out_file, 0, sizeof *out_file);
    if (!find_path(model, path, sizeof path)) {
        return hone_mt_fail(HONE_MODEL_BAD_WEIGHTS, "the path of the weights is too long");
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return hone_mt_fail(HONE_MODEL_BAD_WEIGHTS, "weights '%s': %s", path, strerror(errno));
    }
    out_file->path = realpath(path, NULL); /* the directory may be changed later */
    int32_t code = out_file->path ? map_file(model, fd, out_file)
                                  : hone_mt_fail(HONE_MODEL_NO_MEMORY, "'%s'", path);
    close(fd);
    if (code) {
        hone_mt_unmap_weights(out_file);
        return code;
    }
    *out_base = (const uint8_t *)out_file->memory + HONE_MT_WEIGHTS_HEAD;
    return HONE_MODEL_OK;
}

int32_t hone_mt_check_weights(const hone_mt_model *model, hone_mt_weights_file *file) {
    struct stat facts;
    if (!file->path || stat(file->path, &facts) != 0) return HONE_MODEL_OK;
    bool is_other = (uint64_t)facts.st_dev != file->device || (uint64_t)facts.st_ino != file->inode;
    if (is_other) return HONE_MODEL_OK;
    if (facts.st_size != file->bytes) return was_cut(file->path, file->bytes);
    if (changed_ns(&facts) == atomic_load(&file->changed_ns)) return HONE_MODEL_OK;
    int32_t code = check_head(model, file->path, file->memory);
    if (!code) {
        code = check_bytes(model, file->path, (uint8_t *)file->memory + HONE_MT_WEIGHTS_HEAD);
    }
    if (!code) atomic_store(&file->changed_ns, changed_ns(&facts));
    return code;
}

void hone_mt_unmap_weights(hone_mt_weights_file *file) {
    if (file->memory) munmap(file->memory, (size_t)file->bytes);
    free(file->path);
    memset(file, 0, sizeof *file);
}
