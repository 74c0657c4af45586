import ExternalAccessory

// Talks to every accessory of the protocol com.example.bulk as its arguments say, and prints a line for what happens:
// `quick` ends each wake as soon as it has read, `write` writes without end, `die` ends at the first bytes, and `silent` asks for no
// notifications. All read what comes and sum it up.

func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

let arguments = Set(CommandLine.arguments.dropFirst())
let talker = Talker()
RunLoop.main.run()

/// Keeps a conversation with each accessory.
@MainActor
final class Talker {
    private static let name = "com.example.bulk"
    private var conversations: [Int: Conversation] = [:]

    init() {
        let manager = EAAccessoryManager.shared()
        let center = NotificationCenter.default
        for (name, connects) in [
            (NSNotification.Name.EAAccessoryDidConnect, true), (.EAAccessoryDidDisconnect, false),
        ] {
            _ = center.addObserver(forName: name, object: manager, queue: nil) { [weak self] notification in
                guard let accessory = notification.userInfo?[EAAccessoryKey] as? EAAccessory else { return }
                MainActor.assumeIsolated { self?.heard(accessory, connects: connects) }
            }
        }
        if !arguments.contains("silent") { manager.registerForLocalNotifications() }
        manager.showBluetoothAccessoryPicker(withNameFilter: nil) { error in
            say("picker \((error as? EABluetoothAccessoryPickerError).map { "\($0.code)" } ?? "none")")
        }
        for accessory in manager.connectedAccessories { heard(accessory, connects: true) }
    }

    private func heard(_ accessory: EAAccessory, connects: Bool) {
        let number = accessory.connectionID
        say("\(connects ? "connected" : "disconnected") \(number) \(accessory.name) \(accessory.isConnected)")
        if !connects {
            conversations.removeValue(forKey: number)?.close()
            return
        }
        if EASession(accessory: accessory, forProtocol: "com.example.unlisted") == nil { say("unlisted nil") }
        guard let session = EASession(accessory: accessory, forProtocol: Self.name) else { return say("nil") }
        if EASession(accessory: accessory, forProtocol: Self.name) == nil { say("second nil") }
        say("session \(session.protocolString ?? "?") of \(session.accessory?.name ?? "?")")
        conversations[number] = Conversation(session)
    }
}

/// One session: reads all, and sums it up.
@MainActor
final class Conversation: NSObject, @preconcurrency StreamDelegate {
    private let session: EASession
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var received = Checksum()
    private var written = 0
    private var reads = 0

    init(_ session: EASession) {
        self.session = session
        super.init()
        for stream in streams {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
        // As much as a fresh session takes without waiting.
        if arguments.contains("write") { for _ in 0..<25 { write() } }
    }

    private var streams: [Stream] { [session.inputStream, session.outputStream].compactMap { $0 } }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: read()
        case .hasSpaceAvailable: if arguments.contains("write") { write() }
        case .errorOccurred:
            say("\(aStream is InputStream ? "input" : "output") error \((aStream.streamError as NSError?)?.code ?? 0)")
            if aStream is InputStream { close() }
        case .endEncountered: if aStream is InputStream { close() }
        default: break
        }
    }

    private func read() {
        if arguments.contains("die") {
            say("dies")
            exit(3)
        }
        let size = buffer.count
        guard let count = unsafe session.inputStream?.read(&buffer, maxLength: size), count > 0 else { return }
        received.add(buffer[..<count])
        reads += 1
        if received.count % (8 << 20) < count { say("received \(received.count)") }
        // Not always, so that some wakes last and others do not.
        if arguments.contains("quick"), reads % 3 == 0 { Wakebench.done() }
        if received.count >= 100 << 20 { tell() }
    }

    private func write() {
        let bytes = [UInt8](repeating: 0x57, count: 4_096)
        let count = unsafe session.outputStream?.write(bytes, maxLength: bytes.count) ?? 0
        written += max(0, count)
    }

    private func tell() { say("sum \(received.count) \(String(received.value, radix: 16)) wrote \(written > 0)") }

    func close() {
        guard session.inputStream?.delegate != nil else { return }
        tell()
        for stream in streams {
            stream.delegate = nil
            stream.close()
        }
    }
}

/// Of bytes in order: eight at a time, so that it is quick.
struct Checksum {
    private(set) var count = 0
    private(set) var value: UInt64 = 0
    private var rest: [UInt8] = []

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        count += bytes.count
        let all = rest + bytes
        let whole = all.count & ~7
        var sum = value
        unsafe all.withUnsafeBytes { buffer in
            for place in stride(from: 0, to: whole, by: 8) {
                sum = (sum ^ (unsafe buffer.load(fromByteOffset: place, as: UInt64.self))) &* 0x0100_0000_01b3
                sum ^= sum >> 29
            }
        }
        value = sum
        rest = Array(all[whole...])
    }
}
