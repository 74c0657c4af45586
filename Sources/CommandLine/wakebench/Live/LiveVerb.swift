import WakeBench
import WakeJSON

/// A verb of the table that a running daemon carries out.
struct LiveVerb: Sendable {
    typealias Members = LiveCall.Members
    typealias Verb = WakebenchProgram.Verb

    /// A verb that is a step of a scenario, carried out now.
    ///
    /// - Parameters:
    ///   - usage: the words that it takes, one each; one in brackets may be missing, and of one with points there may be more.
    ///   - step: what the step says, of these words.
    static func step(
        _ words: String,
        _ usage: String,
        _ help: String,
        options: [Arguments.Option] = [],
        _ step: @escaping @Sendable (Arguments) throws(CommandFailure) -> Members
    ) -> Verb {
        Verb(
            words,
            usage,
            help,
            { (given) throws(CommandFailure) in
                let arguments = try Arguments(given, options: options + LiveCall.commandOptions)
                try check(arguments, usage)
                let members = try step(arguments)
                return try LiveCall(arguments).step(members)
            },
            options: options + LiveCall.commandOptions
        )
    }

    /// A verb that asks the daemon, and says how its answer is shown.
    static func ask(
        _ words: String,
        _ usage: String,
        _ help: String,
        options: [Arguments.Option] = [],
        of known: [Arguments.Option] = LiveCall.phoneOptions,
        _ run: @escaping @Sendable (LiveCall) throws(CommandFailure) -> ExitCode
    ) -> Verb {
        Verb(
            words,
            usage,
            help,
            { (given) throws(CommandFailure) in
                let arguments = try Arguments(given, options: options + known)
                try check(arguments, usage)
                return try run(try LiveCall(arguments))
            },
            options: options + known
        )
    }

    /// Says which word is missing, or is one too many.
    static func check(_ arguments: Arguments, _ usage: String) throws(CommandFailure) {
        let words = usage.split(separator: " ").map(String.init)
        if words.last?.hasSuffix("...") == true { return }
        let needed = words.filter { !$0.hasPrefix("[") }
        if arguments.rest.count < needed.count {
            throw CommandFailure(.usage, "\(needed[arguments.rest.count]) is missing", hint: "see --help")
        }
        if arguments.rest.count > words.count, words.last?.hasSuffix("...]") != true {
            throw CommandFailure(.usage, "'\(arguments.rest[words.count])' is one word too many", hint: "see --help")
        }
    }
}

extension Arguments {
    /// A word of the command line that must be one of a list.
    func word(_ place: Int, _ what: String, of known: [String]) throws(CommandFailure) -> String {
        guard known.contains(rest[place]) else {
            throw CommandFailure(unknown: "\(what) '\(rest[place])'", known: known)
        }
        return rest[place]
    }

    /// `LATITUDE,LONGITUDE` as simctl has it.
    func coordinate(_ place: Int) throws(CommandFailure) -> LiveCall.Members {
        let parts = rest[place].split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1] else {
            throw CommandFailure(.usage, "'\(rest[place])' is no place", hint: "give LATITUDE,LONGITUDE in degrees")
        }
        return [.init("latitude", .number(latitude)), .init("longitude", .number(longitude))]
    }
}
