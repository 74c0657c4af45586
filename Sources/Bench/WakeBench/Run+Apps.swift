import WakeBundles
import WakeDevices
import WakeModel
import WakePorts

/// The apps of a run: their hosts, their installation, and what the user has allowed them.
extension Run {
    /// How everything is at the start.
    func begin() {
        for number in scenario.apps.indices { installApp(number) }
        areas.begin(scenario, isReplay: false)
        if !scenario.phone.unlocked { bench.submit(.phone(.reboot), origin: names.intern("start")) }
    }

    /// Ties each app to its host.
    func assignApps() {
        for (number, app) in scenario.apps.enumerated() { assign(app, as: AppID(UInt32(number))) }
    }

    func assign(_ app: ScenarioApp, as id: AppID) {
        defer { live?.call(Int(id.number), recorder.bundle(Int(id.number))) }
        switch app.form {
        case .scripted(let script):
            scripted.add(script, as: id, devices: devices)
            bench.assign(id, to: scripted, leavesTheBench: false)
            recorder.add(bundle: script.identifier, name: app.name, log: nil)
        case .bundle:
            guard let processes, let bundle = processes.bundle(at: Int(id.number)) else {
                preconditionFailure("app \(app.name) has no bundle")
            }
            bench.assign(id, to: processes.host, leavesTheBench: true)
            recorder.add(bundle: bundle.identifier, name: app.name, log: RunFolder.log(of: bundle.identifier))
        }
    }

    /// Installs an app of the scenario, with what the user has said to it.
    func installApp(_ number: Int) {
        let (app, id) = (scenario.apps[number], AppID(UInt32(number)))
        let isKnown = number < bench.router.bundles.count
        let origin = names.intern(isKnown ? Self.reinstallation : "install")
        var manifest = manifest(of: app, at: number)
        for area in Areas.rows { area.declare(app, in: &manifest, names) }
        bench.submit(.install(id, manifest), origin: origin)
        if app.refusesRefresh { bench.submit(.user(id, .refuseRefresh), origin: origin) }
        for area in areas.all.reversed() { area.install(app, as: id, origin, in: self) }
    }

    /// The origin of the installation of an app that was uninstalled before.
    static let reinstallation = "reinstall"

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

    /// What runs the real apps of a run.
    static func realApps(
        _ bundles: [(position: Int, bundle: AppBundle)],
        _ setup: AreaSetup,
        _ profile: Profile,
        _ name: String,
        _ date: RunDate,
        _ areas: Areas,
        _ notes: inout [String]
    ) throws(CommandFailure) -> RealApps {
        let (time, missing) = setup.realTime ? (nil, nil) : timeSettings(date: date)
        if let missing { notes.append("\(missing): apps' own clocks and timers run on wall time") }
        return try RealApps(bundles, setup, profile: profile, run: name, time: time, areas)
    }
}
