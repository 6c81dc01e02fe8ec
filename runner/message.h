/* runner/message.h - messages between a local runner and its executor child, over a socket pair.
 *
 * A message is a head and a payload (a CBOR request or result). Both ends are on one machine and
 * from one build, so the head is a plain struct. What comes from an executor may have been written
 * by a candidate that found the descriptor: magic, kind, length, ticket and nonce are all checked,
 * and whatever does not fit makes the executor tainted, nothing worse.
 */
#ifndef HONE_RUNNER_MESSAGE_H
#define HONE_RUNNER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/core/strbuf.h"

#define HONE_MESSAGE_MAGIC UINT32_C(0x48464d32) /* "2MFH" in memory: raise it with any change */
#define HONE_MESSAGE_MAX_BYTES (UINT64_C(1) << 33)

typedef enum hone_message_kind {
    HONE_MESSAGE_HELLO,   /* executor: ready */
    HONE_MESSAGE_REQUEST, /* runner: a run request */
    HONE_MESSAGE_WAITING, /* executor: waits for the quiet gate; time does not count */
    HONE_MESSAGE_STARTED, /* executor: works on the device; the timeout starts now */
    HONE_MESSAGE_RESULT,  /* executor: a run result */
    HONE_MESSAGE_COUNT
} hone_message_kind;

typedef struct hone_message_head {
    uint32_t magic, kind;
    uint64_t ticket, nonce, bytes;
} hone_message_head;

/* Writes a whole message to a blocking descriptor. IO, UNAVAILABLE (the other side is gone). */
HONE_NODISCARD hone_status hone_message_write(int fd, hone_message_kind kind, uint64_t ticket,
                                              uint64_t nonce, const void *payload, size_t bytes);
/* Reads a whole message from a blocking descriptor; *payload is cleared and filled. UNAVAILABLE:
 * the other side closed; INVALID: not a message. */
HONE_NODISCARD hone_status hone_message_read(int fd, hone_message_head *out_head,
                                             hone_str *payload);

/* Takes the first message out of what has been received so far: false when it is not complete yet.
 * *out_ok is false when it cannot be a message, or would be one with more than `max_bytes` of
 * payload. The payload stays in `received` after the head; drop it with hone_message_drop. */
bool hone_message_peek(const hone_str *received, uint64_t max_bytes, hone_message_head *out_head,
                       const void **out_payload, bool *out_ok);
void hone_message_drop(hone_str *received, const hone_message_head *head);

#endif
