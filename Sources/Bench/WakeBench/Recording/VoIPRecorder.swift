import Glibc
import WakeCaptures
import WakePorts
import WakeSystem
import WakeVoIP

extension StreamRecorder {
    /// Records what apps and a server say to each other, as a capture that is written as it goes.
    ///
    /// - Parameter listening: the port of 127.0.0.1 where apps are to find the server; 0 for any that is free.
    /// - Throws: ``CommandFailure`` with exit code 12 when nothing can listen, or there is no room for the capture.
    package func record(
        server host: String,
        port: UInt16,
        listening: UInt16,
        to path: String
    ) throws(CommandFailure) -> Outcome {
        do {
            let turning = try RecordingLoop(tell: tell)
            let tap = try CallTap(of: host, port: port, listeningOn: listening, on: turning.loop)
            let log = try Log(path)
            log.append(ConnectionWriter.head)
            var writer = ConnectionWriter()
            var outcome = Outcome(end: .interrupted, time: .zero)
            let began = Self.microseconds() - MonotonicClock.now() / 1_000
            tap.heard = { connection, moment, now in
                let time = UInt64(max(0, began + now / 1_000))
                switch moment {
                case .began(let app, let tap):
                    log.append(writer.began(connection, (app.endpoint, tap.endpoint), microseconds: time))
                case .said(let byApp, let bytes):
                    if byApp { outcome.written += bytes.count } else { outcome.bytes += bytes.count }
                    log.append(writer.said(connection, byFirst: byApp, bytes, microseconds: time))
                case .ended(let byApp, let isReset):
                    log.append(writer.ended(connection, byFirst: byApp, isReset: isReset, microseconds: time))
                }
            }
            tap.crowded = {
                let most = CallTap.mostConnections
                follow("\(most) connections are open: the next wait until one of them ends")
                outcome.notes.append("\(most) connections were open at once: the next waited until one of them ended")
            }
            tap.note = {
                follow($0)
                outcome.notes.append($0)
            }
            follow("recording \(host):\(port); apps find it at 127.0.0.1:\(tap.port)")
            let counts = {
                "connections \(tap.accepted), \(outcome.bytes) bytes of the server, \(outcome.written) of apps"
            }
            (outcome.end, outcome.time) = try turning.turn(for: time, counts: counts) {
                try log.flush()
                return nil
            }
            outcome.connections = tap.accepted
            if tap.refused > 0 {
                outcome.notes.append("\(host):\(port) did not take \(tap.refused) of \(tap.accepted) connections")
            }
            return outcome
        } catch {
            throw Self.failure(error)
        }
    }

    /// The wall clock, in microseconds since 1970.
    private static func microseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}

extension CallTap.End {
    fileprivate var endpoint: NetworkEndpoint { NetworkEndpoint(address: address, port: port) }
}
