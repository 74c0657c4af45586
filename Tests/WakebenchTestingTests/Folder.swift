import Foundation
import WakebenchTesting

/// A folder of a test's own with scenarios and apps, removed at its end.
struct Folder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "testing-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func clean() { try? FileManager.default.removeItem(atPath: path) }

    /// - Returns: the path of the file.
    @discardableResult
    func write(_ name: String, _ text: String, executable: Bool = false) throws -> String {
        let file = URL(filePath: "\(path)/\(name)")
        let parent = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        if executable { try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path) }
        return file.path
    }

    /// Writes Heart.app into a folder; its program is a shell script that is no app: it never answers the bench.
    ///
    /// - Returns: the path of the bundle.
    @discardableResult
    func makeApp(in place: String, script: String) throws -> String {
        try write("\(place)/Heart.app/Info.plist", Scenarios.plist)
        try write("\(place)/Heart.app/heart", "#!/bin/sh\n\(script)\n", executable: true)
        return "\(path)/\(place)/Heart.app"
    }
}

enum Scenarios {
    static let plist = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>CFBundleIdentifier</key><string>com.acme.heart</string>
        <key>CFBundleExecutable</key><string>heart</string>
        </dict></plist>
        """

    /// A beacon that comes and goes, and an app that the scenario plays: its suspended process is resumed.
    static func beacon(_ more: String = "") -> String {
        """
        scenario: beacon
        devices: [{file: beacon.yaml, name: beacon}]
        apps:
          - scripted: com.acme.heart
            name: heart
            location: {beacons: [{identifier: desk, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0}]}
            on: [{event: any, work: 1s, then: end}]
        steps:
          - {at: 0, launch: heart}
          - {when: {app: heart, verdict: foreground-deliver, kind: region-entered}, home: heart}
          - {when: {app: heart, verdict: resume, kind: region-exited}, note: woken}
        \(more)

        """
    }

    static let device = """
        device: ibeacon
        address: "C2:5B:00:00:01:00"
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        major: 1
        minor: 12
        distance:
          - {after: 2s, metres: 1}
          - {after: 20s, metres: away}

        """

    /// One played app that is launched, and more.
    static func small(_ more: String = "until: 1s") -> String {
        """
        scenario: small
        apps: [{scripted: com.acme.heart, name: heart, modes: [bluetooth-central]}]
        steps: [{at: 0, launch: heart}]
        \(more)

        """
    }

    /// A real app for an hour of real time.
    static let hour = """
        scenario: hour
        apps: [{bundle: Heart.app, name: heart}]
        steps: [{at: 0, launch: heart}]
        until: 1h

        """
}
