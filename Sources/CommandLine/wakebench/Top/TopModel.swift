import WakeJSON
import WakeReports

/// What the terminal view shows: what the daemon said of its phones, and what the user chose among it.
struct TopModel {
    /// A list of the view that the user moves in.
    enum Pane: CaseIterable {
        case phones, apps, devices
    }

    var phones: [TopPhone] = []
    /// Of the chosen phone.
    var apps: [TopApp] = []
    var devices: [TopDevice] = []
    /// What happened on the phones that were looked at, the newest last.
    private(set) var entries: [String: [TopEntry]] = [:]
    var pane = Pane.phones
    /// The chosen phone, app and device, by name: lists change while somebody looks.
    private(set) var phone: String?
    private(set) var app: String?
    private(set) var device: String?
    /// How many of the newest entries are below the screen.
    var scrolledBack = 0
    /// What came of the user's last key, and whether it is a complaint.
    var message: (text: String, isComplaint: Bool)?

    /// The most entries of a phone that are kept.
    static let mostEntries = 1_000

    /// - Parameter phone: the phone to begin with; the first that is booted where there is none.
    init(phone: String? = nil) {
        self.phone = phone
    }

    var chosenPhone: TopPhone? { phones.first { $0.name == phone } }
    var chosenApp: TopApp? { apps.first { $0.name == app } }
    var chosenDevice: TopDevice? { devices.first { $0.name == device } }
    var shownEntries: [TopEntry] { phone.flatMap { entries[$0] } ?? [] }

    // MARK: What the daemon says

    mutating func take(phones answer: JSONValue) {
        phones = (answer["phones"]?.array ?? []).map(TopPhone.init)
        if chosenPhone == nil { choose(phone: (phones.first(where: \.isBooted) ?? phones.first)?.name) }
        if chosenPhone?.isBooted != true { (apps, devices) = ([], []) }
    }

    mutating func take(apps answer: JSONValue) {
        apps = (answer["apps"]?.array ?? []).map(TopApp.init)
        if chosenApp == nil { app = apps.first?.name }
        if let place = phones.firstIndex(where: { $0.name == phone }) {
            phones[place].at = answer["at"]?.string.flatMap(LogTime.instant)
        }
    }

    mutating func take(devices answer: JSONValue) {
        devices = (answer["devices"]?.array ?? []).map(TopDevice.init)
        if chosenDevice == nil { device = devices.first?.name }
    }

    mutating func add(_ entry: TopEntry) {
        entries[entry.phone, default: []].append(entry)
        if scrolledBack > 0, entry.phone == phone { scrolledBack += 1 }
        guard entries[entry.phone, default: []].count > 2 * Self.mostEntries else { return }
        entries[entry.phone]?.removeFirst(Self.mostEntries)
    }

    /// Puts what a phone decided before somebody looked in front of what has come since.
    mutating func add(earlier: [TopEntry], of phone: String) {
        let first = entries[phone]?.lazy.compactMap(\.decision).first ?? .max
        entries[phone, default: []].insert(contentsOf: earlier.filter { $0.decision ?? 0 < first }, at: 0)
    }

    /// Forgets what is known of phones that are no more shown, so that nothing of it is taken for news later.
    mutating func forgetEntries() {
        entries.removeAll()
        scrolledBack = 0
    }

    // MARK: What the user chooses

    mutating func choose(phone name: String?) {
        guard name != phone else { return }
        (phone, app, device, scrolledBack) = (name, nil, nil, 0)
        (apps, devices) = ([], [])
    }

    /// Goes up or down in the list that the user is in.
    mutating func move(by step: Int) {
        switch pane {
        case .phones: choose(phone: Self.next(phone, in: phones.map(\.name), by: step))
        case .apps: app = Self.next(app, in: apps.map(\.name), by: step)
        case .devices: device = Self.next(device, in: devices.map(\.name), by: step)
        }
    }

    private static func next(_ name: String?, in all: [String], by step: Int) -> String? {
        guard !all.isEmpty else { return nil }
        let place = name.flatMap(all.firstIndex(of:)) ?? 0
        return all[min(max(place + step, 0), all.count - 1)]
    }

    mutating func nextPane() {
        let all = Pane.allCases
        pane = all[(all.firstIndex(of: pane)! + 1) % all.count]
    }

    mutating func scroll(by lines: Int) {
        scrolledBack = min(max(scrolledBack + lines, 0), max(0, shownEntries.count - 1))
    }
}
