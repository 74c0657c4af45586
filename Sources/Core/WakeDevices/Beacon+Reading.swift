import Foundation
import WakeModel

extension Beacon: Device {
    package static let kind = "ibeacon"
    package static let article = "a beacon"
    package static let lack = "is no beacon"
    private static let places = ["position", "distance"]
    package static let keys =
        ["address", "uuid", "major", "minor", "measured-power", "interval", "repeat", "radio", "faults"] + places

    package var form: DeviceFile { .beacon(self) }

    package init(_ fields: Fields) throws(FileError) {
        file = fields.node.file
        address = try BluetoothPeripheral.address(try fields.required("address"))
        uuid = try fields.required("uuid").longUUID()
        major = UInt16(try fields["major"]?.integer(in: 0...65_535) ?? 0)
        minor = UInt16(try fields["minor"]?.integer(in: 0...65_535) ?? 0)
        measuredPower = Int8(try fields["measured-power"]?.integer(in: -127...20) ?? -59)
        interval = .milliseconds(100)
        if let node = fields["interval"] {
            interval = try node.duration()
            if interval < .milliseconds(20) || interval > .milliseconds(10_485) {
                throw node.error(expected: "an advertising interval from 20ms to 10.485s")
            }
        }
        let (key, value) = try fields.one(of: Self.places, called: "a place")
        if key == "distance" {
            place = .distance(try DistanceTimetable(value, fields))
        } else {
            try fields.refuse(["repeat"], beside: key)
            place = try Place(value)
        }
        radio = try Radio(fields["radio"])
        faults = try fields.faults()
    }
}

extension Beacon.Place {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a position", keys: ["latitude", "longitude", "x", "y"])
        let (key, _) = try fields.one(of: ["latitude", "x"], called: "latitude or x")
        if key == "x" {
            try fields.refuse(["longitude"], beside: "x")
            self = .plan(
                x: try fields.required("x").decimal(in: -100_000...100_000, of: "metres"),
                y: try fields.required("y").decimal(in: -100_000...100_000, of: "metres")
            )
        } else {
            try fields.refuse(["y"], beside: "latitude")
            self = .globe(
                latitude: try fields.required("latitude").decimal(in: -90...90, of: "degrees"),
                longitude: try fields.required("longitude").decimal(in: -180...180, of: "degrees")
            )
        }
    }
}

extension Beacon.Radio {
    init(_ node: YAMLNode?) throws(FileError) {
        self.init()
        guard let node else { return }
        let fields = try Fields(node, of: "a radio", keys: ["path-loss", "fading", "loss"])
        pathLoss = try fields["path-loss"]?.decimal(in: 1...6, of: "an exponent") ?? pathLoss
        fading = try fields["fading"]?.decimal(in: 0...20, of: "decibels") ?? fading
        loss = try fields["loss"]?.decimal(in: 0...1, of: "a share") ?? loss
    }
}

extension Beacon.Effect: FaultEffect {
    package static let effects = ["silent", "weaken", "measured-power", "renumber"]

    package init(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) {
        switch key {
        case "silent": self = .silent(try value.interval())
        case "weaken": self = .weaken(try value.decimal(in: 0...100, of: "decibels"))
        case "measured-power": self = .measuredPower(Int8(try value.integer(in: -127...20)))
        default:
            let fields = try Fields(value, of: "new numbers", keys: ["major", "minor"])
            self = .renumber(
                major: UInt16(try fields.required("major").integer(in: 0...65_535)),
                minor: UInt16(try fields.required("minor").integer(in: 0...65_535))
            )
        }
    }
}

extension DistanceTimetable {
    init(_ node: YAMLNode, _ fields: Fields) throws(FileError) {
        let nodes = try node.list(expecting: "distances", limit: 10_000)
        if nodes.isEmpty { throw node.error(found: "an empty list", expected: "at least one distance") }
        var legs: [Leg] = []
        for node in nodes { legs.append(try Leg(node, from: legs.last)) }
        let takesTime = legs.contains { $0.after > .zero || $0.over > .zero }
        self.init(legs: legs, repeats: try fields.repeats(takesTime: takesTime, else: "a pause in distance"))
    }
}

extension DistanceTimetable.Leg {
    init(_ node: YAMLNode, from before: Self?) throws(FileError) {
        let fields = try Fields(node, of: "a distance", keys: ["after", "over", "metres"])
        let value = try fields.required("metres")
        if case .scalar("away", _) = value.content {
            metres = nil
        } else {
            metres = try value.decimal(in: 0.01...10_000, of: "metres, or away")
        }
        after = try fields["after"]?.duration() ?? .zero
        over = try fields["over"]?.duration() ?? .zero
        if over > .zero, metres == nil || before?.metres == nil {
            throw node.error(
                found: "a way that begins or ends away",
                expected: "'over' between two distances in metres"
            )
        }
    }
}

extension YAMLNode {
    /// A number with or without a fraction.
    func decimal(in range: ClosedRange<Double>, of what: String) throws(FileError) -> Double {
        let expected = "a number from \(range.lowerBound) to \(range.upperBound), \(what)"
        guard let number = Double(try text(expecting: expected)), range.contains(number) else {
            throw error(expected: expected)
        }
        return number
    }
}
