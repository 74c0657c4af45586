import WakeBundles
import WakeDevices
import WakeModel
import WakePorts

/// The apps of a run: their hosts, their installation, and what the user has allowed them.
extension Run {
    /// How everything is at the start.
    func begin() {
        installApps()
        areas.begin(scenario, isReplay: false)
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
            for area in Areas.rows { area.declare(app, in: &manifest, names) }
            bench.submit(.install(AppID(UInt32(number)), manifest), origin: origin)
            if app.refusesRefresh { bench.submit(.user(AppID(UInt32(number)), .refuseRefresh), origin: origin) }
            for area in areas.all.reversed() { area.install(app, as: AppID(UInt32(number)), origin, in: self) }
        }
    }

    /// The user installs a bundle over an app. One that cannot be installed, or is another app's, changes nothing (MODE-3).
    func install(_ path: String, over number: Int, _ origin: NameID) {
        let app = AppID(UInt32(number))
        do throws(BundleError) {
            let bundle = try AppBundle.read(path)
            guard bundle.identifier == recorder.bundle(number) else {
                throw BundleError(
                    bundle: path,
                    key: "CFBundleIdentifier",
                    found: "'\(bundle.identifier)'",
                    expected: "'\(recorder.bundle(number))', over which it is to be installed"
                )
            }
            var manifest = bundle.manifest(names)
            for area in Areas.rows { area.declare(scenario.apps[number], in: &manifest, names) }
            try processes?.replace(bundle, at: number)
            bench.submit(.update(app, manifest), origin: origin)
        } catch {
            let key = error.key.isEmpty ? path.split(separator: "/").last.map(String.init) ?? path : error.key
            bench.submit(.refuseUpdate(app, key: names.intern(key)), origin: origin)
        }
    }

    private func manifest(of app: ScenarioApp, at number: Int) -> AppManifest {
        switch app.form {
        case .scripted(let script):
            AppManifest(
                bundle: names.intern(script.identifier),
                modes: script.modes,
                exitsOnSuspend: script.exitsOnSuspend,
                sdk: script.sdk
            )
        case .bundle: processes!.bundle(at: number)!.manifest(names)
        }
    }
}
