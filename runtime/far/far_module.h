/* runtime/far/far_module.h - a program on a device whose memory the host does not see: its code,
 * its scratch buffers, and the launches that a manifest asks for. For backends only.
 *
 * A backend says how code is loaded and a kernel is found (far_loader) and starts the launches;
 * scratch buffers are buffers of the device, made by its own table. Threads: those of the device.
 */
#ifndef HONE_RUNTIME_FAR_FAR_MODULE_H
#define HONE_RUNTIME_FAR_FAR_MODULE_H

#include "runtime/far/far_memory.h"
#include "target/target.h"

typedef struct far_launch {
    void *kernel; /* of the backend */
    uint32_t grid[3], block[3];
    int64_t shared_bytes; /* dynamic ones */
    bool is_empty;        /* a grid of nothing: is not started */
    size_t arg_count;
    const hone_launch_arg *args; /* into the module's copy */
} far_launch;

struct hone_device_module {
    void *code; /* of the backend */
    size_t scratch_count, launch_count;
    hone_device_buffer **scratch;
    int64_t *values;
    far_launch *launches;
    hone_launch_arg *args; /* of all launches */
};

typedef struct far_loader {
    hone_target_kind kind; /* what it runs is built for this, "an NVIDIA card" */
    const char *what;
    /* UNSUPPORTED: built for another device of the kind. NULL: there are no differences. */
    hone_status (*check)(const hone_device *device, const hone_target *target);
    /* `image` ends with a NUL behind its bytes. */
    hone_status (*load_code)(hone_device *device, const char *image, size_t bytes, void **out_code);
    void (*unload_code)(hone_device *device, void *code);
    /* Sets io_launch->kernel, whose shape is known. INVALID: there is none, or the device cannot
     * start it. */
    hone_status (*find_kernel)(hone_device *device, void *code, const char *symbol,
                               far_launch *io_launch);
    void (*drop_kernel)(hone_device *device, void *kernel); /* NULL: it needs no end */
} far_loader;

/* Loads an artifact as the device's table has to (device_impl.h), with the device's loader. */
HONE_NODISCARD hone_status far_module_load(hone_device *device, const far_loader *loader,
                                           const hone_device_artifact *artifact,
                                           const hone_manifest *manifest,
                                           hone_device_module **out_module);
void far_module_unload(hone_device *device, const far_loader *loader, hone_device_module *module);

/* The buffer that an argument of a launch is, one of the module's or of `buffers`; NULL: a value.
 */
hone_device_buffer *far_arg_buffer(const hone_device_module *module, const hone_launch_arg *arg,
                                   hone_device_buffer *const *buffers);

/* After a run: was beside a scratch buffer written? Then the device's message says so. */
bool far_module_is_damaged(hone_device *device, const hone_device_module *module);

#endif
