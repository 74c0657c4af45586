import Foundation
import Glibc
import Testing
import TriedFreezers
import WakeSystem

@testable import WakeProcesses

@Suite("Apps are measured", .serialized)
struct MeasuringTests {
    @Test(
        "Processor time and memory of an app are of all its processes",
        arguments: TriedFreezers.kinds,
        ["count", "fork", "detach"]
    )
    func usage(freezer: FreezerKind, mode: String) throws {
        let stage = try Stage(freezer)
        let counter = Counter()
        defer { counter.remove() }
        try stage.spawn(mode, counter.path)
        try stage.turn { counter.value > 10 }
        let usage = try #require(stage.host.usage(of: 1))
        #expect(usage.footprint > 0)
        // The counter works on, whichever process it is.
        try stage.turn { (stage.host.usage(of: 1)?.processorTime ?? 0) >= usage.processorTime + 2_000_000 }
        #expect(stage.host.usage(of: 2) == nil)
    }

    @Test("An app that spins is seen to take a processor", arguments: TriedFreezers.kinds)
    func spins(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        try stage.spawn("spin")
        try stage.turn { (stage.host.usage(of: 1)?.processorTime ?? 0) > 50_000_000 }
        let used = try #require(stage.host.usage(of: 1)?.processorTime)
        stage.host.kill(1)
        try stage.turn { !stage.exits.isEmpty }
        #expect(stage.exits[0].processorTime >= used)
    }

    @Test("The memory that an app has written to is its footprint", arguments: TriedFreezers.kinds)
    func hogs(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        try stage.spawn("hog", "64")
        try stage.turn { (stage.host.usage(of: 1)?.footprint ?? 0) >= 64 << 20 }
        let footprint = try #require(stage.host.usage(of: 1)?.footprint)
        #expect(footprint < 80 << 20)
    }

    @Test(
        "Each kind of lock is found, frozen or not",
        arguments: TriedFreezers.kinds,
        ["flock", "shared", "posix", "ofd"]
    )
    func locks(freezer: FreezerKind, kind: String) throws {
        let stage = try Stage(freezer)
        let folder = try Folder()
        try stage.spawn("lock", kind, folder.path + "/group.db")
        try stage.turn { !stage.host.locks(of: 1, outside: "/nowhere").isEmpty }
        #expect(try stage.freeze() == .frozen)
        let locks = stage.host.locks(of: 1, outside: "/nowhere")
        try #require(locks.count == 1)
        #expect(locks[0].path == folder.path + "/group.db")
        #expect(locks[0].isExclusive == (kind != "shared"))
        let kinds: [String: FileLock.Kind] = ["posix": .posix, "ofd": .openFileDescription]
        #expect(locks[0].kind == kinds[kind] ?? .flock)
        #expect(locks[0].last == (kind == "flock" || kind == "shared" ? nil : 109))
    }

    @Test("A lock in the app's own folder is nobody else's, by whatever way the folder is named")
    func ownFolder() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        let folder = try Folder()
        let link = folder.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
        defer { try? FileManager.default.removeItem(atPath: link) }
        try stage.spawn("lock", "flock", folder.path + "/own.db")
        try stage.turn { !stage.host.locks(of: 1, outside: "/nowhere").isEmpty }
        #expect(stage.host.locks(of: 1, outside: folder.path) == [])
        #expect(stage.host.locks(of: 1, outside: link) == [])
    }

    @Test("A SQLite database in WAL mode that is merely open holds nobody up")
    func writeAheadLog() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        let folder = try Folder()
        try stage.spawn("lock", "wal", folder.path + "/group.db-shm")
        try stage.turn { !stage.packets.isEmpty }
        #expect(stage.host.locks(of: 1, outside: "/nowhere") == [])
    }

    @Test(
        "A frozen app's listening sockets are found and closed, and it may go on",
        arguments: TriedFreezers.kinds,
        ["tcp", "unix"]
    )
    func listeners(freezer: FreezerKind, kind: String) throws {
        let stage = try Stage(freezer)
        let folder = try Folder()
        let path = folder.path + "/socket"
        let output = try Descriptor.open(folder.path + "/output", O_RDWR | O_CREAT)
        let operand = kind == "unix" ? path : ""
        try stage.spawn("listen", operand, output: output.number)
        try stage.turn { !stage.packets.isEmpty }
        let port = UInt16((try readSmallFile(folder.path + "/output")).dropLast()) ?? 0
        let name = kind == "unix" ? "unix \(path)" : "tcp 127.0.0.1:\(port)"
        #expect(try stage.freeze() == .frozen)
        #expect(stage.host.listeners(of: 1).map(\.name) == [name])
        #expect(canConnect(port, kind == "unix" ? path : nil))
        let closed = stage.host.closeListeners(of: 1)
        #expect(closed.map(\.socket.name) == [name])
        #expect(closed.map(\.failure) == [nil])
        #expect(stage.host.listeners(of: 1).isEmpty)
        #expect(!canConnect(port, kind == "unix" ? path : nil))
        #expect(stage.host.thaw(1))
        #expect(stage.exits.isEmpty)
    }

    /// Moves the process that counts into the group that this process is in, as an app of root's may.
    private func moveOut(_ counter: Counter, _ freezer: FreezerKind) throws {
        let roots = GroupRoots.ofThisProcess()
        let root = try #require(freezer == .cgroup2 ? roots.version2 : roots.version1)
        let group = try Descriptor.open(root + "/cgroup.procs", O_WRONLY)
        #expect(try group.write(Array("\(counter.process)".utf8)) != nil)
    }

    @Test(
        "A process that has left its app's group is seen, runs on while the app is frozen, and is killed with it",
        .enabled(if: !TriedFreezers.groups.isEmpty, "needs a freezer of control groups"),
        arguments: TriedFreezers.groups
    )
    func strays(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let counter = Counter()
        defer { counter.remove() }
        try stage.spawn("fork", counter.path)
        try stage.turn { counter.value > 3 }
        #expect(stage.host.strays(of: 1) == [])
        try moveOut(counter, freezer)
        #expect(stage.host.strays(of: 1) == [counter.process])
        #expect(try stage.freeze() == .frozen)
        let value = counter.value
        try stage.turn { counter.value > value }
        stage.host.kill(1)
        try stage.turn { !stage.exits.isEmpty && isDead(counter.process) }
    }

    @Test(
        "One that was seen and whose app ends by itself is killed then, and one that was never seen at the end of the run",
        .enabled(if: !TriedFreezers.groups.isEmpty, "needs a freezer of control groups"),
        arguments: TriedFreezers.groups,
        [true, false]
    )
    func orphans(freezer: FreezerKind, isSeen: Bool) throws {
        let stage = try Stage(freezer)
        let counter = Counter()
        defer { counter.remove() }
        let pid = try stage.spawn("fork", counter.path)
        try stage.turn { counter.value > 3 }
        try moveOut(counter, freezer)
        if isSeen { #expect(stage.host.strays(of: 1) == [counter.process]) }
        kill(pid, SIGKILL)
        try stage.turn { !stage.exits.isEmpty && isDead(counter.process) == isSeen }
        stage.host.close()
        try stage.turn { isDead(counter.process) }
    }

    @Test("A group that an app has made within its own is no way out", arguments: TriedFreezers.groups)
    func nestedGroup(freezer: FreezerKind) throws {
        let stage = try Stage(freezer)
        let counter = Counter()
        defer { counter.remove() }
        try stage.spawn("fork", counter.path)
        try stage.turn { counter.value > 3 }
        let roots = GroupRoots.ofThisProcess()
        let root = try #require(freezer == .cgroup2 ? roots.version2 : roots.version1)
        let run = "\(root)/wakebench-\(stage.host.runName)/bench-\(GroupMaker.mark)"
        let app = try #require(try FileManager.default.contentsOfDirectory(atPath: run).first { $0.hasPrefix("app-") })
        let inner = "\(run)/\(app)/inner"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        let group = try Descriptor.open(inner + "/cgroup.procs", O_WRONLY)
        #expect(try group.write(Array("\(counter.process)".utf8)) != nil)
        #expect(stage.host.strays(of: 1) == [])
        stage.host.kill(1)
        // What is in a group within goes with the run at the latest.
        try stage.turn { !stage.exits.isEmpty }
        stage.host.close()
        try stage.turn { isDead(counter.process) }
    }

    @Test("An app that listens on nothing has no listening sockets")
    func listensOnNothing() throws {
        let stage = try Stage(TriedFreezers.kinds[0])
        try stage.spawn("echo")
        #expect(stage.host.listeners(of: 1).isEmpty)
        #expect(stage.host.closeListeners(of: 1).isEmpty)
    }
}

/// A folder of the test's own.
private final class Folder {
    let path: String

    init() throws {
        let path = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/wakebench-locks-\(UUID())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        self.path = path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Whether somebody accepts connections at a port of this machine, or at a path.
private func canConnect(_ port: UInt16, _ path: String?) -> Bool {
    let number = socket(path == nil ? AF_INET : AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard number >= 0 else { return false }
    defer { close(number) }
    if let path {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return unsafe withUnsafePointer(to: &address) { address in
        unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
