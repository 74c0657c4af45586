import Foundation
import Testing
import WakeClient

/// Notes the events of its streams.
private final class Recorder: NSObject, StreamDelegate {
    var events: [Stream.Event] = []

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) { events.append(eventCode) }

    /// Runs the present run loop until the event has come; gives up after a time that only a failing test takes.
    func run(until event: Stream.Event) -> Bool {
        let limit = Date(timeIntervalSinceNow: 20)
        while !events.contains(event), Date() < limit { _ = RunLoop.current.run(mode: .default, before: limit) }
        return events.contains(event)
    }
}

@Suite("Streams to a host")
struct HostStreamTests {
    /// A listening socket on this machine, and its port.
    private static func listener() -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 && listen(descriptor, 4) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        #expect(code)
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    private func open(_ port: Int, _ recorder: Recorder) throws -> (InputStream, OutputStream) {
        var input: InputStream?
        var output: OutputStream?
        Stream.getStreamsToHost(withName: "127.0.0.1", port: port, inputStream: &input, outputStream: &output)
        let streams = (try #require(input), try #require(output))
        streams.0.delegate = recorder
        streams.0.schedule(in: .current, forMode: .default)
        streams.0.open()
        streams.1.open()
        return streams
    }

    @Test("A connection opens, carries bytes both ways, and ends when the other end does")
    func connects() throws {
        let (listener, port) = Self.listener()
        defer { close(listener) }
        let recorder = Recorder()
        let (input, output) = try open(port, recorder)
        let far = accept(listener, nil, nil)
        defer { close(far) }
        #expect(recorder.run(until: .openCompleted))
        #expect(unsafe output.write([1, 2, 3], maxLength: 3) == 3)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(unsafe recv(far, &buffer, 8, 0) == 3)
        #expect(unsafe send(far, [9], 1, 0) == 1)
        #expect(recorder.run(until: .hasBytesAvailable))
        #expect(unsafe input.read(&buffer, maxLength: 8) == 1)
        shutdown(far, Int32(SHUT_RDWR))
        #expect(recorder.run(until: .endEncountered))
        input.close()
        output.close()
    }

    @Test("A port where nobody listens is an error of the streams, and so is one that there is not")
    func refused() throws {
        let (listener, port) = Self.listener()
        close(listener)
        for port in [port, 0, 70_000] {
            let recorder = Recorder()
            let (input, output) = try open(port, recorder)
            #expect(recorder.run(until: .errorOccurred))
            #expect(input.streamStatus == .error)
            #expect((input.streamError as? NSError)?.domain == NSPOSIXErrorDomain)
            #expect(output.streamStatus == .error)
            input.close()
            output.close()
        }
    }

    @Test("A reset is an error of the input stream")
    func reset() throws {
        let (listener, port) = Self.listener()
        defer { close(listener) }
        let recorder = Recorder()
        let (input, output) = try open(port, recorder)
        let far = accept(listener, nil, nil)
        #expect(recorder.run(until: .openCompleted))
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(far, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close(far)
        #expect(recorder.run(until: .errorOccurred))
        #expect((input.streamError as? NSError)?.code == Int(ECONNRESET))
        input.close()
        output.close()
    }

    @Test("Core Foundation's names make the same streams")
    func coreFoundation() throws {
        let (listener, port) = Self.listener()
        defer { close(listener) }
        var readStream: Unmanaged<CFReadStream>?
        var writeStream: Unmanaged<CFWriteStream>?
        unsafe CFStreamCreatePairWithSocketToHost(nil, "127.0.0.1" as CFString, UInt32(port), &readStream, &writeStream)
        let input: InputStream = try unsafe #require(readStream?.takeRetainedValue())
        let output: OutputStream = try unsafe #require(writeStream?.takeRetainedValue())
        let recorder = Recorder()
        input.delegate = recorder
        input.schedule(in: .current, forMode: .default)
        input.open()
        output.open()
        #expect(recorder.run(until: .openCompleted))
        input.close()
        output.close()
    }
}
