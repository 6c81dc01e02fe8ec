/* costmodel/model_bytes.h - numbers to bytes and back, little-endian, for saved models.
 *
 * Writing goes to an hone_str, whose `failed` collects running out of memory. Reading past the end
 * sets `failed` and gives zeros: read on and look once.
 */
#ifndef HONE_COSTMODEL_MODEL_BYTES_H
#define HONE_COSTMODEL_MODEL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "support/strbuf.h"

typedef struct model_reader {
    const unsigned char *next;
    size_t left;
    bool failed;
} model_reader;

static inline void model_put_u64(hone_str *to, uint64_t value) {
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(unsigned char)(value >> (8 * i));
    hone_str_append_n(to, bytes, sizeof bytes);
}

static inline void model_put_u32(hone_str *to, uint32_t value) {
    char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (char)(unsigned char)(value >> (8 * i));
    hone_str_append_n(to, bytes, sizeof bytes);
}

static inline void model_put_f32(hone_str *to, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    model_put_u32(to, bits);
}

static inline void model_put_f64(hone_str *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    model_put_u64(to, bits);
}

static inline void model_put_text(hone_str *to, const char *text) {
    size_t length = strlen(text);
    model_put_u32(to, (uint32_t)length);
    hone_str_append_n(to, text, length);
}

/* The next `count` bytes, or NULL (and failed). */
static inline const void *model_get_bytes(model_reader *r, size_t count) {
    if (r->failed || count > r->left) {
        r->failed = true;
        return NULL;
    }
    const void *bytes = r->next;
    r->next += count;
    r->left -= count;
    return bytes;
}

static inline uint64_t model_get_number(model_reader *r, size_t bytes) {
    const unsigned char *from = model_get_bytes(r, bytes);
    uint64_t value = 0;
    for (size_t i = 0; from && i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

static inline uint32_t model_get_u32(model_reader *r) {
    return (uint32_t)model_get_number(r, 4);
}

static inline uint64_t model_get_u64(model_reader *r) {
    return model_get_number(r, 8);
}

static inline float model_get_f32(model_reader *r) {
    uint32_t bits = model_get_u32(r);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double model_get_f64(model_reader *r) {
    uint64_t bits = model_get_u64(r);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A text of less than out_bytes bytes; "" when it fails. */
static inline void model_get_text(model_reader *r, char *out, size_t out_bytes) {
    uint32_t length = model_get_u32(r);
    const void *text = length < out_bytes ? model_get_bytes(r, length) : NULL;
    if (!text) {
        r->failed = true;
        length = 0;
    } else {
        memcpy(out, text, length);
    }
    out[length] = '\0';
}

#endif
