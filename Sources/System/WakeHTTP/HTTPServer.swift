import CMicroHTTPD
import Glibc
import WakeSystem

/// An HTTP/1.1 server on 127.0.0.1 alone, on a loop: libmicrohttpd, which does nothing but when the loop says so.
///
/// What a request comes to is its owner's to say, at once or later.
@safe package final class HTTPServer {
    /// What clients may take of it.
    package struct Limits: Sendable {
        package var connections: UInt32 = 64
        /// Of these, how many are answered at once; streams are answered until they end.
        package var answers = 32
        /// Bytes of the body of a request.
        package var body = 256 << 10
        /// Seconds without a byte either way, after which a connection is closed.
        package var patience: UInt32 = 60

        package init() {}
    }

    /// Asked when the head of a request has come: nil to hear the rest of it, or else what it is answered at once.
    package var admit: (HTTPExchange) -> HTTPAnswer? = { _ in nil }
    /// Told a request that has come whole. It is to be answered, now or later.
    package var asked: (HTTPExchange) -> Void = { _ in }

    let limits: Limits
    private var daemon: OpaquePointer?
    private var watch: Watch?
    private let due: Timer
    /// Those that have not ended.
    private var exchanges: [ObjectIdentifier: HTTPExchange] = [:]
    private var places: HTTPPlaces

    /// Connections that may have been told to end and not be gone yet: as many as come in a turn of the library, and more.
    private static let leaving = 16

    /// Listens at once.
    ///
    /// - Parameter port: 0 for one of the kernel's choice.
    package init(port: UInt16, limits: Limits = Limits(), on loop: EventLoop) throws(SystemError) {
        self.limits = limits
        places = HTTPPlaces(most: Int(limits.connections) - Self.leaving, mostBusy: limits.answers)
        due = try loop.timer(on: .monotonic)
        let taken = wake_http_limits(connections: limits.connections, patience: limits.patience, memory: Self.headSize)
        errno = 0
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe daemon = wake_http_start(port, taken, hearConnection, hearRequest, endRequest, context)
        guard unsafe daemon != nil else {
            throw SystemError("listen", code: errno == 0 ? EADDRINUSE : errno, subject: "127.0.0.1:\(port)")
        }
        watch = try loop.watch(unsafe wake_http_descriptor(daemon), for: .readable) { [unowned self] _ in run() }
        due.handler = { [unowned self] in run() }
    }

    deinit {
        watch?.cancel()
        // The library wants none suspended then.
        for exchange in exchanges.values { exchange.letGo() }
        unsafe MHD_stop_daemon(daemon)
    }

    /// The port that it listens on.
    package var port: UInt16 { unsafe wake_http_port(daemon) }

    /// Bytes of a request's head.
    private static let headSize = 32 << 10

    /// What was resumed goes on without anything being readable.
    fileprivate func runSoon() { due.arm(after: 0) }

    private func run() {
        unsafe _ = MHD_run(daemon)
        var milliseconds: CUnsignedLongLong = 0
        if unsafe MHD_get_timeout(daemon, &milliseconds) == wake_http_yes {
            due.arm(after: Int64(clamping: milliseconds))
        } else {
            due.disarm()
        }
    }

    fileprivate func begin(_ exchange: HTTPExchange) { exchanges[ObjectIdentifier(exchange)] = exchange }

    /// A request has come whole.
    fileprivate func take(_ exchange: HTTPExchange) {
        if places.begins(exchange.descriptor) { return asked(exchange) }
        let text = "\(limits.answers) requests and streams are being answered; try again later\n"
        exchange.answer(HTTPAnswer(503, "text/plain; charset=utf-8", Array(text.utf8)))
    }

    fileprivate func came(_ descriptor: Int32) {
        if let other = places.came(descriptor) { shutdown(other, Int32(SHUT_RDWR)) }
    }

    fileprivate func left(_ descriptor: Int32) { places.left(descriptor) }

    fileprivate func end(_ exchange: HTTPExchange) {
        exchanges[ObjectIdentifier(exchange)] = nil
        places.ended(exchange.descriptor)
        exchange.end()
    }
}

/// An answer in one piece.
package struct HTTPAnswer: Sendable {
    package var status: UInt32
    /// Its media type.
    package var type: String
    package var body: [UInt8]
    /// Fields of its head, beside the type.
    package var fields: [(name: String, value: String)]

    package init(_ status: UInt32, _ type: String, _ body: [UInt8], fields: [(name: String, value: String)] = []) {
        (self.status, self.type, self.body, self.fields) = (status, type, body, fields)
    }
}

/// Called when a client has connected, and when its connection has ended.
private func hearConnection(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ how: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let connection = unsafe connection else { return }
    let server = unsafe Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    let descriptor = unsafe wake_http_socket(connection)
    if wake_http_has_come(how) != 0 { server.came(descriptor) } else { server.left(descriptor) }
}

/// Called when the head of a request has come, with each piece of its body, and at its end.
private func hearRequest(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?,
    _ piece: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let path = unsafe path,
        let method = unsafe method, let size = unsafe size, let slot = unsafe slot
    else { return wake_http_no }
    let server = unsafe Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    guard let known = unsafe slot.pointee else {
        let exchange = unsafe HTTPExchange(
            connection,
            method: String(cString: method),
            path: String(cString: path),
            longestBody: server.limits.body,
            wake: { [unowned server] in server.runSoon() }
        )
        server.begin(exchange)
        unsafe slot.pointee = Unmanaged.passUnretained(exchange).toOpaque()
        return exchange.began(server.admit)
    }
    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
    if unsafe size.pointee > 0 {
        let bytes = unsafe UnsafeRawBufferPointer(start: piece, count: size.pointee)
        let isTaken = unsafe exchange.take(bytes)
        unsafe size.pointee = 0
        return isTaken ? wake_http_yes : wake_http_no
    }
    return exchange.goOn(server.take)
}

private func endRequest(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ how: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let known = unsafe slot?.pointee else { return }
    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
    unsafe Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().end(exchange)
    unsafe slot?.pointee = nil
}
