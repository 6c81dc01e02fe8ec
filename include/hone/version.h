/* hone/version.h - which version this is, at compile time and at run time. */
#ifndef HONE_VERSION_H
#define HONE_VERSION_H

#include <hone/export.h>

HONE_BEGIN_DECLS

#define HONE_VERSION_MAJOR 0
#define HONE_VERSION_MINOR 1
#define HONE_VERSION_PATCH 0
#define HONE_VERSION "0.1.0"

/* The version of the library that was loaded, "0.1.0": static text. */
HONE_API const char *hone_version(void);

HONE_END_DECLS

#endif
