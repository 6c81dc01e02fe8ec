/* bench/bench_peer.h - a peer in a Python process of its own, asked by lines of text.
 *
 * The script reads lines from its standard input and answers each with one line ("error …" when it
 * could not); it ends with the input.
 */
#ifndef HONE_BENCH_BENCH_PEER_H
#define HONE_BENCH_BENCH_PEER_H

#include <stdbool.h>

#include "support/os/proc.h"

enum { BENCH_PEER_LINE = 512 };

typedef struct bench_peer {
    hone_proc proc;
    int to, from;
    bool is_there;
} bench_peer;

/* Runs bench/SCRIPT with the Python of build/peers; is_there stays false when that is not
 * installed. */
void bench_peer_start(bench_peer *peer, const char *script);
void bench_peer_stop(bench_peer *peer);
/* One line (its end included) there and one back, without its end. False when the peer has ended:
 * it is stopped then. */
bool bench_peer_ask(bench_peer *peer, const char *line, char out[BENCH_PEER_LINE]);

#endif
