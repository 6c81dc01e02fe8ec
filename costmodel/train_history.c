/* costmodel/train_history.c - see train_history.h. */
#include "costmodel/train_history.h"

#include <math.h>
#include <string.h>

#include "support/alloc.h"

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void train_history_deinit(train_history *history) {
    for (size_t i = 0; i < history->samples.count; i++)
        hone_free(history->samples.data[i].rows);
    hone_vec_deinit(&history->samples);
    hone_map128_deinit(&history->best);
    *history = (train_history){0};
}

/* Remembers the time when it is the best of its group; false when memory is short. */
static bool note_time(train_history *history, const hone_hash128 *group, double time_ns) {
    uint64_t bits = 0;
    if (!(time_ns > 0)) return true;
    if (hone_map128_find(&history->best, *group, &bits) && from_bits(bits) <= time_ns) return true;
    return hone_map128_put(&history->best, *group, to_bits(time_ns));
}

static bool push_sample(train_history *history, uint32_t columns, const hone_hash128 *group,
                        double time_ns, const hone_costmodel_rows *rows) {
    size_t bytes = (size_t)rows->row_count * columns * sizeof(float);
    train_sample sample = {
        .group = *group,
        .sequence = history->seen,
        .time_ns = time_ns > 0 ? time_ns : NAN,
        .row_count = rows->row_count,
        .rows = hone_malloc(bytes ? bytes : 1),
    };
    if (!sample.rows) return false;
    if (bytes) memcpy(sample.rows, rows->data, bytes);
    if (!note_time(history, group, time_ns) || !hone_vec_push(&history->samples, sample)) {
        hone_free(sample.rows);
        return false;
    }
    history->seen++;
    history->row_total += rows->row_count;
    return true;
}

static void drop_last(train_history *history) {
    train_sample last = hone_vec_pop(&history->samples);
    history->row_total -= last.row_count;
    history->seen--;
    hone_free(last.rows);
}

hone_status train_history_add(train_history *history, uint32_t columns,
                              const hone_costmodel_sample *samples, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const hone_costmodel_sample *s = &samples[i];
        if (push_sample(history, columns, &s->group, s->time_ns, &s->rows)) continue;
        while (i-- > 0)
            drop_last(history);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "training samples");
    }
    return HONE_OK;
}

double train_history_label(const train_history *history, const train_sample *sample) {
    uint64_t bits = 0;
    if (isnan(sample->time_ns)) return 0;
    if (!hone_map128_find(&history->best, sample->group, &bits)) return 1;
    double best = from_bits(bits);
    return best < sample->time_ns ? best / sample->time_ns : 1;
}

/* Drops up to `excess` samples, oldest first, of those that are slow (or of all). */
static size_t drop_old(train_history *history, size_t excess, bool slow_only) {
    size_t kept = 0, dropped = 0;
    for (size_t i = 0; i < history->samples.count; i++) {
        train_sample sample = history->samples.data[i];
        bool may_go = !slow_only || train_history_label(history, &sample) < 0.5;
        if (dropped < excess && may_go) {
            history->row_total -= sample.row_count;
            hone_free(sample.rows);
            dropped++;
        } else {
            history->samples.data[kept++] = sample;
        }
    }
    history->samples.count = kept;
    return dropped;
}

void train_history_trim(train_history *history, size_t limit) {
    if (history->samples.count <= limit) return;
    size_t excess = history->samples.count - limit;
    excess -= drop_old(history, excess, true);
    if (excess) drop_old(history, excess, false);
}

/* ---- bytes ---- */

void train_history_save(const train_history *history, uint32_t columns, hone_str *bytes) {
    model_put_u64(bytes, history->seen);
    model_put_u32(bytes, (uint32_t)history->samples.count);
    for (size_t i = 0; i < history->samples.count; i++) {
        const train_sample *s = &history->samples.data[i];
        model_put_u64(bytes, s->group.lo);
        model_put_u64(bytes, s->group.hi);
        model_put_u64(bytes, s->sequence);
        model_put_f64(bytes, s->time_ns);
        model_put_u32(bytes, s->row_count);
        for (size_t k = 0; k < (size_t)s->row_count * columns; k++) {
            model_put_f32(bytes, s->rows[k]);
        }
    }
    size_t cursor = 0;
    hone_hash128 group;
    uint64_t best;
    model_put_u32(bytes, (uint32_t)hone_map128_count(&history->best));
    while (hone_map128_next(&history->best, &cursor, &group, &best)) {
        model_put_u64(bytes, group.lo);
        model_put_u64(bytes, group.hi);
        model_put_u64(bytes, best);
    }
}

static bool load_sample(train_history *history, uint32_t columns, model_reader *r) {
    train_sample sample = {0};
    sample.group.lo = model_get_u64(r);
    sample.group.hi = model_get_u64(r);
    sample.sequence = model_get_u64(r);
    sample.time_ns = model_get_f64(r);
    sample.row_count = model_get_u32(r);
    size_t cells = (size_t)sample.row_count * columns;
    if (r->failed || cells > r->left / sizeof(float) || sample.sequence >= history->seen) {
        r->failed = true;
        return true;
    }
    if (!(sample.time_ns > 0)) sample.time_ns = NAN;
    sample.rows = hone_malloc(cells ? cells * sizeof(float) : 1);
    if (!sample.rows) return false;
    for (size_t k = 0; k < cells; k++) {
        sample.rows[k] = model_get_f32(r);
        if (!isfinite(sample.rows[k])) r->failed = true;
    }
    if (!hone_vec_push(&history->samples, sample)) {
        hone_free(sample.rows);
        return false;
    }
    history->row_total += sample.row_count;
    return true;
}

/* False when memory is short; nonsense shows in r->failed. */
static bool load_all(train_history *history, uint32_t columns, model_reader *r) {
    history->seen = model_get_u64(r);
    uint32_t count = model_get_u32(r);
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        if (!load_sample(history, columns, r)) return false;
    }
    count = model_get_u32(r);
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        hone_hash128 group = {.lo = model_get_u64(r)};
        group.hi = model_get_u64(r);
        uint64_t bits = model_get_u64(r);
        if (!(from_bits(bits) > 0)) r->failed = true;
        if (!r->failed && !hone_map128_put(&history->best, group, bits)) return false;
    }
    return true;
}

hone_status train_history_load(train_history *history, uint32_t columns, model_reader *reader) {
    bool has_memory = load_all(history, columns, reader);
    if (has_memory && !reader->failed) return HONE_OK;
    train_history_deinit(history);
    if (!has_memory) return HONE_ERROR(HONE_CODE_NO_MEMORY, "training samples");
    return HONE_ERROR(HONE_CODE_INVALID, "training samples of the saved cost model are damaged");
}
