import Foundation
import os

/// Does with UserDefaults what its arguments say, one after the other, and prints what it reads.
@main
enum DefaultsProgram {
    static func main() {
        var defaults = UserDefaults.standard
        var words = CommandLine.arguments.dropFirst()
        func next() -> String { words.popFirst() ?? "" }
        while let verb = words.popFirst() {
            switch verb {
            case "suite": defaults = UserDefaults(suiteName: next()) ?? .standard
            case "set": defaults.set(next(), forKey: next())
            case "remove": defaults.removeObject(forKey: next())
            case "get": say(defaults.string(forKey: next()) ?? "none")
            // Of one letter: Foundation has keys of its own.
            case "list":
                let keys = defaults.dictionaryRepresentation().keys.filter { $0.count == 1 }
                say("keys \(keys.sorted().joined())")
            case "set-domain": defaults.setPersistentDomain([next(): next()], forName: next())
            case "remove-domain": defaults.removePersistentDomain(forName: next())
            case "synchronize": _ = defaults.synchronize()
            case "die": kill(getpid(), SIGKILL)
            default: say("no verb: \(verb)")
            }
        }
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
