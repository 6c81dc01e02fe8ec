#!/usr/bin/env python3
"""A bad network: flaky_proxy.py PORT TARGET_PORT SEED, both on 127.0.0.1.

Carries TCP connections and delays, stalls, swallows, damages and cuts them, or takes none for a
while. A line on standard input changes the weather: "storm" (as at first), "calm" (it only
carries) or "bits" (of what it carries some are turned over). It ends with its standard input, and
says how many bits it turned over."""
import asyncio
import contextlib
import os
import random
import sys


class Proxy:
    def __init__(self, port, target, seed):
        self.port, self.target, self.rng = port, target, random.Random(seed)
        self.is_calm = self.has_bits = False
        self.flipped = 0
        self.closed_until = 0.0

    def is_closed(self):
        return not self.is_calm and asyncio.get_running_loop().time() < self.closed_until

    async def serve(self):
        server = await asyncio.start_server(self.carry, "127.0.0.1", self.port)
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        async with server:
            while line := await reader.readline():
                self.is_calm = line.strip() in (b"calm", b"bits")
                self.has_bits = line.strip() == b"bits"
            print(self.flipped, flush=True)
            os._exit(0)  # with all connections as they are

    async def carry(self, reader, writer):
        link = Link(self, writer)
        try:
            if self.is_closed():
                return
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self.target)
            link.writers.append(to_writer)
            tasks = [asyncio.create_task(work) for work in (
                link.pump(reader, to_writer), link.pump(to_reader, writer), link.suffer())]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        except OSError:
            pass
        finally:
            link.cut()


class Link:
    """A connection of two sides."""

    def __init__(self, proxy, writer):
        self.proxy, self.writers = proxy, [writer]
        self.stalled_until, self.swallows, self.damages = 0.0, False, False

    def cut(self):
        for writer in self.writers:
            with contextlib.suppress(OSError, AttributeError):
                writer.transport.abort()

    async def suffer(self):
        """One mishap after the other; the end of it is the end of the connection."""
        rng, loop = self.proxy.rng, asyncio.get_running_loop()
        while True:
            await asyncio.sleep(rng.uniform(0.5, 6))
            if self.proxy.is_calm:
                continue
            what = rng.choice(("cut", "stall", "stall", "swallow", "damage", "close"))
            if what == "cut":
                return
            if what == "stall":
                self.stalled_until = loop.time() + rng.uniform(0.1, 3)
            elif what == "swallow":
                self.swallows = True
                await asyncio.sleep(rng.uniform(0.5, 4))
                return
            elif what == "damage":
                self.damages = True
            else:
                self.proxy.closed_until = loop.time() + rng.uniform(0.1, 2)
                return

    def flip_bits(self, data):
        rng = self.proxy.rng
        for _ in range(rng.choice((1, 1, 2, 5))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            self.proxy.flipped += 1
        return bytes(data)

    async def pump(self, reader, writer):
        rng, loop = self.proxy.rng, asyncio.get_running_loop()
        while data := await reader.read(1 << 16):
            if not self.proxy.is_calm:
                await asyncio.sleep(rng.uniform(0, 0.02))
                while loop.time() < self.stalled_until:
                    await asyncio.sleep(0.05)
            if self.swallows:
                continue
            if self.proxy.has_bits and rng.random() < 0.1:
                data = self.flip_bits(bytearray(data))
            if self.damages:
                self.damages = False
                at = rng.randrange(len(data))
                data = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1:]
            writer.write(data)
            await writer.drain()


if __name__ == "__main__":
    asyncio.run(Proxy(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])).serve())
