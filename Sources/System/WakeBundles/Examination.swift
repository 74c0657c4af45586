import Foundation

/// A program of this machine that is asked about a file, within bounds.
struct Examination {
    /// The longest answer that is read, in bytes.
    static let byteLimit = 4 << 20
    /// Seconds after which the program is stopped.
    private static let patience = 10

    /// What it printed, to either output.
    var output: String
    /// Its exit code; nil when it was stopped, or said more than is read.
    var code: Int32?

    /// Runs a program to its end with the environment that an app of the bench finds, and its words in English.
    ///
    /// - Returns: nil when this machine does not have the program.
    init?(_ words: [String]) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "--signal=KILL", "\(Self.patience)"] + words
        let own = ProcessInfo.processInfo.environment
        process.environment = own.filter { $0.key == "PATH" || $0.key == "LD_LIBRARY_PATH" }
        process.environment?["LC_ALL"] = "C"
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        guard (try? process.run()) != nil else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < Self.byteLimit,
            let more = try? pipe.fileHandleForReading.read(upToCount: Self.byteLimit - bytes.count), !more.isEmpty
        {
            bytes += more
        }
        let isWhole = bytes.count < Self.byteLimit
        if !isWhole { process.terminate() }
        process.waitUntilExit()
        output = String(decoding: bytes, as: UTF8.self)
        // timeout ends with 127 when there is no such program, and with 137 when it had to stop it.
        let wasStopped = process.terminationReason != .exit || process.terminationStatus == 137
        if !wasStopped, process.terminationStatus == 127 { return nil }
        code = isWhole && !wasStopped ? process.terminationStatus : nil
    }
}
