import CWakeShims
import Glibc

/// Memory that another process may map too; its size is sealed, so that nobody can cut it off under a reader.
///
/// - Parameters:
///   - name: Shown in /proc, for people.
///   - bytes: The size, all zero at first.
package func sharedMemory(_ name: String, bytes: Int) throws(SystemError) -> Descriptor {
    let number = unsafe wake_shared_memory(name, bytes)
    guard number >= 0 else { throw SystemError(last: "memfd_create", subject: name) }
    return Descriptor(owning: number)
}

/// A counter that one side rings and the other waits for, by reading eight bytes; non-blocking.
package func doorbell() throws(SystemError) -> Descriptor {
    let number = wake_doorbell()
    guard number >= 0 else { throw SystemError(last: "eventfd") }
    return Descriptor(owning: number)
}

extension Descriptor {
    /// Rings a doorbell. A full counter is as good as a rung one.
    package func ring() {
        var one: UInt64 = 1
        let number = number
        _ = unsafe withUnsafeBytes(of: &one) { bytes in
            repeatingInterrupted { unsafe Glibc.write(number, bytes.baseAddress, bytes.count) }
        }
    }

    /// Whether a doorbell was rung since the last call.
    package func answerDoorbell() -> Bool {
        var count: UInt64 = 0
        let number = number
        let size = unsafe withUnsafeMutableBytes(of: &count) { bytes in
            repeatingInterrupted { unsafe Glibc.read(number, bytes.baseAddress, bytes.count) }
        }
        return size == 8
    }
}
