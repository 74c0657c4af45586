/// A number of things in words.
package enum Plural {
    /// Such as `1 app` and `2 apps`.
    package static func text(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
