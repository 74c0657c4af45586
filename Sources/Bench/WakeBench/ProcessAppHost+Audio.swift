import WakeModel
import WakePorts
import WakeWire

/// What the host knows of the sound of one process.
struct AppSound {
    /// The number that its session goes by.
    var manager: ManagerNumber
    var frames = AudioFormat.usualFrames
    /// Requests that wait for the router, by its number: the app's own, and whether it is a start.
    var asked: [UInt32: (id: UInt64, starts: Bool)] = [:]
    private var lastRequest: UInt32 = 0

    init(manager: ManagerNumber) { self.manager = manager }

    /// The most requests that wait: an app waits for one answer before it asks again.
    static let limit = 64

    /// The router's number for a request; nil when too many wait.
    mutating func number(for id: UInt64, starts: Bool) -> UInt32? {
        guard asked.count < Self.limit else { return nil }
        lastRequest &+= 1
        if lastRequest == 0 { lastRequest = 1 }
        asked[lastRequest] = (id, starts)
        return lastRequest
    }
}

extension AudioArea {
    static func tell(_ notice: AppNotice, to app: AppID, through host: ProcessAppHost) {
        if case .audioAnswer(let request, let answer) = notice { host.audioAnswer(answer, request: request, to: app) }
    }

    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent? {
        host.translation.audioEvent(delivery).map {
            var told = ToldEvent(.audio($0), of: delivery)
            told.manager = host.sounds[app]?.manager ?? 0
            return told
        }
    }
}

/// The audio sessions and engines of real apps.
extension ProcessAppHost {
    /// A request of a process's session; how things stand is answered here, without the router.
    func heard(_ request: WireAudioRequest, manager: ManagerNumber, from app: AppID) {
        var sound = sounds[app] ?? AppSound(manager: manager)
        sound.manager = manager
        defer { sounds[app] = sound }
        switch request {
        case .status(let id): reply(id, WireReply(audio: status(of: app, sound)), to: app)
        case .activate(let id):
            guard let number = sound.number(for: id, starts: false) else { return tooMany(id, app) }
            ask(.activate(request: number), app)
        case .start(let id, let plays, let records):
            guard let number = sound.number(for: id, starts: true) else { return tooMany(id, app) }
            ask(.start(request: number, plays: plays, records: records), app)
        case .category(let category, let options):
            ask(.setCategory(category, AudioOptions(known: options)), app)
        case .deactivate(let notifiesOthers): ask(.deactivate(notifiesOthers: notifiesOthers), app)
        case .stop: ask(.stop, app)
        case .buffer(let seconds): ask(.preferBuffer(.init(nanoseconds: Int64(seconds * 1e9))), app)
        case .permission: ask(.requestPermission, app)
        }
    }

    private func ask(_ request: AudioRequest, _ app: AppID) { say(app, .request(.audio(request))) }

    private func tooMany(_ id: UInt64, _ app: AppID) {
        fault("asks of sound more often than it waits for answers", app)
        reply(id, WireReply(failure: WireTranslation.audioFailure(AudioErrorCode.resourceNotAvailable)), to: app)
    }

    fileprivate func audioAnswer(_ answer: AudioAnswer, request: UInt32, to app: AppID) {
        var stream: SharedAudio?
        if case .granted = answer { stream = surroundings?.view.stream(of: app) }
        guard let asked = sounds[app]?.asked.removeValue(forKey: request) else { return }
        switch answer {
        case .refused(let code):
            reply(asked.id, WireReply(failure: WireTranslation.audioFailure(code)), to: app)
        case .granted(let frames):
            sounds[app]?.frames = frames
            guard let sound = sounds[app] else { return }
            guard asked.starts else { return reply(asked.id, WireReply(audio: status(of: app, sound)), to: app) }
            guard let stream else {
                let code = AudioErrorCode.resourceNotAvailable
                return reply(asked.id, WireReply(failure: WireTranslation.audioFailure(code)), to: app)
            }
            let descriptors = [stream.doorbell, stream.answer, stream.output, stream.input].compactMap(\.self)
            reply(
                asked.id,
                WireReply(audio: status(of: app, sound, capacity: stream.capacity)),
                with: descriptors,
                to: app
            )
        }
    }

    private func status(of app: AppID, _ sound: AppSound, capacity: UInt32 = 0) -> WireAudioStatus? {
        surroundings?.view.audioStatus(of: app, frames: sound.frames, capacity: capacity)
    }
}
