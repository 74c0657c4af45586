import CSystemd

/// A call that somebody made to an exported object. Answered at once or later, exactly once; when it is let go
/// unanswered, the caller hears an error.
@safe package final class IncomingCall {
    package let sender: String
    package let path: String
    package let interface: String
    package let member: String
    package let arguments: [BusValue]
    private var message: OpaquePointer?

    fileprivate init(_ message: OpaquePointer, _ arguments: [BusValue]) {
        unsafe self.message = sd_bus_message_ref(message)
        sender = unsafe text(sd_bus_message_get_sender(message))
        path = unsafe text(sd_bus_message_get_path(message))
        interface = unsafe text(sd_bus_message_get_interface(message))
        member = unsafe text(sd_bus_message_get_member(message))
        self.arguments = arguments
    }

    /// Answers with values. A caller that went away cannot be answered, and does not mind.
    package func reply(_ values: [BusValue] = []) {
        guard let call = unsafe message else { return }
        var made: OpaquePointer?
        guard unsafe sd_bus_message_new_method_return(call, &made) >= 0, let answer = unsafe made else { return }
        defer { unsafe sd_bus_message_unref(made) }
        do throws(BusError) {
            try unsafe BusWriting(answer).append(values)
            _ = unsafe sd_bus_send(nil, answer, nil)
            withdraw()
        } catch {
            fail(error)
        }
    }

    /// Answers with an error.
    package func fail(_ error: BusError) {
        guard let call = unsafe message else { return }
        _ = unsafe error.name.withCString { name in
            unsafe error.message.withCString { message in
                var given = unsafe sd_bus_error(name: name, message: message, _need_free: 0)
                return unsafe sd_bus_reply_method_error(call, &given)
            }
        }
        withdraw()
    }

    deinit {
        if unsafe message != nil {
            fail(BusError(name: "org.freedesktop.DBus.Error.NoReply", message: "nobody answered \(member)"))
        }
    }
}

extension Bus {
    /// Answers calls to an object and, with `andBelow`, to every object below it, until the result is let go.
    ///
    /// `handler` sees every call except those of Peer. It returns false for one that it does not know, which the caller
    /// then hears.
    package func export(
        _ path: String,
        andBelow: Bool = false,
        handler: @escaping (IncomingCall) -> Bool
    ) throws(BusError) -> BusSubscription {
        var slot: OpaquePointer?
        let retained = unsafe Unmanaged.passRetained(CallHandler(handler))
        let callback: sd_bus_message_handler_t = { message, context, _ in
            guard let message = unsafe message, let context = unsafe context else { return 0 }
            return unsafe Unmanaged<CallHandler>.fromOpaque(context).takeUnretainedValue().answer(message)
        }
        let context = unsafe retained.toOpaque()
        let code =
            unsafe andBelow
            ? sd_bus_add_fallback(handle, &slot, path, callback, context)
            : sd_bus_add_object(handle, &slot, path, callback, context)
        guard code >= 0 else {
            unsafe retained.release()
            throw BusError(call: "sd_bus_add_object", code: code)
        }
        unsafe sd_bus_slot_set_destroy_callback(slot) { context in
            if let context = unsafe context { unsafe Unmanaged<CallHandler>.fromOpaque(context).release() }
        }
        return unsafe BusSubscription(slot)
    }

    /// Asks for a well-known name. `completion` hears nil when it is now owned here.
    package func requestName(_ name: String, completion: @escaping (BusError?) -> Void) {
        let bus = "org.freedesktop.DBus"
        // 4: fail rather than wait in a queue for the present owner.
        let arguments: [BusValue] = [.string(name), .uint32(4)]
        call(BusCall(bus, "/org/freedesktop/DBus", bus, "RequestName", arguments)) { answer in
            switch answer {
            case .failure(let error): completion(error)
            // 1: now the owner; 4: already was.
            case .success(let values) where [1, 4].contains(values.first?.integer ?? 0): completion(nil)
            case .success:
                completion(BusError(name: "org.freedesktop.DBus.Error.NameExists", message: "\(name) has an owner"))
            }
        }
    }
}

/// What an exported object calls. libsystemd holds it by its address.
private final class CallHandler {
    private let handler: (IncomingCall) -> Bool

    init(_ handler: @escaping (IncomingCall) -> Bool) { self.handler = handler }

    /// 1 when the call was taken, 0 when others may look at it.
    func answer(_ message: OpaquePointer) -> Int32 {
        var reading = unsafe BusReading(message)
        do throws(BusError) {
            let call = unsafe IncomingCall(message, try reading.all())
            if handler(call) { return 1 }
            call.withdraw()
            return 0
        } catch {
            unsafe IncomingCall(message, []).fail(error)
            return 1
        }
    }
}

extension IncomingCall {
    /// Leaves the answer to somebody else.
    fileprivate func withdraw() {
        unsafe sd_bus_message_unref(message)
        unsafe message = nil
    }
}
