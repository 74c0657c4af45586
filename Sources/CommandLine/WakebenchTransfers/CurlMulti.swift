import CCurl
import CCurlShims
import Glibc
import WakeSystem

/// libcurl's exchanges on the event loop: it says which sockets and which time it waits for, and is told of both.
@safe final class CurlMulti {
    private let handle: UnsafeMutableRawPointer
    private let loop: EventLoop
    private let timer: Timer
    private var watches: [Int32: Watch] = [:]
    /// By the address of their handles.
    private var exchanges: [UInt: Exchange] = [:]

    init(on loop: EventLoop) throws(SystemError) {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let made = unsafe curl_multi_init() else {
            throw SystemError("curl_multi_init", code: ENOMEM)
        }
        unsafe handle = made
        self.loop = loop
        timer = try loop.timer(on: .monotonic)
        timer.handler = { [unowned self] in act(on: -1, 0) }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let code = unsafe wake_curl_multi_set_callbacks(handle, socketWanted, timeWanted, context)
        precondition(code == CURLM_OK, "curl_multi_setopt failed with \(code.rawValue)")
    }

    /// The version of the libcurl that is linked.
    static var libraryVersion: String {
        guard let found = unsafe curl_version_info(CURLVERSION_FIRST) else { return "of an unknown version" }
        return unsafe String(cString: found.pointee.version)
    }

    deinit {
        unsafe curl_multi_cleanup(handle)
    }

    /// Begins an exchange.
    func add(_ exchange: Exchange) {
        let code = unsafe curl_multi_add_handle(handle, exchange.easy)
        precondition(code == CURLM_OK, "curl_multi_add_handle failed with \(code.rawValue)")
        exchanges[exchange.address] = exchange
    }

    /// Ends an exchange, whose owner hears nothing more. Not to be called from one of its callbacks.
    func remove(_ exchange: Exchange) {
        guard exchanges.removeValue(forKey: exchange.address) != nil else { return }
        unsafe curl_multi_remove_handle(handle, exchange.easy)
    }

    private func act(on socket: Int32, _ events: Int32) {
        var running: Int32 = 0
        unsafe curl_multi_socket_action(handle, socket, events, &running)
        var result = CURLE_OK
        while let easy = unsafe wake_curl_multi_next_done(handle, &result) {
            guard let exchange = exchanges[UInt(bitPattern: easy)] else { continue }
            remove(exchange)
            exchange.owner?.ended(exchange, result)
        }
    }

    fileprivate func wait(for interest: Int32, of socket: Int32) {
        var wanted: Readiness = []
        if interest & CURL_POLL_IN != 0 { wanted.insert(.readable) }
        if interest & CURL_POLL_OUT != 0 { wanted.insert(.writable) }
        if interest == CURL_POLL_REMOVE {
            watches.removeValue(forKey: socket)?.cancel()
        } else if let watch = watches[socket] {
            watch.setInterests(wanted)
        } else {
            // Without a watch the exchange's own timeouts end it.
            watches[socket] = try? loop.watch(socket, for: wanted) { [unowned self] readiness in
                var events: Int32 = 0
                if !readiness.isDisjoint(with: [.readable, .hangup]) { events |= CURL_CSELECT_IN }
                if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
                if readiness.contains(.failed) { events |= CURL_CSELECT_ERR }
                act(on: socket, events)
            }
        }
    }

    fileprivate func wait(milliseconds: Int) {
        if milliseconds < 0 { timer.disarm() } else { timer.arm(after: Int64(milliseconds)) }
    }
}

private func socketWanted(
    _ easy: UnsafeMutableRawPointer?,
    _ socket: Int32,
    _ interest: Int32,
    _ context: UnsafeMutableRawPointer?,
    _ own: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe Unmanaged<CurlMulti>.fromOpaque(context!).takeUnretainedValue().wait(for: interest, of: socket)
    return 0
}

private func timeWanted(
    _ multi: UnsafeMutableRawPointer?,
    _ milliseconds: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe Unmanaged<CurlMulti>.fromOpaque(context!).takeUnretainedValue().wait(milliseconds: milliseconds)
    return 0
}
