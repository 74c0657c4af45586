import Foundation

/// A SIP message without its body.
struct Message {
    let startLine: String
    private let headers: [(name: String, value: String)]

    /// Takes the first whole message from the bytes that came; nil when there is none.
    static func next(in bytes: inout [UInt8]) -> Message? {
        // Empty lines before a message keep the connection alive.
        bytes.removeFirst(bytes.firstIndex { $0 != 13 && $0 != 10 } ?? bytes.count)
        let end = Array("\r\n\r\n".utf8)
        guard let head = bytes.firstRange(of: end) else { return nil }
        let message = Message(String(decoding: bytes[..<head.lowerBound], as: UTF8.self))
        let length = Int(message["Content-Length"] ?? "") ?? 0
        guard bytes.count - head.upperBound >= length else { return nil }
        bytes.removeFirst(head.upperBound + max(0, length))
        return message
    }

    private init(_ head: String) {
        let lines = head.split(separator: "\r\n").map(String.init)
        startLine = lines.first ?? ""
        headers = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (line[..<colon].trimmingCharacters(in: .whitespaces).lowercased(), value)
        }
    }

    /// The method of a request; nil for an answer.
    var method: String? {
        startLine.hasPrefix("SIP/2.0 ") ? nil : startLine.split(separator: " ").first.map(String.init)
    }

    subscript(name: String) -> String? { all(name).first }

    func all(_ name: String) -> [String] { headers.filter { $0.name == name.lowercased() }.map(\.value) }
}
