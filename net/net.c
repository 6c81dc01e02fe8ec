/* net/net.c - see net.h: checks arguments, clears outputs and counts, so that no implementation has
 * to. */
#include "net/net.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "net/net_impl.h"
#include "support/core/alloc.h"

/* ---- addresses ---- */

typedef struct net_host {
    const char *text; /* without brackets */
    size_t length;
    bool is_ipv6;
    const char *port;
} net_host;

static bool split_address(const char *address, net_host *out_host) {
    static const char scheme[] = "tcp://";
    if (strncmp(address, scheme, sizeof scheme - 1) != 0) return false;
    const char *host = address + sizeof scheme - 1;
    const char *colon = strrchr(host, ':');
    if (!colon || colon == host) return false;
    *out_host = (net_host){.text = host, .length = (size_t)(colon - host), .port = colon + 1};
    if (*host == '[') {
        if (colon[-1] != ']') return false;
        out_host->is_ipv6 = true;
        out_host->text++;
        out_host->length -= 2;
    }
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const char *allowed = out_host->is_ipv6 ? "0123456789abcdefABCDEF:.%" : letters;
    if (out_host->length == 1 && *out_host->text == '*') return true;
    return out_host->length > 0 && strspn(out_host->text, allowed) >= out_host->length;
}

static bool is_port(const char *text, bool is_server) {
    if (is_server && strcmp(text, "*") == 0) return true;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits]) return false;
    long port = strtol(text, NULL, 10);
    return port >= 1 && port <= 65535;
}

hone_status hone_net_check_address(const char *address, bool is_server) {
    net_host host;
    if (!address || !split_address(address, &host) || !is_port(host.port, is_server) ||
        (!is_server && *host.text == '*')) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "address '%s' is none: expected tcp://HOST:PORT, tcp://192.0.2.1:PORT or "
                          "tcp://[2001:db8::1]:PORT with a port from 1 to 65535",
                          address ? address : "");
    }
    return HONE_OK;
}

/* "tcp://127.0.0.1:9190": a loopback address (127.0.0.0/8, ::1, localhost)? */
static bool is_loopback(const char *address) {
    net_host host;
    if (!split_address(address, &host)) return false;
    if (host.is_ipv6) return host.length == 3 && memcmp(host.text, "::1", 3) == 0;
    if (host.length == 9 && memcmp(host.text, "localhost", 9) == 0) return true;
    /* four numbers that begin with 127; a name like 127.evil.example is none */
    return host.length > 4 && memcmp(host.text, "127.", 4) == 0 &&
           strspn(host.text, "0123456789.") >= host.length;
}

/* ---- what implementations share ---- */

static hone_status check_common(const char *address, bool is_server, bool is_insecure) {
    HONE_TRY(hone_net_check_address(address, is_server));
    if (is_insecure && !is_loopback(address)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "address '%s': insecure connections are for loopback addresses only "
                          "(127.0.0.1, [::1]); use keys",
                          address);
    }
    return HONE_OK;
}

hone_status hone_net_check_server(const hone_net_server_options *options) {
    HONE_TRY(check_common(options->address, true, options->is_insecure));
    if (!options->is_insecure && hone_key_is_zero(&options->keys.secret_key)) {
        return HONE_ERROR(HONE_CODE_INVALID, "a server needs a key pair");
    }
    return HONE_OK;
}

hone_status hone_net_check_client(const hone_net_client_options *options) {
    HONE_TRY(check_common(options->address, false, options->is_insecure));
    if (options->is_insecure) return HONE_OK;
    if (hone_key_is_zero(&options->keys.secret_key)) {
        return HONE_ERROR(HONE_CODE_INVALID, "a client needs a key pair");
    }
    if (hone_key_is_zero(&options->server_key)) {
        return HONE_ERROR(HONE_CODE_INVALID, "a client needs the public key of its server");
    }
    return HONE_OK;
}

hone_status hone_net_init(hone_net *net, const hone_net_vtable *vtable, const hone_clock *clock,
                          const char *address, size_t max_frame_bytes, int32_t queue_frames) {
    *net = (hone_net){
        .vtable = vtable,
        .clock = clock,
        .address = hone_strdup(address),
        .max_frame_bytes = max_frame_bytes ? max_frame_bytes : HONE_NET_DEFAULT_MAX_FRAME_BYTES,
        .queue_frames = queue_frames > 0 ? queue_frames : HONE_NET_DEFAULT_QUEUE_FRAMES,
    };
    return net->address ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "network endpoint");
}

void net_backoff_init(net_backoff *backoff, const hone_net_client_options *options) {
    backoff->min_ns =
        options->reconnect_min_ns > 0 ? options->reconnect_min_ns : 100 * HONE_NS_PER_MS;
    backoff->max_ns = options->reconnect_max_ns > 0 ? options->reconnect_max_ns : 2 * HONE_NS_PER_S;
    if (backoff->max_ns < backoff->min_ns) backoff->max_ns = backoff->min_ns;
    backoff->next_ns = backoff->min_ns;
}

void net_backoff_reset(net_backoff *backoff) {
    backoff->next_ns = backoff->min_ns;
}

int64_t net_backoff_pause(net_backoff *backoff, uint64_t random) {
    int64_t step = backoff->next_ns;
    backoff->next_ns = step > backoff->max_ns / 2 ? backoff->max_ns : 2 * step;
    int64_t half = step / 2;
    return half + (int64_t)(random % (uint64_t)(step - half + 1));
}

/* ---- the dispatcher ---- */

static void count_event(hone_net_stats *stats, const hone_net_event *event) {
    switch (event->kind) {
    case HONE_NET_OPENED:
        stats->peers++;
        break;
    case HONE_NET_CLOSED:
        stats->peers--;
        break;
    case HONE_NET_MESSAGE:
        stats->frames_in++;
        stats->bytes_in += event->count;
        break;
    case HONE_NET_FAILED:
        break;
    }
}

hone_status hone_net_recv(hone_net *net, int64_t deadline_ns, hone_net_event *out_event) {
    assert(net && out_event);
    *out_event = (hone_net_event){.address = ""};
    hone_status st = net->vtable->recv(net, deadline_ns, out_event);
    if (!st) count_event(&net->stats, out_event);
    return st;
}

hone_status hone_net_send(hone_net *net, hone_net_peer peer, const void *bytes, size_t count) {
    assert(net && (bytes || !count));
    if (count == 0) return HONE_ERROR(HONE_CODE_INVALID, "a frame has at least one byte");
    if (count > net->max_frame_bytes) {
        return HONE_ERROR(HONE_CODE_INVALID, "a frame of %zu bytes is larger than the limit of %zu",
                          count, net->max_frame_bytes);
    }
    HONE_TRY(net->vtable->send(net, peer, bytes, count));
    net->stats.frames_out++;
    net->stats.bytes_out += count;
    return HONE_OK;
}

void hone_net_close_peer(hone_net *net, hone_net_peer peer) {
    assert(net);
    if (net->vtable->close_peer(net, peer)) net->stats.peers--;
}

int hone_net_fd(const hone_net *net) {
    return net->vtable->fd(net);
}

const hone_clock *hone_net_clock(const hone_net *net) {
    return net->clock;
}

const char *hone_net_address(const hone_net *net) {
    return net->address;
}

size_t hone_net_max_frame_bytes(const hone_net *net) {
    return net->max_frame_bytes;
}

hone_net_stats hone_net_get_stats(const hone_net *net) {
    return net->stats;
}

const char *hone_net_reason_text(hone_net_reason reason) {
    switch (reason) {
    case HONE_NET_LOST:
        return "the connection was lost";
    case HONE_NET_NOBODY:
        return "nobody answers there";
    case HONE_NET_KEY_REFUSED:
        return "this key is not allowed there";
    case HONE_NET_BAD_PEER:
        return "the other side broke off; does it have the expected key?";
    case HONE_NET_SILENT:
        return "somebody is there, but does not answer; is it stopped, or no tracker?";
    }
    return "?";
}

void hone_net_destroy(hone_net *net) {
    if (!net) return;
    char *address = net->address;
    net->vtable->destroy(net);
    hone_free(address);
}
