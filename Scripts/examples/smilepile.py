"""A client of SmilePile's socket, of the standard library alone: copy it beside a script of yours.

    import smilepile

    with smilepile.connect() as library:
        for photo in library.pages("photo.search", "photos", text="beach"):
            print(photo["id"], photo["name"])

What can be called, with which parameters, says `smilepile call rpc.discover`. A library is used by one thread at a time.
"""

import io
import itertools
import json
import os
import socket


class Refused(Exception):
    """What the daemon refused, or could not do: its message says what to do next.

    `status` is one of gRPC's names: invalid_argument, not_found, permission_denied, resource_exhausted and others.
    """

    def __init__(self, error):
        super().__init__(error.get("message", ""))
        data = error.get("data") or {}
        self.code = error.get("code")
        self.status = data.get("status")
        self.retryable = bool(data.get("retryable"))
        self.data = data


def socket_path():
    """Where the daemon listens unless it was told otherwise."""
    if path := os.environ.get("SMILEPILE_SOCKET"):
        return path
    folder = os.environ.get("XDG_RUNTIME_DIR")
    return os.path.join(folder, "smilepile", "control.sock") if folder else "/run/smilepile/control.sock"


def connect(path=None):
    """The library behind a socket. Raises OSError where no daemon listens: start it with `smilepile up`."""
    return Library(path or socket_path())


class Library:
    """A connection. Use it in a `with`, or close it."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._ids = itertools.count(1)
        self._rest = b""
        self._files = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for descriptor in self._files:
            os.close(descriptor)
        self._files.clear()
        self._socket.close()

    def call(self, method, **params):
        """Sends a message and returns its result. Raises Refused."""
        return self._call(method, params)[0]

    def open(self, photo, file="photo"):
        """A photo's file, opened for reading: `thumbnail`, `preview`, `photo`, `original` or `film`.

        The daemon hands it over open, so that no path is needed and nothing moves it away meanwhile. The film of a photo that
        moves stands within its original, and is read from there: a few seconds, into memory.
        """
        result, files = self._call("photo.open", {"id": photo, "file": file}, wants_files=True)
        opened = os.fdopen(files[result["content"]], "rb")
        if "offset" not in result:
            return opened
        with opened:
            opened.seek(result["offset"])
            return io.BytesIO(opened.read(result["size"]))

    def pages(self, method, field, **params):
        """Every element of a list that comes in pages, such as those of `photo.search`."""
        while True:
            page = self.call(method, **params)
            yield from page[field]
            if not page.get("next"):
                return
            params["after"] = page["next"]

    def observe(self, method, **params):
        """Values as they change, the present one first: `photo.observe`, `job.observe`, `job.watch` and others.

        Ends with the daemon's last word, if there is one. While it runs, this connection does nothing else; leaving the loop
        closes it.
        """
        request = self._send(method, params)
        done = False
        try:
            for message, _ in self._messages():
                if message.get("id") == request:
                    done = True
                    self._result(message)
                    return
                if message.get("params", {}).get("request") == request:
                    yield message["params"]["value"]
        finally:
            if not done:
                self.close()

    def wait(self, job):
        """Waits for the end of a job and returns it. Raises Refused where it failed."""
        ended = self.call("job.wait", job=job)
        if ended["state"] == "failed":
            error = ended.get("error", {})
            raise Refused({"message": error.get("message", "It failed."), "data": {"status": error.get("status")}})
        return ended

    def _call(self, method, params, wants_files=False):
        request = self._send(method, params, wants_files)
        for message, files in self._messages():
            if message.get("id") == request:
                return self._result(message), files
        raise AssertionError("the stream of messages does not end")

    def _send(self, method, params, wants_files=False):
        request = next(self._ids)
        line = {"jsonrpc": "2.0", "id": request, "method": method, "params": params}
        if wants_files:
            line["descriptors"] = True
        self._socket.sendall(json.dumps(line).encode() + b"\n")
        return request

    @staticmethod
    def _result(message):
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def _messages(self):
        """What comes, a line each, with the open files that came with it."""
        while True:
            while (end := self._rest.find(b"\n")) < 0:
                data, files, _, _ = socket.recv_fds(self._socket, 1 << 16, 8, socket.MSG_CMSG_CLOEXEC)
                self._files += files
                if not data:
                    raise ConnectionError("The daemon has ended. Start it with: smilepile up")
                self._rest += data
            line, self._rest = self._rest[:end], self._rest[end + 1 :]
            message = json.loads(line)
            count = message.get("descriptors", 0)
            files, self._files = self._files[:count], self._files[count:]
            yield message, files
