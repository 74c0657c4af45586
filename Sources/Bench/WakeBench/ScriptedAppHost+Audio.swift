import WakeDevices
import WakeModel
import WakePorts

extension AudioArea {
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        if let use = host.apps[app]!.script.audio { host.useSound(use, of: app) }
    }

    static func told(_ notice: AppNotice, to app: AppID, in host: ScriptedAppHost, at now: Instant) {
        if case .audioAnswer(_, .granted) = notice { host.soundGranted(to: app, at: now) }
    }

    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {
        host.followSound(delivery.event, of: app)
    }
}

/// The sound of scripted apps: only what they do, and no buffers.
extension ScriptedAppHost {
    /// Sets the category, and begins where the script says so.
    fileprivate func useSound(_ use: ScriptedApp.AudioUse, of app: AppID) {
        apps[app]!.isSilent = !use.isAudible
        ask(.setCategory(use.category, use.options), from: app)
        if use.startsAtLaunch { startSound(use, of: app) }
    }

    private func startSound(_ use: ScriptedApp.AudioUse, of app: AppID) {
        apps[app]!.lastRequest &+= 1
        ask(.start(request: apps[app]!.lastRequest, plays: use.plays, records: use.records), from: app)
    }

    /// A step says what apps do with their sound; one that does not run does nothing.
    package func perform(_ act: ScriptedApp.SoundAct, of app: AppID, at now: Instant) {
        guard let own = apps[app], own.running, !own.frozen, let use = own.script.audio else { return }
        switch act {
        case .play: startSound(use, of: app)
        case .stop: ask(.deactivate(notifiesOthers: true), from: app)
        case .tone, .silence:
            own.isSilent = act == .silence
            pretend(own.isSilent ? .silence : .tone, app, now)
        case .stall(let span): pretend(.stall(span), app, now)
        }
    }

    /// What any app does that goes on after an interruption.
    fileprivate func followSound(_ event: WakeEvent, of app: AppID) {
        guard let use = apps[app]!.script.audio, use.resumes else { return }
        switch event.kind {
        case .audioInterruptionEnded where !event.failed: startSound(use, of: app)
        case .audioInterrupted where event.local == UInt32(AudioInterruptionReason.appWasSuspended.rawValue):
            startSound(use, of: app)
        default: break
        }
    }

    /// Its stream is there.
    fileprivate func soundGranted(to app: AppID, at now: Instant) {
        guard let own = apps[app] else { return }
        pretend(own.isSilent ? .silence : .tone, app, now)
    }

    private func pretend(_ sound: PretendedSound, _ app: AppID, _ now: Instant) {
        view?.areas.audio.port.pretend(sound, of: app, at: now)
    }

    private func ask(_ request: AudioRequest, from app: AppID) { say(app, .request(.audio(request))) }
}
