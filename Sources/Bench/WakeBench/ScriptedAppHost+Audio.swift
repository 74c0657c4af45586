import WakeDevices
import WakeModel
import WakePorts

extension AudioArea {
    /// Sets the category, and begins where the script says so.
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        guard let own = host.apps[app], let use = own.script.audio else { return }
        own.isSilent = !use.isAudible
        host.ask(.setCategory(use.category, use.options), from: app)
        if use.startsAtLaunch { host.startSound(use, of: app) }
    }

    /// Its stream is there.
    static func told(_ notice: AppNotice, to app: AppID, in host: ScriptedAppHost, at now: Instant) {
        guard case .audioAnswer(_, .granted) = notice, let own = host.apps[app] else { return }
        host.pretend(own.isSilent ? .silence : .tone, app, now)
    }

    /// What any app does that goes on after an interruption.
    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {
        guard let use = host.apps[app]!.script.audio, use.resumes else { return }
        let event = delivery.event
        switch event.kind {
        case .audioInterruptionEnded where !event.failed: host.startSound(use, of: app)
        case .audioInterrupted where event.local == UInt32(AudioInterruptionReason.appWasSuspended.rawValue):
            host.startSound(use, of: app)
        default: break
        }
    }
}

/// The sound of scripted apps: only what they do, and no buffers.
extension ScriptedAppHost {
    fileprivate func startSound(_ use: ScriptedApp.AudioUse, of app: AppID) {
        apps[app]!.lastRequest &+= 1
        ask(.start(request: apps[app]!.lastRequest, plays: use.plays, records: use.records), from: app)
    }

    /// A step says what apps do with their sound; one that does not run does nothing.
    package func perform(_ act: ScriptedApp.SoundAct, of app: AppID, at now: Instant) {
        guard let own = apps[app], own.running, !own.frozen, let use = own.script.audio else { return }
        switch act {
        case .play: startSound(use, of: app)
        case .stop, .stopUntold: ask(.deactivate(notifiesOthers: act == .stop), from: app)
        case .tone, .silence:
            own.isSilent = act == .silence
            pretend(own.isSilent ? .silence : .tone, app, now)
        case .stall(let span): pretend(.stall(span), app, now)
        }
    }

    fileprivate func pretend(_ sound: PretendedSound, _ app: AppID, _ now: Instant) {
        view?.areas.audio.port.pretend(sound, of: app, at: now)
    }

    fileprivate func ask(_ request: AudioRequest, from app: AppID) { say(app, .request(.audio(request))) }
}
