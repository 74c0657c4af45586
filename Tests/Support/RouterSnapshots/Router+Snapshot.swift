import WakeModel
import WakeRouter

extension Router {
    /// The whole state as bytes.
    package var snapshot: [UInt8] {
        var (router, coder) = (self, SnapshotCoder())
        do { try coder.code(&router) } catch { preconditionFailure("what is written has no fault: \(error)") }
        return coder.bytes
    }

    /// A router that goes on where the written one stood.
    package init(snapshot: [UInt8], profile: Profile) throws {
        self.init(profile: profile)
        var coder = SnapshotCoder(reading: snapshot)
        try coder.code(&self)
        try coder.finish()
    }
}
