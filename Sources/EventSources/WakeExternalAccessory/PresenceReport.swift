import WakeModel
import WakePorts

extension SourceReport {
    /// An accessory came or went, as an event of that kind about the device of the scenario with that name.
    static func presence(
        _ kind: EventKind,
        of accessory: Accessory,
        named text: String,
        names: NameTable,
        origin: NameID
    ) -> SourceReport {
        let name = names.intern(text)
        return SourceReport(
            WakeEvent(
                kind: kind,
                peripheral: name,
                local: accessory.connection,
                subject: name,
                services: accessory.protocols.map(names.intern),
                origin: origin
            ),
            .accessory(accessory)
        )
    }
}
