import WakeALSA
import WakeDevices
import WakeModel

/// The way of sound through the sound cards of this machine: the device plugged in last plays and hears, and the cards
/// that the run was given stand for the phone's own speaker and microphone.
struct CardRoutes {
    /// A change of the route.
    struct Change: Hashable {
        /// The device that came or went.
        var device: String
        var reason: AudioRouteReason
        var previous: AudioRoute
        var route: AudioRoute
    }

    private struct Plugged {
        /// The device of the scenario, or what the card is called.
        var name: String
        /// What apps read.
        var title: String
        var card: String
        var output: AudioPortKind?
        var input: AudioPortKind?
    }

    /// The PCM that is the phone's own speaker.
    let speaker: String
    /// The PCM that is the phone's own microphone.
    let microphone: String
    /// The devices of the scenario that are cards.
    private let known: [Plugged]
    /// Cards that were there from the beginning and that no device file names: the phone's own, or not its.
    private let others: Set<String>
    /// In the order in which they were plugged in.
    private var plugged: [Plugged] = []
    /// PCMs and cards that failed, and are not tried again before they have come again.
    private var lost: Set<String> = []

    /// - Parameter cards: those that are there when the run begins.
    init(speaker: String, microphone: String, devices: [(name: String, device: AudioDevice)], cards: [SoundCard]) {
        self.speaker = speaker
        self.microphone = microphone
        known = devices.compactMap { name, device in
            device.card.map {
                Plugged(name: name, title: device.name, card: $0, output: device.output, input: device.input)
            }
        }
        let named = Set(known.map(\.card))
        others = Set(cards.map(\.identifier)).subtracting(named)
        plugged = known.filter { each in cards.contains { $0.identifier == each.card } }
    }

    // MARK: Where sound goes

    private var output: Plugged? { plugged.last { $0.output != nil } }
    private var input: Plugged? { plugged.last { $0.input != nil } }

    /// The PCM that plays; nil when nothing can.
    var outputName: String? { output.map { Self.name($0.card) } ?? (lost.contains(speaker) ? nil : speaker) }

    /// The PCM that hears; nil when nothing can.
    var inputName: String? { input.map { Self.name($0.card) } ?? (lost.contains(microphone) ? nil : microphone) }

    var route: AudioRoute {
        let own = AudioRoute.builtIn
        return AudioRoute(
            output: output.flatMap { each in each.output.map { AudioRoute.End($0, name: each.title) } }
                ?? (lost.contains(speaker) ? nil : own.output),
            input: input.flatMap { each in each.input.map { AudioRoute.End($0, name: each.title) } }
                ?? (lost.contains(microphone) ? nil : own.input)
        )
    }

    /// The first device of a card, behind what converts rates and formats.
    private static func name(_ card: String) -> String { "plughw:CARD=\(card),DEV=0" }

    // MARK: What comes and goes

    /// The cards that are there now.
    ///
    /// - Parameter newcomer: the number of the one that was plugged in just now. It is tried again even where nobody saw
    ///   that it had gone: what is listed when its going is heard of may be the card that came after.
    mutating func see(_ cards: [SoundCard], newcomer: Int32? = nil) -> [Change] {
        var changes: [Change] = []
        let there = Set(cards.map(\.identifier))
        if let card = cards.first(where: { $0.index == newcomer }) { lost.remove(card.identifier) }
        // What has really gone may come again.
        lost = lost.filter { there.contains($0) || $0 == speaker || $0 == microphone }
        for gone in plugged where !there.contains(gone.card) {
            change(gone.name, .oldDeviceUnavailable, &changes) { $0.plugged.removeAll { $0.card == gone.card } }
        }
        for card in cards where !lost.contains(card.identifier) {
            guard !plugged.contains(where: { $0.card == card.identifier }), let device = device(card) else { continue }
            change(device.name, .newDeviceAvailable, &changes) { $0.plugged.append(device) }
        }
        return changes
    }

    /// The phone's own PCMs that cannot be used.
    var lostNames: [String] { [speaker, microphone].filter(lost.contains) }

    /// One of ``lostNames`` can be used again.
    mutating func regain(_ name: String) -> [Change] {
        var changes: [Change] = []
        change(name, .newDeviceAvailable, &changes) { $0.lost.remove(name) }
        return changes
    }

    /// A PCM cannot be played on, or heard from, any more.
    mutating func lose(_ name: String) -> [Change] {
        var changes: [Change] = []
        if let device = plugged.first(where: { Self.name($0.card) == name }) {
            change(device.name, .oldDeviceUnavailable, &changes) {
                $0.lost.insert(device.card)
                $0.plugged.removeAll { $0.card == device.card }
            }
        } else if name == speaker || name == microphone {
            change(name, .oldDeviceUnavailable, &changes) { $0.lost.insert(name) }
        }
        return changes
    }

    private mutating func change(
        _ device: String,
        _ reason: AudioRouteReason,
        _ changes: inout [Change],
        _ body: (inout CardRoutes) -> Void
    ) {
        let previous = route
        body(&self)
        guard route != previous else { return }
        changes.append(Change(device: device, reason: reason, previous: previous, route: route))
    }

    /// What a card is: a device of the scenario, or a USB device that was plugged in meanwhile.
    private func device(_ card: SoundCard) -> Plugged? {
        if let device = known.first(where: { $0.card == card.identifier }) { return device }
        guard card.isPluggedIn, !others.contains(card.identifier) else { return nil }
        return Plugged(
            name: card.name,
            title: card.name,
            card: card.identifier,
            output: card.hasPlayback ? .usb : nil,
            input: card.hasCapture ? .usb : nil
        )
    }
}
