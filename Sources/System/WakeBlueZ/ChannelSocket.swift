import CBluetooth
import CWakeShims
import Glibc
import WakeSystem

/// Opens L2CAP channels to peripherals; the kernel's sockets stand behind it, or a test's.
package protocol ChannelConnecting: AnyObject {
    /// Opens a channel over the link to a device.
    ///
    /// - Parameter adapter: the own address of the adapter that holds the link.
    /// - Parameter completion: called once, never from inside the call, unless the ticket is let go before. The caller
    ///   owns the descriptor, which is a non-blocking stream.
    /// - Returns: the ticket; the attempt is given up with its last reference.
    func open(
        psm: UInt16,
        to device: BlueZDeviceID,
        adapter: String,
        completion: @escaping (Result<Int32, SystemError>) -> Void
    ) -> AnyObject
}

/// A Bluetooth address in the kernel's words.
func end(_ address: String, isRandom: Bool, psm: UInt16) -> wake_channel_end? {
    let bytes = address.split(separator: ":").compactMap { UInt8($0, radix: 16) }
    guard bytes.count == 6 else { return nil }
    return wake_channel_end(
        address: (bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]),
        address_type: UInt8(isRandom ? BDADDR_LE_RANDOM : BDADDR_LE_PUBLIC),
        psm: psm
    )
}

/// The kernel's L2CAP sockets.
package final class ChannelConnector: ChannelConnecting {
    private let loop: EventLoop

    package init(loop: EventLoop) { self.loop = loop }

    /// An attempt that is under way.
    private final class Attempt {
        var descriptor: Int32 = -1
        var watch: Watch?
        var timer: WakeSystem.Timer?

        deinit {
            watch?.cancel()
            timer?.cancel()
            if descriptor >= 0 { close(descriptor) }
        }
    }

    package func open(
        psm: UInt16,
        to device: BlueZDeviceID,
        adapter: String,
        completion: @escaping (Result<Int32, SystemError>) -> Void
    ) -> AnyObject {
        let attempt = Attempt()
        let finish = { [unowned attempt] (result: Result<Int32, SystemError>) in
            attempt.watch?.cancel()
            attempt.timer?.cancel()
            completion(result)
        }
        do throws(SystemError) {
            guard var own = end(adapter, isRandom: false, psm: 0),
                var other = end(device.address, isRandom: device.isRandom, psm: psm)
            else { throw SystemError("connect", code: EINVAL, subject: device.address) }
            attempt.descriptor = unsafe wake_channel_connect(&own, &other, BT_SECURITY_SDP)
            guard attempt.descriptor >= 0 else { throw SystemError(last: "connect", subject: device.address) }
            attempt.watch = try loop.watch(attempt.descriptor, for: .writable) { [unowned attempt] _ in
                let number = exchange(&attempt.descriptor, with: -1)
                let code = wake_socket_error(number)
                if code == 0 { return finish(.success(number)) }
                close(number)
                finish(.failure(SystemError("connect", code: code, subject: device.address)))
            }
        } catch {
            attempt.timer = try? loop.timer(on: .monotonic) { finish(.failure(error)) }
            attempt.timer?.arm(at: 1)
        }
        return attempt
    }
}

/// An L2CAP channel that this machine offers: a listening socket of the kernel on one adapter.
package final class ChannelListener {
    /// What centrals ask for; the kernel's choice when none was wanted.
    package let psm: UInt16
    private let descriptor: Descriptor
    private var watch: Watch?

    /// Begins to listen.
    ///
    /// - Parameter adapter: the adapter's own address.
    /// - Parameter psm: 0x80 to 0xFF, or 0 for any that is free.
    /// - Parameter encrypted: a central must have paired.
    /// - Parameter accepted: hears of each channel; the descriptor is a non-blocking stream and the callee's.
    /// - Throws: ``SystemError`` when the kernel has no Bluetooth, or the PSM is taken.
    package init(
        loop: EventLoop,
        adapter: String,
        psm wanted: UInt16 = 0,
        encrypted: Bool,
        accepted: @escaping (Int32, BlueZDeviceID) -> Void
    ) throws(SystemError) {
        guard var own = end(adapter, isRandom: false, psm: wanted) else {
            throw SystemError("bind", code: EINVAL, subject: adapter)
        }
        let number = unsafe wake_channel_listen(&own, encrypted ? BT_SECURITY_MEDIUM : BT_SECURITY_SDP, 8)
        guard number >= 0 else { throw SystemError(last: "listen", subject: "psm \(wanted) on \(adapter)") }
        descriptor = Descriptor(owning: number)
        let chosen = wake_channel_psm(number)
        guard let psm = UInt16(exactly: chosen), psm > 0 else { throw SystemError(last: "getsockname") }
        self.psm = psm
        watch = try loop.watch(number, for: .readable) { _ in
            var other = wake_channel_end()
            while true {
                let channel = unsafe wake_channel_accept(number, &other)
                guard channel >= 0 else { return }
                accepted(channel, Self.device(other))
            }
        }
    }

    deinit { watch?.cancel() }

    private static func device(_ other: wake_channel_end) -> BlueZDeviceID {
        let bytes = [
            other.address.0, other.address.1, other.address.2, other.address.3, other.address.4, other.address.5,
        ]
        let text = bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }
        return BlueZDeviceID(
            address: text.joined(separator: ":"),
            isRandom: other.address_type == UInt8(BDADDR_LE_RANDOM)
        )
    }
}
