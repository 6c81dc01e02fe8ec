/* costmodel/train_history.c - see train_history.h. */
#include "costmodel/train_history.h"

#include <math.h>
#include <string.h>

#include "support/core/alloc.h"

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

/* best time of the group / own time, in (0, 1]; 0 for a failure. */
static double label_of(const train_history *history, const train_sample *sample) {
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
        bool may_go = !slow_only || label_of(history, &sample) < 0.5;
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
