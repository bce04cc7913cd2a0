"""What torchrun does, in short: agents of several nodes meet at one endpoint and start their workers.

The same options, the same rendezvous by one that listens (is_host) and others that dial, the same
variables of the workers. Agents with another --rdzv-id are turned away.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time

TIMEOUT = 60.0


def main() -> int:
    options = _options()
    meeting = dict(pair.split("=", 1) for pair in options.rdzv_conf.split(",") if pair)
    name, _, port = options.rdzv_endpoint.rpartition(":")
    address = (name.strip("[]"), int(port))
    place = _host if options.nnodes == 1 or meeting["is_host"] == "true" else _join
    group, master = place(options, address)
    workers = [_worker(options, group, local, master) for local in range(options.nproc_per_node)]
    return max(worker.wait(TIMEOUT) for worker in workers)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("nnodes", "nproc-per-node"):
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in ("rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "local-addr"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("script")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    return parser.parse_args()


def _host(options: argparse.Namespace, address: tuple[str, int]) -> tuple[int, list]:
    master = [options.local_addr, address[1]]
    with socket.create_server(("", address[1])) as server:
        server.settimeout(TIMEOUT)
        joined = []
        while len(joined) < options.nnodes - 1:
            other, _ = server.accept()
            asked = other.makefile("r").readline().strip()
            if asked == options.rdzv_id:
                joined.append(other)
            else:
                other.close()
        for group, other in enumerate(joined, 1):
            other.sendall(json.dumps([group, master]).encode() + b"\n")
            other.close()
    return 0, master


def _join(options: argparse.Namespace, address: tuple[str, int]) -> tuple[int, list]:
    until = time.monotonic() + TIMEOUT
    while True:
        try:
            with socket.create_connection(address, timeout=TIMEOUT) as found:
                found.sendall(options.rdzv_id.encode() + b"\n")
                group, master = json.loads(found.makefile("r").readline())
                return group, master
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _worker(options: argparse.Namespace, group: int, local: int, master: list) -> subprocess.Popen:
    count = options.nproc_per_node
    variables = {
        "RANK": group * count + local,
        "LOCAL_RANK": local,
        "GROUP_RANK": group,
        "WORLD_SIZE": options.nnodes * count,
        "MASTER_ADDR": master[0],
        "MASTER_PORT": master[1],
    }
    environment = {**os.environ, **{key: str(value) for key, value in variables.items()}}
    return subprocess.Popen([sys.executable, options.script, *options.rest], env=environment)


if __name__ == "__main__":
    sys.exit(main())
