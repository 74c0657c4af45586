import WakeLocation
import WakeSystem

package typealias NMEAReceiver = WakeLocation.NMEAReceiver
package typealias ReceiverPlace = WakeLocation.ReceiverStream.Place

extension StreamRecorder {
    /// Records a receiver; the log is written as it goes.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when there is no receiver, or no room for the log.
    package func record(_ place: ReceiverPlace, to path: String) throws(CommandFailure) -> Outcome {
        do {
            let turning = try RecordingLoop(tell: tell)
            let stream = try ReceiverStream(place, on: turning.loop)
            let log = try Log(path)
            var bytes = 0
            stream.heard = {
                bytes += $0.count
                log.append($0)
            }
            follow("recording \(stream.name)")
            let counts = { "\(bytes) bytes, \(stream.fixes) fix\(stream.fixes == 1 ? "" : "es")" }
            let (end, time) = try turning.turn(for: time, counts: counts) {
                try log.flush()
                return stream.end
            }
            stream.close()
            return Outcome(end: end, time: time, bytes: bytes, fixes: stream.fixes)
        } catch {
            throw Self.failure(error)
        }
    }
}
