import Foundation
import Testing

/// What commands write at a place of the user's own, where there is no room.
@Suite(
    "On a full disk a file is replaced whole or not at all, with exit code 12",
    .enabled(if: SmallDisk.canMount, "needs root and the right to mount a tmpfs")
)
struct FullDiskTests {
    /// Plays a small run into `out`, and gives a folder `small` with an old file each for reports, on a disk that is full.
    private func onFullDisk(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        let disk = try SmallDisk(program.folder.appending(path: "small").path)
        defer { disk.unmount() }
        try program.write("missed.yaml", Scenarios.small + "expect: [{app: heart, verdict: deny, count: 1}]\n")
        #expect(try program.run("run", "missed.yaml", "--out", "out", "-q").code == 7)
        for name in Self.files { try program.write("small/\(name)", "old") }
        disk.fill()
        try body(program)
        let left = try FileManager.default.contentsOfDirectory(atPath: program.folder.appending(path: "small").path)
        #expect(left.sorted() == (Self.files + ["fill"]).sorted())
        for name in Self.files { #expect(try program.read("small/\(name)") == "old") }
    }

    private static let files = ["page.html", "table.csv", "trace.json", "smallest.yaml"].sorted()

    @Test("A report", arguments: [("html", "page.html"), ("csv", "table.csv"), ("trace", "trace.json")])
    func report(form: String, file: String) throws {
        try onFullDisk { program in
            let refused = try program.run("report", "out", "--format", form, "-O", "small/\(file)")
            expectRefusal(refused, code: 12, says: "small/\(file): no space left; free some space there")
        }
    }

    @Test("A report on which something is mounted is written in place")
    func mounted() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("small.yaml", Scenarios.small)
        #expect(try program.run("run", "small.yaml", "--out", "out", "-q").code == 0)
        let place = try program.write("page.html", "under").path
        try program.write("other.html", "over")
        let mount = try SmallDisk(mounting: program.folder.appending(path: "other.html").path, on: place)
        let made = try program.run("report", "out", "--format", "html", "-O", "page.html")
        mount.unmount()
        #expect(made.code == 0, "\(made.errors)")
        #expect(try program.read("page.html") == "under")
        #expect(try program.read("other.html").contains("</html>"))
        #expect(!program.exists("page.html.new"))
    }

    @Test("The smallest scenario of shrink")
    func shrink() throws {
        try onFullDisk { program in
            let refused = try program.run("shrink", "missed.yaml", "-o", "small/smallest.yaml", "--force", "-q")
            #expect(refused.code == 12)
            #expect(refused.complaints.last?.contains("small/smallest.yaml: no space left; free some space") == true)
        }
    }

    @Test("A bundle")
    func bundle() throws {
        try onFullDisk { program in
            let example = Program.repository.appending(path: "Sources/Examples/HeartRatePython").path
            let words = ["\(example)/heart_rate.py", "--info", "\(example)/Info.plist", "--out", "small"]
            let refused = try program.run(Program.path, ["app", "bundle"] + words)
            expectRefusal(refused, code: 12, says: "small: HeartRatePython.app cannot be made there: no space left")
        }
    }

    @Test("The certificates of APNs' endpoint")
    func certificates() throws {
        try onFullDisk { program in
            let words = ["missed.yaml", "--backend", "push=apns", "--apns-identity", "small/apns", "--out", "other"]
            let refused = try program.run(Program.path, ["run"] + words)
            #expect(refused.code == 12)
            let place = "small/apns: the certificates of APNs' endpoint cannot be made: "
            #expect(refused.complaints.last?.contains(place) == true, "\(refused.errors)")
            try FileManager.default.removeItem(at: program.folder.appending(path: "small/apns"))
        }
    }
}
