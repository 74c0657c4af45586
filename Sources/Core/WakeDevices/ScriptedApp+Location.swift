import WakeModel

extension ScriptedApp {
    /// What a scripted app asks of Core Location each time it is launched, through one manager.
    package struct LocationUse: Hashable, Sendable {
        /// What the user lets it know; `always`, `whenInUse` and `allowOnce` are asked for, the others stand before the first
        /// launch.
        package var authorization: LocationAuthorization
        /// Standard updates.
        package var updates: Bool
        /// In metres; 0 lets every fix through (LOC-4).
        package var distanceFilter: Double
        /// allowsBackgroundLocationUpdates (LOC-6).
        package var allowsBackground: Bool
        /// pausesLocationUpdatesAutomatically (LOC-7).
        package var pausesAutomatically: Bool
        package var significant: Bool
        package var visits: Bool
        /// It holds a CLBackgroundActivitySession from its launch on (SESS-3).
        package var holdsSession: Bool
        package var regions: [Circle]
        package var beacons: [Beacons]

        /// A circular region that it monitors.
        package struct Circle: Hashable, Sendable {
            package var identifier: String
            package var center: Coordinate
            /// In metres.
            package var radius: Double
            package var notifyOnEntry: Bool
            package var notifyOnExit: Bool
            /// Whether it asks at once where the phone is to it (REG-5).
            package var requestsState: Bool
        }

        /// A beacon region that it monitors, and ranges where it says so.
        package struct Beacons: Hashable, Sendable {
            package var identifier: String
            /// 36 characters in capitals.
            package var uuid: String
            package var major: UInt16?
            package var minor: UInt16?
            package var notifyOnEntry: Bool
            package var notifyOnExit: Bool
            package var notifyOnDisplay: Bool
            package var ranges: Bool
        }
    }
}

extension ScriptedApp.LocationUse {
    /// Reads the key `location` of a scripted app.
    ///
    /// - Parameter modes: The app's background modes: with `location` its updates go on in the background unless it says
    ///   otherwise.
    /// - Throws: ``FileError`` with the line and what was expected.
    init(_ node: YAMLNode, modes: BackgroundModes) throws(FileError) {
        let fields = try Fields(
            node,
            of: "a use of location",
            keys: [
                "authorization", "updates", "distance-filter", "background", "pauses", "significant", "visits",
                "background-session", "regions", "beacons",
            ]
        )
        authorization = try fields["authorization"]?.authorization() ?? .always
        updates = try fields["updates"]?.bool() ?? false
        distanceFilter = try fields["distance-filter"]?.metres(in: 0...1_000_000) ?? 0
        allowsBackground = try fields["background"]?.bool() ?? modes.contains(.location)
        pausesAutomatically = try fields["pauses"]?.bool() ?? true
        significant = try fields["significant"]?.bool() ?? false
        visits = try fields["visits"]?.bool() ?? false
        holdsSession = try fields["background-session"]?.bool() ?? false
        regions = []
        beacons = []
        for node in try fields["regions"]?.list(expecting: "regions", limit: 64) ?? [] {
            let region = try Circle(node)
            try refuse(region.identifier, node)
            regions.append(region)
        }
        for node in try fields["beacons"]?.list(expecting: "beacon regions", limit: 64) ?? [] {
            let region = try Beacons(node)
            try refuse(region.identifier, node)
            beacons.append(region)
        }
    }

    private func refuse(_ identifier: String, _ node: YAMLNode) throws(FileError) {
        let known = regions.map(\.identifier) + beacons.map(\.identifier)
        guard known.contains(identifier) else { return }
        throw node.error(found: "a second region '\(excerpt(identifier))'", expected: "another identifier")
    }
}

extension ScriptedApp.LocationUse.Circle {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(
            node,
            of: "a region",
            keys: [
                "identifier", "latitude", "longitude", "radius", "notify-on-entry", "notify-on-exit", "request-state",
            ]
        )
        identifier = try fields.required("identifier").text(expecting: "an identifier")
        center = try Coordinate(fields, ("a latitude in degrees", "a longitude in degrees"))
        radius = try fields.required("radius").metres(in: 1...10_000_000)
        notifyOnEntry = try fields["notify-on-entry"]?.bool() ?? true
        notifyOnExit = try fields["notify-on-exit"]?.bool() ?? true
        requestsState = try fields["request-state"]?.bool() ?? false
    }
}

extension ScriptedApp.LocationUse.Beacons {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(
            node,
            of: "a beacon region",
            keys: [
                "identifier", "uuid", "major", "minor", "notify-on-entry", "notify-on-exit", "notify-on-display",
                "range",
            ]
        )
        identifier = try fields.required("identifier").text(expecting: "an identifier")
        uuid = try fields.required("uuid").longUUID()
        major = try (fields["major"]?.integer(in: 0...65_535)).map(UInt16.init)
        minor = try (fields["minor"]?.integer(in: 0...65_535)).map(UInt16.init)
        if minor != nil, major == nil, let node = fields["minor"] {
            throw node.error(found: "a minor without a major", expected: "both, or the major alone")
        }
        notifyOnEntry = try fields["notify-on-entry"]?.bool() ?? true
        notifyOnExit = try fields["notify-on-exit"]?.bool() ?? true
        notifyOnDisplay = try fields["notify-on-display"]?.bool() ?? false
        ranges = try fields["range"]?.bool() ?? false
    }
}
