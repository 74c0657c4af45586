import Foundation
import Synchronization
import WakeClient
import WakeWire

/// A stream of bytes to and from an accessory, over one of its protocols.
///
/// Its streams are to be opened by the app, and give events on the run loops they are scheduled in. An app that drops the session
/// ends it. There is one session of an accessory and a protocol at a time.
open class EASession: NSObject {
    /// The accessory at the other end.
    open private(set) var accessory: EAAccessory?
    /// The protocol that both ends speak.
    open private(set) var protocolString: String?
    private let number: UInt32
    private let answer: SessionAnswer
    private let streams: (input: DescriptorInputStream, output: DescriptorOutputStream)

    /// Opens a session; nil when the accessory is gone or does not offer the protocol, when the app does not list it in
    /// UISupportedExternalAccessoryProtocols, or when there is a session already.
    public init?(accessory: EAAccessory, forProtocol protocolString: String) {
        let client = BenchClient.shared
        let manager = EAAccessoryManager.shared().number
        let answer = SessionAnswer()
        let queue = DispatchQueue(label: "wakebench.session")
        let number = client.register(queue: queue) { answer.receive($0, $1) }
        guard protocolString.utf8.count <= WireLimits.protocolBytes,
            let connection = UInt32(exactly: accessory.connectionID)
        else {
            client.unregister(manager: number)
            return nil
        }
        client.send(
            .accessory(
                manager: manager,
                .open(session: number, accessory: connection, protocolName: protocolString)
            )
        )
        guard let descriptor = answer.wait(seconds: 30)?.take(), let streams = DescriptorStreams.pair(over: descriptor)
        else {
            client.unregister(manager: number)
            // A refused session is known no more; one whose answer is late is not wanted any more.
            if answer.isLate { client.send(.accessory(manager: manager, .close(session: number))) }
            return nil
        }
        answer.watch(streams) {
            client.send(.accessory(manager: manager, .close(session: number)))
        }
        self.number = number
        self.answer = answer
        self.streams = streams
        self.accessory = accessory
        self.protocolString = protocolString
        super.init()
    }

    deinit {
        let client = BenchClient.shared
        client.unregister(manager: number)
        answer.close()
    }

    /// What comes from the accessory.
    open var inputStream: InputStream? { streams.input }
    /// What goes to the accessory.
    open var outputStream: OutputStream? { streams.output }
}

/// Where a session's deliveries arrive, on a queue of their own: the app's thread waits for the first.
private final class SessionAnswer: Sendable {
    private struct State {
        var descriptor: ReceivedDescriptor?
        var hasAnswer = false
        var failure: WireFailure?
        var fail: (@Sendable (Int32) -> Void)?
        var close: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)

    func receive(_ body: WireDeliveryBody, _ descriptor: ReceivedDescriptor?) {
        switch body {
        case .accessory(.sessionOpened(let failure)):
            state.withLock { state in
                state.hasAnswer = true
                state.descriptor = failure == nil ? descriptor : nil
            }
            arrived.signal()
        case .accessory(.sessionEnded(let failure?)):
            let fail = state.withLock { state in
                state.failure = failure
                return state.fail
            }
            guard let fail else { return }
            fail(Int32(truncatingIfNeeded: failure.code))
            // The bench holds the end of the streams back until they know that it is none.
            close()
        default: break
        }
    }

    func wait(seconds: Int) -> ReceivedDescriptor? {
        _ = arrived.wait(timeout: .now() + .seconds(seconds))
        return state.withLock { $0.descriptor }
    }

    /// No answer has come in time.
    var isLate: Bool { state.withLock { !$0.hasAnswer } }

    /// Tells the streams from now on that bytes were lost.
    func watch(
        _ streams: (input: DescriptorInputStream, output: DescriptorOutputStream),
        close: @escaping @Sendable () -> Void
    ) {
        let fail = DescriptorStreams.failing(streams)
        let failure = state.withLock { state in
            state.fail = fail
            state.close = close
            return state.failure
        }
        if let failure {
            fail(Int32(truncatingIfNeeded: failure.code))
            self.close()
        }
    }

    /// Says once that the app is done with the session.
    func close() {
        state.withLock { $0.close.take() }?()
    }
}
