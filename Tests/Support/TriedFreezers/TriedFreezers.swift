import Foundation
import WakeProcesses

/// The freezers that a test plays the same thing under.
package enum TriedFreezers {
    /// All that work on this machine.
    package static let usable = FreezerProbe.all().filter(\.usable).map(\.kind)

    /// All that work, or the one of them that WAKEBENCH_FREEZERS names: a build server takes turns.
    package static let kinds: [FreezerKind] = {
        let wanted = ProcessInfo.processInfo.environment["WAKEBENCH_FREEZERS"]
        let chosen = usable.filter { $0.rawValue == wanted }
        return chosen.isEmpty ? usable : chosen
    }()

    /// Of those the ones that are control groups. Where SIGSTOP's turn is, all that work: what is asked of groups alone is
    /// played at each commit.
    package static let groups: [FreezerKind] = {
        let chosen = kinds.filter { $0 != .sigstop }
        return chosen.isEmpty ? usable.filter { $0 != .sigstop } : chosen
    }()

    /// The same as `--freezer` takes them.
    package static let names = kinds.map(\.rawValue)

    /// Those that this machine lacks, each with the reason.
    package static let missing = FreezerProbe.all().filter { !$0.usable }.map { "\($0.kind.rawValue): \($0.reason)" }
}
