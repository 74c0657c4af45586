import Foundation
import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench completion`: what completes command lines in a shell, asked of the one table of verbs.
enum CompletionCommand {
    static let options: [Arguments.Option] = [
        .value("--line", "INDEX", "print what may stand in the place of the word INDEX of those after '--', from 1")
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        if let text = arguments.value("--line") {
            guard let index = Int(text), index > 0 else {
                throw CommandFailure(.usage, "--line \(text): expected the number of a word, from 1")
            }
            for candidate in Completion(arguments.rest, index: index).candidates { print(candidate.line) }
            return .done
        }
        let shell = try arguments.only("bash, zsh or fish")
        guard let script = scripts[shell] else {
            throw CommandFailure(unknown: "shell '\(shell)'", known: scripts.keys.sorted())
        }
        print(script)
        return .done
    }

    /// Each asks the program that stands in the line, and says nothing where that fails.
    private static let scripts = [
        "bash": """
        # Completes wakebench in bash:  source <(wakebench completion bash)
        _wakebench() {
            local line current=${COMP_WORDS[COMP_CWORD]}
            [[ $current == "=" ]] && current=
            COMPREPLY=()
            while IFS= read -r line; do
                case $line in
                :files) compopt -o filenames; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current") ;;
                :folders) compopt -o filenames; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current") ;;
                *) COMPREPLY+=("${line%%$'\\t'*}") ;;
                esac
            done < <("${COMP_WORDS[0]}" completion --line "$COMP_CWORD" -- "${COMP_WORDS[@]:1}" 2>/dev/null)
        }
        complete -F _wakebench wakebench
        """,
        "zsh": """
        #compdef wakebench
        # Completes wakebench in zsh:  source <(wakebench completion zsh), after compinit
        _wakebench() {
            local line
            local -a candidates kinds
            for line in "${(@f)$(${words[1]} completion --line $((CURRENT - 1)) -- "${(@)words[2,-1]}" 2>/dev/null)}"; do
                case $line in
                :*) kinds+=("$line") ;;
                *$'\\t'*) candidates+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}") ;;
                ?*) candidates+=("${line//:/\\\\:}") ;;
                esac
            done
            (( $#candidates )) && _describe wakebench candidates
            (( ${kinds[(Ie):files]} )) && _files
            (( ${kinds[(Ie):folders]} )) && _files -/
            return 0
        }
        compdef _wakebench wakebench
        """,
        "fish": """
        # Completes wakebench in fish:  wakebench completion fish | source
        function __wakebench_complete
            set -l words (commandline -opc) (commandline -ct)
            for line in ($words[1] completion --line (math (count $words) - 1) -- $words[2..-1] 2>/dev/null)
                switch $line
                    case :files
                        __fish_complete_path (commandline -ct)
                    case :folders
                        __fish_complete_directories (commandline -ct)
                    case '*'
                        echo $line
                end
            end
        end
        complete -c wakebench -f -a '(__wakebench_complete)'
        """,
    ]
}

/// What may stand in a place of a command line.
struct Completion {
    /// A word, or what a shell itself completes.
    enum Candidate: Hashable {
        case word(String, help: String)
        case files
        case folders

        /// A line for a shell: the word, a tab and its help; or a colon and a kind.
        var line: String {
            switch self {
            case .word(let word, let help): help.isEmpty ? word : "\(word)\t\(help)"
            case .files: ":files"
            case .folders: ":folders"
            }
        }
    }

    let candidates: [Candidate]

    /// - Parameters:
    ///   - words: those after the program's name.
    ///   - index: the number of the word that is completed, from 1; it may stand after the last.
    init(_ words: [String], index: Int) {
        var before = Array(words.prefix(index - 1))
        var current = words.count >= index ? words[index - 1] : ""
        // A shell that breaks words at '=' gives it as a word of its own.
        if current == "=" { current = "" }
        before.removeAll { $0 == "=" }
        let verbs = WakebenchProgram.verbs.filter { before.starts(with: $0.words) }
        var found: [Candidate] = []
        if let verb = verbs.max(by: { $0.words.count < $1.words.count }) {
            found = Self.candidates(of: verb, Array(before.dropFirst(verb.words.count)), current)
        }
        // A verb of one word may also be the noun of others.
        found += Self.verbWords(after: before)
        let (option, value) = Self.parts(current)
        candidates = found.filter { candidate in
            guard case .word(let word, _) = candidate else { return true }
            return word.hasPrefix(option == nil ? current : value)
        }
        .map { candidate in
            guard let option, case .word(let word, let help) = candidate else { return candidate }
            return .word("\(option)=\(word)", help: help)
        }
    }

    /// The option and the value of a word such as `--out=x`; no option for any other word.
    private static func parts(_ word: String) -> (option: String?, value: String) {
        guard word.hasPrefix("--"), let sign = word.firstIndex(of: "=") else { return (nil, word) }
        return (String(word[..<sign]), String(word[word.index(after: sign)...]))
    }

    /// The next words of verbs that begin so, each once.
    private static func verbWords(after before: [String]) -> [Candidate] {
        var seen: Set<String> = []
        return WakebenchProgram.verbs.compactMap { verb in
            guard verb.words.count > before.count, verb.words.starts(with: before) else { return nil }
            let word = verb.words[before.count]
            guard seen.insert(word).inserted else { return nil }
            return .word(word, help: verb.words.count == before.count + 1 ? verb.help : "")
        }
    }

    private static func candidates(
        of verb: WakebenchProgram.Verb,
        _ before: [String],
        _ current: String
    ) -> [Candidate] {
        func option(_ name: String?) -> Arguments.Option? {
            verb.options.first { name != nil && ($0.name == name || $0.short == name) && $0.value != nil }
        }
        if let asked = option(parts(current).option) ?? option(before.last) { return values(of: asked) }
        if current.hasPrefix("-") {
            return verb.options.map { .word($0.name, help: $0.help) } + [.word("--help", help: "show what there is")]
        }
        return places(verb.usage)
    }

    /// What stands for a value in the help says what it is: alternatives, a file, a folder.
    private static func values(of option: Arguments.Option) -> [Candidate] {
        let value = option.value ?? ""
        switch option.name {
        case "--profile", "--diff": return Profile.all.map { .word($0.name, help: "") }
        case "--run": return [.folders]
        default: break
        }
        let words = value.split(separator: "|").map(String.init).filter { word in
            word.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }
        }
        if !words.isEmpty { return words.map { .word($0, help: "") } }
        return places(value)
    }

    private static func places(_ usage: String) -> [Candidate] {
        if usage.contains("VERB") { return verbWords(after: []) }
        if usage.contains("bash|zsh|fish") { return ["bash", "zsh", "fish"].map { .word($0, help: "") } }
        if usage.contains("ID") { return RuleCatalogue.entries.map { .word($0.id.text, help: $0.sentence) } }
        if ["DIR", "RUN", "FOLDER"].contains(where: usage.contains), !usage.contains("yaml") { return [.folders] }
        if ["FILE", ".yaml", ".app", "PROGRAM", "CAPTURE"].contains(where: usage.contains) { return [.files] }
        return []
    }
}
