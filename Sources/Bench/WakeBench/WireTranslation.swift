import WakeModel
import WakePorts
import WakeWire

/// From the bench's words to the wire's and back: pure, so that a table can test it. Each area adds its own.
struct WireTranslation {
    let names: NameTable
    let identifiers: PeripheralIdentifiers
    /// Whose margins and limits regions have.
    let profile: Profile
}
