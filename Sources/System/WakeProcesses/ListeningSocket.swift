/// A socket of an app that waits for connections.
package struct ListeningSocket: Hashable, Sendable {
    /// What it waits on, such as `tcp 127.0.0.1:8080`, `tcp [0:0:0:0:0:0:0:1]:80` or `unix /run/app`.
    package let name: String
    /// Its number on the file system of sockets.
    package let inode: UInt64

    package init(name: String, inode: UInt64) {
        self.name = name
        self.inode = inode
    }

    /// The sockets that listen, of the text of /proc/PID/net/tcp or tcp6.
    package static func tcp(_ text: String) -> [ListeningSocket] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            // TCP_LISTEN of the kernel's tcp_states.h is 10; a heading has words there.
            guard fields.count > 9, fields[3] == "0A", let inode = UInt64(fields[9]), inode != 0,
                let name = address(fields[1])
            else { return nil }
            return ListeningSocket(name: "tcp \(name)", inode: inode)
        }
    }

    /// The sockets that listen, of the text of /proc/PID/net/unix.
    package static func unix(_ text: String) -> [ListeningSocket] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 7)
            // __SO_ACCEPTCON of the kernel's net.h.
            guard fields.count > 6, let flags = UInt32(fields[3], radix: 16), flags & 0x10000 != 0,
                let inode = UInt64(fields[6]), inode != 0
            else { return nil }
            return ListeningSocket(name: "unix " + (fields.count > 7 ? fields[7] : "(unnamed)"), inode: inode)
        }
    }

    /// `0100007F:1F90` is 127.0.0.1:8080: each four bytes are a number of the machine, which has its lowest byte first.
    private static func address(_ field: Substring) -> String? {
        let parts = field.split(separator: ":")
        guard parts.count == 2, let port = UInt16(parts[1], radix: 16) else { return nil }
        let digits = Array(parts[0].utf8)
        guard digits.count == 8 || digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for word in stride(from: 0, to: digits.count, by: 8) {
            let text = String(decoding: digits[word..<word + 8], as: UTF8.self)
            guard let number = UInt32(text, radix: 16) else { return nil }
            bytes += [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") + ":\(port)" }
        let groups = stride(from: 0, to: 16, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }
        return "[\(groups.joined(separator: ":"))]:\(port)"
    }
}
