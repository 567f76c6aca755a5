"""Tests the package with a client of a few lines. Run: FWPCHECK=... python3 -m unittest, in this folder."""

import datetime
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
        self.file.readline()
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
            with self.assertRaisesRegex(ValueError, "unknown field"):
                double.verify(pusht=[])
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
