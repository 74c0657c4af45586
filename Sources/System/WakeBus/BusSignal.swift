import CSystemd

/// A signal that arrived.
package struct BusSignal: Sendable {
    /// The unique name of the sender.
    package var sender: String
    package var path: String
    package var interface: String
    package var member: String
    package var arguments: [BusValue]

    /// Which signals to hear; nil matches all.
    package struct Rule: Hashable, Sendable {
        package var sender: String?
        package var path: String?
        /// The object and all below it.
        package var pathNamespace: String?
        package var interface: String?
        package var member: String?
        /// The first argument, when it is a string.
        package var firstArgument: String?

        package init(
            sender: String? = nil,
            path: String? = nil,
            pathNamespace: String? = nil,
            interface: String? = nil,
            member: String? = nil,
            firstArgument: String? = nil
        ) {
            self.sender = sender
            self.path = path
            self.pathNamespace = pathNamespace
            self.interface = interface
            self.member = member
            self.firstArgument = firstArgument
        }

        /// The rule as the bus reads it.
        var text: String {
            let parts = [
                ("sender", sender), ("path", path), ("path_namespace", pathNamespace), ("interface", interface),
                ("member", member), ("arg0", firstArgument),
            ]
            let given = parts.compactMap { key, value in
                // A quote inside would end the value; names and paths of D-Bus have none.
                value.map { "\(key)='\($0.filter { $0 != "'" })'" }
            }
            return (["type='signal'"] + given).joined(separator: ",")
        }
    }
}

/// Stays in force until it is let go.
@safe package final class BusSubscription {
    private var slot: OpaquePointer?

    init(_ slot: OpaquePointer?) { unsafe self.slot = slot }

    /// Ends it before the last reference goes.
    package func cancel() {
        unsafe sd_bus_slot_unref(slot)
        unsafe slot = nil
    }

    deinit { cancel() }
}

extension Bus {
    /// Calls `handler` for each matching signal, in the order of the bus, until the result is let go.
    ///
    /// What is asked of the bus after this call is answered after the signals are being heard.
    package func subscribe(
        to rule: BusSignal.Rule,
        handler: @escaping (BusSignal) -> Void
    ) throws(BusError) -> BusSubscription {
        var slot: OpaquePointer?
        let retained = unsafe Unmanaged.passRetained(SignalHandler(handler))
        let code = unsafe sd_bus_add_match_async(
            self.handle,
            &slot,
            rule.text,
            { message, context, _ in
                guard let message = unsafe message, let context = unsafe context else { return 0 }
                unsafe Unmanaged<SignalHandler>.fromOpaque(context).takeUnretainedValue().hear(message)
                return 0
            },
            { _, _, _ in 0 },
            retained.toOpaque()
        )
        guard code >= 0 else {
            unsafe retained.release()
            throw BusError(call: "sd_bus_add_match_async", code: code)
        }
        unsafe sd_bus_slot_set_destroy_callback(slot) { context in
            if let context = unsafe context { unsafe Unmanaged<SignalHandler>.fromOpaque(context).release() }
        }
        return unsafe BusSubscription(slot)
    }

    /// Tells who owns a name, now and at each change: a unique name, or nil while nobody does.
    package func watchOwner(
        of name: String,
        handler: @escaping (String?) -> Void
    ) throws(BusError) -> BusSubscription {
        let bus = "org.freedesktop.DBus"
        let rule = BusSignal.Rule(sender: bus, interface: bus, member: "NameOwnerChanged", firstArgument: name)
        let subscription = try subscribe(to: rule) { signal in
            guard signal.arguments.count == 3, let owner = signal.arguments[2].text else { return }
            handler(owner.isEmpty ? nil : owner)
        }
        call(BusCall(bus, "/org/freedesktop/DBus", bus, "GetNameOwner", [.string(name)])) { answer in
            handler((try? answer.get())?.first?.text)
        }
        return subscription
    }

    /// Sends a signal.
    package func emit(
        _ path: String,
        _ interface: String,
        _ member: String,
        _ arguments: [BusValue] = []
    ) throws(BusError) {
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_signal(handle, &made, path, interface, member)
        try check(code, "sd_bus_message_new_signal")
        defer { unsafe sd_bus_message_unref(made) }
        guard let message = unsafe made else { throw .malformed("a signal without a message") }
        try unsafe BusWriting(message).append(arguments)
        try check(unsafe sd_bus_send(handle, message, nil), "sd_bus_send")
    }
}

/// What a subscription calls. libsystemd holds it by its address.
private final class SignalHandler {
    private let handler: (BusSignal) -> Void

    init(_ handler: @escaping (BusSignal) -> Void) { self.handler = handler }

    /// A signal that cannot be read, or goes beyond the bounds, is dropped: nobody waits for an answer to it.
    func hear(_ message: OpaquePointer) {
        var reading = unsafe BusReading(message)
        guard let arguments = try? reading.all() else { return }
        handler(
            BusSignal(
                sender: unsafe text(sd_bus_message_get_sender(message)),
                path: unsafe text(sd_bus_message_get_path(message)),
                interface: unsafe text(sd_bus_message_get_interface(message)),
                member: unsafe text(sd_bus_message_get_member(message)),
                arguments: arguments
            )
        )
    }
}

func text(_ start: UnsafePointer<CChar>?) -> String {
    unsafe start.map { unsafe String(cString: $0) } ?? ""
}
