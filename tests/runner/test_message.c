/* tests/runner/test_message.c - messages between runner and executor, whole, in pieces, damaged. */
#include <sys/socket.h>
#include <unistd.h>

#include "runner/message.h"
#include "support/os/proc.h"
#include "tests/support/hone_test.h"

static void goes_through_a_socket(void **state) {
    (void)state;
    int pair[2];
    hone_message_head head;
    hone_str in = {0};
    HONE_ASSERT_OK(hone_socket_pair_open(pair));
    HONE_ASSERT_OK(hone_message_write(pair[0], HONE_MESSAGE_REQUEST, 7, 9, "payload", 7));
    HONE_ASSERT_OK(hone_message_write(pair[0], HONE_MESSAGE_STARTED, 8, 10, NULL, 0));
    HONE_ASSERT_OK(hone_message_read(pair[1], &head, &in));
    assert_int_equal(head.kind, HONE_MESSAGE_REQUEST);
    assert_true(head.ticket == 7 && head.nonce == 9 && head.bytes == 7);
    assert_string_equal(in.data, "payload");
    HONE_ASSERT_OK(hone_message_read(pair[1], &head, &in));
    assert_int_equal(head.kind, HONE_MESSAGE_STARTED);
    assert_int_equal(in.length, 0);
    hone_fd_close(&pair[0]);
    HONE_ASSERT_CODE(hone_message_read(pair[1], &head, &in), HONE_CODE_UNAVAILABLE);
    HONE_ASSERT_CODE(hone_message_write(pair[1], HONE_MESSAGE_HELLO, 0, 0, NULL, 0),
                     HONE_CODE_UNAVAILABLE);
    hone_fd_close(&pair[1]);
    hone_str_deinit(&in);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    int pair[2];
    hone_message_head head = {HONE_MESSAGE_MAGIC, HONE_MESSAGE_COUNT, 0, 0, 0};
    hone_str in = {0};
    HONE_ASSERT_OK(hone_socket_pair_open(pair));
    assert_int_equal(send(pair[0], &head, sizeof head, 0), sizeof head);
    HONE_ASSERT_CODE(hone_message_read(pair[1], &head, &in), HONE_CODE_INVALID);
    head = (hone_message_head){HONE_MESSAGE_MAGIC, 0, 0, 0, HONE_MESSAGE_MAX_BYTES + 1};
    assert_int_equal(send(pair[0], &head, sizeof head, 0), sizeof head);
    HONE_ASSERT_CODE(hone_message_read(pair[1], &head, &in), HONE_CODE_INVALID);
    hone_fd_close(&pair[0]);
    hone_fd_close(&pair[1]);
    hone_str_deinit(&in);
}

/* Bytes arrive in any pieces: the same messages come out. */
static void pieces_are_put_together(void **state) {
    (void)state;
    hone_str stream = {0};
    for (uint64_t i = 0; i < 5; i++) {
        hone_message_head head = {HONE_MESSAGE_MAGIC, HONE_MESSAGE_RESULT, i, i * 2, i * 3};
        hone_str_append_n(&stream, (const char *)&head, sizeof head);
        hone_str_append_repeat(&stream, (char)('a' + i), i * 3);
    }
    for (size_t piece = 1; piece <= stream.length; piece++) {
        hone_str received = {0};
        uint64_t seen = 0;
        for (size_t at = 0; at < stream.length; at += piece) {
            size_t count = stream.length - at < piece ? stream.length - at : piece;
            hone_str_append_n(&received, stream.data + at, count);
            hone_message_head head;
            const void *payload;
            bool ok;
            while (hone_message_peek(&received, 100, &head, &payload, &ok)) {
                assert_true(ok);
                assert_true(head.ticket == seen && head.nonce == seen * 2 &&
                            head.bytes == seen * 3);
                for (uint64_t k = 0; k < head.bytes; k++) {
                    assert_int_equal(((const char *)payload)[k], 'a' + (int)seen);
                }
                hone_message_drop(&received, &head);
                seen++;
            }
        }
        assert_int_equal(seen, 5);
        assert_int_equal(received.length, 0);
        hone_str_deinit(&received);
    }
    hone_str_deinit(&stream);
}

static void a_bad_head_is_seen_at_once(void **state) {
    (void)state;
    hone_str received = {0};
    hone_message_head head;
    const void *payload;
    bool ok = true;
    hone_str_append(&received, "this is no message at all, but as long as the head of one");
    assert_true(hone_message_peek(&received, 100, &head, &payload, &ok));
    assert_false(ok);
    hone_str_deinit(&received);
}

/* Before its payload is there: nobody gathers what he would not take. */
static void too_long_is_seen_at_once(void **state) {
    (void)state;
    hone_str received = {0};
    const hone_message_head sent = {HONE_MESSAGE_MAGIC, HONE_MESSAGE_RESULT, 1, 2, 101};
    hone_message_head head;
    const void *payload;
    bool ok = false;
    hone_str_append_n(&received, (const char *)&sent, sizeof sent);
    assert_false(hone_message_peek(&received, 101, &head, &payload, &ok));
    assert_true(ok);
    assert_true(hone_message_peek(&received, 100, &head, &payload, &ok));
    assert_false(ok);
    hone_str_deinit(&received);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_through_a_socket), cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(pieces_are_put_together), cmocka_unit_test(a_bad_head_is_seen_at_once),
        cmocka_unit_test(too_long_is_seen_at_once)};
    return cmocka_run_group_tests_name("runner/message", tests, NULL, NULL);
}
