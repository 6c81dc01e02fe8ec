/* sandbox/channel.c - unix(7) packets that carry a descriptor and name their sender. */
#include "sandbox/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

typedef union carried {
    struct cmsghdr head; /* for its alignment */
    char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
} carried;

bool hone_channel_send(int channel, const hone_channel_packet *packet, int fd) {
    if (fd < 0) {
        return send(channel, packet, sizeof *packet, MSG_NOSIGNAL | MSG_DONTWAIT) ==
               (ssize_t)sizeof *packet;
    }
    hone_channel_packet copy = *packet;
    struct iovec part = {&copy, sizeof copy};
    carried with = {.room = {0}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = with.room,
                             .msg_controllen = CMSG_SPACE(sizeof fd)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(channel, &message, MSG_NOSIGNAL) == (ssize_t)sizeof copy;
}

static void take_along(struct msghdr *message, int *out_fd, pid_t *out_pid) {
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level != SOL_SOCKET) continue;
        if (head->cmsg_type == SCM_RIGHTS && head->cmsg_len >= CMSG_LEN(sizeof(int))) {
            memcpy(out_fd, CMSG_DATA(head), sizeof *out_fd);
        } else if (head->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(head), sizeof sender);
            *out_pid = sender.pid;
        }
    }
}

bool hone_channel_receive(int channel, hone_channel_packet *out_packet) {
    ssize_t got;
    do {
        got = recv(channel, out_packet, sizeof *out_packet, 0);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *out_packet;
}

bool hone_channel_receive_first(int channel, hone_channel_packet *out_packet, int *out_fd,
                                pid_t *out_pid) {
    struct iovec part = {out_packet, sizeof *out_packet};
    carried with;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = with.room,
                             .msg_controllen = sizeof with.room};
    *out_fd = -1;
    *out_pid = 0;
    ssize_t got = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    if (got >= 0) take_along(&message, out_fd, out_pid);
    return got == (ssize_t)sizeof *out_packet;
}
