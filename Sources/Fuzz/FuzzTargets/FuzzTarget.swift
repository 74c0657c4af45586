/// A reader of foreign bytes, and what is done with the bytes that a fuzzer makes.
///
/// A target does what the program does with such bytes, and traps when a promise is broken. Bytes that make no sense are
/// refused by the reader and are of no interest.
package struct FuzzTarget: Sendable {
    /// As `Scripts/fuzz` and the folder of its corpus call it.
    package let name: String
    /// One line for people.
    package let about: String
    /// Reads the bytes.
    package let run: @Sendable ([UInt8]) -> Void

    /// Every target, in the order in which they are listed.
    package static let all: [FuzzTarget] = [
        FuzzTarget(name: "wire-app", about: "packets from apps", run: Wire.fromApp),
        FuzzTarget(name: "wire-bench", about: "packets to apps, as the SDK reads them", run: Wire.fromBench),
        FuzzTarget(name: "scenario", about: "scenarios in YAML", run: Files.scenario),
        FuzzTarget(name: "device", about: "device files in YAML, of all kinds", run: Files.device),
        FuzzTarget(name: "push", about: "pushes in JSON, as simctl reads them", run: Files.push),
        FuzzTarget(name: "plist", about: "Info.plist, XML and binary", run: Files.plist),
        FuzzTarget(name: "gpx", about: "tracks in GPX", run: Files.gpx),
        FuzzTarget(name: "nmea", about: "logs of NMEA 0183", run: Files.nmea),
        FuzzTarget(name: "gpsd", about: "lines of gpsd in JSON", run: Files.gpsd),
        FuzzTarget(name: "gpx-log", about: "recorded tracks in GPX, read leniently", run: Captures.places(.gpx)),
        FuzzTarget(name: "nmea-log", about: "recorded NMEA 0183, read leniently", run: Captures.places(.nmea)),
        FuzzTarget(name: "gpsd-log", about: "recorded lines of gpsd, read leniently", run: Captures.places(.gpsd)),
        FuzzTarget(name: "btsnoop", about: "captures in btsnoop", run: Captures.read(.btsnoop)),
        FuzzTarget(name: "pklg", about: "captures of PacketLogger", run: Captures.read(.packetLoggerLittle)),
        FuzzTarget(name: "pcap", about: "captures in pcap", run: Captures.read(.pcap)),
        FuzzTarget(name: "pcapng", about: "captures in pcapng", run: Captures.read(.pcapng)),
        FuzzTarget(name: "umockdev", about: "recordings, and accessories made of them", run: Recordings.devices),
        FuzzTarget(name: "sip", about: "captures of a network, and call servers of them", run: Recordings.calls),
        FuzzTarget(name: "apns", about: "what a provider of pushes says in HTTP/2", run: Pushes.conversation),
        FuzzTarget(name: "journal", about: "inputs and snapshots that a recovery reads", run: Journals.recover),
    ]

    /// The target of a name.
    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}
