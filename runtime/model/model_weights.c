/* runtime/model/model_weights.c - weights that lie in a file beside the library. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

static int32_t map_file(const hone_mt_model *model, const char *path, int fd,
                        const uint8_t **out_base, int64_t *out_mapped) {
    struct stat st;
    int64_t want = HONE_MT_WEIGHTS_HEAD + model->weights_bytes;
    if (fstat(fd, &st) != 0 || st.st_size != want) {
        return hone_mt_fail(HONE_MODEL_BAD_WEIGHTS, "'%s' does not have the %lld bytes it should",
                            path, (long long)want);
    }
    void *memory = mmap(NULL, (size_t)want, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED) {
        return hone_mt_fail(HONE_MODEL_NO_MEMORY, "'%s': %s", path, strerror(errno));
    }
    (void)posix_madvise(memory, (size_t)want, POSIX_MADV_SEQUENTIAL);
    int32_t code = check_head(model, path, memory);
    if (!code) code = check_bytes(model, path, (const uint8_t *)memory + HONE_MT_WEIGHTS_HEAD);
    if (code) {
        munmap(memory, (size_t)want);
        return code;
    }
    (void)posix_madvise(memory, (size_t)want, POSIX_MADV_NORMAL);
    *out_base = (const uint8_t *)memory + HONE_MT_WEIGHTS_HEAD;
    *out_mapped = want;
    return HONE_MODEL_OK;
}

int32_t hone_mt_map_weights(const hone_mt_model *model, const uint8_t **out_base,
                            int64_t *out_mapped) {
    char path[4096];
    *out_base = NULL;
    *out_mapped = 0;
    if (!find_path(model, path, sizeof path)) {
        return hone_mt_fail(HONE_MODEL_BAD_WEIGHTS, "the path of the weights is too long");
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return hone_mt_fail(HONE_MODEL_BAD_WEIGHTS, "weights '%s': %s", path, strerror(errno));
    }
    int32_t code = map_file(model, path, fd, out_base, out_mapped);
    close(fd);
    return code;
}
