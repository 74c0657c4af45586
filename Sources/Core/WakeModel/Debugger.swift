/// Whether a debugger is attached to an app (SYS-5).
package enum Debugger: UInt8, Worded, Codable, Sendable {
    case none
    /// Attached, and nothing that happens to the app is another for it.
    case attached
    /// Attached, and no limit of time ends the app or suspends it, as when a developer holds it at a breakpoint.
    case exempting
}
