/* compile/weights_file.c - the file of weights, written as they are made.
 *
 *   head ── weight ── zeros to the next place ── weight ── …        behind the head: what is mapped
 *
 * Models are larger than what else a compilation holds, so no weight waits in memory for the end.
 * The file is a draft beside the library; the head, which has the checksum, comes last. */
#include <string.h>
#include <unistd.h>

#include "compile/parts.h"
#include "runtime/model/model_device.h"

_Static_assert(HONE_PLAN_ALIGN == HONE_MT_SUM_BLOCK, "weights are whole blocks");
_Static_assert(HONE_MT_DEVICE_ALIGNMENT % HONE_MT_SUM_BLOCK == 0, "weights are whole blocks");

typedef union head_bytes {
    hone_mt_weights_head head;
    char bytes[HONE_MT_WEIGHTS_HEAD];
} head_bytes;

static hone_status put(const weights_file *file, const void *bytes, size_t count) {
    return hone_status_annotate(hone_fd_write_full(file->draft.fd, bytes, count), "%s",
                                file->draft.path);
}

void parts_begin_weights(parts *p) {
    p->weights_file.is_wanted = true;
    hone_mt_sum_begin(&p->weights_file.sum);
}

/* For the first weight: where there is none, nobody is told of such a file. */
static hone_status open_file(parts *p) {
    static const head_bytes nothing = {.bytes = {0}};
    weights_file *file = &p->weights_file;
    if (file->is_open) return HONE_OK;
    const char *path = hone_arena_printf(p->arena, "%s.weights", p->options->output);
    if (!path) return parts_no_memory();
    HONE_TRY(hone_fs_draft_open(path, &file->draft));
    file->is_open = true;
    return put(file, nothing.bytes, sizeof nothing.bytes);
}

void parts_close_weights(parts *p) {
    if (p->weights_file.is_open) hone_fs_draft_abandon(&p->weights_file.draft);
    p->weights_file.is_open = false;
}

/* Of the bytes that the file has: those of the tensor, and zeros behind them. */
static void add_to_sum(hone_mt_sum *sum, const hone_tensor *tensor, size_t gap) {
    size_t bytes = hone_tensor_bytes(tensor), blocks = bytes / HONE_MT_SUM_BLOCK;
    size_t rest = bytes - blocks * HONE_MT_SUM_BLOCK;
    uint8_t last[HONE_MT_SUM_BLOCK] = {0};
    hone_mt_sum_add(sum, tensor->data, blocks);
    if (rest) memcpy(last, (const uint8_t *)tensor->data + bytes - rest, rest);
    if (rest) hone_mt_sum_add(sum, last, 1);
    memset(last, 0, sizeof last);
    for (size_t k = gap / HONE_MT_SUM_BLOCK; k > 0; k--)
        hone_mt_sum_add(sum, last, 1);
}

static hone_status append(parts *p, const hone_tensor *tensor) {
    static const char zeros[HONE_MT_DEVICE_ALIGNMENT];
    weights_file *file = &p->weights_file;
    size_t bytes = hone_tensor_bytes(tensor), align = (size_t)parts_alignment(p);
    size_t gap = (align - bytes % align) % align;
    p->weights_bytes += (int64_t)(bytes + gap);
    if (!file->is_wanted) return HONE_OK;
    HONE_TRY(open_file(p));
    add_to_sum(&file->sum, tensor, gap);
    HONE_TRY(put(file, tensor->data, bytes));
    return put(file, zeros, gap);
}

hone_status parts_put_weight(parts *p, const hone_tensor *tensor, int64_t *out_offset) {
    hone_hasher hasher;
    uint64_t known;
    hone_hasher_init(&hasher, 0);
    hone_hasher_bytes(&hasher, tensor->data, hone_tensor_bytes(tensor));
    hone_hasher_u64(&hasher, hone_tensor_bytes(tensor));
    hone_hash128 hash = hone_hasher_finish(&hasher);
    if (hone_map128_find(&p->weight_of, hash, &known)) {
        *out_offset = (int64_t)known;
        return HONE_OK;
    }
    *out_offset = p->weights_bytes;
    if (!hone_map128_put(&p->weight_of, hash, (uint64_t)p->weights_bytes)) {
        return parts_no_memory();
    }
    return append(p, tensor);
}

/* ---- the end ---- */

void parts_sum_weights(parts *p) {
    uint64_t hash[2];
    hone_mt_sum_finish(&p->weights_file.sum, hash);
    p->weights_hash = (hone_hash128){hash[0], hash[1]};
}

hone_status parts_keep_weights(parts *p) {
    weights_file *file = &p->weights_file;
    head_bytes head = {.bytes = {0}};
    head.head = (hone_mt_weights_head){
        HONE_MT_WEIGHTS_MAGIC,
        {p->weights_hash.lo, p->weights_hash.hi},
        (uint64_t)p->weights_bytes
    };
    if (lseek(file->draft.fd, 0, SEEK_SET) != 0)
        return HONE_ERROR(HONE_CODE_IO, "the file of weights cannot be written twice");
    HONE_TRY(put(file, head.bytes, sizeof head.bytes));
    file->is_open = false;
    return hone_fs_draft_commit(&file->draft);
}

hone_status parts_copy_weights(parts *p, const char *path) {
    int64_t count;
    if (lseek(p->weights_file.draft.fd, HONE_MT_WEIGHTS_HEAD, SEEK_SET) < 0)
        return HONE_ERROR(HONE_CODE_IO, "weights cannot be read back");
    return parts_copy_file(p->weights_file.draft.fd, path, &count);
}
