"""Starts and controls `fwpcheck serve`, a server of the Faktory Work Protocol for tests."""

import json
import os
import subprocess
import urllib.error
import urllib.request

__all__ = ["Double", "Differences"]


class Differences(AssertionError):
    """What happened is not what verify was told to expect."""


class Double:
    """A server of its own. It serves from the call of start, or from the begin of a with statement, until close.

    extension is what it has beyond the specification ("" for nothing), args are more flags of `fwpcheck serve`, and env sets
    FAKTORY_URL in this process while it serves, and FAKTORY_PROVIDER, which may name another variable, is not set.
    """

    def __init__(self, extension="faktory", args=(), env=False, program=None):
        self.program = program or os.environ.get("FWPCHECK") or "fwpcheck"
        self.args = [self.program, "serve", *(["--extension", extension] if extension else []), *args]
        self.env, self.process, self.url, self.control = env, None, None, None

    def start(self):
        try:
            self.process = subprocess.Popen(self.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.program} is not there: put fwpcheck on the PATH, or its place into FWPCHECK") from None
        ready = self.process.stdout.readline().split()
        if ready[:1] != ["ready"]:
            self.process.communicate()
            raise RuntimeError(f"{' '.join(self.args)} ended with exit code {self.process.returncode}")
        _, self.url, self.control = ready
        if self.env:
            self.before = {name: os.environ.pop(name, None) for name in ("FAKTORY_URL", "FAKTORY_PROVIDER")}
            os.environ["FAKTORY_URL"] = self.url
        return self

    def close(self):
        """Ends the server, and returns what it says about its clients. Calling it again does nothing."""
        if self.process is None:
            return ""
        summary, _ = self.process.communicate()
        self.process = None
        if self.env:
            del os.environ["FAKTORY_URL"]
            os.environ.update({name: value for name, value in self.before.items() if value is not None})
        return summary

    __enter__ = start

    def __exit__(self, *_):
        self.close()

    def ask(self, method, path, body=None):
        """Sends a request to the control, and returns its answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.control + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            answer = json.load(error)
            if error.code == 417:
                raise Differences("\n".join(answer["differences"])) from None
            raise ValueError(answer["error"]) from None

    def jobs(self):
        """Returns the jobs that the server has."""
        return self.ask("GET", "/v1/jobs")

    def push(self, *jobs):
        """Pushes jobs, and returns their ids."""
        return self.ask("POST", "/v1/jobs", list(jobs))["jids"]

    def journal(self):
        """Returns what clients did."""
        return self.ask("GET", "/v1/journal")

    def verify(self, **expected):
        """Raises Differences unless clients did what is expected: pushed, fetched, acknowledged, failed, timeout ..."""
        self.ask("POST", "/v1/verify", expected)

    def stub(self, verb, **stub):
        """Has the server answer commands otherwise: reply, delay, close, times, worker, jid, jobtype."""
        self.ask("POST", "/v1/stubs", {"verb": verb, **stub})

    def advance(self, by):
        """Sets the clock forward: "30m"."""
        self.ask("POST", "/v1/clock", {"advance": by})

    def set_clock(self, to):
        """Sets the clock forward to an instant, a datetime with a time zone."""
        self.ask("POST", "/v1/clock", {"set": to.isoformat()})

    def quiet(self, worker=""):
        self.ask("POST", "/v1/quiet", {"worker": worker})

    def terminate(self, worker=""):
        self.ask("POST", "/v1/terminate", {"worker": worker})

    def reset(self):
        """Removes jobs, signals, stubs, planted bugs and the journal."""
        self.ask("POST", "/v1/reset")


try:
    import pytest
except ImportError:
    pass
else:

    @pytest.fixture
    def faktory_double():
        """A server with what Faktory adds, with its URL in FAKTORY_URL."""
        with Double(env=True) as double:
            yield double
