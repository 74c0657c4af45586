import WakeModel
import WakeReports
import WakeRouter

/// What apps are registered for, which is written down where it has changed.
extension RunRecorder {
    static let mostRegistrations = 1_024
    private static let registrationPause = Instant.Span.seconds(1)

    /// The registrations of every app may have changed.
    func disturbAll() { restless.formUnion(bounds.indices) }

    /// Writes down what apps are registered for, where that has changed.
    ///
    /// - Parameter isLast: whether the run is over, so that what changed lately is not put off.
    func register(at instant: Instant, isLast: Bool = false, _ kept: (AppID) -> [KeptRegistration]) {
        var putOff: Set<Int> = []
        for number in restless.sorted() {
            let entries = kept(AppID(UInt32(number))).map {
                RegistrationEntry.Kept(
                    via: $0.via.word,
                    subject: names.text($0.subject),
                    since: $0.since,
                    lacks: $0.lacks?.word
                )
            }
            guard registered[number]?.kept != entries else { continue }
            let latest = registered[number]?.at ?? instant
            let isPutOff = !isLast && !isRolled && instant < latest.advanced(by: Self.registrationPause)
            guard !isPutOff || bounds[number].registrations.admits() else {
                putOff.insert(number)
                if bounds[number].registrations.lost == 1 { tellHaste(of: AppID(UInt32(number))) }
                continue
            }
            let entry = RegistrationEntry(app: bundle(number), at: instant, kept: entries)
            registered[number] = entry
            logs.keep(entry)
        }
        restless = putOff
    }

    private static let mostLosses = 64

    /// Keeps the last loss of a thing, in the words of `why`.
    func keepLoss(_ entry: DeedEntry, _ via: Registration, _ subject: NameID, of number: Int) {
        losses[number].removeAll { $0.via == via && $0.subject == subject }
        losses[number].append(LostThing(via: via, subject: subject, text: entry.lossText))
        if losses[number].count > Self.mostLosses { losses[number].removeFirst() }
    }

    /// What an app lost last of some registrations with a subject; nil for nothing.
    func loss(of number: Int, _ vias: [Registration], _ subject: NameID) -> String? {
        losses[number].last { vias.contains($0.via) && $0.subject == subject }?.text
    }

    /// How and when an app first died at its launch, in the words of `why`; nil for one that did not.
    func deathAtLaunch(of number: Int) -> String? {
        diedAtLaunch.first { $0.app == bundle(number) }.map { "\($0.words), at \(LogTime.shortText($0.at))" }
    }

    private func tellHaste(of app: AppID) {
        let what = "has changed what it is registered for \(Self.mostRegistrations) times in quick succession"
        noteOnce("\(what); from here on that is written once a second at most", of: app)
    }
}

/// Something that an app was registered for, and lost.
struct LostThing: Codable {
    var via: Registration
    var subject: NameID
    /// What went, when, and what took it.
    var text: String
}

extension AppRequest {
    /// Whether it may change what the app is registered for.
    var mayRegister: Bool {
        switch self {
        case .beginTask, .endTask, .done, .operate, .measured, .asked: false
        default: true
        }
    }
}
