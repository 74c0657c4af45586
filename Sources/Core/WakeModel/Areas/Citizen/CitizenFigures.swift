/// What a profile has of memory and processor time.
package struct CitizenFigures: Hashable, Codable, Sendable {
    /// The memory of one app beyond which it is ended, in megabytes (MEM-3); assumed: it goes by the phone.
    package var memoryLimit: UInt32 = 1_400
    /// How long an app in the background has between a memory warning and its end (MEM-1); assumed.
    package var warningGrace = Instant.Span.seconds(1)
    /// The processor time over which an app in the background is ended (CPU-1), in per cent of one processor.
    package var processorShare: UInt32 = 80
    /// For how long it must be over it (CPU-1).
    package var processorWindow = Instant.Span.seconds(60)

    static let settings: [ProfileSetting] = [
        .init(
            "memory.limit",
            \.areas.citizen.memoryLimit,
            1...1_000_000,
            "megabytes",
            .mem3,
            "memory of an app beyond which it is ended; assumed"
        ),
        .init(
            "memory.warningGrace",
            \.areas.citizen.warningGrace,
            .mem1,
            "time of an app in the background between a memory warning and its end; assumed"
        ),
        .init(
            "processor.share",
            \.areas.citizen.processorShare,
            1...10_000,
            "per cent",
            .cpu1,
            "processor time over which an app in the background is ended"
        ),
        .init(
            "processor.window",
            \.areas.citizen.processorWindow,
            .cpu1,
            "how long an app in the background may be over processor.share"
        ),
    ]
}

extension TerminationCode {
    /// A lock on a shared file was held at suspension (RESP-4).
    package static let heldLock: Int64 = 0xdead_10cc
}
