"""A worker of the package faktory with the job types that `fwpcheck worker` hands out; see docs/judging-workers.md.

    fwpcheck worker -- python3 worker.py             # its executors are threads
    fwpcheck worker -- python3 worker.py processes   # its executors are processes
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import faktory
from faktory import Worker


def ok(*args):
    pass


def fail(message="fwp.fail"):
    raise Exception(message)


def sleep(seconds):
    time.sleep(seconds)


def echo(*args):
    raise Exception(json.dumps(args))


def crash():
    os._exit(1)


def leave():
    sys.exit("fwp.exit")


def block(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def push_some(jobs):
    with faktory.connection() as client:
        for job in jobs:
            task = job.pop("jobtype")
            if not client.queue(task, **job):
                raise Exception("a job was not pushed")


def push(*jobs):
    with ThreadPoolExecutor(8) as at_a_time:
        list(at_a_time.map(push_some, [jobs[i::8] for i in range(min(8, len(jobs)))]))


types = {
    "fwp.ok": ok,
    "fwp.fail": fail,
    "fwp.sleep": sleep,
    "fwp.echo": echo,
    "fwp.crash": crash,
    "fwp.exit": leave,
    "fwp.block": block,
    "fwp.push": push,
}

if __name__ == "__main__":
    worker = Worker(
        queues=os.environ.get("FWP_QUEUES", "default").split(","),
        concurrency=int(os.environ.get("FWP_CONCURRENCY", "10")),
        use_threads="processes" not in sys.argv,
    )
    for name, function in types.items():
        worker.register(name, function)
    worker.run()
