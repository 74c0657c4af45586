/// A new app that follows a heart-rate belt in the background: the files to begin with, and the commands that play it.
package struct NewApp: Sendable {
    package enum Language: String, CaseIterable, Sendable {
        case swift
        case python
        case c
    }

    /// A file of the app.
    package struct File: Hashable, Sendable {
        /// Below the app's folder.
        package var path: String
        package var text: String
        package var isExecutable = false
    }

    /// The name of the app, its bundle and its Swift module.
    package let name: String
    /// CFBundleIdentifier.
    package let identifier: String
    package let language: Language
    /// Where a Swift app has its SDK from.
    package let package: PackageSource?

    /// - Parameters:
    ///   - name: one that ``fault(inName:)`` finds nothing wrong with.
    ///   - identifier: one that ``fault(inIdentifier:)`` finds nothing wrong with.
    ///   - package: where the SDK comes from; a Swift app needs it.
    package init(name: String, identifier: String, language: Language, package: PackageSource?) {
        self.name = name
        self.identifier = identifier
        self.language = language
        self.package = package
    }

    /// The identifier of an app that was given none: the name as it may stand in one.
    package static func usualIdentifier(_ name: String) -> String {
        "com.example." + name.lowercased().replacing("_", with: "-")
    }

    /// The files, in the order in which they are told of. Their names are the same for all apps: one named after the app
    /// might hide a module of Python's, or be two files in one.
    package var files: [File] {
        let own =
            switch language {
            case .swift: swiftFiles
            case .python: [File(path: "main.py", text: pythonScript, isExecutable: true)]
            case .c: [File(path: "main.c", text: cSource), File(path: "Makefile", text: makefile)]
            }
        return own + [
            File(path: "Info.plist", text: infoPlist),
            File(path: "belt.yaml", text: device),
            File(path: "scenario.yaml", text: scenario),
            File(path: "README.md", text: readme),
            File(path: ".gitignore", text: ignored),
        ]
    }

    /// What makes the program and plays it, from within the app's folder.
    ///
    /// - Parameter wakebench: how the program is called there.
    package func commands(wakebench: String = "wakebench") -> [String] {
        let build =
            switch language {
            case .swift: ["swift build", "\(wakebench) app bundle .build/debug/\(name)"]
            case .python: ["\(wakebench) app bundle main.py"]
            case .c: ["make", "\(wakebench) app bundle \(name)"]
            }
        return build + ["\(wakebench) run scenario.yaml", "\(wakebench) why \(identifier) Resumed"]
    }

    private var executable: String { language == .python ? "main.py" : name }

    private var infoPlist: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
            <key>CFBundleIdentifier</key>
            <string>\(identifier)</string>
            <key>CFBundleName</key>
            <string>\(name)</string>
            <key>CFBundleExecutable</key>
            <string>\(executable)</string>
            <key>UIBackgroundModes</key>
            <array>
                <string>bluetooth-central</string>
            </array>
            <key>NSBluetoothAlwaysUsageDescription</key>
            <string>Follows a heart-rate belt.</string>
        </dict>
        </plist>

        """
    }

    /// It pauses longer than a wake's window of 10 s (BTC-1), so that the app is suspended between two values.
    private var device: String {
        """
        # A heart-rate belt. It pauses longer than a wake's window of 10 s, so that the app is suspended between two values.
        device: bluetooth-peripheral
        name: Belt
        address: "F0:11:22:33:44:55"
        advertising: {interval: 100ms, services: [180D]}
        gatt:
          - service: 180D                # Heart Rate
            characteristics:
              - uuid: 2A37               # Heart Rate Measurement: flags, then beats a minute
                properties: [notify]
                notifications:
                  - {after: 2s, values: ["0048"]}
                  - {after: 20s, values: ["0049", "004a", "004b"], every: 20s}

        """
    }

    private var scenario: String {
        """
        # The belt resumes the suspended app, and relaunches it after the system ended it for memory.
        scenario: \(name)
        devices: [{file: belt.yaml, name: belt}]
        apps: [{bundle: \(name).app, name: app}]
        steps:
          - {at: 0, launch: app}
          # The first value reaches the app in the foreground: it is connected and subscribed.
          - {when: {app: app, verdict: foreground-deliver, kind: characteristic-notified}, home: app}
          - {when: {app: app, verdict: resume, kind: characteristic-notified}, note: the belt resumed the app}
          - {when: {app: app, state: suspended}, terminate: app, cause: memory}
          - {when: {app: app, verdict: relaunch, kind: characteristic-notified}, note: the belt relaunched the app}
        expect:
          - {app: app, verdict: resume, kind: characteristic-notified, at-least: 1}
          - {app: app, verdict: relaunch, kind: characteristic-notified, count: 1}

        """
    }

    private var readme: String {
        let sources =
            switch language {
            case .swift:
                """
                `Sources` is an app delegate as it is on a phone. `#if os(iOS)` is false on Linux, and no compile flag turns it on:
                write `#if os(iOS) || WAKEBENCH`, which `Package.swift` defines, or `#if canImport(CoreBluetooth)`.

                `swift test` plays the scenario and looks at the verdicts. It starts the `wakebench` that the variable WAKEBENCH names,
                or that is on PATH.
                """
            case .python: "`main.py` speaks the wire of Wakebench (WIRE.md), with Python's own library."
            case .c: "`main.c` speaks the wire of Wakebench (WIRE.md), with the C library alone."
            }
        return """
            # \(name)

            An app that follows a heart-rate belt in the background, to be played by Wakebench:

            ```sh
            \(commands().joined(separator: "\n"))
            ```

            `scenario.yaml` says what happens, `belt.yaml` what the belt is and does, `Info.plist` what the app may do. What the app
            prints is in `wakebench-runs/latest/apps/\(identifier).log`.

            \(sources)

            """
    }

    private var ignored: String {
        let own =
            switch language {
            case .swift: ".build\n"
            case .python: "__pycache__\n"
            case .c: "/\(name)\n"
            }
        return own + "*.app\nwakebench-runs\n"
    }
}
