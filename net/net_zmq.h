/* net/net_zmq.h - endpoints of net.h over TCP: ZeroMQ's ROUTER and DEALER with CURVE and ZAP.
 *
 * Refused (UNSUPPORTED) with a libzmq that has no CURVE, unless insecure. An endpoint has its own
 * ZeroMQ context, thus one thread of its own for the sockets.
 */
#ifndef HONE_NET_NET_ZMQ_H
#define HONE_NET_NET_ZMQ_H

#include "net/net.h"

/* INVALID: the address, or insecure elsewhere than on loopback. UNAVAILABLE: somebody listens there
 * already, or the address is not one of this machine. UNSUPPORTED. Copies what options point to,
 * but for log and allow_context. */
HONE_NODISCARD hone_status hone_net_zmq_listen(const hone_net_server_options *options,
                                               hone_net **out_net);

/* Begins to connect; does not wait for it. INVALID, UNSUPPORTED. */
HONE_NODISCARD hone_status hone_net_zmq_connect(const hone_net_client_options *options,
                                                hone_net **out_net);

#endif
