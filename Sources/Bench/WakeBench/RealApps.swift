import Glibc
import WakeBundles
import WakeDevices
import WakeModel
import WakeProcesses
import WakeReports
import WakeSystem

/// The real apps of a scenario: their bundles, and the host of their processes.
final class RealApps {
    let host: ProcessAppHost
    /// What is worth a line on stderr.
    private(set) var notes: [String] = []
    private let processes: ProcessHost
    private var bundles: [Int: AppBundle]
    private let logLimit: Int
    /// Where the apps' own folders are.
    private var folder: RunFolder?

    /// Reads the bundles of a scenario, by position.
    static func read(_ scenario: Scenario) throws(CommandFailure) -> [(position: Int, bundle: AppBundle)] {
        var found: [(position: Int, bundle: AppBundle)] = []
        for (position, app) in scenario.apps.enumerated() {
            guard case .bundle(let path) = app.form else { continue }
            do {
                let bundle = try AppBundle.read(path)
                if let other = found.first(where: { $0.bundle.identifier == bundle.identifier }) {
                    throw CommandFailure(
                        .invalidFile,
                        at: CommandFailure.Place(file: scenario.file, line: app.line, column: app.column),
                        "\(bundle.identifier) is installed twice, as "
                            + "\(scenario.apps[other.position].name) and \(app.name)",
                        hint: "name each bundle once"
                    )
                }
                found.append((position, bundle))
            } catch {
                throw CommandFailure(error)
            }
        }
        for area in Areas.rows { try area.check(scenario, found) }
        return found
    }

    /// Says before anything is made whether the freezer that was asked for works here.
    static func check(_ freezer: FreezerChoice) throws(CommandFailure) {
        guard freezer != .automatic, let kind = FreezerKind(rawValue: freezer.rawValue) else { return }
        guard let probe = FreezerProbe.all().first(where: { $0.kind == kind }), !probe.usable else { return }
        throw CommandFailure(.environment, "--freezer \(freezer.rawValue) does not work here: \(probe.reason)")
    }

    init(
        _ found: [(position: Int, bundle: AppBundle)],
        _ setup: AreaSetup,
        profile: Profile,
        run: String,
        time: ProcessAppHost.TimeSettings?,
        _ areas: Areas
    ) throws(CommandFailure) {
        let names = setup.names
        logLimit = setup.options.appLogLimit
        bundles = Dictionary(uniqueKeysWithValues: found.map { ($0.position, $0.bundle) })
        do {
            GroupRoots.ofThisProcess().removeEmptyGroups()
            try ProcessHost.sweep(runName: run)
            processes = try ProcessHost(loop: setup.loop, freezer: setup.options.freezer, runName: run)
        } catch {
            throw CommandFailure(error.kind == .freezerUnavailable ? .environment : .internal, error.description)
        }
        let fallen = processes.probes.filter { !$0.usable }.map { "\($0.kind.rawValue): \($0.reason)" }
        if !fallen.isEmpty {
            notes.append("apps are frozen with \(processes.freezer.rawValue); \(fallen.joined(separator: "; "))")
        }
        host = ProcessAppHost(
            host: processes,
            translation: WireTranslation(
                names: names,
                identifiers: PeripheralIdentifiers(names: names),
                profile: profile
            ),
            environment: Self.environment(beside: areas.all.flatMap(\.environment)),
            time: time
        )
    }

    /// Makes each app's own folder below the run's, and that of its service extension.
    func open(in folder: RunFolder) throws(CommandFailure) {
        self.folder = folder
        for (position, bundle) in bundles.sorted(by: { $0.key < $1.key }) { try open(bundle, at: position, in: folder) }
    }

    private func open(_ bundle: AppBundle, at position: Int, in folder: RunFolder) throws(CommandFailure) {
        let program = try program(bundle.identifier, bundle.executable, in: folder)
        host.add(program, extension: try programOfExtension(of: bundle, in: folder), as: AppID(UInt32(position)))
    }

    /// Takes on an app that has joined the scenario, and makes its own folder.
    func join(_ bundle: AppBundle, at position: Int) throws(CommandFailure) {
        if let folder { try open(bundle, at: position, in: folder) }
        bundles[position] = bundle
    }

    private func programOfExtension(
        of bundle: AppBundle,
        in folder: RunFolder
    ) throws(CommandFailure) -> ProcessAppHost.Bundle? {
        guard let other = bundle.serviceExtension else { return nil }
        return try program(other.identifier, other.executable, in: folder)
    }

    private func program(
        _ identifier: String,
        _ executable: String,
        in folder: RunFolder
    ) throws(CommandFailure) -> ProcessAppHost.Bundle {
        let home = try folder.makeHome(of: identifier)
        let groups = try folder.makeFolder(["apps", "groups"])
        return ProcessAppHost.Bundle(
            identifier: identifier,
            executable: executable,
            home: RunFolder.absolute(home),
            groups: RunFolder.absolute(groups),
            log: RunFolder.absolute(folder.path + "/" + RunFolder.log(of: identifier)),
            logLimit: logLimit
        )
    }

    func bundle(at position: Int) -> AppBundle? { bundles[position] }

    /// The next process of an app is of another version of its bundle, and that of its service extension.
    ///
    /// - Throws: ``BundleError`` when the service extension cannot be given a folder of its own; the app is as before.
    func replace(_ bundle: AppBundle, at position: Int) throws(BundleError) {
        guard bundles[position] != nil, let folder else { return }
        let other: ProcessAppHost.Bundle?
        do throws(CommandFailure) { other = try programOfExtension(of: bundle, in: folder) } catch {
            throw BundleError(
                bundle: bundle.path,
                key: "PlugIns",
                found: error.message,
                expected: "a service extension that has a folder of its own"
            )
        }
        bundles[position] = bundle
        host.replaceProgram(of: AppID(UInt32(position)), by: bundle.executable, extension: other)
    }

    /// An app that had been uninstalled is about to be installed again: nothing of what it and its service extension kept is
    /// there. A bench that is killed before the installation is accepted leaves an app that is uninstalled, without files.
    ///
    /// - Throws: ``CommandFailure`` when the old folders cannot be removed, or new ones cannot be made.
    func replaceUninstalled(by bundle: AppBundle, at position: Int) throws(CommandFailure) {
        guard let before = bundles[position], let folder else { return }
        for gone in [before, bundle] {
            try folder.removeHome(of: gone.identifier)
            if let other = gone.serviceExtension { try folder.removeHome(of: other.identifier) }
        }
        _ = try folder.makeHome(of: bundle.identifier)
        do throws(BundleError) { try replace(bundle, at: position) } catch {
            throw CommandFailure(.invalidFile, error)
        }
    }

    /// What every app finds in its environment: little of the bench's own, each WAKEBENCH_APP_NAME as NAME, and what
    /// the sources say, unless that was said so.
    private static func environment(beside sources: [String]) -> [String] {
        var variables = ["SWIFT_BACKTRACE=enable=no"]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let variable = unsafe String(cString: text)
            if variable.hasPrefix("WAKEBENCH_APP_") {
                variables.append(String(variable.dropFirst("WAKEBENCH_APP_".count)))
            } else if ["PATH=", "LANG=", "LD_LIBRARY_PATH="].contains(where: variable.hasPrefix) {
                variables.append(variable)
            }
            unsafe entry += 1
        }
        let said = variables.map { $0.prefix { $0 != "=" } }
        variables += sources.filter { !said.contains($0.prefix { $0 != "=" }) }
        return variables
    }
}
