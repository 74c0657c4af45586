/// The formats of captures, told apart by their first bytes.
package enum CaptureFormat: String, CaseIterable, Sendable {
    case btsnoop

    /// What people call it.
    package var name: String { rawValue }

    /// The format that a file has; nil when it is none of them.
    package static func detect(_ source: inout CaptureBytes) -> CaptureFormat? {
        let count = source.peek(64)
        let bytes = source.window.span.extracting(source.position..<source.position + count)
        if bytes.starts(BTSnoopReader.magic) { return .btsnoop }
        return nil
    }
}

extension Span<UInt8> {
    func starts(_ bytes: [UInt8]) -> Bool {
        guard count >= bytes.count else { return false }
        for index in bytes.indices where self[index] != bytes[index] { return false }
        return true
    }
}
