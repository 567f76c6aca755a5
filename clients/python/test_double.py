"""Tests the package with a client of a few lines. Run: FWPCHECK=... python3 -m unittest, in this folder."""

import datetime
import inspect
import json
import os
import socket
import unittest
import unittest.mock
from urllib.parse import urlparse

import fwpcheck


class Client:
    """A client of a few lines."""

    def __init__(self, url, **hello):
        at = urlparse(url)
        self.socket = socket.create_connection((at.hostname, at.port))
        self.file = self.socket.makefile("rw", newline="\n")
        if not self.file.readline().startswith("+HI"):
            self.file.close()
            self.socket.close()
            raise ConnectionError("there is no greeting")
        self.do("HELLO " + json.dumps({"v": 2, **hello}))

    def do(self, line):
        self.file.write(line + "\n")
        self.file.flush()
        return self.file.readline().strip()

    def push(self, **job):
        return self.do("PUSH " + json.dumps({"jid": "job-0000001", "args": [], **job}))


class TestDouble(unittest.TestCase):
    def test_all(self):
        with fwpcheck.Double() as double:
            client = Client(double.url)
            self.addCleanup(client.socket.close)
            double.stub("PUSH", times=1, reply="-ERR busy")
            self.assertEqual(client.push(jobtype="email"), "-ERR busy")
            self.assertEqual(client.push(jobtype="email"), "+OK")
            double.verify(pushed=[{"jobtype": "email"}], nothing_else=True, timeout="5s")
            with self.assertRaisesRegex(fwpcheck.Differences, "no job like"):
                double.verify(pushed=[{"jobtype": "sms"}])
            with self.assertRaisesRegex(TypeError, "pusht"):
                double.verify(pusht=[])
            with self.assertRaisesRegex(ValueError, "unknown field"):
                double.ask("POST", "/v1/verify", {"pusht": []})
            double.push({"jobtype": "late", "at": "2099-01-01T00:00:00Z"})
            self.assertEqual([job["place"] for job in double.jobs()], ["queue", "scheduled"])
            double.set_clock(datetime.datetime(2099, 1, 2, tzinfo=datetime.timezone.utc))
            double.advance("1h")
            self.assertEqual([job["place"] for job in double.jobs()], ["queue", "queue"])
            self.assertEqual([entry["verb"] for entry in double.journal()], ["HELLO", "PUSH", "PUSH"])
            double.reset()
            self.assertEqual(double.jobs(), [])
        self.assertEqual(double.close(), "")

    def test_pushed_by_the_control(self):
        with fwpcheck.Double() as double:
            double.push({"jid": "seeded", "jobtype": "email", "args": [7]})
            worker = Client(double.url, wid="w")
            self.addCleanup(worker.socket.close)
            worker.do("FETCH default")  # the length of the job
            worker.file.readline()
            self.assertEqual(worker.do('ACK {"jid":"seeded"}'), "+OK")
            double.verify(pushed=[], acknowledged=[{"jobtype": "email", "args": [7]}], nothing_else=True)

    def test_queues(self):
        with fwpcheck.Double() as double:
            client = Client(double.url)
            self.addCleanup(client.socket.close)
            for queue in ("a", "b"):
                self.assertEqual(client.push(jid="job-" + queue * 8, jobtype="t", queue=queue), "+OK")
            double.verify(queue="a", pushed=[{"jobtype": "t"}], nothing_else="10ms", no_mistakes=True)
            double.reset(queue="a")
            for wrong in ("", None):
                with self.assertRaisesRegex(ValueError, "queue cannot be"):
                    double.reset(queue=wrong)
            self.assertEqual([job["queue"] for job in double.jobs()], ["b"])
            self.assertEqual(double.jobs(queue="a"), [])
            self.assertEqual(double.journal(queue="a"), [])
            self.assertEqual(len(double.journal(verb="PUSH", queue="b", worker="", after=1)), 1)

    def test_times(self):
        utc = datetime.timezone.utc
        with fwpcheck.Double() as double:
            double.set_clock(datetime.datetime(2001, 1, 1, tzinfo=utc))
            self.assertTrue(double.clock().startswith("2001-01-01T00:00:"))
            client = Client(double.url)
            self.addCleanup(client.socket.close)
            client.push(jobtype="t", at="2001-01-01T12:00:00Z")
            double.verify(pushed=[{"at": datetime.datetime(2001, 1, 1, 12, tzinfo=utc)}])
            double.verify(pushed=[{"at": datetime.datetime(2001, 1, 1, 12, 0, 1, tzinfo=utc)}], tolerance="1s")
            with self.assertRaises(fwpcheck.Differences):
                double.verify(pushed=[{"at": datetime.datetime(2001, 1, 1, 12, 0, 1, tzinfo=utc)}])
            with self.assertRaisesRegex(ValueError, "no time zone"):
                double.set_clock(datetime.datetime(2002, 1, 1))
            with self.assertRaisesRegex(ValueError, "goes back only"):
                double.set_clock(datetime.datetime(2000, 1, 1, tzinfo=utc))

    def test_outage(self):
        with fwpcheck.Double() as double:
            client = Client(double.url)
            self.addCleanup(client.socket.close)
            double.stub("PUSH", jobtype="t", close=True)
            self.assertEqual(double.stubs(), [{"verb": "PUSH", "jobtype": "t", "close": True}])
            double.remove_stubs()
            double.set_bugs("on accepted: skip")
            self.assertEqual(double.bugs(), ["on accepted: skip"])
            double.disconnect()
            self.assertEqual(client.file.readline(), "")
            with self.assertRaises(OSError):
                Client(double.url)
            for rule in ("on ran PUSH; first 1: silent, close", "on parsed: delay 1h"):  # as docs/test-double.md has them
                double.set_bugs(rule)
            double.set_bugs()
            Client(double.url).socket.close()

    def test_signatures(self):
        """Each field of the control is a parameter, so that a typing mistake is one in Python."""
        with fwpcheck.Double() as double:
            schema = double.ask("GET", "/v1/schema")["$defs"]
        for method, name, server in (
                ("verify", "Expectation", []), ("stub", "Stub", ["used"]), ("reset", "Reset", []), ("quiet", "Signal", []),
                ("terminate", "Signal", [])):
            parameters = set(inspect.signature(getattr(fwpcheck.Double, method)).parameters) - {"self"}
            self.assertEqual(parameters, set(schema[name]["properties"]) - set(server), method)

    @unittest.skipUnless(hasattr(os, "fork"), "fork")
    def test_close_while_a_forked_process_runs(self):
        double = fwpcheck.Double().start()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:  # as a worker of multiprocessing: it has all of the pipes
            os.close(write)
            os.read(read, 1)
            os._exit(0)
        os.close(read)
        self.assertIn("clients sent 0 commands", double.close())
        os.close(write)
        os.waitpid(child, 0)

    def test_environment(self):
        with unittest.mock.patch.dict(os.environ, {"FAKTORY_PROVIDER": "OTHER_URL"}):
            os.environ.pop("FAKTORY_URL", None)
            with fwpcheck.Double(env=True) as double:
                self.assertEqual(os.environ["FAKTORY_URL"], double.url)
                self.assertNotIn("FAKTORY_PROVIDER", os.environ)
            self.assertEqual(os.environ["FAKTORY_PROVIDER"], "OTHER_URL")
            self.assertNotIn("FAKTORY_URL", os.environ)

    def test_no_program(self):
        with self.assertRaisesRegex(FileNotFoundError, "FWPCHECK"):
            fwpcheck.Double(program="no-such-program").start()

    def test_usage(self):
        with self.assertRaisesRegex(RuntimeError, "exit code 2"):
            fwpcheck.Double(extension="no-such-extension").start()


if __name__ == "__main__":
    unittest.main()
