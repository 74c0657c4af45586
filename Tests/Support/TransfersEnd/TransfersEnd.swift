import Foundation
import Glibc
import WakeSystem
import WakeTransfers

/// A bench that only carries transfers: TransfersEnd FOLDER [download NUMBER URL | upload NUMBER URL FILE]. It begins the
/// transfer, if one is given, prints what is told, a line each, and ends when the first last report is acknowledged.
@main
enum TransfersEnd {
    static func main() throws {
        let words = CommandLine.arguments
        guard [2, 5, 6].contains(words.count), let program = TransferProgram.path() else {
            say("TransfersEnd FOLDER [download NUMBER URL | upload NUMBER URL FILE], beside WakebenchTransfers")
            exit(2)
        }
        let loop = try EventLoop()
        let arguments = ["--first-pause", "50", "--longest-pause", "500", "--progress", "50"]
        let settings = TransferClient.Settings(folder: words[1], program: program, arguments: arguments)
        let client = try TransferClient(settings, on: loop)
        client.failed = { error in
            say("error \(error)")
            loop.exit(1)
        }
        client.reported = { report in
            say(line(report, client))
            client.send(.acknowledge(report.transfer, report: report.number)) { _ in
                if report.isLast { loop.exit() }
            }
        }
        client.open()
        if words.count > 4, let number = UInt64(words[3]) {
            let file = words.count == 6 ? words[5] : nil
            client.send(.submit(TransferRequest(number: number, url: words[4], upload: file))) { answer in
                if case .failure(let error) = answer { client.failed(error) }
            }
            client.send(.start(number)) { answer in
                if case .failure(let error) = answer { client.failed(error) }
            }
        }
        exit(try loop.run())
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private static func line(_ report: TransferReport, _ client: TransferClient) -> String {
        let head = "\(report.transfer) \(report.number)"
        switch report.kind {
        case .progress(let progress): return "\(head) progress \(progress.received) \(progress.sent)"
        case .redirected(let status, let url): return "\(head) redirected \(status) \(url)"
        case .challenged(let challenge): return "\(head) challenged \(challenge.realm)"
        case .finished(let response):
            return "\(head) finished \(response.status) \(response.bytes) \(client.path(of: response.file))"
        case .failed(let code, let message, _): return "\(head) failed \(code.rawValue) \(message)"
        }
    }
}
