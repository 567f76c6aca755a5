"""A worker on EventMQ's jobmanager with the job types of docs/judging-workers.md, for

fwpcheck worker --protocol emqp --job '["run", {"path": "eventmq_worker", "callable": "{name}", "args": {args}}]' \
    -- python3 eventmq_worker.py
"""

import json
import os
import time


def ok(*_):
    return True


def fail(message="fwp.fail"):
    raise Exception(message)


def sleep(seconds):
    time.sleep(seconds)
    return True


def echo(text):
    return text


def flaky(fails, path):
    touch(path)
    if os.path.getsize(path) <= fails:
        raise Exception("it fails")
    return True


def late(seconds, path):
    time.sleep(seconds)
    touch(path)
    return True


def touch(path):
    with open(path, "ab") as f:
        f.write(b"x")


# The jobmanager looks up the names of functions with getattr, which takes a dot.
globals().update({"fwp." + f.__name__: f for f in (ok, fail, sleep, echo, flaky, late)})

if __name__ == "__main__":
    broker = "tcp://" + os.environ["EMQP_URL"].removeprefix("emqp://")
    os.environ.update(
        EVENTMQ_QUEUES=json.dumps([[10, name] for name in os.environ["FWP_QUEUES"].split(",")]),
        EVENTMQ_CONCURRENT_JOBS=os.environ["FWP_CONCURRENCY"],
        EVENTMQ_HEARTBEAT_INTERVAL=os.environ["FWP_HEARTBEAT"],
    )
    from eventmq.jobmanager import JobManager

    JobManager().jobmanager_main(broker_addr=broker)
