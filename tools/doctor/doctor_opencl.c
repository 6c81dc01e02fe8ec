/* tools/doctor/doctor_opencl.c - which OpenCL devices there are. */
#include "runtime/opencl/opencl_api.h"
#include "support/core/strbuf.h"
#include "tools/doctor/doctor.h"

static void list_devices(hone_str *out) {
    hone_opencl *cl = NULL;
    void *devices[HONE_OPENCL_MAX_DEVICES];
    int32_t count = 0;
    hone_status_free(hone_opencl_open(&cl)); /* without a loader there are none */
    if (cl) hone_opencl_list(cl, devices, &count);
    for (int32_t i = 0; i < count; i++) {
        hone_opencl_facts facts;
        hone_status st = hone_opencl_describe(cl, devices[i], &facts);
        if (!st) {
            hone_str_printf(out, "%sopencl:%d is %s (%s)", out->length ? "; " : "", i, facts.name,
                            facts.platform);
        }
        hone_status_free(st);
    }
    hone_opencl_close(cl);
}

void hone_doctor_opencl(hone_checkup *checkup) {
    hone_str found = {0};
    list_devices(&found);
    hone_doctor_say(checkup, "OpenCL", found.length ? HONE_DOCTOR_OK : HONE_DOCTOR_NOTE, NULL, "%s",
                    found.length ? hone_str_text(&found) : "no device");
    hone_str_deinit(&found);
}
