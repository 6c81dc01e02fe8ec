/* bench/ops/ops_onednn.c - see ops_onednn.h. */
#include "bench/ops/ops_onednn.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"

void ops_onednn_must(dnnl_status_t status, const char *what) {
    if (status == dnnl_success) return;
    fprintf(stderr, "bench_ops: oneDNN: %s failed with %d\n", what, (int)status);
    exit(1);
}

ops_onednn *ops_onednn_make(int threads) {
    void (*set_threads)(int) = NULL;
    void *library = dlopen("libgomp.so.1", RTLD_NOW); /* what Debian's oneDNN runs on */
    void *symbol = library ? dlsym(library, "omp_set_num_threads") : NULL;
    memcpy(&set_threads, &symbol, sizeof symbol);
    if (set_threads) set_threads(threads);
    ops_onednn *self = hone_calloc(1, sizeof *self);
    if (!self) exit(1);
    ops_onednn_must(dnnl_engine_create(&self->engine, dnnl_cpu, 0), "engine");
    ops_onednn_must(dnnl_stream_create(&self->stream, self->engine, dnnl_stream_default_flags),
                    "stream");
    return self;
}

dnnl_memory_desc_t ops_onednn_desc(int rank, const int64_t *dims, dnnl_data_type_t dtype,
                                   dnnl_format_tag_t tag) {
    dnnl_memory_desc_t desc;
    ops_onednn_must(dnnl_memory_desc_init_by_tag(&desc, rank, dims, dtype, tag), "memory desc");
    return desc;
}

const dnnl_memory_desc_t *ops_onednn_chosen(const_dnnl_primitive_desc_t desc, dnnl_query_t what) {
    return dnnl_primitive_desc_query_md(desc, what, 0);
}

static dnnl_memory_t make_memory(ops_onednn *self, const dnnl_memory_desc_t *desc, void *data) {
    dnnl_memory_t memory;
    ops_onednn_must(dnnl_memory_create(&memory, desc, self->engine, data), "memory");
    return memory;
}

static dnnl_primitive_t make_reorder(ops_onednn *self, dnnl_memory_t from, dnnl_memory_t to) {
    const dnnl_memory_desc_t *from_desc, *to_desc;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    dnnl_memory_get_memory_desc(from, &from_desc);
    dnnl_memory_get_memory_desc(to, &to_desc);
    ops_onednn_must(dnnl_reorder_primitive_desc_create(&desc, from_desc, self->engine, to_desc,
                                                       self->engine, NULL),
                    "reorder desc");
    ops_onednn_must(dnnl_primitive_create(&primitive, desc), "reorder");
    dnnl_primitive_desc_destroy(desc);
    return primitive;
}

static void run_reorder(ops_onednn *self, dnnl_primitive_t primitive, dnnl_memory_t from,
                        dnnl_memory_t to) {
    dnnl_exec_arg_t args[] = {
        {DNNL_ARG_FROM, from},
        {DNNL_ARG_TO,   to  }
    };
    ops_onednn_must(dnnl_primitive_execute(primitive, self->stream, 2, args), "reorder");
    ops_onednn_must(dnnl_stream_wait(self->stream), "wait");
}

static void reorder(ops_onednn *self, dnnl_memory_t from, dnnl_memory_t to) {
    dnnl_primitive_t primitive = make_reorder(self, from, to);
    run_reorder(self, primitive, from, to);
    dnnl_primitive_destroy(primitive);
}

static void add_arg(ops_onednn *self, int arg, dnnl_memory_t memory, dnnl_memory_t plain) {
    if (self->count == OPS_ONEDNN_ARGS) exit(1);
    self->plain[self->count] = plain;
    self->args[self->count++] = (dnnl_exec_arg_t){arg, memory};
}

void ops_onednn_bind_input(ops_onednn *self, int arg, const dnnl_memory_desc_t *plain,
                           const dnnl_memory_desc_t *wanted, void *data) {
    dnnl_memory_t memory = make_memory(self, plain, data);
    if (!dnnl_memory_desc_equal(plain, wanted)) {
        dnnl_memory_t own = make_memory(self, wanted, DNNL_MEMORY_ALLOCATE);
        reorder(self, memory, own);
        dnnl_memory_destroy(memory);
        memory = own;
    }
    add_arg(self, arg, memory, NULL);
}

void ops_onednn_bind_each_time(ops_onednn *self, int arg, const dnnl_memory_desc_t *plain,
                               const dnnl_memory_desc_t *wanted, void *data) {
    dnnl_memory_t memory = make_memory(self, plain, data);
    if (dnnl_memory_desc_equal(plain, wanted)) {
        add_arg(self, arg, memory, NULL);
        return;
    }
    self->given = memory;
    self->laid_out = make_memory(self, wanted, DNNL_MEMORY_ALLOCATE);
    self->lay_out = make_reorder(self, self->given, self->laid_out);
    add_arg(self, arg, self->laid_out, NULL);
}

void ops_onednn_bind_output(ops_onednn *self, int arg, const dnnl_memory_desc_t *plain,
                            const dnnl_memory_desc_t *wanted, void *data) {
    dnnl_memory_t memory = make_memory(self, plain, data);
    if (dnnl_memory_desc_equal(plain, wanted)) {
        add_arg(self, arg, memory, NULL);
        return;
    }
    add_arg(self, arg, make_memory(self, wanted, DNNL_MEMORY_ALLOCATE), memory);
}

void ops_onednn_ready(ops_onednn *self, dnnl_primitive_desc_t desc) {
    ops_onednn_must(dnnl_primitive_create(&self->primitive, desc), "primitive");
    dnnl_primitive_desc_destroy(desc);
}

void ops_onednn_run(void *peer) {
    ops_onednn *self = peer;
    if (self->lay_out) run_reorder(self, self->lay_out, self->given, self->laid_out);
    ops_onednn_must(dnnl_primitive_execute(self->primitive, self->stream, self->count, self->args),
                    "execute");
    ops_onednn_must(dnnl_stream_wait(self->stream), "wait");
}

void ops_onednn_fetch(void *peer) {
    ops_onednn *self = peer;
    for (int i = 0; i < self->count; i++) {
        if (self->plain[i]) reorder(self, self->args[i].memory, self->plain[i]);
    }
}

void ops_onednn_close(void *peer) {
    ops_onednn *self = peer;
    for (int i = 0; i < self->count; i++) {
        dnnl_memory_destroy(self->args[i].memory);
        if (self->plain[i]) dnnl_memory_destroy(self->plain[i]);
    }
    if (self->primitive) dnnl_primitive_destroy(self->primitive);
    if (self->lay_out) dnnl_primitive_destroy(self->lay_out);
    if (self->given) dnnl_memory_destroy(self->given);
    dnnl_stream_destroy(self->stream);
    dnnl_engine_destroy(self->engine);
    hone_free(self);
}
