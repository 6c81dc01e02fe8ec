/* tests/support_room/test_frame.c - framed messages over pipes and sockets, whole and broken. */
#include <string.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "support/os/thread.h"
#include "tests/support/hone_test.h"

static int64_t in_ms(int64_t ms) {
    return hone_deadline_after(hone_clock_system(), ms * HONE_NS_PER_MS);
}

/* What a reader makes of raw bytes followed by the end of the stream. */
static const struct row {
    const char *name, *raw;
    size_t raw_count;
    hone_code code;
    const char *want;
} rows[] = {
    {"empty message", "\0\0\0\0",         4, HONE_CODE_OK,          ""   },
    {"three bytes",   "\3\0\0\0abc",      7, HONE_CODE_OK,          "abc"},
    {"more follows",  "\1\0\0\0xyz",      7, HONE_CODE_OK,          "x"  },
    {"no bytes",      "",                 0, HONE_CODE_UNAVAILABLE, NULL },
    {"half a length", "\1\0",             2, HONE_CODE_INVALID,     NULL },
    {"half a body",   "\4\0\0\0ab",       6, HONE_CODE_INVALID,     NULL },
    {"too long",      "\377\377\377\377", 4, HONE_CODE_INVALID,     NULL },
};

static void reads(void **state) {
    const struct row *row = *state;
    int fds[2];
    char *bytes = NULL;
    size_t count = 0;
    HONE_ASSERT_OK(hone_pipe_open(fds));
    HONE_ASSERT_OK(hone_fd_write_full(fds[1], row->raw, row->raw_count));
    hone_fd_close(&fds[1]);
    hone_status st =
        hone_frame_read(fds[0], 1000, hone_clock_system(), in_ms(60000), &bytes, &count);
    hone_fd_close(&fds[0]);
    bool is_same = row->want ? bytes && strcmp(bytes, row->want) == 0 : bytes == NULL;
    hone_free(bytes);
    HONE_ASSERT_CODE(st, row->code);
    assert_true(is_same);
    assert_int_equal(count, row->want ? strlen(row->want) : 0);
}

typedef struct sender {
    int fd;
    size_t count;
    hone_code code;
} sender;

static void send_large(void *context) {
    sender *self = context;
    char *bytes = hone_malloc(self->count);
    for (size_t i = 0; i < self->count; i++)
        bytes[i] = (char)(i % 251);
    self->code = hone_status_consume(
        hone_frame_write(self->fd, bytes, self->count, hone_clock_system(), in_ms(60000)));
    hone_free(bytes);
}

static void check_large(int read_fd, int write_fd, size_t count) {
    sender s = {write_fd, count, HONE_CODE_INTERNAL};
    hone_thread thread;
    char *bytes = NULL;
    size_t got = 0;
    HONE_ASSERT_OK(hone_thread_start(&thread, "sender", send_large, &s));
    hone_status st =
        hone_frame_read(read_fd, count, hone_clock_system(), in_ms(60000), &bytes, &got);
    hone_thread_join(&thread);
    HONE_ASSERT_OK(st);
    assert_int_equal(s.code, HONE_CODE_OK);
    assert_int_equal(got, count);
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != (char)(i % 251)) fail();
    }
    hone_free(bytes);
}

static void carries_large_messages(void **state) {
    (void)state;
    static const size_t counts[] = {4091, 4092, 4093, 3000000};
    for (size_t i = 0; i < HONE_COUNT(counts); i++) {
        int fds[2];
        HONE_ASSERT_OK(hone_pipe_open(fds));
        check_large(fds[0], fds[1], counts[i]);
        hone_fd_close(&fds[0]);
        hone_fd_close(&fds[1]);
        HONE_ASSERT_OK(hone_socket_pair_open(fds));
        check_large(fds[0], fds[1], counts[i]);
        hone_fd_close(&fds[0]);
        hone_fd_close(&fds[1]);
    }
}

static void deadlines_hold(int fds[2]) {
    char *bytes = NULL, big[8192] = {0};
    size_t count = 0;
    hone_status st = HONE_OK;
    HONE_ASSERT_CODE(hone_frame_read(fds[0], 10, hone_clock_system(), in_ms(10), &bytes, &count),
                     HONE_CODE_TIMEOUT);
    for (int i = 0; i < 1000 && !st; i++) { /* until the buffers are full */
        st = hone_frame_write(fds[1], big, sizeof big, hone_clock_system(), in_ms(10));
    }
    HONE_ASSERT_CODE(st, HONE_CODE_TIMEOUT);
    hone_fd_close(&fds[0]);
    HONE_ASSERT_CODE(hone_frame_write(fds[1], big, 10, hone_clock_system(), in_ms(60000)),
                     HONE_CODE_UNAVAILABLE); /* and no SIGPIPE */
    hone_fd_close(&fds[1]);
}

static void keeps_deadlines(void **state) {
    (void)state;
    int fds[2];
    HONE_ASSERT_OK(hone_pipe_open(fds));
    deadlines_hold(fds);
    HONE_ASSERT_OK(hone_socket_pair_open(fds));
    deadlines_hold(fds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carries_large_messages),
        cmocka_unit_test(keeps_deadlines),
    };
    return HONE_RUN_ROWS("support/frame read", rows, reads) +
           cmocka_run_group_tests_name("support/frame", tests, NULL, NULL);
}
