import BlueZStandIn
import Glibc
import Testing
import WakeBus
import WakeSystem

@Suite("The bus", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus"))
struct BusTests {
    static let values: [BusValue] = [
        .byte(7), .bool(true), .int16(-2), .uint16(65_535), .int32(-70_000), .uint32(70_000), .int64(.min),
        .uint64(.max), .double(0.5), .string("Gürtel"), .objectPath("/org/bluez/hci0"), .signature("a{sv}"),
        .bytes([]), .bytes([0, 255]), .strings([]), .strings(["a", "b"]), .array([.array([], of: "u")], of: "au"),
        .properties([]), .properties([("RSSI", .int16(-60)), ("UUIDs", .strings(["180d"]))]),
        .dictionary([BusEntry(.uint16(76), .variant(.bytes([1])))], key: "q", value: "v"),
        .structure([.uint32(1), .variant(.structure([.string("x"), .bool(false)]))]),
    ]

    /// A bus on which one connection answers every call with what it was given.
    func withEcho(_ body: (PrivateBus, Bus, String) throws -> Void) throws {
        let bus = try PrivateBus()
        let server = try bus.connect()
        let exported = try server.export("/echo", andBelow: true) { call in
            switch call.member {
            case "Echo": call.reply(call.arguments)
            case "Fail": call.fail(BusError(name: "org.bluez.Error.InProgress", message: "busy"))
            case "Forget": break
            default: return false
            }
            return true
        }
        defer { exported.cancel() }
        try body(bus, try bus.connect(), try #require(server.uniqueName))
    }

    func ask(_ bus: PrivateBus, _ client: Bus, _ call: BusCall, timeout: Duration = .seconds(20)) throws -> Bus.Answer {
        var answer: Bus.Answer?
        client.call(call, timeout: timeout) { answer = $0 }
        #expect(answer == nil, "the answer came from inside the call")
        try bus.wait(for: "the answer to \(call.member)") { answer != nil }
        return try #require(answer)
    }

    @Test("Every type of value comes back as it went", arguments: values)
    func roundTrip(value: BusValue) throws {
        try withEcho { bus, client, server in
            let answer = try ask(bus, client, BusCall(server, "/echo", "a.b", "Echo", [value, .variant(value)]))
            #expect(try answer.get() == [value, .variant(value)])
        }
    }

    @Test("A descriptor arrives as another descriptor of the same pipe")
    func descriptor() throws {
        try withEcho { bus, client, server in
            var ends: [Int32] = [0, 0]
            #expect(unsafe pipe(&ends) == 0)
            let (reading, writing) = (BusDescriptor(owning: ends[0]), BusDescriptor(owning: ends[1]))
            let answer = try ask(bus, client, BusCall(server, "/echo", "a.b", "Echo", [.descriptor(writing)]))
            let received = try #require(try answer.get().first?.descriptor)
            #expect(received.borrowed != writing.borrowed)
            #expect(unsafe write(received.borrowed, "x", 1) == 1)
            var byte: UInt8 = 0
            #expect(unsafe read(reading.borrowed, &byte, 1) == 1)
            #expect(byte == UInt8(ascii: "x"))
        }
    }

    @Test("An error keeps its name and message")
    func error() throws {
        try withEcho { bus, client, server in
            let answer = try ask(bus, client, BusCall(server, "/echo", "a.b", "Fail"))
            #expect(answer == .failure(BusError(name: "org.bluez.Error.InProgress", message: "busy")))
        }
    }

    @Test("A call nobody answers ends at its time-out")
    func timeout() throws {
        let bus = try PrivateBus()
        let server = try bus.connect()
        var held: [IncomingCall] = []
        let exported = try server.export("/slow") { call in
            held.append(call)
            return true
        }
        defer { exported.cancel() }
        let name = try #require(server.uniqueName)
        let answer = try ask(bus, try bus.connect(), BusCall(name, "/slow", "a.b", "C"), timeout: .milliseconds(50))
        guard case .failure(let error) = answer else { throw CancellationError() }
        #expect(error.isTimeout, "\(error)")
    }

    @Test("A call let go unanswered is an error to its caller, not silence")
    func forgotten() throws {
        try withEcho { bus, client, server in
            let answer = try ask(bus, client, BusCall(server, "/echo", "a.b", "Forget"))
            let silence = BusError(name: "org.freedesktop.DBus.Error.NoReply", message: "nobody answered Forget")
            #expect(answer == .failure(silence))
        }
    }

    @Test("A call that cannot be made is answered with an error, later")
    func unmakeable() throws {
        try withEcho { bus, client, server in
            let wrongPath = try ask(bus, client, BusCall(server, "no path", "a.b", "Echo"))
            let refused = BusError(
                name: "org.freedesktop.DBus.Error.Failed",
                message: "sd_bus_message_new_method_call: Invalid argument"
            )
            #expect(wrongPath == .failure(refused))
            let zero = try ask(bus, client, BusCall(server, "/echo", "a.b", "Echo", [.string("a\u{0}b")]))
            let malformed = BusError(
                name: "org.freedesktop.DBus.Error.InvalidArgs",
                message: "a string with a zero byte"
            )
            #expect(zero == .failure(malformed))
        }
    }

    @Test("A call to nobody says so")
    func nobody() throws {
        let bus = try PrivateBus()
        let answer = try ask(bus, try bus.connect(), BusCall("org.bluez", "/", "a.b", "C"))
        guard case .failure(let error) = answer else { throw CancellationError() }
        #expect(error.isAboutNobody, "\(error)")
    }

    @Test("Values nested too deep are refused, on both sides")
    func depth() throws {
        try withEcho { bus, client, server in
            let deep = (0..<40).reduce(BusValue.byte(1)) { value, _ in .variant(value) }
            let answer = try ask(bus, client, BusCall(server, "/echo", "a.b", "Echo", [deep]))
            guard case .failure(let error) = answer else { throw CancellationError() }
            #expect(error.kind == "LimitsExceeded")
        }
    }

    @Test("Signals arrive in order, and only those asked for, until the subscription goes")
    func signals() throws {
        let bus = try PrivateBus()
        let (server, client) = (try bus.connect(), try bus.connect())
        var heard: [BusValue] = []
        let rule = BusSignal.Rule(sender: server.uniqueName, pathNamespace: "/org/bluez", interface: "a.b", member: "S")
        var subscription: BusSubscription? = try client.subscribe(to: rule) { heard.append($0.arguments[0]) }
        // The answer tells that the bus knows the subscription.
        _ = try ask(bus, client, BusCall("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId"))
        for number in 0..<10 { try server.emit("/org/bluez/hci0", "a.b", "S", [.int32(Int32(number))]) }
        try server.emit("/org/bluezz", "a.b", "S", [.int32(100)])
        try server.emit("/org/bluez", "a.b", "T", [.int32(100)])
        try server.emit("/org/bluez", "a.b", "S", [.int32(10)])
        try bus.wait(for: "the last signal") { heard.last == .int32(10) }
        #expect(heard == (0...10).map { .int32($0) })
        #expect(subscription != nil)
        subscription = nil
        try server.emit("/org/bluez", "a.b", "S", [.int32(11)])
        _ = try ask(bus, client, BusCall("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId"))
        #expect(heard.count == 11)
    }

    @Test("The owner of a name is told at once and at each change")
    func owner() throws {
        let bus = try PrivateBus()
        let client = try bus.connect()
        var owners: [String?] = []
        let watch = try client.watchOwner(of: "org.bluez") { owners.append($0) }
        defer { watch.cancel() }
        try bus.wait(for: "the first word") { owners.count == 1 }
        var server: Bus? = try bus.connect()
        server?.requestName("org.bluez") { #expect($0 == nil) }
        try bus.wait(for: "an owner") { owners.count == 2 }
        let name = try #require(server?.uniqueName)
        server = nil
        try bus.wait(for: "no owner") { owners.count == 3 }
        #expect(owners == [nil, name, nil])
    }

    @Test("The end of the bus is told once, and calls in flight fail")
    func disconnected() throws {
        var bus: PrivateBus? = try PrivateBus()
        let loop = try #require(bus?.loop)
        let client = try #require(try bus?.connect())
        let name = client.uniqueName
        #expect(name?.hasPrefix(":") == true)
        var ends = 0
        client.disconnected = { ends += 1 }
        bus = nil
        let deadline = MonotonicClock.now() + 20_000_000_000
        while ends == 0, MonotonicClock.now() < deadline { try loop.runOnce(timeout: 1_000_000_000) }
        #expect(ends == 1)
        #expect(!client.isOpen)
    }

    @Test("A question before the loop runs is answered, or refused, at once")
    func ask() throws {
        let bus = try PrivateBus()
        let daemon = "org.freedesktop.DBus"
        let answer = try Bus.ask(.address(bus.address), BusCall(daemon, "/", daemon, "NameHasOwner", [.string(daemon)]))
        #expect(answer == [.bool(true)])
        let error = #expect(throws: BusError.self) {
            try Bus.ask(.address(bus.address), BusCall("org.bluez", "/", "a.b", "C"))
        }
        #expect(error?.name == "org.freedesktop.DBus.Error.ServiceUnknown")
    }

    @Test("No bus at the address is an error that says so")
    func noBus() throws {
        let loop = try EventLoop()
        let error = #expect(throws: BusError.self) { try Bus(.address("unix:path=/nonexistent/bus"), on: loop) }
        #expect(error?.message == "sd_bus_start: No such file or directory")
    }
}
