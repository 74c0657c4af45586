import WakeWire

extension WireLimits {
    /// As many whole characters of a text as there is room for: servers and providers write longer ones than the wire takes.
    static func cut(_ text: String, to bytes: Int) -> String {
        var cut = text
        while cut.utf8.count > bytes { cut.removeLast() }
        return cut
    }
}
