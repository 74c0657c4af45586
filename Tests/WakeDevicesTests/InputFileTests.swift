import Foundation
import Testing
import WakeDevices

@Suite("Input files")
struct InputFileTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/input-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func clean() { try? FileManager.default.removeItem(atPath: folder) }

    private func refusal(_ path: String, limit: Int = 100) -> String? {
        do throws(FileError) {
            _ = try InputFile.read(path, limit: limit)
            return nil
        } catch { return error.description }
    }

    @Test("A pipe, a socket, a folder and a device are refused in a line, without waiting")
    func otherKinds() throws {
        defer { clean() }
        try #require(makePipe(folder + "/pipe"))
        #expect(refusal(folder + "/pipe") == "\(folder)/pipe: a pipe; expected a readable file")
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "pipe")
        #expect(refusal(folder + "/link") == "\(folder)/link: a pipe; expected a readable file")
        #expect(refusal(folder) == "\(folder): a folder; expected a readable file")
        #expect(refusal("/dev/null") == "/dev/null: a device; expected a readable file")
        #expect(refusal("/dev/ptmx") == "/dev/ptmx: a device; expected a readable file")
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array((folder + "/socket").utf8)
        try #require(path.count < 108)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        #expect(refusal(folder + "/socket") == "\(folder)/socket: a socket; expected a readable file")
    }

    @Test("A file larger than the limit is refused with its size, and one of the limit is read")
    func limit() throws {
        defer { clean() }
        let path = folder + "/file"
        try Data(repeating: 7, count: 100).write(to: URL(filePath: path))
        #expect(try InputFile.read(path, limit: 100) == Array(repeating: 7, count: 100))
        #expect(refusal(path, limit: 99) == "\(path): 100 bytes; expected at most 99 bytes")
        #expect(refusal("/proc/self/maps", limit: 10) == "/proc/self/maps: 11 bytes; expected at most 10 bytes")
    }

    @Test("A file that is not there, and a path that is none, are refused")
    func missing() {
        defer { clean() }
        #expect(refusal(folder + "/none") == "\(folder)/none: no such file; expected a readable file")
        #expect(refusal("") == ": no such file; expected a readable file")
        #expect(refusal("a\0b")?.hasSuffix("no such file; expected a readable file") == true)
    }

    @Test("Each kind of file that a scenario reads is refused when a pipe lies in its place")
    func everyReader() throws {
        defer { clean() }
        let pipe = folder + "/pipe"
        try #require(makePipe(pipe))
        var error = #expect(throws: FileError.self) { try Scenario.load(file: pipe) }
        #expect(error?.description == "\(pipe): a pipe; expected a readable file")
        error = #expect(throws: FileError.self) { try DeviceFile.load(file: pipe) }
        #expect(error?.description == "\(pipe): a pipe; expected a readable file")
        for track in ["gpx: pipe\nspeed: 1m/s", "nmea: pipe"] {
            let file = folder + "/track.yaml"
            try Data("device: location-track\n\(track)\n".utf8).write(to: URL(filePath: file))
            let error = #expect(throws: FileError.self) { try DeviceFile.load(file: file) }
            #expect(error?.found.contains("a pipe") == true, "\(error as Any)")
        }
        let scenario = folder + "/scenario.yaml"
        let text = "scenario: a\ndevices: [{file: pipe, name: belt}]\napps: []\n"
        try Data(text.utf8).write(to: URL(filePath: scenario))
        error = #expect(throws: FileError.self) { try Scenario.load(file: scenario) }
        #expect(error?.found == "a pipe")
    }
}

/// Makes a pipe that nobody writes to; whether that could be done.
private func makePipe(_ path: String) -> Bool { unsafe mkfifo(path, 0o600) == 0 }
