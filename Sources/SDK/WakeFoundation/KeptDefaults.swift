import CWakeFoundation
import Foundation
import Synchronization
import WakeClient

/// Keeps what an app sets in UserDefaults as iOS does: as soon as the set returns, whatever ends the process then.
///
/// Foundation on Linux writes defaults in `synchronize()` alone, and over the old file in place.
private enum KeptDefaults {
    /// The app's own log, and those of groups that it has used.
    private struct Logs {
        var own: DefaultsLog
        var groups: [String: DefaultsLog] = [:]

        mutating func append(_ value: Any?, as name: DefaultsLog.Name) throws(DefaultsLog.Failure) {
            guard let suite = name.suite, let folder = AppGroups.folder(of: suite) else {
                return try own.append(value, as: name)
            }
            try groups[suite, default: Self.log(in: folder)].append(value, as: name)
        }

        /// What a group's log holds, where other processes have written to it since.
        mutating func readChanged(
            _ suite: String
        ) throws(DefaultsLog.Failure) -> [(name: DefaultsLog.Name, value: Any?)] {
            guard let folder = AppGroups.folder(of: suite) else { return [] }
            return try groups[suite, default: Self.log(in: folder)].readChanged()
        }

        private static func log(in group: String) -> DefaultsLog {
            let folder = group + "/Library/Preferences"
            try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            return DefaultsLog(path: folder + "/wakebench-defaults")
        }
    }

    private static let logs: Mutex<Logs> = {
        // Foundation goes by the environment here, and elsewhere by the user.
        let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        let folder = home + "/.config"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return Mutex(Logs(own: DefaultsLog(path: folder + "/wakebench-defaults")))
    }()

    /// Brings back what earlier processes of the app set.
    static func open() {
        do throws(DefaultsLog.Failure) {
            let kept = try logs.withLock { (logs) throws(DefaultsLog.Failure) in
                let kept = try logs.own.read()
                tellDamage(of: logs.own)
                return kept
            }
            for (suite, values) in Dictionary(grouping: kept, by: { $0.name.suite }) { bring(values, to: suite) }
            // Anything that was read of them before is read anew.
            if !kept.isEmpty { _ = UserDefaults.standard.synchronize() }
        } catch { complain("UserDefaults: \(error.message); what was set before may be lost") }
    }

    private static func tellDamage(of log: DefaultsLog) {
        guard log.damaged > 0 else { return }
        let lines = log.damaged == 1 ? "a line is damaged" : "\(log.damaged) lines are damaged"
        notDecided("UserDefaults: \(log.path): \(lines); what was set there may be lost")
    }

    /// Brings values to the file of their domain, where Foundation reads them: to set one after the other takes it time by the
    /// square of their number.
    private static func bring(_ values: [(name: DefaultsLog.Name, value: Any?)], to suite: String?) {
        let file = URL(filePath: "\(folder)/\(suite ?? own).plist")
        var domain: [String: Any] = [:]
        // A pipe in its place is not waited for, and is replaced.
        if DefaultsLog.obstacle(at: file.resolvingSymlinksInPath().path) == nil,
            let bytes = try? Data(contentsOf: file),
            let found = try? unsafe PropertyListSerialization.propertyList(from: bytes, format: nil)
        {
            domain = found as? [String: Any] ?? [:]
        }
        for (name, value) in values { domain[name.key] = value }
        do {
            let bytes = try PropertyListSerialization.data(fromPropertyList: domain, format: .binary, options: 0)
            try bytes.write(to: file, options: .atomic)
        } catch {
            // There is no space, or no such folder.
            let defaults = suite.map { UserDefaults(suiteName: $0) } ?? UserDefaults.standard
            for (name, value) in values { defaults?.set(value, forKey: name.key) }
        }
    }

    /// Where Foundation has the files of domains.
    private static let folder: String = {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.config"
    }()

    /// Sets a value, or removes it, and writes that down, in one go, so that the file ends with what the process has. Observers
    /// hear of a change after that; its object is the standard defaults, or an object of the suite.
    static func set(_ key: UnsafeRawPointer, _ value: UnsafeRawPointer?, _ suite: UnsafeRawPointer?) {
        let name = unsafe DefaultsLog.Name(suite: suite.map { unsafe text($0) }, key: text(key))
        let object = unsafe value.map { unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
        let isChanged = logs.withLock { (logs) -> Bool in
            let isChanged = unsafe wake_defaults_put(key, value, suite)
            do throws(DefaultsLog.Failure) { try logs.append(object, as: name) } catch {
                notDecided("UserDefaults: \(error.message); what is set may end with the process")
            }
            return isChanged
        }
        guard isChanged else { return }
        let defaults = name.suite.map { UserDefaults(suiteName: $0) } ?? UserDefaults.standard
        NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: defaults)
    }

    /// A suite is about to be read or set: one of a group has what other processes set from now on.
    ///
    /// - Returns: whether it has the name of the app's own domain.
    static func prepare(_ suite: UnsafeRawPointer) -> Bool {
        let suite = unsafe text(suite)
        guard suite != own else { return true }
        if AppGroups.folder(of: suite) != nil { refresh(suite) }
        return false
    }

    private static func refresh(_ group: String) {
        logs.withLock { logs in
            do throws(DefaultsLog.Failure) {
                let values = try logs.readChanged(group)
                if let log = logs.groups[group] { tellDamage(of: log) }
                guard !values.isEmpty, let defaults = UserDefaults(suiteName: group) else { return }
                wake_defaults_bring(true)
                for (name, value) in values { defaults.set(value, forKey: name.key) }
                wake_defaults_bring(false)
            } catch { notDecided("UserDefaults: \(error.message); what others set in \(group) may be lost") }
        }
    }

    /// What Foundation names the file of the app's own domain by.
    private static let own: String = {
        let identifier = Bundle.main.bundleIdentifier ?? ""
        return identifier.isEmpty ? ProcessInfo.processInfo.processName : identifier
    }()

    private static func text(_ string: UnsafeRawPointer) -> String {
        unsafe Unmanaged<NSString>.fromOpaque(string).takeUnretainedValue().description
    }
}

/// Called before the app's own code.
@_cdecl("wake_defaults_open")
func openDefaults() { KeptDefaults.open() }

/// Called before the app's own code where Foundation is in the program, and calls nothing of this.
@_cdecl("wake_defaults_pass")
func passDefaults() {
    complain(
        "UserDefaults: what this program sets is kept by synchronize() alone, as Foundation is linked into it; "
            + "build it without --static-swift-stdlib"
    )
}

/// Called in place of Foundation's own.
@_cdecl("wake_defaults_set")
func setDefault(_ key: UnsafeRawPointer, _ value: UnsafeRawPointer?, _ suite: UnsafeRawPointer?) {
    unsafe KeptDefaults.set(key, value, suite)
}

/// Asked of each suite that is read or set.
@_cdecl("wake_defaults_prepare")
func prepareDefaults(_ suite: UnsafeRawPointer) -> Bool { unsafe KeptDefaults.prepare(suite) }
