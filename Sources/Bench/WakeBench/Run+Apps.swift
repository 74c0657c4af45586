import WakeDevices
import WakeModel
import WakePorts

/// The apps of a run: their hosts, their installation, and what the user has allowed them.
extension Run {
    /// How everything is at the start.
    func begin() {
        installApps()
        accessory.connect(at: .zero)
        if !scenario.phone.bluetooth { bluetooth.setPower(false, at: .zero) }
        if !scenario.phone.unlocked { bench.submit(.phone(.reboot), origin: names.intern("start")) }
    }

    /// Ties each app to its host.
    func assignApps() {
        for (number, app) in scenario.apps.enumerated() {
            let id = AppID(UInt32(number))
            switch app.form {
            case .scripted(let script):
                scripted.add(script, as: id, devices: devices)
                bench.assign(id, to: scripted, leavesTheBench: false)
                recorder.add(bundle: script.identifier, name: app.name, log: nil)
            case .bundle:
                guard let processes, let bundle = processes.bundle(at: number) else {
                    preconditionFailure("app \(app.name) has no bundle")
                }
                bench.assign(id, to: processes.host, leavesTheBench: true)
                recorder.add(bundle: bundle.identifier, name: app.name, log: RunFolder.log(of: bundle.identifier))
            }
        }
    }

    private func installApps() {
        let origin = names.intern("install")
        for (number, app) in scenario.apps.enumerated() {
            var manifest = manifest(of: app, at: number)
            manifest.bluetoothAuthorization = app.bluetoothAuthorization
            bench.submit(.install(AppID(UInt32(number)), manifest), origin: origin)
            if app.microphone != .undetermined {
                answerMicrophone(app.microphone == .granted, of: AppID(UInt32(number)), origin)
            }
            if app.keepsWhenInUse { bench.submit(.user(AppID(UInt32(number)), .keepWhenInUse), origin: origin) }
            if case .scripted(let script) = app.form, let use = script.location {
                refuseLocation(use.authorization, AppID(UInt32(number)), origin)
            }
        }
    }

    private func manifest(of app: ScenarioApp, at number: Int) -> AppManifest {
        switch app.form {
        case .scripted(let script):
            AppManifest(
                bundle: names.intern(script.identifier),
                modes: script.modes,
                exitsOnSuspend: script.exitsOnSuspend,
                accessoryProtocols: (script.accessory?.protocols ?? []).map(names.intern),
                sdk: script.sdk,
                accessorySetup: script.accessorySetup
            )
        case .bundle: processes!.bundle(at: number)!.manifest(names)
        }
    }

    /// What the user refuses an app before it runs; what he allows, the app asks for.
    private func refuseLocation(_ authorization: LocationAuthorization, _ app: AppID, _ origin: NameID) {
        switch authorization {
        case .notDetermined, .whenInUse, .always, .provisionalAlways: return
        case .restricted, .denied: break
        }
        let event = WakeEvent(
            kind: .authorizationChanged,
            app: app,
            authorization: authorization,
            origin: origin
        )
        bench.submit(SourceReport(event))
    }

    /// The user says whether an app may hear the microphone (AUD-10).
    func answerMicrophone(_ granted: Bool, of app: AppID, _ origin: NameID) {
        let event = WakeEvent(
            kind: .microphoneAnswered,
            subject: names.intern("microphone"),
            failed: !granted,
            app: app,
            origin: origin
        )
        bench.submit(SourceReport(event))
    }
}
