/* hone/export.h - what every public header begins with. */
#ifndef HONE_EXPORT_H
#define HONE_EXPORT_H

#ifndef HONE_API
#define HONE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define HONE_BEGIN_DECLS extern "C" {
#define HONE_END_DECLS }
#else
#define HONE_BEGIN_DECLS
#define HONE_END_DECLS
#endif

#endif
