import WakeBench

/// What simctl says of places, and of what apps may know.
extension SimctlCommand {
    /// Verbs whose words mean something else here.
    static var others: KeyValuePairs<String, ([String]) throws(CommandFailure) -> [String]> {
        ["location": location, "privacy": privacy]
    }

    private static func location(_ words: [String]) throws(CommandFailure) -> [String] {
        switch words.first {
        case "set" where words.count == 2: return ["location", "set", words[1]]
        case "run" where words.count == 2: return ["location", "play", words[1]]
        default: throw CommandFailure(.usage, "location of what?", hint: "set LATITUDE,LONGITUDE or run TRACK")
        }
    }

    private static let services = ["location": "when-in-use", "location-always": "always", "microphone": "granted"]

    private static func privacy(_ words: [String]) throws(CommandFailure) -> [String] {
        guard words.count == 3, let granted = services[words[1]], ["grant", "revoke"].contains(words[0]) else {
            let known = services.keys.sorted().joined(separator: "|")
            throw CommandFailure(.usage, "privacy of what?", hint: "grant|revoke \(known) BUNDLE")
        }
        let what = words[1] == "location-always" ? "location" : words[1]
        return ["perm", "set", words[2], what, words[0] == "grant" ? granted : "denied"]
    }
}
