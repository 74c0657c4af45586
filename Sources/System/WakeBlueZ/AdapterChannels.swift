import CWakeShims
import Glibc
import WakeBus
import WakeSystem

/// Offers L2CAP channels to centrals; an adapter stands behind it, or a test.
package protocol ChannelOffering: AnyObject {
    /// Begins to listen.
    ///
    /// - Parameter encrypted: a central must have paired.
    /// - Parameter accepted: takes each channel, once the PSM is known; the descriptor is a non-blocking stream and the callee's.
    /// - Parameter completion: told the PSM or why there is none, once, never from inside the call, unless the ticket is let go before.
    /// - Returns: the ticket; listening ends with its last reference.
    func offer(
        encrypted: Bool,
        accepted: @escaping (Int32, BlueZDeviceID) -> Void,
        completion: @escaping (Result<UInt16, SystemError>) -> Void
    ) -> AnyObject
}

/// The channels of an adapter, whose org.bluez gives them where the controller is not the kernel's, and the kernel else.
package final class AdapterChannels: ChannelConnecting, ChannelOffering {
    private weak var adapter: BlueZAdapter?
    private let loop: EventLoop
    private let kernel: ChannelConnector

    package init(of adapter: BlueZAdapter, on loop: EventLoop) {
        (self.adapter, self.loop) = (adapter, loop)
        kernel = ChannelConnector(loop: loop)
    }

    /// What is under way or listened on.
    private final class Ticket {
        private var timer: WakeSystem.Timer?
        var listener: AnyObject?

        /// Answers after the call that it comes from.
        func answer(on loop: EventLoop, _ body: @escaping () -> Void) {
            timer = try? loop.timer(on: .monotonic, handler: body)
            timer?.arm(at: 1)
        }
    }

    package func open(
        psm: UInt16,
        to device: BlueZDeviceID,
        adapter own: String,
        completion: @escaping (Result<Int32, SystemError>) -> Void
    ) -> AnyObject {
        guard let adapter, adapter.hasRadio else {
            return kernel.open(psm: psm, to: device, adapter: own, completion: completion)
        }
        let ticket = Ticket()
        guard let path = adapter.path(of: device) else {
            let failure = SystemError("connect", code: ENOTCONN, subject: device.address)
            ticket.answer(on: loop) { completion(.failure(failure)) }
            return ticket
        }
        adapter.openChannel(psm, at: path) { [weak ticket] answer in
            // A channel that is not waited for any more is closed with the answer.
            guard ticket != nil else { return }
            completion(answer.map { $0.take() }.mapError { $0.ofChannel("connect", device.address) })
        }
        return ticket
    }

    package func offer(
        encrypted: Bool,
        accepted: @escaping (Int32, BlueZDeviceID) -> Void,
        completion: @escaping (Result<UInt16, SystemError>) -> Void
    ) -> AnyObject {
        let ticket = Ticket()
        guard let adapter, adapter.hasRadio else {
            let result = listen(ticket, encrypted: encrypted, accepted: accepted)
            ticket.answer(on: loop) { completion(result) }
            return ticket
        }
        adapter.listenForChannels(encrypted: encrypted) { [weak ticket, loop] answer in
            guard let ticket else { return }
            do throws(SystemError) {
                let (psm, socket) = try answer.mapError { $0.ofChannel("listen", "a channel") }.get()
                ticket.listener = try RadioListener(socket, on: loop, accepted: accepted)
                completion(.success(psm))
            } catch {
                completion(.failure(error))
            }
        }
        return ticket
    }

    private func listen(
        _ ticket: Ticket,
        encrypted: Bool,
        accepted: @escaping (Int32, BlueZDeviceID) -> Void
    ) -> Result<UInt16, SystemError> {
        do throws(SystemError) {
            let own = adapter?.ownAddress ?? ""
            let listener = try ChannelListener(loop: loop, adapter: own, encrypted: encrypted, accepted: accepted)
            ticket.listener = listener
            return .success(listener.psm)
        } catch {
            return .failure(error)
        }
    }
}

/// Takes the channels that centrals open: a packet each, with an address, its type and the descriptor.
@safe private final class RadioListener {
    /// Of a packet, such as `F0:11:22:33:44:55 random`.
    private static let longest = 64

    private let socket: BusDescriptor
    private let room: OpaquePointer
    private let accepted: (Int32, BlueZDeviceID) -> Void
    private var watch: Watch?

    init(
        _ socket: BusDescriptor,
        on loop: EventLoop,
        accepted: @escaping (Int32, BlueZDeviceID) -> Void
    ) throws(SystemError) {
        guard let room = unsafe wake_mail_make(Self.longest) else { throw SystemError("malloc", code: ENOMEM) }
        unsafe self.room = room
        (self.socket, self.accepted) = (socket, accepted)
        watch = try loop.watch(socket.borrowed, for: .readable) { [unowned self] _ in receive() }
    }

    deinit {
        watch?.cancel()
        unsafe wake_mail_free(room)
    }

    private func receive() {
        let count = unsafe wake_mail_receive(room, socket.borrowed)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN { watch?.cancel() }
            return
        }
        let packets = (0..<count).map { unsafe Self.read(wake_mail_packet(room, $0)) }
        // No packet is empty: the other end is closed, and no channel comes any more.
        if packets.contains(where: \.text.isEmpty) { watch?.cancel() }
        // The callee may let go of this.
        let accepted = accepted
        for (text, descriptors) in packets {
            let words = text.split(separator: " ")
            guard words.count == 2, descriptors.count == 1 else {
                for descriptor in descriptors { close(descriptor) }
                continue
            }
            accepted(descriptors[0], BlueZDeviceID(address: String(words[0]), isRandom: words[1] == "random"))
        }
    }

    private static func read(_ packet: wake_packet) -> (text: String, descriptors: [Int32]) {
        let bytes = unsafe UnsafeBufferPointer(start: packet.bytes, count: packet.size)
        let descriptors = unsafe UnsafeBufferPointer(start: packet.descriptors, count: Int(packet.descriptor_count))
        return unsafe (String(decoding: bytes, as: UTF8.self), Array(descriptors))
    }
}

extension BusError {
    /// The same in the kernel's words, as its sockets tell of channels: by L2CAP's result, where that is the last word of the message
    /// (Bluetooth Core, volume 3, part A, 4.23).
    fileprivate func ofChannel(_ call: String, _ subject: String) -> SystemError {
        let word = message.split(separator: " ").last ?? ""
        let result = word.hasPrefix("0x") ? Int(word.dropFirst(2), radix: 16) : nil
        let code: Int32 =
            switch (result, kind) {
            // Authentication, authorization, the size of the key, encryption.
            case (.some(0x0005...0x0008), _): EACCES
            case (nil, "NotConnected"), (nil, "Disconnected"): ENOTCONN
            case (nil, _) where isTimeout: ETIMEDOUT
            default: ECONNREFUSED
            }
        return SystemError(call, code: code, subject: subject)
    }
}
