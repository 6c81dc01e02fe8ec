/* support/text/base64.h - bytes as text (RFC 4648, with padding). Threads: safe. */
#ifndef HONE_SUPPORT_TEXT_BASE64_H
#define HONE_SUPPORT_TEXT_BASE64_H

#include "support/core/strbuf.h"

/* Appends. */
void hone_base64_encode(const void *bytes, size_t count, hone_str *out);
/* Appends the bytes; false when the text is no base64. */
bool hone_base64_decode(const char *text, size_t length, hone_str *out);

#endif
