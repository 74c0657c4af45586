import WakeCaptures
import WakePorts

/// A radio whose packets between stack and controller can be written down, simulated or real.
package protocol BluetoothTracePort: AnyObject {
    /// Makes sure that there will be packets, before anything begins.
    ///
    /// - Throws: ``SourceFailure`` of kind environment, with the remedy.
    func openTrace() throws(SourceFailure)

    /// Gives packets from now on, oldest first.
    ///
    /// - Parameter start: the wall time that the packets' times count from, in nanoseconds since 1970.
    func trace(since start: Int64, to write: @escaping (HCIPacket) -> Void)

    /// Gives what is left, and nothing more.
    ///
    /// - Returns: what the trace lacks, a line each; empty when it is whole.
    func endTrace() -> [String]
}
