import WakeJSON
import WakeModel
import WakeReports

/// A phone of the daemon as the terminal view knows it.
struct TopPhone {
    var name = ""
    /// `booted`, `failed` or `shutdown`.
    var state = ""
    var clock = ""
    var profile = ""
    var isLocked = false
    /// How far its clock is; nil while it is off.
    var at: Instant?
    /// Why it cannot go on.
    var error: String?
    /// The folder of its run.
    var folder = ""

    var isBooted: Bool { state == "booted" }

    init(_ answer: JSONValue) {
        name = answer["name"]?.string ?? ""
        state = answer["state"]?.string ?? ""
        clock = answer["clock"]?.string ?? "-"
        profile = answer["profile"]?.string ?? "-"
        isLocked = answer["locked"]?.bool == true
        at = answer["at"]?.string.flatMap(LogTime.instant)
        error = answer["error"]?["message"]?.string
        folder = answer["folder"]?.string ?? ""
    }

    /// Name, state, clock, profile, time, lock.
    var cells: [String] {
        [
            name, state, isBooted ? clock : "-", isBooted ? profile : "-", at.map(LogTime.shortText) ?? "-",
            isBooted ? (isLocked ? "locked" : "unlocked") : error ?? "-",
        ]
    }

    static let head = ["PHONE", "STATE", "CLOCK", "PROFILE", "AT", "LOCK"]
}

/// An app of a phone as the terminal view knows it.
struct TopApp {
    var name: String
    var bundle: String
    var state: String
    var pid: Int64
    /// What is left of its time, in seconds; nil where it has no window.
    var window: Double?
    var lastEvent: String?
    var lastVerdict: String?
    var lastReason: String?

    init(_ answer: JSONValue) {
        name = answer["name"]?.string ?? ""
        bundle = answer["bundle"]?.string ?? ""
        state = answer["installed"]?.bool == false ? "uninstalled" : answer["state"]?.string ?? "-"
        pid = answer["pid"]?.integer ?? 0
        window = answer["window"]?.double
        lastEvent = answer["last"]?["event"]?.string
        lastVerdict = answer["last"]?["verdict"]?.string
        lastReason = answer["last"]?["reason"]?.string
    }

    var cells: [String] {
        [
            name, state, pid == 0 ? "-" : "\(pid)", window.map { "\((max($0, 0) * 10).rounded() / 10) s" } ?? "-",
            lastVerdict ?? "-", lastReason ?? "-", lastEvent ?? "-",
        ]
    }

    static let head = ["APP", "STATE", "PID", "LEFT", "VERDICT", "REASON", "LAST EVENT"]
}

/// A device of a phone as the terminal view knows it.
struct TopDevice {
    var name: String
    var kind: String
    var isConnected: Bool
    /// Nil where the device does not say.
    var isInRange: Bool?
    /// In dBm; nil where there is none.
    var rssi: Int64?
    /// The apps that hold it, by name.
    var apps: [String]
    /// The first characteristic that it can notify, with the value that a read gives now; nil where it notifies nothing.
    var notifies: (characteristic: String, value: String)?

    init(_ answer: JSONValue) {
        name = answer["name"]?.string ?? ""
        kind = answer["kind"]?.string ?? ""
        isConnected = answer["connected"]?.bool == true
        isInRange = answer["in_range"]?.bool
        rssi = answer["rssi"]?.integer
        apps = answer["apps"]?.array.compactMap(\.string) ?? []
        if let first = answer["notifies"]?.array.first, let characteristic = first["characteristic"]?.string {
            notifies = (characteristic, first["value"]?.string ?? "")
        }
    }

    var cells: [String] {
        let reach = isInRange.map { $0 ? "in range" : "out of range" } ?? "-"
        return [
            name, kind, isConnected ? "connected" : reach, rssi.map { "\($0) dBm" } ?? "-",
            apps.isEmpty ? "-" : apps.joined(separator: ", "),
            notifies.map { "\($0.characteristic) \($0.value)" } ?? "-",
        ]
    }

    static let head = ["DEVICE", "KIND", "LINK", "RSSI", "HELD BY", "VALUE"]
}

/// A line of the list of what happened on a phone.
struct TopEntry {
    /// The number of a decision; nil for what is none.
    var decision: UInt64?
    var phone: String
    var at: String
    var app: String
    var verdict: String?
    var reason: String
    /// What happened, and what or whom with.
    var event: String

    /// A decision, of its record.
    init?(decision record: JSONValue, of phone: String) {
        guard let number = record["seq"]?.unsigned, let verdict = record["verdict"]?.string else { return nil }
        decision = number
        self.phone = phone
        at = Self.time(record["t"])
        app = record["app"]?["name"]?.string ?? record["app"]?["bundle"]?.string ?? "-"
        self.verdict = verdict
        reason = record["reason"]?.string ?? "-"
        let subject = record["event"]?["subject"]?.string.map { " \($0)" } ?? ""
        event = (record["event"]?["kind"]?.string ?? "-") + subject
    }

    /// What is no decision.
    init(row: JSONValue, of phone: String) {
        self.phone = phone
        at = Self.time(row["at"])
        app = row["app"]?.string ?? "-"
        reason = row["reason"]?.string ?? "-"
        event = row["what"]?.string ?? ""
    }

    /// In milliseconds, as tables have it.
    private static func time(_ value: JSONValue?) -> String {
        value?.string.flatMap(LogTime.instant).map(LogTime.tableText) ?? "-"
    }

    /// What a reader that was too slow has lost.
    init(lost: UInt64, of phone: String) {
        (self.phone, at, app, reason) = (phone, "-", "-", "-")
        event = "\(lost) lines came too fast to be shown; 'wakebench log --phone' has all"
    }
}
