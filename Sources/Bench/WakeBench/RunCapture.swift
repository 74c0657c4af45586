import Glibc
import WakeCaptures
import WakeModel
import WakeReports

/// The files to which a run's radio is written down, one a format.
final class RunCapture {
    private let files: [(format: TraceFormat, file: LogFile)]
    /// The wall time of the run's beginning, in nanoseconds since 1970.
    let start: Int64
    /// Why nothing more is written; nil while all is.
    private var failure: ReportError?
    private var buffer: [UInt8] = []
    /// Where the files are.
    let paths: [String]

    /// Makes the files in a run folder: `hci.btsnoop` and the like, and with a number when an earlier part of the run made one.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when one cannot be made.
    convenience init(_ formats: [TraceFormat], in folder: RunFolder, start: Int64) throws(CommandFailure) {
        let places = formats.map { ($0, Self.free("\(folder.path)/hci", ".\($0.rawValue)")) }
        try self.init(places, start: start, isShared: false)
    }

    /// Makes files, or empties those that are there.
    ///
    /// - Parameter isShared: whether others of the machine may read those that are made.
    /// - Throws: ``CommandFailure`` with exit code 12 when one cannot be made.
    init(
        _ places: [(format: TraceFormat, path: String)],
        start: Int64,
        isShared: Bool = true
    ) throws(CommandFailure) {
        self.start = start
        var files: [(TraceFormat, LogFile)] = []
        do throws(ReportError) {
            for (format, path) in places {
                let file = try LogFile(creating: path, isShared: isShared)
                try file.append(format.head)
                files.append((format, file))
            }
        } catch {
            throw CommandFailure(.environment, error)
        }
        (self.files, paths) = (files, places.map(\.path))
    }

    /// The capture that a run was asked for; nil for none.
    static func of(_ options: RunOptions, in folder: RunFolder, start: Int64) throws(CommandFailure) -> RunCapture? {
        try options.capture.isEmpty ? nil : RunCapture(options.capture, in: folder, start: start)
    }

    private static func free(_ name: String, _ suffix: String) -> String {
        var path = name + suffix
        var number = 2
        while unsafe access(path, F_OK) == 0 {
            path = "\(name)-\(number)\(suffix)"
            number += 1
        }
        return path
    }

    /// Writes a packet to all files. What cannot be written is told by ``finish()``.
    func write(_ packet: HCIPacket) {
        guard failure == nil else { return }
        do throws(ReportError) {
            for (format, file) in files {
                buffer.removeAll(keepingCapacity: true)
                format.append(packet, start: start, to: &buffer)
                try file.append(buffer)
            }
        } catch {
            failure = error
        }
    }

    /// Writes what is left, or what has come together so far.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when the capture is not whole.
    func finish() throws(CommandFailure) {
        do throws(ReportError) {
            if let failure { throw failure }
            for (_, file) in files { try file.flush() }
        } catch {
            throw CommandFailure(.environment, error)
        }
    }
}
