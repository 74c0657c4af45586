import WakeBench
import WakeDevices

/// The words of a command line, sorted into options and the rest.
struct Arguments {
    /// An option that a verb knows.
    struct Option: Hashable, Sendable {
        /// With its dashes, such as `--out`.
        var name: String
        /// One letter with its dash; nil for none.
        var short: String?
        /// What stands for its value in the help; nil for a flag.
        var value: String?
        /// One line of help.
        var help: String

        static func flag(_ name: String, short: String? = nil, _ help: String) -> Option {
            Option(name: name, short: short, value: nil, help: help)
        }

        static func value(_ name: String, _ value: String, short: String? = nil, _ help: String) -> Option {
            Option(name: name, short: short, value: value, help: help)
        }

        /// Whether it may stand without its value: `[PORT]`.
        var isOptional: Bool { value?.hasPrefix("[") == true }
    }

    private var values: [String: [String]] = [:]
    /// All options in order; flags have no value.
    private var given: [(name: String, value: String?)] = []
    /// What is no option, in order.
    private(set) var rest: [String] = []

    /// Sorts the words. `--option=value` and `--option value` mean the same; `--` ends the options.
    ///
    /// - Throws: ``CommandFailure`` with exit code 2 for an unknown option or a missing value.
    init(_ words: [String], options: [Option]) throws(CommandFailure) {
        var position = 0
        while position < words.count {
            let word = words[position]
            position += 1
            if word == "--" {
                rest += words[position...]
                return
            }
            guard word.hasPrefix("-"), word != "-" else {
                rest.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = options.first(where: { $0.name == parts[0] || $0.short == parts[0] }) else {
                let near = Suggestion.nearest(to: parts[0], among: options.map(\.name))
                throw CommandFailure(
                    .usage,
                    "unknown option \(parts[0])",
                    hint: near.map { "did you mean \($0)?" } ?? "see --help"
                )
            }
            var value: String?
            if option.value == nil {
                guard parts.count == 1 else { throw CommandFailure(.usage, "\(option.name) takes no value") }
            } else if parts.count == 2 {
                value = parts[1]
            } else if option.isOptional {
                value = position < words.count && !words[position].hasPrefix("-") ? words[position] : ""
                if value != "" { position += 1 }
            } else if position < words.count {
                value = words[position]
                position += 1
            } else {
                throw CommandFailure(.usage, "\(option.name) needs a value: \(option.name) \(option.value!)")
            }
            values[option.name, default: []].append(value ?? "")
            given.append((option.name, value))
        }
    }

    /// The options but some, as words that say the same.
    func words(without names: Set<String>) -> [String] {
        given.filter { !names.contains($0.name) }.map { option in
            option.value.map { "\(option.name)=\($0)" } ?? option.name
        }
    }

    /// The options that were given.
    var names: [String] { Array(values.keys) }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// The last value of an option.
    func value(_ name: String) -> String? { values[name]?.last }

    /// All values of an option, in order.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The one positional word of a verb.
    func only(_ what: String) throws(CommandFailure) -> String {
        guard rest.count == 1 else {
            throw CommandFailure(
                .usage,
                rest.isEmpty ? "\(what) is missing" : "one \(what) expected, not \(rest.count)",
                hint: rest.isEmpty ? "see --help" : nil
            )
        }
        return rest[0]
    }
}
