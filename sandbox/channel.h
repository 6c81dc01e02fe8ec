/* sandbox/channel.h - what a held process and its warden say to each other: one small packet each.
 *
 *     held    ─► HELLO (number of the listener) · TAKE (patience) · DROP
 *     warden  ─► GIVEN | DENIED, to HELLO and to each TAKE
 *
 * No packet carries a descriptor: the warden takes the listener out of the process by its number
 * (pidfd_getfd(2)), so that nobody who is held may call sendmsg(2).
 */
#ifndef HONE_SANDBOX_CHANNEL_H
#define HONE_SANDBOX_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum hone_channel_word {
    HONE_CHANNEL_HELLO = 1,
    HONE_CHANNEL_TAKE,
    HONE_CHANNEL_DROP,
    HONE_CHANNEL_GIVEN,
    HONE_CHANNEL_DENIED,
} hone_channel_word;

typedef struct hone_channel_packet {
    int64_t word;
    int64_t number; /* HELLO: the listener in the held process, -1: none; TAKE: nanoseconds */
} hone_channel_packet;

/* Does not wait: false when the other side is gone, or does not listen. */
bool hone_channel_send(int channel, const hone_channel_packet *packet);

/* Waits for a packet; whatever came along with it is dropped. False when the other side is gone. */
bool hone_channel_receive(int channel, hone_channel_packet *out_packet);

/* hone_channel_receive for the first one; *out_pid is the sender, as this process sees it (the
 * channel has SO_PASSCRED). */
bool hone_channel_receive_first(int channel, hone_channel_packet *out_packet, pid_t *out_pid);

#endif
