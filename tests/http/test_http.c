/* tests/http/test_http.c - a server and hostile clients on one loop: what is asked reaches the
 * handler as it was meant, what is no request does not, and the server answers the next one after
 * anything. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"

typedef struct seen {
    hone_str said; /* what the handler was asked for, a word each */
    int count;
} seen;

static void note(hone_str *out, const char *name, const char *value) {
    if (value) hone_str_printf(out, " %s=%s", name, value);
}

static void handle(void *ctx, const hone_http_request *request, hone_http_answer *answer) {
    seen *s = ctx;
    s->count++;
    hone_str_clear(&s->said);
    hone_str_append(&s->said, request->path);
    note(&s->said, "q", hone_http_query(request, "q"));
    note(&s->said, "agent", hone_http_header(request, "User-Agent"));
    note(&s->said, "cookie", hone_http_cookie(request, "c"));
    if (strcmp(request->path, "/moved") == 0) {
        answer->code = 303;
        answer->location = "/";
        hone_str_append(&answer->cookie, "c=1");
    }
    hone_str_append(&answer->text, hone_str_text(&s->said));
}

static int dial(const hone_http *http) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned port = 0;
    assert_int_equal(sscanf(strrchr(hone_http_place(http), ':'), ":%u", &port), 1);
    to.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

enum { SILENCE_TURNS = 10, TURN_MS = 2 };

/* Sends bytes and takes what is said until the server hangs up, or says nothing for some turns. */
static void talk(hone_http *http, const char *bytes, size_t count, hone_str *out) {
    char buffer[4096];
    int fd = dial(http), quiet = 0;
    (void)!send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (quiet < SILENCE_TURNS) {
        struct pollfd fds[] = {
            {.fd = hone_http_fd(http), .events = POLLIN},
            {.fd = fd,                 .events = POLLIN},
        };
        quiet = poll(fds, 2, TURN_MS) == 0 ? quiet + 1 : 0;
        hone_http_run(http);
        ssize_t got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (got > 0) hone_str_append_n(out, buffer, (size_t)got);
        if (got == 0) break;
    }
    close(fd);
}

static const char *ask(hone_http *http, const char *request, hone_str *out) {
    hone_str_clear(out);
    talk(http, request, strlen(request), out);
    return hone_str_text(out);
}

#define AGENT "User-Agent: x\r\nConnection: close\r\n\r\n"

/* clang-format off */
static const struct row {
    const char *request, *said; /* what reaches the handler; NULL: nothing may */
    const char *answer;         /* that stands in what comes back; NULL: any, or none */
} rows[] = {
    {"GET / HTTP/1.1\r\nHost: a\r\n" AGENT, "/ agent=x", "200 OK"},
    {"GET /a%20b?q=c%26d HTTP/1.1\r\nHost: a\r\n" AGENT, "/a b q=c&d agent=x", "no-store"},
    {"HEAD /a HTTP/1.1\r\nHost: a\r\n" AGENT, "/a agent=x", "nosniff"},
    {"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n" AGENT, "/../../etc/passwd agent=x", "200 OK"},
    {"GET /moved HTTP/1.1\r\nHost: a\r\nCookie: c=1; d=2\r\n" AGENT, "/moved agent=x cookie=1",
     "Set-Cookie: c=1"},
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n" AGENT "x", NULL, "405"},
    {"DELETE / HTTP/1.1\r\nHost: a\r\n" AGENT, NULL, "405"},
    {"GET passwd HTTP/1.1\r\nHost: a\r\n" AGENT, NULL, "400"},
    {"GET / HTTP/9.9\r\nHost: a\r\n" AGENT, NULL, NULL},
    {"\r\n\r\n", NULL, NULL},
    {"nonsense", NULL, NULL},
    {"", NULL, NULL},
};
/* clang-format on */

static void test_rows(void **state) {
    seen s = {0};
    hone_http *http = NULL;
    hone_str out = {0};
    (void)state;
    HONE_ASSERT_OK(hone_http_open("127.0.0.1:0", handle, &s, &http));
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        int before = s.count;
        const char *got = ask(http, rows[i].request, &out);
        assert_int_equal(s.count - before, rows[i].said != NULL);
        if (rows[i].said) assert_string_equal(hone_str_text(&s.said), rows[i].said);
        if (rows[i].answer) assert_non_null(strstr(got, rows[i].answer));
    }
    hone_http_close(http);
    hone_str_deinit(&s.said);
    hone_str_deinit(&out);
}

static void test_long_paths(void **state) {
    static const struct {
        size_t length;
        const char *answer;
    } lengths[] = {
        {HONE_HTTP_MAX_PATH,     "200"},
        {HONE_HTTP_MAX_PATH + 1, "414"},
        {20000,                  "414"},
        {1 << 20,                NULL },
    };
    seen s = {0};
    hone_http *http = NULL;
    (void)state;
    HONE_ASSERT_OK(hone_http_open("127.0.0.1:0", handle, &s, &http));
    for (size_t i = 0; i < HONE_COUNT(lengths); i++) {
        hone_str request = {0}, out = {0};
        hone_str_append(&request, "GET /");
        for (size_t k = 1; k < lengths[i].length; k++)
            hone_str_append_char(&request, 'a');
        hone_str_append(&request, " HTTP/1.1\r\nHost: a\r\n" AGENT);
        talk(http, request.data, request.length, &out);
        if (lengths[i].answer) assert_non_null(strstr(hone_str_text(&out), lengths[i].answer));
        hone_str_deinit(&request);
        hone_str_deinit(&out);
    }
    assert_int_equal(s.count, 1);
    hone_http_close(http);
    hone_str_deinit(&s.said);
}

/* Good requests with some bytes changed, doubled or cut off; then one that is good. */
static void test_noise(void **state) {
    static const char good[] = "GET /record/12?q=1 HTTP/1.1\r\nHost: a\r\nCookie: c=1\r\n" AGENT;
    seen s = {0};
    hone_http *http = NULL;
    hone_str out = {0};
    hone_rng rng = hone_test_rng(11);
    (void)state;
    HONE_ASSERT_OK(hone_http_open("127.0.0.1:0", handle, &s, &http));
    for (uint64_t i = 0, n = hone_test_count(400); i < n; i++) {
        char bytes[sizeof good];
        memcpy(bytes, good, sizeof good);
        for (uint64_t k = hone_rng_below(&rng, 4) + 1; k--;)
            bytes[hone_rng_below(&rng, sizeof good - 1)] = (char)hone_rng_below(&rng, 256);
        hone_str_clear(&out);
        talk(http, bytes, hone_rng_below(&rng, sizeof good), &out);
    }
    assert_non_null(strstr(ask(http, rows[0].request, &out), "200 OK"));
    hone_http_close(http);
    hone_str_deinit(&s.said);
    hone_str_deinit(&out);
}

/* Who connects and says nothing keeps nobody else out. */
static void test_silent_clients(void **state) {
    enum { SILENT = 40 };
    int fds[SILENT];
    seen s = {0};
    hone_http *http = NULL;
    hone_str out = {0};
    (void)state;
    HONE_ASSERT_OK(hone_http_open("127.0.0.1:0", handle, &s, &http));
    for (int i = 0; i < SILENT; i++)
        fds[i] = dial(http);
    assert_non_null(strstr(ask(http, rows[0].request, &out), "200 OK"));
    for (int i = 0; i < SILENT; i++)
        close(fds[i]);
    hone_http_close(http);
    hone_str_deinit(&s.said);
    hone_str_deinit(&out);
}

static void test_addresses(void **state) {
    static const struct {
        const char *text;
        bool is_good, is_loopback;
    } addresses[] = {
        {"127.0.0.1:80",    true,  true },
        {"127.9.9.9:80",    true,  true },
        {"[::1]:80",        true,  true },
        {"0.0.0.0:80",      true,  false},
        {"192.168.1.1:80",  true,  false},
        {"[::]:80",         true,  false},
        {"127.0.0.1",       false, false},
        {"localhost:80",    false, false},
        {"127.0.0.1:x",     false, false},
        {"127.0.0.1:-1",    false, false},
        {"127.0.0.1:70000", false, false},
        {":80",             false, false},
        {"",                false, false},
    };
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(addresses); i++) {
        assert_int_equal(hone_http_is_loopback(addresses[i].text), addresses[i].is_loopback);
        if (addresses[i].is_good) continue;
        hone_http *http = NULL;
        seen s = {0};
        HONE_ASSERT_CODE(hone_http_open(addresses[i].text, handle, &s, &http), HONE_CODE_INVALID);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_noise),     cmocka_unit_test(test_silent_clients),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
