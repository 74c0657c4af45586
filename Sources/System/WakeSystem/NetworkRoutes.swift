import CWakeShims
import Glibc

/// This machine's ways to the network: its default routes, followed by rtnetlink(7).
package final class NetworkRoutes {
    /// What default routes lead over.
    package struct Ways: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A network by radio or by cable.
        package static let local = Ways(rawValue: 1)
        /// A modem's (the kernel's DEVTYPE wwan).
        package static let mobile = Ways(rawValue: 2)
    }

    /// The ways as they are now.
    package private(set) var ways: Ways
    /// Called after each change of ``ways``.
    package var handler: () -> Void = {}
    private let descriptor: Descriptor
    private var watch: Watch?
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    /// - Throws: where the kernel refuses the socket.
    package init(loop: EventLoop) throws(SystemError) {
        let number = wake_routes_open()
        guard number >= 0 else { throw SystemError(last: "socket", subject: "rtnetlink") }
        descriptor = Descriptor(owning: number)
        ways = Self.read()
        watch = try loop.watch(number, for: .readable) { [unowned self] _ in changed() }
    }

    deinit { watch?.cancel() }

    private func changed() {
        // What the words say is in the tables too, and in them nothing is lost where too many words came (ENOBUFS).
        while let count = (try? descriptor.read(into: &buffer)) ?? nil, count > 0 {}
        let now = Self.read()
        guard now != ways else { return }
        ways = now
        handler()
    }

    /// The ways that this machine has now.
    package static var now: Ways { read() }

    private static func read() -> Ways {
        ways(
            routes: text(of: "/proc/thread-self/net/route"),
            routes6: text(of: "/proc/thread-self/net/ipv6_route")
        ) { text(of: "/sys/class/net/\($0)/uevent").split(separator: "\n").contains("DEVTYPE=wwan") }
    }

    /// - Parameters:
    ///   - routes: what /proc/net/route says.
    ///   - routes6: what /proc/net/ipv6_route says.
    ///   - isModem: whether a link of this name is a modem's.
    package static func ways(routes: String, routes6: String, isModem: (String) -> Bool) -> Ways {
        var ways: Ways = []
        for line in routes.split(separator: "\n").dropFirst() {
            let words = line.split { $0 == "\t" || $0 == " " }
            guard words.count > 7, words[1] == "00000000", words[7] == "00000000", words[0] != "lo", leads(words[3])
            else { continue }
            ways.insert(isModem(String(words[0])) ? .mobile : .local)
        }
        for line in routes6.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 10, words[0].allSatisfy({ $0 == "0" }), words[1] == "00", leads(words[8]) else {
                continue
            }
            guard words[9] != "lo" else { continue }
            ways.insert(isModem(String(words[9])) ? .mobile : .local)
        }
        return ways
    }

    /// RTF_UP and RTF_REJECT of linux/route.h.
    private static let up: UInt32 = 0x1
    private static let refuses: UInt32 = 0x200

    private static func leads(_ flags: Substring) -> Bool {
        (UInt32(flags, radix: 16) ?? 0) & (up | refuses) == up
    }

    /// Empty where it cannot be read.
    private static func text(of path: String) -> String { (try? readSmallFile(path, limit: 1 << 20)) ?? "" }
}
