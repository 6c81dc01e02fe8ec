/* sandbox/channel.c - unix(7) packets, the first of which names its sender. */
#include "sandbox/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

typedef union carried {
    struct cmsghdr head; /* for its alignment */
    char room[CMSG_SPACE(sizeof(struct ucred))];
} carried;

bool hone_channel_send(int channel, const hone_channel_packet *packet) {
    return send(channel, packet, sizeof *packet, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)sizeof *packet;
}

static pid_t find_sender(struct msghdr *message) {
    struct ucred sender;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_CREDENTIALS) continue;
        memcpy(&sender, CMSG_DATA(head), sizeof sender);
        return sender.pid;
    }
    return 0;
}

bool hone_channel_receive(int channel, hone_channel_packet *out_packet) {
    ssize_t got;
    do {
        got = recv(channel, out_packet, sizeof *out_packet, 0);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *out_packet;
}

bool hone_channel_receive_first(int channel, hone_channel_packet *out_packet, pid_t *out_pid) {
    struct iovec part = {out_packet, sizeof *out_packet};
    carried with;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = with.room,
                             .msg_controllen = sizeof with.room};
    ssize_t got = recvmsg(channel, &message, 0);
    *out_pid = got >= 0 ? find_sender(&message) : 0;
    return got == (ssize_t)sizeof *out_packet;
}
