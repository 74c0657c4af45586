import WakeTransfers

/// What there is on this machine for transfers of true servers. Looking changes nothing.
package enum CurlPresence: Hashable, Sendable {
    /// The program that carries them is not where it is looked for.
    case missing
    /// The program does not answer, and why.
    case silent(String)
    /// The program, and the version of the libcurl that it is linked with.
    case there(program: String, version: String)

    /// Looks at this machine.
    package static func examine() -> CurlPresence {
        guard let program = TransferProgram.path() else { return .missing }
        do throws(TransferError) {
            return .there(program: program, version: try TransferProgram.libraryVersion(of: program))
        } catch {
            return .silent(error.message)
        }
    }
}
