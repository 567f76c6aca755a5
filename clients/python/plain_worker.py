"""A whole worker of the Faktory Work Protocol in Python alone, with the job types of docs/judging-workers.md.

    fwpcheck worker -- python3 plain_worker.py

It needs no package, and passes every check. Copy it to start a library, or compare what it sends with your own.
"""

import hashlib
import json
import os
import queue
import signal
import socket
import ssl
import sys
import threading
import time
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote, urlparse

URL = urlparse(os.environ[os.environ.get("FAKTORY_PROVIDER") or "FAKTORY_URL"])
QUEUES = os.environ.get("FWP_QUEUES", "default").split(",")
CONCURRENCY = int(os.environ.get("FWP_CONCURRENCY", "10"))
ME = {"hostname": socket.gethostname(), "wid": uuid.uuid4().hex, "pid": os.getpid(), "labels": ["python"]}


class Refused(Exception):
    """An error reply. The connection stays usable."""


class Conn:
    """One connection: one command at a time, from the write to the end of the reply."""

    def __init__(self, hello):
        self.lock, self.open = threading.Lock(), True
        self.socket = socket.create_connection((URL.hostname, URL.port or 7419), timeout=10)
        if URL.scheme == "tcp+tls":
            self.socket = ssl.create_default_context().wrap_socket(self.socket, server_hostname=URL.hostname)
        self.file = self.socket.makefile("rb")
        try:
            hi = json.loads(self.reply().removeprefix("HI "))
            if "s" in hi:
                digest = (unquote(URL.password or "") + hi["s"]).encode()
                for _ in range(hi.get("i", 1)):
                    digest = hashlib.sha256(digest).digest()
                hello = hello | {"pwdhash": digest.hex()}
            self.command("HELLO", hello | {"v": 2})
        except Exception:
            self.close()
            raise

    def command(self, verb, argument=None):
        if argument is not None and not isinstance(argument, str):
            argument = json.dumps(argument)
        with self.lock:
            if not self.open:
                raise ConnectionError("the connection is closed")
            try:
                self.socket.sendall(f"{verb} {argument}\r\n".encode() if argument else f"{verb}\r\n".encode())
                return self.reply()
            except Refused:
                raise
            except Exception:
                self.close()
                raise

    def reply(self):
        line = self.line()
        kind, text = line[:1], line[1:].decode()
        if kind == b"-":
            raise Refused(text)
        if kind != b"$":
            return text
        if text == "-1":
            return None
        body = self.read(int(text) + 2)  # bytes, not characters
        return body[:-2].decode()

    def line(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        return line[:-2]

    def read(self, size):
        data = self.file.read(size)
        if len(data) < size:
            raise ConnectionError("the server closed the connection")
        return data

    def end(self):
        """Sends END and closes, unless a command is under way."""
        if self.lock.acquire(timeout=3):
            try:
                if self.open:
                    self.socket.sendall(b"END\r\n")
                    self.file.readline()
            except OSError:
                pass
            finally:
                self.close()
                self.lock.release()

    def close(self):
        self.open = False
        self.file.close()
        self.socket.close()


class Link:
    """A connection that is opened again when it is lost, for as long as the process lives."""

    def __init__(self):
        self.conn, self.pause = None, 0.1

    def command(self, verb, argument=None):
        while True:
            try:
                if self.conn is None or not self.conn.open:
                    self.conn = Conn(ME)
                    self.pause = 0.1
                if verb == "FETCH" and state.name:  # it became quiet while the server was away
                    return None
                return self.conn.command(verb, argument)
            except Refused:
                if self.conn is not None and self.conn.open:
                    raise
            except (OSError, ValueError):
                pass
            if state.leaving():
                raise ConnectionError("the server is away")
            time.sleep(self.pause)  # longer and longer, up to 5 s
            self.pause = min(2 * self.pause, 5)


class State:
    """Running, quiet or terminate: of the process, not of a connection. It never goes back."""

    def __init__(self):
        self.name, self.since = "", None

    def set(self, name):
        if self.name == "terminate" or name not in ("quiet", "terminate"):
            return
        self.name = name
        if name == "terminate":
            self.since = time.monotonic()

    def leaving(self):
        return self.since is not None and time.monotonic() > self.since + 25


state = State()
orders = queue.SimpleQueue()  # a signal handler may put there; an Event's lock may be held by the thread that it interrupts
jobs = {}  # jid -> job: fetched, and not reported
links = [Link() for _ in range(CONCURRENCY + 1)]  # the last one is for BEAT


def report(link, jid, error=None):
    """Sends one ACK or FAIL for a job. An error reply is logged: it is no error of the job."""
    if jobs.pop(jid, None) is None:
        return  # the main thread has sent a FAIL for it
    try:
        if error is None:
            link.command("ACK", {"jid": jid})
        else:
            trace = traceback.format_tb(error.__traceback__)
            link.command("FAIL", {"jid": jid, "errtype": type(error).__name__, "message": str(error), "backtrace": trace})
    except (Refused, ConnectionError) as e:
        print(f"{jid} is not reported: {e}", file=sys.stderr)


def work(link):
    while not state.name:
        try:
            text = link.command("FETCH", " ".join(QUEUES))
        except (Refused, ConnectionError) as e:
            print(f"FETCH: {e}", file=sys.stderr)
            time.sleep(0.5)
            continue
        if text is None:
            continue
        job = json.loads(text)
        jobs[job["jid"]] = job
        try:
            types[job["jobtype"]](*job["args"])
            error = None
        except BaseException as e:  # SystemExit too: it would end this thread
            error = e
        report(link, job["jid"], error)
    if link.conn is not None and state.name == "terminate":
        link.conn.end()


def main():
    signal.signal(signal.SIGTERM, lambda *_: orders.put("terminate"))
    signal.signal(signal.SIGINT, lambda *_: orders.put("terminate"))
    signal.signal(signal.SIGTSTP, lambda *_: orders.put("quiet"))
    executors = [threading.Thread(target=work, args=(link,), daemon=True) for link in links[:-1]]
    for executor in executors:
        executor.start()
    threading.Thread(target=beat, daemon=True).start()
    while state.name != "terminate":
        state.set(orders.get())
    while any(e.is_alive() for e in executors) and not state.leaving():
        time.sleep(0.05)
    for jid in list(jobs):
        report(links[-1], jid, TimeoutError("the worker has ended"))
    for link in links:
        if link.conn is not None:
            link.conn.end()
    os._exit(0)  # threads may still run jobs


def beat():
    while True:
        try:
            answer = links[-1].command("BEAT", {"wid": ME["wid"]} | ({"current_state": state.name} if state.name else {}))
            if answer != "OK":
                orders.put(json.loads(answer).get("state"))
        except (Refused, ConnectionError, ValueError) as e:
            print(f"BEAT: {e}", file=sys.stderr)
        time.sleep(15)


def fail(message="fwp.fail"):
    raise Exception(message)


def echo(*args):
    raise Exception(json.dumps(args))


def block(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def push(*some):
    waiting = queue.SimpleQueue()
    for job in some:
        waiting.put(job)

    def pusher():
        conn = Conn({})
        try:
            while True:
                conn.command("PUSH", waiting.get_nowait())
        except queue.Empty:
            conn.end()

    with ThreadPoolExecutor(8) as pool:
        for result in [pool.submit(pusher) for _ in range(min(8, len(some)))]:
            result.result()


types = {
    "fwp.ok": lambda *args: None,
    "fwp.fail": fail,
    "fwp.sleep": time.sleep,
    "fwp.echo": echo,
    "fwp.crash": lambda: os._exit(1),
    "fwp.exit": lambda: sys.exit("fwp.exit"),
    "fwp.block": block,
    "fwp.push": push,
}

if __name__ == "__main__":
    main()
