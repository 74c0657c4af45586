import Foundation
import Glibc
import Testing
import WakeTransfers

extension TransferTests {
    @Suite("Downloads")
    struct DownloadTests {
        private let folder: TestFolder

        init() throws { folder = try TestFolder() }

        private func bench(_ options: [String] = []) throws -> Bench {
            try Bench(folder.path("transfers"), options: options)
        }

        @Test("A body comes whole, with reports of how far it is", .enabled(if: NginxServer.isThere, "needs nginx"))
        func throttled() throws {
            let server = try NginxServer(folder, locations: "limit_rate 1500k;")
            let data = TestFolder.bytes(1_000_000)
            try data.write(to: folder.url.appending(path: "files/data"))
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url + "/data"))
            let response = try bench.finished(1)
            #expect(response.status == 200)
            #expect(response.headers.value(of: "content-length") == "1000000")
            #expect(try bench.body(of: response) == data)
            let progress = bench.reports.compactMap { report in
                if case .progress(let progress) = report.kind { progress } else { nil }
            }
            #expect(progress.count > 2)
            #expect(progress.allSatisfy { $0.toReceive == 1_000_000 })
            #expect(progress.map(\.received) == progress.map(\.received).sorted())
        }

        @Test("XFER-9: A download that is cut off goes on at the byte where it stopped")
        func resumes() throws {
            let data = TestFolder.bytes(1_000)
            let server = try StandInServer { index, _ in
                index == 0
                    ? Data(status: "200 OK", ["ETag: \"one\""], body: data.prefix(400), length: 1_000)
                    : Data(
                        status: "206 Partial Content",
                        ["ETag: \"one\"", "Content-Range: bytes 400-999/1000"],
                        body: data.dropFirst(400)
                    )
            }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url))
            let response = try bench.finished(1)
            #expect(response.status == 200)
            #expect(try bench.body(of: response) == data)
            #expect(server.requests.count == 2)
            #expect(!server.requests[0].contains("Range:"))
            #expect(server.requests[1].contains("\r\nRange: bytes=400-\r\nIf-Range: \"one\"\r\n"))
        }

        @Test(
            "XFER-9: It begins anew where the server has another representation, no way to tell, or no such part",
            arguments: [["ETag: \"one\""], [], ["ETag: W/\"weak\""], ["ETag: \"one\"", "Accept-Ranges: none"]]
        )
        func beginsAnew(fields: [String]) throws {
            let (first, second) = (TestFolder.bytes(1_000), TestFolder.bytes(900, seed: 2))
            let server = try StandInServer { index, _ in
                index == 0
                    ? Data(status: "200 OK", fields, body: first.prefix(400), length: 1_000)
                    : Data(status: "200 OK", ["ETag: \"two\""], body: second)
            }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url))
            #expect(try bench.body(of: bench.finished(1)) == second)
            #expect(server.requests.count == 2)
            #expect(server.requests[1].contains("Range:") == (fields == ["ETag: \"one\""]))
        }

        @Test("A part that is not the one that was asked for is not taken")
        func wrongPart() throws {
            let data = TestFolder.bytes(1_000)
            let server = try StandInServer { index, _ in
                switch index {
                case 0: Data(status: "200 OK", ["ETag: \"one\""], body: data.prefix(400), length: 1_000)
                case 1:
                    Data(status: "206 Partial Content", ["Content-Range: bytes 0-999/1000"], body: data)
                default: Data(status: "200 OK", ["ETag: \"one\""], body: data)
                }
            }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url))
            #expect(try bench.body(of: bench.finished(1)) == data)
            #expect(server.requests.map { $0.contains("Range:") } == [false, true, false])
        }

        @Test("A part that ends before the whole is gone on from")
        func partByPart() throws {
            let data = TestFolder.bytes(1_000)
            let server = try StandInServer { index, _ in
                index == 0
                    ? Data(status: "200 OK", ["ETag: \"one\""], body: data.prefix(300), length: 1_000)
                    : Data(
                        status: "206 Partial Content",
                        ["Content-Range: bytes \(index * 300)-\(min(index * 300 + 299, 999))/1000"],
                        body: data.dropFirst(index * 300).prefix(300)
                    )
            }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url))
            #expect(try bench.body(of: bench.finished(1)) == data)
            #expect(server.requests.count == 4)
        }

        @Test("A server that fails while a download goes on is asked again later, and what is there is kept")
        func fallsIll() throws {
            let data = TestFolder.bytes(1_000)
            let server = try StandInServer { index, _ in
                switch index {
                case 0: Data(status: "200 OK", ["ETag: \"one\""], body: data.prefix(400), length: 1_000)
                case 1: Data(status: "503 Service Unavailable", body: Data("ill".utf8))
                default:
                    Data(
                        status: "206 Partial Content",
                        ["Content-Range: bytes 400-999/1000"],
                        body: data.dropFirst(400)
                    )
                }
            }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url))
            #expect(try bench.body(of: bench.finished(1)) == data)
            #expect(server.requests.count == 3)
        }

        @Test("A response of any status finishes a transfer")
        func anyStatus() throws {
            let server = try StandInServer { _, _ in Data(status: "500 Oh", body: Data("no".utf8)) }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url))
            let response = try bench.finished(1)
            #expect(response.status == 500)
            #expect(try bench.body(of: response) == Data("no".utf8))
        }

        @Test("Control characters of a header become spaces, and what it says reaches the bench")
        func controlCharacters() throws {
            let noise = String(repeating: "\u{1}", count: 15_000)
            let server = try StandInServer { _, _ in Data(status: "200 OK", ["X-Noise: a\(noise)b"]) }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url))
            let value = try bench.finished(1).headers.value(of: "x-noise")
            #expect(value == "a" + String(repeating: " ", count: 15_000) + "b")
        }

        @Test("A header that has no room in a packet fails its transfer, and no other")
        func largeHeader() throws {
            let server = try StandInServer { _, head in
                let quotes = String(repeating: "\"", count: head.contains("GET /large") ? 20_000 : 16_000)
                return Data(status: "200 OK", ["X-Quotes: \(quotes)"])
            }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url + "/large"))
            try bench.begin(TransferRequest(number: 2, url: server.url + "/fits"))
            #expect(try bench.failed(1) == .badServerResponse)
            #expect(try bench.finished(2).headers.value(of: "x-quotes")?.utf8.count == 16_000)
        }

        @Test("A field whose name begins as a status line does is a field")
        func statusField() throws {
            let server = try StandInServer { _, _ in
                Data(status: "200 OK", ["HTTP/2-Offer: yes", "X-After: it"], body: Data("whole".utf8))
            }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url))
            let response = try bench.finished(1)
            #expect(response.status == 200)
            #expect(response.headers.value(of: "http/2-offer") == "yes")
            #expect(response.headers.value(of: "x-after") == "it")
            #expect(server.requests.count == 1)
        }

        @Test("An answer that is no response fails the transfer, which is not made again")
        func noResponse() throws {
            let server = try StandInServer { _, _ in Data("HTTP/1.1 200OK\r\nConnection: close\r\n\r\n".utf8) }
            defer { server.stop() }
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url))
            #expect(try bench.failed(1) == .badServerResponse)
            #expect(server.requests.count == 1)
        }

        @Test("A server that is not there yet is tried until it is", .enabled(if: NginxServer.isThere, "needs nginx"))
        func refused() throws {
            let server = try NginxServer(folder)
            try Data("here".utf8).write(to: folder.url.appending(path: "files/data"))
            server.stop()
            let bench = try bench()
            try bench.begin(TransferRequest(number: 1, url: server.url + "/data"))
            _ = try bench.say(.list)
            try server.start()
            #expect(try bench.body(of: bench.finished(1)) == Data("here".utf8))
        }

        @Test("XFER-7: A request that times out is made again, and the resource timeout bounds the whole")
        func timeouts() throws {
            let server = try StandInServer { _, _ in nil }
            defer { server.stop() }
            let bench = try bench()
            var request = TransferRequest(number: 1, url: server.url)
            (request.requestTimeout, request.resourceTimeout) = (50, 700)
            try bench.begin(request)
            #expect(try bench.failed(1) == .timedOut)
            #expect(server.requests.count >= 2)
        }

        @Test("A paused download stays so until it is started, and goes on where it was")
        func pause() throws {
            let data = TestFolder.bytes(1_000)
            let server = try StandInServer { index, _ in
                index == 0
                    ? Data(
                        status: "200 OK",
                        ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
                        body: data.prefix(400),
                        length: 1_000
                    )
                    : Data(
                        status: "206 Partial Content",
                        ["Content-Range: bytes 400-999/1000"],
                        body: data.dropFirst(400)
                    )
            }
            defer { server.stop() }
            let bench = try bench(["--first-pause", "60000", "--longest-pause", "60000"])
            try bench.begin(TransferRequest(number: 1, url: server.url))
            try bench.wait("the first bytes") { try! bench.say(.list).get().first?.received == 400 }
            _ = try bench.say(.pause(1)).get()
            #expect(try bench.say(.list).get().map(\.state) == [.paused])
            _ = try bench.say(.start(1)).get()
            #expect(try bench.body(of: bench.finished(1)) == data)
            #expect(server.requests.last?.contains("If-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n") == true)
        }

        @Test("A cancelled download can leave its bytes to another one, which goes on from them")
        func successor() throws {
            let data = TestFolder.bytes(1_000)
            let server = try StandInServer { index, _ in
                index == 0
                    ? Data(status: "200 OK", ["ETag: \"one\""], body: data.prefix(400), length: 1_000)
                    : Data(
                        status: "206 Partial Content",
                        ["Content-Range: bytes 400-999/1000"],
                        body: data.dropFirst(400)
                    )
            }
            defer { server.stop() }
            let bench = try bench(["--first-pause", "60000", "--longest-pause", "60000"])
            try bench.begin(TransferRequest(number: 1, url: server.url))
            try bench.wait("the first bytes") { try! bench.say(.list).get().first?.received == 400 }
            _ = try bench.say(.cancel(1, keepingBytes: true)).get()
            let last = try bench.report(of: 1, "its end") { TransferReport(1, $0).isLast }
            #expect(last.kind == .failed(.cancelled, message: "cancelled", canResume: true))
            bench.acknowledge(last)
            var request = TransferRequest(number: 2, url: server.url)
            request.predecessor = 1
            try bench.begin(request)
            #expect(try bench.body(of: bench.finished(2)) == data)
            #expect(server.requests.last?.contains("Range: bytes=400-\r\n") == true)
            #expect(try bench.say(.list).get().map(\.number) == [2])
        }

        @Test("A body that has no room fails the transfer, and says so")
        func noRoom() throws {
            let server = try StandInServer { _, _ in Data(status: "200 OK", body: TestFolder.bytes(200_000)) }
            defer { server.stop() }
            // A file may have 64 KiB: the same as a full disk to whoever writes.
            let program = folder.path("bounded")
            try "#!/bin/bash\nulimit -f 64\nexec \(try built("WakebenchTransfers")) \"$@\"\n"
                .write(toFile: program, atomically: true, encoding: .utf8)
            unsafe chmod(program, 0o755)
            let bench = try Bench(folder.path("transfers"), program: program)
            try bench.begin(TransferRequest(number: 1, url: server.url))
            let last = try bench.report(of: 1, "its end") { TransferReport(1, $0).isLast }
            guard case .failed(let code, let message, _) = last.kind else { throw Bench.Unexpected(last) }
            #expect(code == .cannotWriteToFile)
            #expect(message == "its file cannot be written: File too large")
        }
    }
}

/// One after another: each has a server and a process of its own.
@Suite("Background transfers", .serialized, .timeLimit(.minutes(5)))
struct TransferTests {}
