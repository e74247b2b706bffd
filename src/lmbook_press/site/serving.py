"""A small web server for a built site, compressed as a real host would send it; for tests and measurements."""

import gzip
import mimetypes
import re
import threading
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".woff2": "font/woff2", ".ipynb": "application/json"}
COMPRESSED = ("text/", "application/json", "image/svg")


@cache
def _payload(file: Path, changed: float, fonts: bool) -> tuple[str, bytes, bool]:
    kind = TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    data = file.read_bytes()
    if fonts and file.suffix == ".css":
        data = re.sub(rb"font-display:\s*optional", b"font-display: block", data)
    small = kind.startswith(COMPRESSED)
    return kind, gzip.compress(data, 6, mtime=0) if small else data, small


@contextmanager
def serve(folder: Path, under: str = "some/folder/", fonts: bool = False):
    """Serves `folder` at http://127.0.0.1:PORT/UNDER and yields (address, sent).

    `under` is a subfolder, because a site that works there works anywhere; all other paths are 404.
    `sent` is a list that grows with every answer: (path below the folder, bytes of its body, status).
    fonts: a page waits for its fonts. As the site has it, a font that comes late is left out until the next page, so
    that words would stand elsewhere on a busy machine.
    """
    sent: list[tuple[str, int, int]] = []
    root = Path(folder).resolve()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            path = unquote(urlsplit(self.path).path).removeprefix("/" + under)
            file = (root / path).resolve()
            if file.is_dir():
                file /= "index.html"
            found = unquote(self.path).startswith("/" + under) and file.is_file() and file.is_relative_to(root)
            nothing = "text/plain", b"not here", False
            kind, data, small = _payload(file, file.stat().st_mtime, fonts) if found else nothing
            sent.append((path, len(data), 200 if found else 404))
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", kind + ("; charset=utf-8" if kind.startswith("text/") else ""))
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Access-Control-Allow-Origin", "*")  # as GitHub Pages says; a frame in a sandbox needs it
            if small:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{under}", sent
    finally:
        server.shutdown()
        server.server_close()
