import Foundation
import Testing

@testable import WakeBundles

@Suite("Info.plist of an Xcode project")
struct ProjectPlistTests {
    /// Makes the bundle of a program by an Info.plist, and gives it with what its own Info.plist says.
    private func make(
        _ values: [String: Any],
        program: String = "Heart",
        identifier: String? = nil,
        format: PropertyListSerialization.PropertyListFormat = .xml
    ) throws -> (bundle: AppBundle, values: [String: Any], bytes: Data) {
        let folder = URL.temporaryDirectory.appending(path: "project-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: program)
        try Data("#!/bin/sh\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        let plist = folder.appending(path: "Info.plist")
        try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0).write(to: plist)
        let bundle = try AppBundle.make(
            program: file.path,
            plist: plist.path,
            in: folder.appending(path: "made").path,
            identifier: identifier
        )
        let bytes = try Data(contentsOf: URL(filePath: bundle.path + "/Info.plist"))
        return (bundle, try InfoPlist.parse(Array(bytes), of: "Info.plist"), bytes)
    }

    /// As Xcode's templates had it.
    private static let template: [String: any Sendable] = [
        "CFBundleDevelopmentRegion": "$(DEVELOPMENT_LANGUAGE)", "CFBundleExecutable": "$(EXECUTABLE_NAME)",
        "CFBundleIdentifier": "$(PRODUCT_BUNDLE_IDENTIFIER)", "CFBundleName": "$(PRODUCT_NAME)",
        "CFBundlePackageType": "$(PRODUCT_BUNDLE_PACKAGE_TYPE)", "CFBundleShortVersionString": "$(MARKETING_VERSION)",
        "CFBundleVersion": "$(CURRENT_PROJECT_VERSION)", "LSRequiresIPhoneOS": true,
        "UIBackgroundModes": ["bluetooth-central"],
        "BGTaskSchedulerPermittedIdentifiers": ["${PRODUCT_BUNDLE_IDENTIFIER}.refresh"],
    ]

    @Test("MODE-3: settings are filled in from the program, in lists too, and what was assumed is told")
    func filled() throws {
        let made = try make(Self.template)
        #expect(made.bundle.identifier == "com.example.heart")
        #expect(made.bundle.path.hasSuffix("/made/Heart.app"))
        #expect(made.bundle.warnings.count == 1)
        #expect(
            made.bundle.warnings.first?.hasSuffix(
                "/Info.plist: the identifier is a setting of a project; com.example.heart is taken, --identifier gives another"
            ) == true
        )
        let texts = [
            "CFBundleDevelopmentRegion": "en", "CFBundleExecutable": "Heart", "CFBundleName": "Heart",
            "CFBundlePackageType": "APPL", "CFBundleShortVersionString": "1.0", "CFBundleVersion": "1",
        ]
        for (key, text) in texts { #expect(made.values[key] as? String == text, "\(key)") }
        #expect(made.values["BGTaskSchedulerPermittedIdentifiers"] as? [String] == ["com.example.heart.refresh"])
        #expect(made.values["LSRequiresIPhoneOS"] as? Bool == true)
    }

    @Test("The identifier that is told is the one that is taken, also where the setting is a part of it")
    func told() throws {
        var values = Self.template
        values["CFBundleIdentifier"] = "$(PRODUCT_BUNDLE_IDENTIFIER).beta"
        let made = try make(values)
        #expect(made.bundle.identifier == "com.example.heart.beta")
        #expect(made.bundle.warnings.count == 1)
        let words = "a setting of a project; com.example.heart.beta is taken, --identifier gives another"
        #expect(made.bundle.warnings.first?.hasSuffix("/Info.plist: the identifier is \(words)") == true)
    }

    @Test("An identifier that is given goes before the file's, and into what is made of it", arguments: [true, false])
    func identifier(binary: Bool) throws {
        let made = try make(Self.template, identifier: "com.acme.pulse", format: binary ? .binary : .xml)
        #expect(made.bundle.identifier == "com.acme.pulse")
        #expect(made.bundle.warnings == [])
        #expect(made.values["BGTaskSchedulerPermittedIdentifiers"] as? [String] == ["com.acme.pulse.refresh"])
        var plain = Self.template
        plain["CFBundleIdentifier"] = "com.acme.old"
        #expect(try make(plain, identifier: "com.acme.new").bundle.identifier == "com.acme.new")
        let own = try make(plain)
        #expect(own.bundle.identifier == "com.acme.old" && own.bundle.warnings == [])
        #expect(own.values["BGTaskSchedulerPermittedIdentifiers"] as? [String] == ["com.acme.old.refresh"])
    }

    @Test("Keys that Xcode adds to a file are added: the program and the identifier")
    func added() throws {
        let made = try make(["UIBackgroundModes": ["audio"]], program: "my_app.py")
        #expect(made.bundle.identifier == "com.example.my-app")
        #expect(made.bundle.path.hasSuffix("/my_app.app"))
        #expect(made.values["CFBundleExecutable"] as? String == "my_app.py")
    }

    @Test("A file without settings is copied as it is")
    func unchanged() throws {
        let values = ["CFBundleIdentifier": "com.acme.heart", "CFBundleExecutable": "Heart", "Price": "5 $ (net)"]
        let made = try make(values)
        #expect(made.bytes == (try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)))
    }

    @Test(
        "Names of settings have two spellings, forms and a default; what is none stays",
        arguments: [
            ("$(PRODUCT_NAME)", "My App"), ("${PRODUCT_NAME}", "My App"),
            ("$(PRODUCT_NAME:rfc1034identifier)", "My-App"),
            ("$(PRODUCT_NAME:c99extidentifier)", "My_App"), ("$(PRODUCT_NAME:lower)x", "my appx"),
            ("$(PRODUCT_NAME:rfc1034identifier:upper)", "MY-APP"), ("$(PRODUCT_MODULE_NAME)", "My_App"),
            ("com.$(TARGET_NAME:rfc1034identifier).$(CURRENT_PROJECT_VERSION)", "com.My-App.1"),
            ("$(NONE:default=a b)", "a b"), ("$(EXECUTABLE_NAME:default=x)", "My App.py"), ("$", "$"), ("$(", "$("),
            ("$x", "$x"), ("$()", "$()"), ("$(PRODUCT_NAME", "$(PRODUCT_NAME"), ("$${PRODUCT_NAME}", "$My App"),
            ("$(PRODUCT_NAME:other)", "$(PRODUCT_NAME:other)"), ("${NONE}", "${NONE}"), ("", ""),
        ]
    )
    func forms(text: String, filled: String) {
        var settings = BuildSettings(program: "My App.py", product: "My App")
        #expect(settings.filled(text) == filled)
    }

    @Test("Settings that are not known stay and are told, a few by name")
    func unknown() throws {
        var values = Self.template
        values["CFBundleIdentifier"] = "com.acme.heart"
        values["Keys"] = (1...9).map { "$(KEY_\($0))" } + ["$(KEY_1)"]
        let warnings = try make(values).bundle.warnings
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.hasSuffix(
                "/Info.plist: $(KEY_1), $(KEY_2), $(KEY_3), $(KEY_4), $(KEY_5) and more: "
                    + "settings of the project that are not known here, and stay as they are"
            ) == true
        )
    }

    @Test(
        "A setting that is not known is refused where the bench needs the text, with what to do",
        arguments: [
            (
                "CFBundleIdentifier", "$(ORG).heart",
                "CFBundleIdentifier: '$(ORG).heart'; expected no setting of a project: give it with --identifier"
            ),
            (
                "CFBundleName", "${APP_NAME}",
                "CFBundleName: '${APP_NAME}'; expected no setting of a project: write the name there"
            ),
            (
                "CFBundleExecutable", "$(TOOL)",
                "CFBundleExecutable: '$(TOOL)'; expected 'Heart', the name of the program"
            ),
        ]
    )
    func refused(key: String, value: String, words: String) {
        var values = Self.template
        values[key] = value
        let error = #expect(throws: BundleError.self) { try make(values) }
        #expect(error?.description.hasSuffix("/Info.plist: " + words) == true, "\(error as Any)")
    }

    @Test("Brackets without end cost no more than they are long", .timeLimit(.minutes(1)))
    func brackets() {
        let text = String(repeating: "$(", count: 400_000)
        var settings = BuildSettings(program: "a", product: "a")
        #expect(settings.filled(text) == text)
    }
}
