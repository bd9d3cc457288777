# Jython: threads, a bounded Queue, Condition, Semaphore, RLock: sums that do not depend on timing.
import sys
import threading
from Queue import Queue
from java.util.concurrent import Executors, Callable

n = int(sys.argv[1])
queue = Queue(16)
results = []
lock = threading.RLock()
semaphore = threading.Semaphore(2)


def consume():
    total = 0
    while True:
        item = queue.get()
        if item is None:
            break
        with semaphore:
            total += item
    with lock:
        results.append(total)


def produce():
    for i in range(n):
        queue.put(i)


consumers = [threading.Thread(target=consume) for _ in range(4)]
producers = [threading.Thread(target=produce) for _ in range(4)]
for t in consumers + producers:
    t.start()
for t in producers:
    t.join()
for _ in consumers:
    queue.put(None)
for t in consumers:
    t.join()
print "queue", sum(results)

condition = threading.Condition()
turn = [0]


def play(me):
    for i in range(n // 10):
        with condition:
            while turn[0] % 3 != me:
                condition.wait()
            turn[0] += 1
            condition.notifyAll()


players = [threading.Thread(target=play, args=(k,)) for k in range(3)]
for t in players:
    t.start()
for t in players:
    t.join()
print "turns", turn[0]


class Square(Callable):
    def __init__(self, k):
        self.k = k

    def call(self):
        return self.k * self.k


pool = Executors.newFixedThreadPool(4)
print "pool", sum(f.get() for f in pool.invokeAll([Square(k) for k in range(n)]))
pool.shutdown()
