import Glibc

/// A file descriptor, closed exactly once.
package struct Descriptor: ~Copyable {
    /// The number, valid as long as this value.
    package let raw: Int32

    /// Takes over a descriptor that nobody else closes.
    package init(owning raw: Int32) {
        precondition(raw >= 0, "descriptor \(raw)")
        self.raw = raw
    }

    /// Gives the descriptor up without closing it.
    package consuming func release() -> Int32 {
        let raw = self.raw
        discard self
        return raw
    }

    deinit {
        // Linux closes the descriptor even when close says EINTR.
        close(raw)
    }
}
