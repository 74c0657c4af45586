/// Something that the router did by a rule and that is no verdict on an event: what it is, stands in its row of Tables/deeds.tsv.
public enum Deed: UInt8, CaseIterable, Sendable {
    /// A process is killed for an answer that its API demands and that did not come (CPU-2).
    case endedForAnswer
}
