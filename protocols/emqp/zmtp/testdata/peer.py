"""One end of a conversation, of libzmq: peer.py KIND [name=value ...]. It ends when its standard input does.

KIND is the type of a socket that binds a free port, prints "port N", and returns each message to its sender; or "clients",
sockets of a type that connect to port=N, send messages= messages each, and print "ok" when all of them have come back as they were.
Each kind prints "libzmq VERSION" first.
"""
import sys

import zmq

SIZES = [0, 1, 255, 256, 257, 70_000]


def options(words):
    values = {"port": "0", "type": "DEALER", "count": "1", "messages": "1", "beat": "0", "timeout": "0",
              "size": "0", "handover": "0"}
    values.update(word.split("=", 1) for word in words)
    return values


def socket(context, kind, o):
    s = context.socket(getattr(zmq, kind))
    s.setsockopt(zmq.LINGER, 0)
    s.setsockopt(zmq.RECONNECT_IVL, 20)
    if int(o["beat"]):
        s.setsockopt(zmq.HEARTBEAT_IVL, int(o["beat"]))
        s.setsockopt(zmq.HEARTBEAT_TIMEOUT, int(o["timeout"]))
        s.setsockopt(zmq.HEARTBEAT_TTL, int(o["timeout"]))
    if kind == "ROUTER":
        s.setsockopt(zmq.ROUTER_MANDATORY, 1)
        s.setsockopt(zmq.ROUTER_HANDOVER, int(o["handover"]))
    return s


def say(*words):
    print(*words, flush=True)


def echo(context, kind, o):
    s = socket(context, kind, o)
    say("port", s.bind_to_random_port("tcp://127.0.0.1"))
    poller = zmq.Poller()
    poller.register(s, zmq.POLLIN)
    poller.register(sys.stdin.fileno(), zmq.POLLIN)
    while True:
        ready = dict(poller.poll())
        if sys.stdin.fileno() in ready:
            return
        if s not in ready:
            continue
        s.send_multipart(s.recv_multipart())


def clients(context, o):
    sockets = []
    for i in range(int(o["count"])):
        s = socket(context, o["type"], o)
        s.setsockopt(zmq.IDENTITY, b"peer %d" % i)
        s.setsockopt(zmq.RCVTIMEO, 30_000)
        s.setsockopt(zmq.SNDTIMEO, 30_000)
        s.connect("tcp://127.0.0.1:" + o["port"])
        sockets.append(s)
    sizes = [int(o["size"])] if int(o["size"]) else SIZES
    for n in range(int(o["messages"])):
        body = bytes([n % 256]) * sizes[n % len(sizes)]
        for i, s in enumerate(sockets):
            s.send_multipart([b"", b"%d %d" % (i, n), body])
        for i, s in enumerate(sockets):
            got = s.recv_multipart()
            if got != [b"", b"%d %d" % (i, n), body]:
                say("wrong: socket", i, "message", n, [len(part) for part in got])
                return
    say("ok")
    sys.stdin.read()


def main():
    say("libzmq", zmq.zmq_version())
    context = zmq.Context()
    o = options(sys.argv[2:])
    if sys.argv[1] == "clients":
        try:
            clients(context, o)
        except zmq.ZMQError as e:  # such as a socket that can only send
            say("failed:", e)
            sys.stdin.read()
    else:
        echo(context, sys.argv[1], o)
    context.destroy(linger=0)


main()
