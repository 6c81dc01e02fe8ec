"""The other side of bench_farm: a trial through TVM's tracker and RPC server on loopback.

peer_farm.py COUNT prints "P50 P99", the milliseconds of: ask the tracker for a session, upload a
library of 16 KiB, load it, call a function that does nothing.
"""
import os
import socket
import subprocess
import sys
import tempfile
import time

import tvm
from tvm import rpc

SOURCE = """
#include <tvm/ffi/c_api.h>
int __tvm_ffi_nothing(void* h, const TVMFFIAny* args, int32_t n, TVMFFIAny* ret) { return 0; }
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def build(directory):
    import tvm_ffi

    source, library = os.path.join(directory, "f.c"), os.path.join(directory, "f.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(SOURCE)
    include = tvm_ffi.libinfo.include_paths() if hasattr(tvm_ffi.libinfo, "include_paths") else [
        tvm_ffi.libinfo.find_include_path(), tvm_ffi.libinfo.find_dlpack_include_path()]
    subprocess.check_call(["cc", "-shared", "-fPIC", "-o", library, source] +
                          [f"-I{path}" for path in include])
    return library


def connect(port, patience=60):
    end = time.time() + patience
    while True:
        try:
            tracker = rpc.connect_tracker("127.0.0.1", port)
            if tracker.summary()["queue_info"].get("bench", {}).get("free", 0):
                return tracker
        except Exception:  # not up yet
            if time.time() > end:
                raise
        time.sleep(0.2)


def trial(tracker, library, number):
    name = f"f{number}.so"
    start = time.perf_counter()
    session = tracker.request("bench", session_timeout=60)
    session.upload(library, target=name)
    session.load_module(name)["nothing"]()
    took = time.perf_counter() - start
    del session
    return took * 1000


def main():
    count, port = int(sys.argv[1]), free_port()
    servers = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            for words in (["tvm.exec.rpc_tracker", "--host", "127.0.0.1", "--port", str(port),
                           "--port-end", str(port + 1)],
                          ["tvm.exec.rpc_server", "--host", "127.0.0.1", "--tracker",
                           f"127.0.0.1:{port}", "--key", "bench"]):
                servers.append(subprocess.Popen([sys.executable, "-m", *words],
                                                stdout=subprocess.DEVNULL,
                                                stderr=subprocess.DEVNULL, cwd=directory))
            library, tracker = build(directory), connect(port)
            took = sorted([trial(tracker, library, i) for i in range(count + 3)][3:])
        finally:
            for server in servers:
                server.terminate()
                server.wait()
    print(took[len(took) // 2], took[min(len(took) - 1, int(len(took) * 0.99))])


if __name__ == "__main__":
    main()
