import Glibc

/// The kernel's word that programs of this machine stand still for want of memory (its Documentation/accounting/psi.rst).
package final class MemoryStalls {
    /// Where the kernel is asked for it.
    package static let file = "/proc/pressure/memory"
    /// In so much time, in microseconds: a user without rights may ask for whole multiples of two seconds.
    package static let window = 2_000_000
    /// For so long one of them must have stood still, in microseconds.
    private static let stall = 150_000

    /// Called for each word.
    package var handler: () -> Void
    private let descriptor: Descriptor
    private var watch: Watch?

    /// Asks the kernel to tell, at most once in a window.
    ///
    /// - Throws: with the file's name, where the kernel does not count it, or this user may not ask.
    package convenience init(
        loop: EventLoop,
        file: String = MemoryStalls.file,
        handler: @escaping () -> Void = {}
    ) throws(SystemError) {
        let descriptor = try Descriptor.open(file, O_RDWR | O_NONBLOCK)
        do throws(SystemError) {
            _ = try descriptor.write(Array("some \(Self.stall) \(Self.window)\0".utf8))
        } catch {
            throw SystemError("write", code: error.code, subject: file)
        }
        try self.init(watching: descriptor, loop: loop, handler: handler)
    }

    /// - Parameter descriptor: one that becomes ready as that file does.
    package init(
        watching descriptor: consuming Descriptor,
        loop: EventLoop,
        handler: @escaping () -> Void
    ) throws(SystemError) {
        let number = descriptor.number
        self.descriptor = descriptor
        self.handler = handler
        watch = try loop.watch(number, for: [.changed, .edge]) { [unowned self] readiness in
            if readiness.contains(.changed) { self.handler() }
        }
    }

    deinit { watch?.cancel() }
}
