import WakeModel

/// How the processes of a run's apps ended, for programs: `wake.exits/1`.
package struct ExitsPage: Encodable, Sendable {
    struct Exit: Encodable {
        /// As the logs name it, such as `x-2`.
        var id: String
        /// The bundle identifier.
        var app: String
        /// On the run's clock.
        var t: String
        /// 0 for an app that a scenario plays.
        var pid: Int32
        var cause: String
        /// An exit code, minus the number of a signal, or a code of the system's.
        var code: Int64
        var stateBefore: String
        var atLaunch: Bool
        /// The same in words.
        var how: String
    }

    var schema = "wake.exits/1"
    var ok = true
    /// The run's.
    var folder: String
    /// The oldest first.
    var exits: [Exit]

    package init(_ exits: [ExitEntry], folder: String) {
        self.folder = folder
        self.exits = exits.map { exit in
            Exit(
                id: "x-\(exit.number)",
                app: exit.app,
                t: LogTime.text(exit.at),
                pid: exit.pid,
                cause: exit.cause.word,
                code: exit.code,
                stateBefore: exit.stateBefore.word,
                atLaunch: exit.atLaunch,
                how: exit.words
            )
        }
    }

    /// The same as a table.
    ///
    /// - Parameter width: the characters of a line of the terminal; nil for lines of any width.
    package func lines(width: Int?) -> [String] {
        let rows = exits.map { exit in
            [
                LogTime.instant(exit.t).map(LogTime.shortText) ?? exit.t, exit.id, exit.app,
                exit.pid == 0 ? "-" : "\(exit.pid)", exit.stateBefore, exit.cause, exit.how,
            ]
        }
        return TextTable.lines([["TIME", "EXIT", "APP", "PID", "STATE", "CAUSE", "HOW"]] + rows, width: width)
    }
}
