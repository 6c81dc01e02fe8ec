/* runner/message.c - whole messages over a stream socket. */
#include "runner/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static bool is_sane(const hone_message_head *head) {
    return head->magic == HONE_MESSAGE_MAGIC && head->kind < HONE_MESSAGE_COUNT &&
           head->bytes <= HONE_MESSAGE_MAX_BYTES;
}

/* MSG_NOSIGNAL: a peer that died is an error here, not a SIGPIPE. */
static hone_status send_all(int fd, const void *data, size_t bytes, int flags) {
    const char *p = data;
    while (bytes) {
        ssize_t n = send(fd, p, bytes, MSG_NOSIGNAL | flags);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            hone_code code =
                errno == EPIPE || errno == ECONNRESET ? HONE_CODE_UNAVAILABLE : HONE_CODE_IO;
            return HONE_ERROR(code, "sending to the other process: %s", strerror(errno));
        }
        p += n;
        bytes -= (size_t)n;
    }
    return HONE_OK;
}

hone_status hone_message_write(int fd, hone_message_kind kind, uint64_t ticket, uint64_t nonce,
                               const void *payload, size_t bytes) {
    hone_message_head head = {HONE_MESSAGE_MAGIC, kind, ticket, nonce, bytes};
    HONE_TRY(send_all(fd, &head, sizeof head, bytes ? MSG_MORE : 0));
    return bytes ? send_all(fd, payload, bytes, 0) : HONE_OK;
}

static hone_status receive_all(int fd, void *data, size_t bytes) {
    char *p = data;
    while (bytes) {
        ssize_t n = recv(fd, p, bytes, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the other process is gone%s%s",
                              n < 0 ? ": " : "", n < 0 ? strerror(errno) : "");
        }
        p += n;
        bytes -= (size_t)n;
    }
    return HONE_OK;
}

hone_status hone_message_read(int fd, hone_message_head *out_head, hone_str *payload) {
    hone_str_clear(payload);
    HONE_TRY(receive_all(fd, out_head, sizeof *out_head));
    if (!is_sane(out_head)) return HONE_ERROR(HONE_CODE_INVALID, "what was received is no message");
    if (!hone_str_reserve(payload, out_head->bytes)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "a message of %llu bytes",
                          (unsigned long long)out_head->bytes);
    }
    HONE_TRY(receive_all(fd, payload->data, out_head->bytes));
    payload->length = out_head->bytes;
    payload->data[payload->length] = 0;
    return HONE_OK;
}

bool hone_message_peek(const hone_str *received, uint64_t max_bytes, hone_message_head *out_head,
                       const void **out_payload, bool *out_ok) {
    *out_payload = NULL;
    *out_ok = true;
    if (received->length < sizeof *out_head) return false;
    memcpy(out_head, received->data, sizeof *out_head);
    *out_ok = is_sane(out_head) && out_head->bytes <= max_bytes;
    if (!*out_ok) return true;
    if (received->length - sizeof *out_head < out_head->bytes) return false;
    *out_payload = received->data + sizeof *out_head;
    return true;
}

void hone_message_drop(hone_str *received, const hone_message_head *head) {
    size_t used = sizeof *head + head->bytes;
    memmove(received->data, received->data + used, received->length - used);
    hone_str_truncate(received, received->length - used);
}
