"""Starts and controls `fwpcheck serve`, a server of the Faktory Work Protocol for tests."""

import datetime
import json
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request

__all__ = ["Double", "Differences"]


_EVERYTHING = object()  # not None, with which a variable that was not set would remove the jobs of all


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

    def close(self, timeout=30):
        """Ends the server, and returns what it says about its clients. Calling it again does nothing.

        A server that does not end in timeout seconds is killed: RuntimeError.
        """
        if self.process is None:
            return ""
        process, self.process = self.process, None
        if self.env:
            del os.environ["FAKTORY_URL"]
            os.environ.update({name: value for name, value in self.before.items() if value is not None})
        process.stdin.close()
        process.stdin = None  # communicate would write to it
        if os.name == "posix":  # a process that a test has forked has the pipe open still
            process.terminate()
        try:
            return process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise RuntimeError(f"{' '.join(self.args)} did not end in {timeout} s, and was killed") from None

    __enter__ = start

    def __exit__(self, *_):
        self.close()

    def ask(self, method, path, body=None, query=None):
        """Sends a request to the control, and returns its answer. A datetime in the body must have a time zone."""
        data = None if body is None else json.dumps(body, default=_to_json).encode()
        url = self.control + path + ("?" + urllib.parse.urlencode(query) if query else "")
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            answer = json.load(error)
            if error.code == 417:
                raise Differences("\n".join(answer["differences"])) from None
            raise ValueError(answer["error"]) from None

    def jobs(self, queue=None):
        """Returns the jobs that the server has, or those of a queue."""
        return self.ask("GET", "/v1/jobs", query=_given(queue=queue))

    def push(self, *jobs):
        """Pushes jobs, and returns their ids."""
        return self.ask("POST", "/v1/jobs", list(jobs))["jids"]

    def journal(self, worker=None, verb=None, queue=None, after=None):
        """Returns what clients did: a worker, with a verb, about a queue, after the entry with a number."""
        return self.ask("GET", "/v1/journal", query=_given(worker=worker, verb=verb, queue=queue, after=after))

    def verify(self, *, pushed=None, fetched=None, acknowledged=None, failed=None, queue=None, nothing_else=None,
               no_mistakes=None, tolerance=None, timeout=None):
        """Raises Differences unless clients did what is expected.

        pushed, fetched, acknowledged and failed are lists of dicts with the fields that matter. nothing_else is True, or for
        how long from then on ("500ms"), no_mistakes is True, tolerance is how far apart times may be ("2s"), timeout how long
        to wait for it ("5s"), and queue limits all to one queue.
        """
        self.ask("POST", "/v1/verify", _given(
            pushed=pushed, fetched=fetched, acknowledged=acknowledged, failed=failed, queue=queue, nothing_else=nothing_else,
            no_mistakes=no_mistakes, tolerance=tolerance, timeout=timeout))

    def stub(self, verb, *, reply=None, delay=None, close=None, times=None, worker=None, jid=None, jobtype=None):
        """Has the server answer commands with a reply, after a delay ("2s"), or close the connection behind the answer.

        times limits it to so many commands; worker, jid and jobtype to those of a worker, or about a job.
        """
        self.ask("POST", "/v1/stubs", _given(
            verb=verb, reply=reply, delay=delay, close=close, times=times, worker=worker, jid=jid, jobtype=jobtype))

    def stubs(self):
        """Returns the stubs, and how often each was used."""
        return self.ask("GET", "/v1/stubs")

    def remove_stubs(self):
        self.ask("DELETE", "/v1/stubs")

    def bugs(self):
        """Returns the planted bugs."""
        return self.ask("GET", "/v1/bugs")

    def set_bugs(self, *bugs):
        """Replaces the planted bugs by others, names or rules: set_bugs("on accepted: skip"). Without one there are none."""
        self.ask("PUT", "/v1/bugs", list(bugs))

    def disconnect(self):
        """Closes all connections now."""
        self.ask("POST", "/v1/disconnect")

    def clock(self):
        """Returns the time of the server, as text."""
        return self.ask("GET", "/v1/clock")["now"]

    def advance(self, by):
        """Sets the clock forward: "30m"."""
        self.ask("POST", "/v1/clock", {"advance": by})

    def set_clock(self, to):
        """Sets the clock to an instant, a datetime with a time zone; back only while the server has no jobs."""
        self.ask("POST", "/v1/clock", {"set": to})

    def quiet(self, worker=None):
        """Answers the next BEAT of a worker, or of all, with quiet."""
        self.ask("POST", "/v1/quiet", _given(worker=worker))

    def terminate(self, worker=None):
        """Answers the next BEAT of a worker, or of all, with terminate."""
        self.ask("POST", "/v1/terminate", _given(worker=worker))

    def reset(self, queue=_EVERYTHING):
        """Removes jobs, signals, stubs, planted bugs and the journal, or only the jobs and the journal of a queue."""
        self.ask("POST", "/v1/reset", {} if queue is _EVERYTHING else {"queue": queue})


def _given(**values):
    return {name: value for name, value in values.items() if value is not None}


def _to_json(value):
    if not isinstance(value, datetime.datetime):
        raise TypeError(f"{value!r} cannot be sent as JSON")
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone")
    return value.isoformat()


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
