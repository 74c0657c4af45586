import CSystemd
import Glibc
import WakeSystem

/// Where a message bus is found.
package enum BusAddress: Hashable, Sendable {
    /// The machine's own, as DBUS_SYSTEM_BUS_ADDRESS or the usual socket say.
    case system
    /// Such as `unix:path=/run/private-bus`.
    case address(String)
}

/// A connection to a message bus. Everything happens on the loop's thread: answers and signals arrive as callbacks, in the
/// order in which they were sent, and never from inside a method of this type.
///
/// A callback that makes its own connection go away is allowed.
@safe package final class Bus {
    /// How long an answer may take when the caller does not say: what D-Bus itself has.
    package static let usualTimeout = Duration.seconds(25)

    let handle: OpaquePointer
    private let loop: EventLoop
    private var closed = false
    private var disconnectSlot: BusSubscription?

    /// Called once when the connection ends without having been closed here.
    package var disconnected: (() -> Void)?

    /// Connects. The bus's own greeting goes on in the loop; calls made meanwhile wait for it.
    ///
    /// - Throws: ``BusError`` when there is no bus at the address.
    package init(_ address: BusAddress, on loop: EventLoop) throws(BusError) {
        unsafe handle = try Self.open(address)
        self.loop = loop
        do throws(BusError) {
            try check(unsafe sd_bus_attach_event(handle, loop.handle, 0), "sd_bus_attach_event")
            // This match stays inside libsystemd: the bus itself cannot say that it went.
            let gone = BusSignal.Rule(
                sender: "org.freedesktop.DBus.Local",
                path: "/org/freedesktop/DBus/Local",
                interface: "org.freedesktop.DBus.Local",
                member: "Disconnected"
            )
            disconnectSlot = try subscribe(to: gone) { [weak self] _ in self?.disconnected?() }
        } catch {
            close()
            throw error
        }
    }

    private static func open(_ address: BusAddress) throws(BusError) -> OpaquePointer {
        var opened: OpaquePointer?
        var code: Int32
        var call = "sd_bus_open_system"
        switch address {
        case .system:
            code = unsafe sd_bus_open_system_with_description(&opened, "wakebench")
        case .address(let text):
            call = "sd_bus_start"
            code = unsafe sd_bus_new(&opened)
            if code >= 0 { code = unsafe sd_bus_set_address(opened, text) }
            if code >= 0 { code = unsafe sd_bus_set_bus_client(opened, 1) }
            if code >= 0 { code = unsafe sd_bus_negotiate_fds(opened, 1) }
            if code >= 0 { code = unsafe sd_bus_start(opened) }
        }
        guard code >= 0, let opened = unsafe opened else {
            unsafe sd_bus_unref(opened)
            throw BusError(call: call, code: code)
        }
        return unsafe opened
    }

    /// The name the bus gave this connection, such as `:1.42`. Waits for the bus's greeting when it has not come.
    package var uniqueName: String? {
        var name: UnsafePointer<CChar>? = nil
        guard unsafe sd_bus_get_unique_name(handle, &name) >= 0, let name = unsafe name else { return nil }
        return unsafe String(cString: name)
    }

    /// Whether the connection stands.
    package var isOpen: Bool { unsafe !closed && sd_bus_is_open(handle) > 0 }

    /// Ends the connection. Answers still awaited do not come any more.
    package func close() {
        guard !closed else { return }
        closed = true
        disconnected = nil
        disconnectSlot = nil
        unsafe sd_bus_detach_event(handle)
        unsafe sd_bus_close(handle)
    }

    deinit {
        close()
        unsafe sd_bus_unref(handle)
    }

    func check(_ code: Int32, _ call: String) throws(BusError) {
        if code < 0 { throw BusError(call: call, code: code) }
    }
}

// MARK: - Calling

/// A method call to be made.
package struct BusCall: Sendable {
    package var destination: String
    package var path: String
    package var interface: String
    package var member: String
    package var arguments: [BusValue]

    package init(
        _ destination: String,
        _ path: String,
        _ interface: String,
        _ member: String,
        _ arguments: [BusValue] = []
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}

extension Bus {
    /// The outcome of a call: the values of the answer, or why there are none.
    package typealias Answer = Result<[BusValue], BusError>

    /// Calls a method. `completion` runs once, later: with the answer, the error, or a time-out. Not after ``close()``.
    package func call(
        _ call: BusCall,
        timeout: Duration = Bus.usualTimeout,
        completion: @escaping (Answer) -> Void
    ) {
        do throws(BusError) {
            try send(call, timeout: timeout, completion: completion)
        } catch {
            // Even a call that could not be made is answered later, so that callers need one order of events only.
            answerLater(.failure(error), completion)
        }
    }

    /// Makes one call over a connection of its own and waits for the answer: for questions before a loop runs.
    package static func ask(
        _ address: BusAddress,
        _ call: BusCall,
        timeout: Duration = .seconds(5)
    ) throws(BusError) -> [BusValue] {
        let handle = unsafe try open(address)
        defer {
            unsafe sd_bus_close(handle)
            unsafe sd_bus_unref(handle)
        }
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_call(
            handle,
            &made,
            call.destination,
            call.path,
            call.interface,
            call.member
        )
        defer { unsafe sd_bus_message_unref(made) }
        guard code >= 0, let message = unsafe made else {
            throw BusError(call: "sd_bus_message_new_method_call", code: code)
        }
        try unsafe BusWriting(message).append(call.arguments)
        var failure = unsafe sd_bus_error(name: nil, message: nil, _need_free: 0)
        defer { unsafe sd_bus_error_free(&failure) }
        var answer: OpaquePointer?
        defer { unsafe sd_bus_message_unref(answer) }
        let called = unsafe sd_bus_call(handle, message, microseconds(timeout), &failure, &answer)
        guard called >= 0, let answer = unsafe answer else {
            throw unsafe failure.name == nil ? BusError(call: "sd_bus_call", code: called) : BusError(failure)
        }
        var reading = unsafe BusReading(answer)
        return try reading.all()
    }

    private static func microseconds(_ duration: Duration) -> UInt64 { UInt64(max(1, duration / .microseconds(1))) }

    private func send(
        _ call: BusCall,
        timeout: Duration,
        completion: @escaping (Answer) -> Void
    ) throws(BusError) {
        var made: OpaquePointer?
        let (path, interface) = (call.path, call.interface)
        try check(
            unsafe sd_bus_message_new_method_call(handle, &made, call.destination, path, interface, call.member),
            "sd_bus_message_new_method_call"
        )
        defer { unsafe sd_bus_message_unref(made) }
        guard let message = unsafe made else { throw .malformed("a call without a message") }
        try unsafe BusWriting(message).append(call.arguments)
        var slot: OpaquePointer?
        let waiting = PendingCall(completion)
        let handler: sd_bus_message_handler_t = { message, context, _ in
            guard let message = unsafe message, let context = unsafe context else { return 0 }
            unsafe PendingCall.behind(context).finish(with: Bus.answer(in: message))
            return 0
        }
        let retained = unsafe Unmanaged.passRetained(waiting)
        let limit = Self.microseconds(timeout)
        let code = unsafe sd_bus_call_async(handle, &slot, message, handler, retained.toOpaque(), limit)
        guard code >= 0 else {
            unsafe retained.release()
            throw BusError(call: "sd_bus_call_async", code: code)
        }
        // The slot keeps itself until the answer; whatever ends it releases what it holds.
        unsafe sd_bus_slot_set_destroy_callback(slot) { context in
            if let context = unsafe context { unsafe Unmanaged<PendingCall>.fromOpaque(context).release() }
        }
        unsafe sd_bus_slot_set_floating(slot, 1)
        unsafe sd_bus_slot_unref(slot)
    }

    private static func answer(in message: OpaquePointer) -> Answer {
        if let error = unsafe sd_bus_message_get_error(message) {
            return .failure(unsafe BusError(error.pointee))
        }
        return Result { () throws(BusError) in
            var reading = unsafe BusReading(message)
            return try reading.all()
        }
    }

    private func answerLater(_ answer: Answer, _ completion: @escaping (Answer) -> Void) {
        let waiting = LateAnswer { completion(answer) }
        let retained = unsafe Unmanaged.passRetained(waiting)
        var source: OpaquePointer?
        let code = unsafe sd_event_add_defer(
            loop.handle,
            &source,
            { _, context in
                guard let context = unsafe context else { return 0 }
                unsafe Unmanaged<LateAnswer>.fromOpaque(context).takeRetainedValue().run()
                return 0
            },
            retained.toOpaque()
        )
        precondition(code >= 0, "sd_event_add_defer returned \(code)")
        unsafe sd_event_source_set_floating(source, 1)
        unsafe sd_event_source_unref(source)
    }
}

/// What a call waits with. libsystemd holds it by its address.
private final class PendingCall {
    private var completion: ((Bus.Answer) -> Void)?

    init(_ completion: @escaping (Bus.Answer) -> Void) { self.completion = completion }

    static func behind(_ context: UnsafeMutableRawPointer) -> PendingCall {
        unsafe Unmanaged<PendingCall>.fromOpaque(context).takeUnretainedValue()
    }

    func finish(with answer: Bus.Answer) {
        let completion = completion
        self.completion = nil
        completion?(answer)
    }
}

private final class LateAnswer {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
}

extension BusError {
    init(_ error: sd_bus_error) {
        name = unsafe error.name.map { unsafe String(cString: $0) } ?? "org.freedesktop.DBus.Error.Failed"
        message = unsafe error.message.map { unsafe String(cString: $0) } ?? ""
    }
}
