import Testing

/// What Python itself rounds is Python's: select takes microseconds, poll and epoll, and so asyncio, whole milliseconds, and
/// locks microseconds, each rounded up; and whoever adds a span to a time in floats gets what floats give.
@Suite("Python in virtual time", .timeLimit(.minutes(10)))
struct PythonTimeTests {
    private func run(_ body: String) throws -> [String] {
        let script = """
            import asyncio, queue, select, signal, socket, threading, time
            def spent(what, body):
                began = time.monotonic_ns()
                date = time.clock_gettime_ns(time.CLOCK_REALTIME)
                body()
                passed = time.monotonic_ns() - began
                assert time.clock_gettime_ns(time.CLOCK_REALTIME) - date == passed
                print(what, passed, flush=True)

            """
        var run = try TimedProgramTests.Run("/usr/bin/python3", "-c", script + body)
        let (lines, status) = try run.end()
        #expect(status == 0)
        return lines
    }

    @Test("What asks for a span that Python can tell waits for it to the nanosecond")
    func exact() throws {
        let lines = try run(
            """
            def timer(seconds):
                timer = threading.Timer(seconds, lambda: None)
                timer.start()
                timer.join()
            def condition(seconds):
                condition = threading.Condition()
                with condition: condition.wait(seconds)
            def get(seconds):
                try: queue.Queue().get(timeout=seconds)
                except queue.Empty: pass
            def polled(seconds):
                poll = select.poll()
                poll.register(a, select.POLLIN)
                poll.poll(seconds * 1000)
            def receive(seconds):
                a.settimeout(seconds)
                try: a.recv(1)
                except TimeoutError: pass
            def alarm(seconds):
                signal.setitimer(signal.ITIMER_REAL, seconds)
                signal.pause()
            async def bounded(seconds):
                try: await asyncio.wait_for(asyncio.Event().wait(), seconds)
                except asyncio.TimeoutError: pass
            async def together(*all): await asyncio.gather(*map(asyncio.sleep, all))
            a, b = socket.socketpair()
            signal.signal(signal.SIGALRM, lambda *_: None)
            spent("asyncio.sleep", lambda: asyncio.run(asyncio.sleep(0.25)))
            spent("asyncio.gather", lambda: asyncio.run(together(1.5, 0.5, 2.75)))
            spent("asyncio.wait_for", lambda: asyncio.run(bounded(0.125)))
            spent("threading.Timer", lambda: timer(0.25))
            spent("Condition.wait", lambda: condition(0.1))
            spent("Condition.wait", lambda: condition(0.000001))
            spent("Event.wait", lambda: threading.Event().wait(3600))
            spent("queue.get", lambda: get(10))
            spent("time.sleep", lambda: time.sleep(0.1))
            spent("time.sleep", lambda: time.sleep(86400))
            spent("select", lambda: select.select([a], [], [], 0.000001))
            spent("select", lambda: select.select([a], [], [], 2))
            spent("poll", lambda: polled(0.001))
            spent("epoll", lambda: select.epoll().poll(0.25))
            spent("recv", lambda: receive(0.25))
            spent("setitimer", lambda: alarm(0.000001))
            spent("sigtimedwait", lambda: signal.sigtimedwait([signal.SIGUSR1], 0.5))
            """
        )
        #expect(
            lines == [
                "asyncio.sleep 250000000", "asyncio.gather 2750000000", "asyncio.wait_for 125000000",
                "threading.Timer 250000000", "Condition.wait 100000000", "Condition.wait 1000",
                "Event.wait 3600000000000", "queue.get 10000000000", "time.sleep 100000000",
                "time.sleep 86400000000000", "select 1000", "select 2000000000", "poll 1000000", "epoll 250000000",
                "recv 250000000", "setitimer 1000", "sigtimedwait 500000000",
            ]
        )
    }

    @Test("A finer span is longer by what Python rounds up, and by no more")
    func rounded() throws {
        let lines = try run(
            """
            def get(seconds):
                try: queue.Queue().get(timeout=seconds)
                except queue.Empty: pass
            import sys
            print(sys.version_info >= (3, 13), flush=True)
            spent("queue.get", lambda: get(0.1))
            time.sleep(0.899999)
            spent("select", lambda: select.select([], [], [], 0.0000015))
            spent("epoll", lambda: select.epoll().poll(0.0105))
            spent("poll", lambda: select.poll().poll(0.25))
            spent("asyncio.sleep", lambda: asyncio.run(asyncio.sleep(0.0105)))
            lock = threading.Lock()
            lock.acquire()
            spent("Lock.acquire", lambda: lock.acquire(timeout=0.0000015))
            """
        )
        // 1000.1 less 1000 is a little more than a tenth in floats. Python 3.13 gives locks nanoseconds, 3.11 microseconds.
        let (tenth, lock) = lines.first == "True" ? ("100000001", "1500") : ("100001000", "2000")
        #expect(
            lines.dropFirst() == [
                "queue.get \(tenth)", "select 2000", "epoll 11000000", "poll 1000000", "asyncio.sleep 11000000",
                "Lock.acquire \(lock)",
            ]
        )
    }
}
