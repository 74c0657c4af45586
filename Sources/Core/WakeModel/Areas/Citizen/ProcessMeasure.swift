/// What is measured of an app's process, from now on.
package enum ProcessMeasure: Hashable, Codable, Sendable {
    /// Its memory, in megabytes (MEM-3).
    case footprint(UInt32)
    /// How much of one processor it uses, in per cent (CPU-1).
    case processor(UInt32)
    /// How many locks it holds on files and databases that it shares (RESP-4).
    case locks(UInt16)
    /// How many it holds on files in its own container, which cost it nothing (RESP-4).
    case privateLocks(UInt16)
    /// On how many sockets it listens (RESP-2).
    case listeners(UInt16)
    /// How many Bonjour services it has published (RESP-2).
    case services(UInt16)
    /// It draws with OpenGL ES, once (RESP-1).
    case drew
}

/// What an app asks about its time, and is answered by the phone at once.
package enum TimeQuestion: UInt8, Codable, Sendable {
    /// backgroundTimeRemaining (TASK-5).
    case remaining
    /// Whether performExpiringActivity may begin (TASK-7).
    case activity
}
