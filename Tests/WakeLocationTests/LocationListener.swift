import Foundation
import Testing
import WakeDevices
import WakeLocation
import WakeModel
import WakePorts
import WakeSystem

/// The folder of this package.
let packageFolder = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

/// The longest a test waits for something that must happen, in nanoseconds.
let patience: Int64 = 30_000_000_000

/// Turns the loop until the condition holds.
func turn(_ loop: EventLoop, until condition: () -> Bool) throws {
    let end = MonotonicClock.now() + patience
    while !condition() && MonotonicClock.now() < end {
        try loop.runOnce(timeout: max(0, end - MonotonicClock.now()))
    }
    try #require(condition(), "it did not happen in time")
}

/// Keeps what a source reports.
final class LocationListener {
    private(set) var reports: [SourceReport] = []

    func hear(_ source: some LocationPort) {
        source.report = { [weak self] in self?.reports.append($0) }
    }

    var positions: [Position] {
        reports.compactMap { report in
            guard case .position(let position) = report.payload else { return nil }
            return position
        }
    }

    var failures: [String] {
        reports.compactMap { report in
            guard case .locationFailure(code: 0, let message) = report.payload else { return nil }
            return message
        }
    }

    var kinds: [EventKind] { reports.map(\.event.kind) }

    /// Without repeats in a row.
    var foldedKinds: [EventKind] {
        kinds.enumerated().filter { $0.offset == 0 || kinds[$0.offset - 1] != $0.element }.map(\.element)
    }

    func forget() { reports.removeAll() }
}

/// The shipped log of a GNSS receiver.
enum ShippedLog {
    static func bytes() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: packageFolder + "/Devices/Location/gnss-receiver.nmea")))
    }

    static func track() throws -> LocationTrack {
        try LocationTrack.load(file: packageFolder + "/Devices/Location/gnss-receiver.yaml")
    }

    /// How many fixes it has.
    static let fixes = 171

    /// What the simulated end makes of it.
    static func simulated() throws -> LocationListener {
        let source = SimulatedLocation(tracks: [("receiver", try track())], names: NameTable(), seed: 1)
        let listener = LocationListener()
        listener.hear(source)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        // Three minutes of the log, and no more: the phone then stays where it is.
        let end = Instant(nanoseconds: 180_000_000_000)
        while let next = source.nextDeadline, next < end { source.timeReached(next) }
        return listener
    }
}

/// Compares what two ends made of one log, within the rounding of its sentences.
///
/// - Parameter accuracy: whether to compare it as well; gpsd takes the dilutions of the moment before, when a receiver
///   says them last.
func expectSame(_ left: [Position], _ right: [Position], accuracy: Bool) {
    #expect(left.map(\.timestamp) == right.map(\.timestamp))
    func differ(_ one: Double, _ other: Double, by limit: Double) -> Bool { abs(one - other) > limit }
    let apart = zip(left, right).filter { one, other in
        // A sentence says a hundred thousandth of a minute: 2 cm.
        differ(one.latitude, other.latitude, by: 2e-7) || differ(one.longitude, other.longitude, by: 2e-7)
            || differ(one.altitude, other.altitude, by: 0.051) || differ(one.speed, other.speed, by: 0.001)
            || differ(one.course, other.course, by: 0.01)
            || accuracy && differ(one.horizontalAccuracy, other.horizontalAccuracy, by: 0.1)
    }
    #expect(apart.isEmpty, "\(apart.count) differ, first \(apart.first as Any)")
}
