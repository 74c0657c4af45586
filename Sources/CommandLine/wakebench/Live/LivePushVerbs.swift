import Foundation
import WakeBench
import WakeJSON

/// The verbs about pushes.
extension LiveWorldVerbs {
    static let providerVerbs = [
        LiveVerb.step(
            "push send",
            "APP FILE|-",
            "a provider sends a push, whose payload is a file",
            options: [
                .value(
                    "--type",
                    "TYPE",
                    "as APNs calls it, such as alert or background; default by the payload"
                ),
                .value("--priority", "N", "10 or 5; default 5 for background, else 10"),
                .value("--collapse-id", "ID", "takes the place of one with the same that waits"),
            ]
        ) { arguments throws(CommandFailure) in
            var push: LiveCall.Members = [
                .init("app", arguments.rest[0]), .init("payload", try payload(arguments.rest[1])),
            ]
            for key in ["type", "priority", "collapse-id"] {
                if let text = arguments.value("--\(key)") { push.append(.init(key, text)) }
            }
            return [.init("push", .object(push))]
        }
    ]

    private static func payload(_ path: String) throws(CommandFailure) -> JSONValue {
        let data =
            path == "-" ? FileHandle.standardInput.readDataToEndOfFile() : FileManager.default.contents(atPath: path)
        guard let data else { throw CommandFailure(.notFound, in: path, "cannot be read") }
        guard let value = JSONValue(parsing: Array(data)), case .object = value else {
            throw CommandFailure(.invalidFile, in: path, "not one JSON object", hint: "give {\"aps\": {...}}")
        }
        return value
    }
}
