"""A local HTTP server that misbehaves on order; nothing here ever asks the network."""

import hashlib
import http.server
import threading
import time
from dataclasses import dataclass, field

import pytest

from anhelpers.data.manifest import RemoteFile


@dataclass
class Server:
    """What is served, what goes wrong with the next requests, and which requests came."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    # one per request, in order; "" and the rest: none
    faults: list[str] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)  # the Range header of each request
    paths: list[str] = field(default_factory=list)


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        state: Server = self.server.state
        fault = state.faults.pop(0) if state.faults else ""
        asked = self.headers.get("Range")
        state.ranges.append(asked)
        state.paths.append(self.path)
        body = state.files.get(self.path)
        if fault[:3].isdecimal() or body is None:
            return self.refuse(*fault.split(maxsplit=1)) if fault else self.refuse("404")
        start = (
            int(asked.removeprefix("bytes=").rstrip("-")) if asked and fault != "no range" else 0
        )
        if start >= len(body):
            return self.refuse("416")
        self.send_response(206 if start else 200)
        if start:
            self.send_header(
                "Content-Range",
                f"bytes {start + (fault == 'elsewhere')}-{len(body) - 1}/{len(body)}",
            )
        if fault not in ("no length", "endless"):
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        body = body[start:]
        if fault in ("cut", "stall"):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            if fault == "stall":
                self.server.release.wait(5)
        elif fault == "slow":
            for i in range(0, len(body), len(body) // 10):
                self.wfile.write(body[i : i + len(body) // 10])
                time.sleep(0.02)
        elif fault == "endless":
            while True:
                self.wfile.write(body)
        elif fault == "drip":
            for i in range(40):
                self.wfile.write(body[i : i + 1])
                self.wfile.flush()
                time.sleep(0.02)
        elif fault == "wrong":
            self.wfile.write(body[:-1] + b"!")
        else:
            self.wfile.write(body)
        return None

    def refuse(self, code: str, retry_after: str = ""):
        self.send_response(int(code))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args):  # a client that hangs up is what we ask for
        pass


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Quiet(("127.0.0.1", 0), Handler) as http_server:
        http_server.release = threading.Event()
        http_server.state = Server(f"http://127.0.0.1:{http_server.server_port}")
        thread = threading.Thread(target=http_server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield http_server.state
        http_server.release.set()
        http_server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def row_of():
    """The manifest's row for a content."""

    def make(content: bytes, file: str = "set/a.txt") -> RemoteFile:
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        sha256 = hashlib.sha256(content).hexdigest()
        return RemoteFile(
            "xmi", file, "o/r", "c" * 40, file, len(content), blob, sha256, "none stated"
        )

    return make
