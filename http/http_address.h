/* http/http_address.h - numeric addresses with a port, "127.0.0.1:9191" and "[::1]:9191". */
#ifndef HONE_HTTP_HTTP_ADDRESS_H
#define HONE_HTTP_HTTP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "support/core/status.h"

typedef union hone_http_address {
    struct sockaddr base;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} hone_http_address;

/* INVALID for names, and for what has no port. */
HONE_NODISCARD hone_status hone_http_parse_address(const char *text, hone_http_address *out);

#endif
