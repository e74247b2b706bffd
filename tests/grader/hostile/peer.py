"""A student's process that has taken over the worker: at one message of the protocol it turns to a manner of its own.

Started as `peer.py FOLDER MESSAGE MANNER`, with the folder of worker and wire.
"""

import os
import sys
import time

sys.path.insert(0, sys.argv[1])
import wire
import worker

MESSAGE, MANNER = sys.argv[2:]
CALL = {"is": "back", "number": 0, "arguments": [1], "options": {}}


def flood(self):
    while True:
        self.said.write(wire.frame(CALL) * 1000)


def calls(self):
    while True:
        self.say(**CALL)
        Peer.__base__.hear(self)


def noise(self):
    while True:
        os.write(2, b"noise " * 10_000)


def garbage(self):
    while True:
        self.said.write(wire.HEAD.pack(10, 0) + b'{"dict":7}' + wire.HEAD.pack(2, 0) + b"[]")


def values(self):
    while True:
        self.said.write(wire.frame({"is": "value", "value": [2.0] * 1000}))


class Peer(worker.Worker):
    def hear(self, function=None):
        task = super().hear(function)
        if task.get("do") == MESSAGE:
            {"flood": flood, "calls": calls, "noise": noise, "garbage": garbage, "values": values,
             "silence": lambda _: time.sleep(1e6), "death": lambda _: os._exit(3)}[MANNER](self)  # fmt: skip
        return task


worker.Worker = Peer
worker.main()
