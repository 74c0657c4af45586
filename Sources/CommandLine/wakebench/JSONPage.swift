import WakeBench
import WakeReports

extension Arguments.Option {
    /// Of a verb that says the same for programs.
    static let json = Arguments.Option.flag("--json", "print one JSON object instead of text")
}

extension Output {
    /// What a page for programs says, as one JSON object: keys in small letters with underscores, in the order of the alphabet.
    static func json(page: some Encodable) throws(CommandFailure) -> String {
        do { return String(decoding: try PageText.json(page), as: UTF8.self) } catch {
            throw CommandFailure(.internal, "the page cannot be written as JSON (\(error))")
        }
    }
}
