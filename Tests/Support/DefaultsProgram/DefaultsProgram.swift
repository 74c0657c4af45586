import Foundation
import os

/// Does with UserDefaults what its arguments say, one after the other, and prints what it reads.
@main
enum DefaultsProgram {
    /// The characters of a large value: a few of them are worth writing what was set anew.
    private static let padding = 60_000
    /// The most milliseconds that a value is waited for.
    private static let patience = 60_000

    static func main() {
        var defaults = UserDefaults.standard
        var words = CommandLine.arguments.dropFirst()
        func next() -> String { words.popFirst() ?? "" }
        func number() -> Int { Int(next()) ?? 0 }
        while let verb = words.popFirst() {
            switch verb {
            case "suite": defaults = UserDefaults(suiteName: next()) ?? .standard
            case "set": defaults.set(next(), forKey: next())
            case "pad":
                let key = next()
                for _ in 0..<number() { defaults.set(String(repeating: "p", count: padding), forKey: key) }
            case "nest":
                let key = next()
                // Lists: Foundation takes minutes for as many dictionaries.
                let value = (0..<number()).reduce("leaf" as Any) { value, _ in [value] as [Any] }
                defaults.set(value, forKey: key)
            case "count":
                let key = next()
                for value in 0..<number() { defaults.set("\(value)", forKey: "\(key)\(value)") }
            case "counted":
                let key = next()
                let found = (0..<number()).filter { defaults.string(forKey: "\(key)\($0)") == "\($0)" }
                say("\(found.count)")
            case "set-kinds":
                defaults.set(true, forKey: "bool")
                defaults.set(0.1, forKey: "double")
                defaults.set(Date(timeIntervalSinceReferenceDate: 0.25), forKey: "date")
                defaults.set(Data([0, 255]), forKey: "data")
                defaults.set(["list": ["text"]], forKey: "dictionary")
            case "kinds":
                let date = defaults.object(forKey: "date") as? Date
                let list = defaults.dictionary(forKey: "dictionary")?["list"] as? [String]
                say("\(defaults.bool(forKey: "bool")) \(defaults.double(forKey: "double"))")
                say("\(date?.timeIntervalSinceReferenceDate ?? 0) \(defaults.data(forKey: "data") ?? Data())")
                say("\(list ?? [])")
            // What an observer sets itself is a change, too.
            case "observe":
                let name = UserDefaults.didChangeNotification
                _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
                    Self.say("changed \((note.object as? UserDefaults) === UserDefaults.standard)")
                    UserDefaults.standard.set("seen", forKey: "o")
                }
            case "remove": defaults.removeObject(forKey: next())
            case "get": say(defaults.string(forKey: next()) ?? "none")
            // Until another process has set it.
            case "await":
                let (key, value) = (next(), next())
                var left = patience
                while left > 0, defaults.string(forKey: key) != value {
                    usleep(1_000)
                    left -= 1
                }
                say(defaults.string(forKey: key) ?? "none")
            case "container":
                say(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: next())?.path ?? "none")
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
