/* classify.c - classifies the Fashion-MNIST test images with a model that `hone compile` made.
 *
 *   hone compile examples/fashion_mnist/mlp.onnx -o out/model
 *   cc -O2 -I out examples/fashion_mnist/classify.c -o classify -lz && ./classify out/model.so
 *
 * Nothing of Hone is linked: the library is loaded with dlopen and called as model.h says. The
 * header of any model will do (-DMODEL_HEADER='"mlp.h"'): its first part is the same for all.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#ifndef MODEL_HEADER
#define MODEL_HEADER "model.h"
#endif
#include MODEL_HEADER

enum { PIXELS = 28 * 28, CLASSES = 10, MOST_IMAGES = 1000000 };

typedef struct options {
    const char *model, *data, *logits, *images;
    int32_t threads, batch, limit, repeat;
    int json;
} options;

typedef struct data {
    int32_t count;
    float *images; /* count * PIXELS, 64-byte aligned */
    uint8_t *labels;
} data;

typedef struct outcome {
    int32_t batch;
    double accuracy, images_per_s, us_per_image;
} outcome;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "classify: %s%s%s\n", what, why && *why ? ": " : "", why ? why : "");
    exit(1);
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *aligned(size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes ? bytes : 64)) fail("no memory", NULL);
    return memory;
}

/* ---- the images: IDX files, as they are or with .gz behind their names ---- */

static gzFile open_idx(const char *dir, const char *name, char *path, size_t capacity) {
    const char *const endings[] = {"", ".gz"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, capacity, "%s/%s%s", dir, name, endings[i]);
        gzFile file = gzopen(path, "rb");
        if (file) return file;
    }
    fail(path, "cannot be opened (Debian: apt-get install dataset-fashion-mnist; or --data DIR)");
    return NULL;
}

static uint32_t read_u32(gzFile file, const char *path) {
    unsigned char b[4];
    if (gzread(file, b, 4) != 4) fail(path, "is too short");
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static uint8_t *read_idx(const char *dir, const char *name, uint32_t magic, uint32_t *count) {
    char path[4096];
    gzFile file = open_idx(dir, name, path, sizeof path);
    if (read_u32(file, path) != magic) fail(path, "is no IDX file of the kind that is wanted");
    *count = read_u32(file, path);
    if (*count == 0 || *count > MOST_IMAGES) fail(path, "has a strange number of items");
    size_t bytes = *count;
    if (magic == 2051) {
        if (read_u32(file, path) != 28 || read_u32(file, path) != 28) fail(path, "is not 28 x 28");
        bytes *= PIXELS;
    }
    uint8_t *items = aligned(bytes);
    if (gzread(file, items, (unsigned)bytes) != (int)bytes) fail(path, "is too short");
    gzclose(file);
    return items;
}

static data read_data(const options *o) {
    uint32_t images, labels;
    data d = {0};
    uint8_t *pixels = read_idx(o->data, "t10k-images-idx3-ubyte", 2051, &images);
    d.labels = read_idx(o->data, "t10k-labels-idx1-ubyte", 2049, &labels);
    if (images != labels) fail(o->data, "has not as many labels as images");
    d.count = (int32_t)images;
    if (o->limit && o->limit < d.count) d.count = o->limit;
    d.images = aligned((size_t)d.count * PIXELS * sizeof *d.images);
    for (size_t i = 0; i < (size_t)d.count * PIXELS; i++)
        d.images[i] = (float)pixels[i] / 255.0f;
    free(pixels);
    return d;
}

/* ---- the model ---- */

static const hone_model_info *load_model(const char *path) {
    char here[4096];
    snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *library = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(dlerror(), NULL);
    void *symbol = dlsym(library, HONE_MODEL_SYMBOL);
    if (!symbol) fail(path, "is no compiled model");
    hone_model_get get;
    memcpy(&get, &symbol, sizeof get);
    const hone_model_info *info = get();
    if (info->version != HONE_MODEL_VERSION) fail(path, "has another version");
    return info;
}

/* The batch that the model fixes; 0: any. */
static int32_t check_model(const options *o, const hone_model_entry *entry) {
    if (entry->input_count != 1 || entry->output_count != 1) fail(o->model, "is no classifier");
    const hone_model_port *in = &entry->inputs[0], *out = &entry->outputs[0];
    int64_t pixels = 1;
    for (int32_t i = 1; i < in->ndim; i++)
        pixels *= in->shape[i];
    int is_good = in->ndim >= 2 && in->ndim <= 4 && pixels == PIXELS && out->ndim == 2 &&
                  out->shape[1] == CLASSES && strcmp(in->dtype_name, "float32") == 0 &&
                  strcmp(out->dtype_name, "float32") == 0;
    if (!is_good) fail(o->model, "does not take 28 x 28 pixels and give 10 classes in float32");
    return in->shape[0] < 0 ? 0 : (int32_t)in->shape[0];
}

typedef struct session {
    const hone_model_info *info;
    const hone_model_entry *entry;
    hone_rt *rt;
} session;

static void classify(const session *s, float *images, int32_t count, float *logits) {
    int64_t in_shape[4], out_shape[2] = {count, CLASSES};
    for (int32_t i = 0; i < s->entry->inputs[0].ndim; i++)
        in_shape[i] = i ? s->entry->inputs[0].shape[i] : count;
    DLTensor in = {
        .data = images,
        .device = {1,   0},
        .ndim = s->entry->inputs[0].ndim,
        .dtype = { 2, 32, 1},
        .shape = in_shape
    };
    DLTensor out = {
        .data = logits, .device = {1,   0},
             .ndim = 2, .dtype = { 2, 32, 1},
             .shape = out_shape
    };
    DLTensor *inputs[] = {&in}, *outputs[] = {&out};
    if (s->entry->run(s->rt, inputs, outputs) != HONE_MODEL_OK) {
        fail("the model", s->info->last_error());
    }
}

static double classify_all(const session *s, const data *d, int32_t batch, float *logits) {
    double start = now_s();
    for (int32_t i = 0; i < d->count; i += batch) {
        int32_t count = d->count - i < batch ? d->count - i : batch;
        classify(s, d->images + (size_t)i * PIXELS, count, logits + (size_t)i * CLASSES);
    }
    return now_s() - start;
}

static double accuracy_of(const data *d, const float *logits) {
    int32_t right = 0;
    for (int32_t i = 0; i < d->count; i++) {
        int best = 0;
        for (int k = 1; k < CLASSES; k++) {
            if (logits[i * CLASSES + k] > logits[i * CLASSES + best]) best = k;
        }
        right += best == d->labels[i];
    }
    return (double)right / d->count;
}

static outcome measure(const session *s, const data *d, int32_t batch, int32_t repeat,
                       float *logits) {
    classify(s, d->images, batch < d->count ? batch : d->count, logits); /* starts the threads */
    double best = 0;
    for (int32_t i = 0; i < repeat; i++) {
        double seconds = classify_all(s, d, batch, logits);
        if (i == 0 || seconds < best) best = seconds;
    }
    return (outcome){batch, accuracy_of(d, logits), d->count / best, best * 1e6 / d->count};
}

/* ---- output ---- */

static void print_outcome(const options *o, const outcome *r, int32_t images, int is_last) {
    if (o->json) {
        printf("{\"batch\": %d, \"images\": %d, \"accuracy\": %.6f, \"images_per_s\": %.1f, "
               "\"us_per_image\": %.4f}%s",
               (int)r->batch, (int)images, r->accuracy, r->images_per_s, r->us_per_image,
               is_last ? "" : ", ");
        return;
    }
    printf("batch %4d: accuracy %.2f %%, %.0f images/s, %.2f us per image\n", (int)r->batch,
           100 * r->accuracy, r->images_per_s, r->us_per_image);
}

/* NumPy's format 1.0: magic, length of the header, header, data; the data begins at 128. */
static void write_npy(const char *path, const float *values, const char *shape, size_t count) {
    char head[129];
    FILE *file = fopen(path, "wb");
    if (!file) fail(path, "cannot be written");
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int length = snprintf(head + 10, sizeof head - 10,
                          "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape);
    head[10 + length] = ' ';
    head[127] = '\n';
    if (fwrite(head, 1, 128, file) != 128 || fwrite(values, sizeof *values, count, file) != count ||
        fclose(file) != 0) {
        fail(path, "cannot be written");
    }
}

static void write_logits(const char *path, const float *logits, int32_t rows) {
    char shape[64];
    snprintf(shape, sizeof shape, "%d, %d", (int)rows, CLASSES);
    write_npy(path, logits, shape, (size_t)rows * CLASSES);
}

/* In the shape that the model takes. */
static void write_images(const char *path, const hone_model_port *port, const data *d) {
    char shape[64];
    int length = snprintf(shape, sizeof shape, "%d", (int)d->count);
    for (int32_t i = 1; i < port->ndim; i++)
        length +=
            snprintf(shape + length, sizeof shape - (size_t)length, ", %d", (int)port->shape[i]);
    write_npy(path, d->images, shape, (size_t)d->count * PIXELS);
}

static const char usage[] =
    "Usage: classify MODEL.so [--threads N] [--batch N] [--data DIR] [--limit N] [--repeat N]\n"
    "                [--logits FILE.npy] [--images FILE.npy] [--json]\n"
    "Classifies the Fashion-MNIST test images one by one and, when the model takes any number of\n"
    "images, in batches of N (100); prints accuracy and speed (the best of --repeat rounds, 1).\n"
    "--logits and --images write what came out and what went in.\n"
    "--threads: 0 (default) = what the model was compiled for.\n";

static int32_t number(const char *option, const char *text, long most) {
    char *end = NULL;
    long value = text ? strtol(text, &end, 10) : -1;
    if (!text || !*text || *end || value < 0 || value > most) fail(option, "wants a number");
    return (int32_t)value;
}

static options read_options(int argc, char **argv) {
    options o = {.data = "/usr/share/datasets/fashion-mnist", .batch = 100, .repeat = 1};
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        }
        int takes_value = 1;
        if (strcmp(argv[i], "--json") == 0) {
            o.json = 1;
            takes_value = 0;
        } else if (strcmp(argv[i], "--threads") == 0) {
            o.threads = number(argv[i], next, 4096);
        } else if (strcmp(argv[i], "--batch") == 0) {
            o.batch = number(argv[i], next, 10000);
        } else if (strcmp(argv[i], "--limit") == 0) {
            o.limit = number(argv[i], next, MOST_IMAGES);
        } else if (strcmp(argv[i], "--repeat") == 0) {
            o.repeat = number(argv[i], next, 1000);
        } else if (strcmp(argv[i], "--data") == 0) {
            o.data = next;
        } else if (strcmp(argv[i], "--logits") == 0) {
            o.logits = next;
        } else if (strcmp(argv[i], "--images") == 0) {
            o.images = next;
        } else if (argv[i][0] == '-' || o.model) {
            fail("unknown argument", argv[i]);
        } else {
            o.model = argv[i];
            takes_value = 0;
        }
        if (takes_value && !next) fail(argv[i], "wants a value");
        i += takes_value;
    }
    if (!o.model) {
        fputs(usage, stderr);
        exit(2);
    }
    if (o.batch < 1) o.batch = 1;
    if (o.repeat < 1) o.repeat = 1;
    return o;
}

int main(int argc, char **argv) {
    options o = read_options(argc, argv);
    data d = read_data(&o);
    session s = {.info = load_model(o.model)};
    s.entry = &s.info->entries[0];
    int32_t fixed = check_model(&o, s.entry);
    if (o.threads && s.info->rt_create(o.threads, &s.rt) != HONE_MODEL_OK) {
        fail("threads", s.info->last_error());
    }
    if (fixed > 1) d.count -= d.count % fixed; /* whole batches only */
    float *logits = aligned((size_t)d.count * CLASSES * sizeof *logits);
    int32_t batches[2] = {fixed ? fixed : 1, o.batch};
    int count = fixed || o.batch == 1 ? 1 : 2;
    if (o.images) write_images(o.images, &s.entry->inputs[0], &d);
    if (o.json) printf("{\"model\": \"%s\", \"results\": [", s.info->name);
    for (int i = 0; i < count; i++) {
        outcome r = measure(&s, &d, batches[i], o.repeat, logits);
        print_outcome(&o, &r, d.count, i == count - 1);
        if (i == 0 && o.logits) write_logits(o.logits, logits, d.count);
    }
    if (o.json) puts("]}");
    s.info->rt_destroy(s.rt);
    free(logits);
    free(d.images);
    free(d.labels);
    return 0;
}
