import Foundation
import Synchronization
import Testing
import WakeClient
import WakeWire

/// Notes the events of its streams, and ends its run loop's turn when the wanted one has come.
private final class EventRecorder: NSObject, StreamDelegate {
    var events: [Stream.Event] = []
    var onBytes: ((InputStream) -> Void)?
    var onSpace: ((OutputStream) -> Void)?

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        events.append(eventCode)
        if eventCode == .hasBytesAvailable, let input = aStream as? InputStream { onBytes?(input) }
        if eventCode == .hasSpaceAvailable, let output = aStream as? OutputStream { onSpace?(output) }
    }

    /// Runs the present run loop until the condition holds; gives up after a time that only a failing test takes.
    func run(until isDone: () -> Bool) -> Bool {
        let limit = Date(timeIntervalSinceNow: 20)
        while !isDone(), Date() < limit {
            _ = RunLoop.current.run(mode: .default, before: limit)
        }
        return isDone()
    }
}

@Suite("Streams over a descriptor")
struct DescriptorStreamTests {
    /// Two connected sockets.
    private static func pair(_ type: __socket_type = SOCK_STREAM) throws -> (far: Int32, near: Int32) {
        var ends: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, Int32(type.rawValue), 0, &ends) == 0 else {
            throw BenchFailure(description: "socketpair failed: \(errno)")
        }
        return (ends[0], ends[1])
    }

    private static func send(_ bytes: [UInt8], to descriptor: Int32) {
        _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private static func read(_ stream: InputStream, _ count: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = unsafe stream.read(&buffer, maxLength: count)
        return Array(buffer[..<max(0, got)])
    }

    @Test("A scheduled stream opens, tells once of bytes until they are read, tells again of more, and then of the end")
    func inputEvents() throws {
        let (far, near) = try Self.pair()
        let stream = DescriptorInputStream(descriptor: near)
        let recorder = EventRecorder()
        var bytes: [UInt8] = []
        recorder.onBytes = { bytes += Self.read($0, 2) }
        stream.delegate = recorder
        stream.schedule(in: .current, forMode: .default)
        stream.open()
        Self.send([1, 2, 3], to: far)
        #expect(recorder.run { bytes == [1, 2, 3] })
        close(far)
        #expect(recorder.run { recorder.events.contains(.endEncountered) })
        #expect(recorder.events == [.openCompleted, .hasBytesAvailable, .hasBytesAvailable, .endEncountered])
        #expect(stream.streamStatus == .atEnd)
        #expect(!stream.hasBytesAvailable)
        stream.close()
        #expect(stream.streamStatus == .closed)
    }

    @Test("A run of the run loop ends with the event, so that a loop that looks at a flag goes on")
    func oneTurn() throws {
        let (far, near) = try Self.pair()
        defer { close(far) }
        let stream = DescriptorInputStream(descriptor: near)
        let recorder = EventRecorder()
        stream.delegate = recorder
        stream.schedule(in: .current, forMode: .default)
        stream.open()
        #expect(RunLoop.current.run(mode: .default, before: .distantFuture))
        #expect(recorder.events == [.openCompleted])
        stream.close()
    }

    @Test("An output stream tells of space, takes what fits, and tells again when the other end has read")
    func outputEvents() throws {
        let (far, near) = try Self.pair()
        let stream = DescriptorOutputStream(descriptor: near)
        let recorder = EventRecorder()
        let block = [UInt8](repeating: 7, count: 65_536)
        var sent = 0
        recorder.onSpace = { output in
            while output.hasSpaceAvailable {
                sent += unsafe output.write(block, maxLength: block.count)
            }
        }
        stream.delegate = recorder
        stream.schedule(in: .current, forMode: .default)
        stream.open()
        #expect(recorder.run { recorder.events == [.openCompleted, .hasSpaceAvailable] })
        let first = sent
        #expect(first > 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var received = 0
        while received < first { received += unsafe recv(far, &buffer, buffer.count, 0) }
        #expect(recorder.run { recorder.events.count >= 3 })
        #expect(sent > first)
        stream.close()
        close(far)
    }

    @Test("A write to an end that is gone fails with an error event, and no signal ends the process")
    func brokenPipe() throws {
        let (far, near) = try Self.pair()
        let stream = DescriptorOutputStream(descriptor: near)
        let recorder = EventRecorder()
        stream.delegate = recorder
        stream.open()
        close(far)
        #expect(unsafe stream.write([1], maxLength: 1) == -1)
        #expect(stream.streamStatus == .error)
        #expect((stream.streamError as? NSError)?.code == Int(EPIPE))
        stream.schedule(in: .current, forMode: .default)
        #expect(recorder.run { recorder.events.contains(.errorOccurred) })
    }

    @Test("When the other end closes, both streams of a channel come to their end")
    func bothEnd() throws {
        let (far, near) = try Self.pair()
        let streams = try #require(DescriptorStreams.pair(over: near))
        let recorder = EventRecorder()
        for stream in [streams.input as Stream, streams.output as Stream] {
            stream.delegate = recorder
            stream.schedule(in: .current, forMode: .default)
            stream.open()
        }
        close(far)
        #expect(recorder.run { recorder.events.filter { $0 == .endEncountered }.count == 2 })
        #expect(streams.output.streamStatus == .atEnd)
    }

    @Test("The other end sees the end once both streams are closed, and not before")
    func closing() throws {
        let (far, near) = try Self.pair()
        let streams = try #require(DescriptorStreams.pair(over: near))
        streams.input.open()
        streams.output.open()
        streams.input.close()
        #expect(unsafe streams.output.write([5], maxLength: 1) == 1)
        streams.output.close()
        var byte: UInt8 = 0
        #expect(unsafe recv(far, &byte, 1, 0) == 1)
        #expect(unsafe recv(far, &byte, 1, 0) == 0)
        close(far)
    }

    @Test("The other end sees the end of a channel that somebody else has a duplicate of")
    func closingDuplicate() throws {
        let (far, near) = try Self.pair()
        let duplicate = dup(near)
        defer {
            close(duplicate)
            close(far)
        }
        let streams = try #require(DescriptorStreams.pair(over: near))
        streams.output.close()
        streams.input.close()
        var byte: UInt8 = 0
        #expect(unsafe recv(far, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
    }

    @Test("Of a packet longer than the buffer nothing is lost")
    func packets() throws {
        let (far, near) = try Self.pair(SOCK_SEQPACKET)
        defer { close(far) }
        let stream = DescriptorInputStream(descriptor: near)
        let recorder = EventRecorder()
        var bytes: [UInt8] = []
        recorder.onBytes = { bytes += Self.read($0, 2) }
        stream.delegate = recorder
        stream.schedule(in: .current, forMode: .default)
        stream.open()
        Self.send([1, 2, 3, 4, 5], to: far)
        Self.send([6], to: far)
        #expect(recorder.run { bytes.count == 6 })
        #expect(bytes == [1, 2, 3, 4, 5, 6])
        stream.close()
    }

    @Test("A stream that is not scheduled can be asked, and waits in a read for the first byte")
    func unscheduled() throws {
        let (far, near) = try Self.pair()
        let stream = DescriptorInputStream(descriptor: near)
        #expect(Self.read(stream, 1) == [])
        stream.open()
        #expect(stream.streamStatus == .open)
        #expect(!stream.hasBytesAvailable)
        let sender = Thread { Self.send([9], to: far) }
        sender.start()
        #expect(Self.read(stream, 4) == [9])
        close(far)
        #expect(Self.read(stream, 4) == [])
        #expect(stream.streamStatus == .atEnd)
    }

    @Test("A delegate that is set after the stream was opened is told what happened before")
    func lateDelegate() throws {
        let (far, near) = try Self.pair()
        defer { close(far) }
        let stream = DescriptorInputStream(descriptor: near)
        stream.schedule(in: .current, forMode: .default)
        stream.open()
        Self.send([1], to: far)
        let recorder = EventRecorder()
        stream.delegate = recorder
        #expect(recorder.run { recorder.events == [.openCompleted, .hasBytesAvailable] })
        stream.remove(from: .current, forMode: .default)
        _ = Self.read(stream, 1)
        Self.send([2], to: far)
        // Nothing is scheduled, so that a turn of the run loop has nothing to do.
        #expect(!RunLoop.current.run(mode: .default, before: .distantFuture))
        stream.close()
    }

    @Test("A descriptor that nobody takes is closed")
    func untaken() throws {
        let (far, near) = try Self.pair()
        do { _ = ReceivedDescriptor(near) }
        var byte: UInt8 = 0
        #expect(unsafe recv(far, &byte, 1, 0) == 0)
        close(far)
    }
}

@Suite("L2CAP channels of a central")
struct ChannelTests {
    private static let script = [
        "central=", "poweredOn=scan", "didDiscover=connect", "didDiscoverCharacteristics=open",
    ]

    @Test("A channel comes with its socket: bytes go both ways, and its end is told")
    func channel() throws {
        let end = try BluetoothAppEnd(Self.script)
        try end.connectBelt()
        var ends: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let far = ends[0]
        try end.tell(
            .peripheral(BenchEnd.belt, .channelOpened(psm: 192, failure: nil)),
            descriptor: ends[1]
        )
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(unsafe recv(far, &buffer, buffer.count, 0) == 3)
        #expect(Array(buffer[..<3]) == [9, 8, 7])
        _ = unsafe Glibc.send(far, [1, 2, 3, 4, 5] as [UInt8], 5, Int32(MSG_NOSIGNAL))
        close(far)
        #expect(try end.app.waitForLine("input end true"))
        let lines = try end.lines()
        #expect(lines.contains("didOpen psm=192 peer=true"))
        #expect(lines.filter { $0.hasPrefix("read") } == ["read 01020304", "read 05"])
    }

    @Test("News of a channel's bytes is acknowledged once the app's delegate has read them")
    func dataIsRead() throws {
        let end = try BluetoothAppEnd(Self.script)
        try end.connectBelt()
        var ends: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let far = ends[0]
        defer { close(far) }
        try end.tell(
            .peripheral(BenchEnd.belt, .channelOpened(psm: 192, failure: nil)),
            descriptor: ends[1]
        )
        // The app takes four bytes at a time.
        let bytes = [UInt8](repeating: 7, count: 800)
        _ = unsafe Glibc.send(far, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        _ = try end.tell(.channelData)
        #expect(try end.lines().count { $0 == "read 07070707" } == 200)
    }

    @Test("A channel that cannot be opened is an error")
    func refused() throws {
        let end = try BluetoothAppEnd(Self.script)
        try end.connectBelt()
        let failure = WireFailure(domain: "CBErrorDomain", code: 13, message: "no")
        try end.happen(.channelOpened(psm: 192, failure: failure))
        try end.happen(.channelOpened(psm: 192, failure: nil))
        #expect(try end.lines().suffix(2) == ["didOpen CBError.operationNotSupported", "didOpen CBError.outOfSpace"])
    }
}
