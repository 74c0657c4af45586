import WakeModel
import WakePorts
import WakeProcesses
import WakeSystem
import WakeWire

/// What real apps tell the bench.
extension ProcessAppHost {
    /// A packet of the app's present process.
    func received(_ packet: [UInt8], with descriptors: inout ReceivedDescriptors, from app: AppID) {
        guard let process = processes[app] else { return }
        process.saidAtInstant += 1
        let message: AppMessage
        do { message = try AppMessage(decoding: packet) } catch {
            fault(error.description, app)
            return
        }
        switch message {
        case .hello(let version, _, _, let batches):
            process.takesBatches = batches
            greet(process, version: version, app)
        case .launched:
            process.hasLaunched()
            for packet in process.held { send(packet, to: process, of: app) }
            process.held.removeAll()
            say(app, .report(.launched))
        case .acknowledge(let first, let last): acknowledge(first, through: last ?? first, process, app)
        case .timeRemaining(let id):
            reply(id, WireReply(seconds: surroundings?.view.backgroundSecondsRemaining(of: app)), to: app)
            say(app, .request(.asked(.remaining)))
        case .drew: say(app, .request(.measured(.drew)))
        case .signpost(let signpost): surroundings?.note(signpost, of: app)
        case .beginTask(let token, _, let id):
            if let id {
                let granted = surroundings?.view.grantsTask(of: app) == true
                say(app, .request(.asked(.activity)))
                reply(id, WireReply(granted: granted), to: app)
                if !granted { return }
            }
            say(app, .request(.beginTask(token: token)))
        case .endTask(let token): say(app, .request(.endTask(token: token)))
        case .done: say(app, .request(.done))
        default:
            if refusesNames(of: message, from: app) { return }
            heardRequest(message, with: &descriptors, from: app)
        }
    }

    private func greet(_ process: AppProcess, version: Int, _ app: AppID) {
        guard version == WireLimits.version else {
            fault("speaks version \(version) of the wire; this bench speaks \(WireLimits.version)", app)
            return
        }
        guard !process.greeted else { return }
        process.greeted = true
        surroundings?.note(
            .greeted(spawn: .init(nanoseconds: MonotonicClock.now() - process.startedAt)),
            of: app
        )
        send(.welcome(process.welcome), to: process, of: app)
    }

    private func acknowledge(_ first: UInt64, through last: UInt64, _ process: AppProcess, _ app: AppID) {
        guard let taken = process.answer(first, through: last) else {
            let what = first == last ? "delivery \(first)" : "deliveries \(first) to \(last)"
            fault("acknowledges \(what), which it does not owe", app)
            return
        }
        for what in taken {
            switch what {
            case .nothing: break
            case .callback(let callback): say(app, .report(.returned(callback)))
            case .event(let event, let decision):
                surroundings?.note(.answered(decision), of: app)
                // It went to each of the app's managers that wanted it, and is taken when the last has taken it.
                if !process.owes(event) { say(app, .acknowledged(event)) }
            }
        }
    }
}
