/* tools/report/report_embedded.h - the files of page/, as the build puts them into the program. */
#ifndef HONE_TOOLS_REPORT_REPORT_EMBEDDED_H
#define HONE_TOOLS_REPORT_REPORT_EMBEDDED_H

#include <stddef.h>

typedef struct report_embedded_file {
    const char *name; /* without the folder */
    const unsigned char *bytes;
    size_t count;
} report_embedded_file;

extern const report_embedded_file hone_report_embedded_files[]; /* name NULL at the end */

#endif
