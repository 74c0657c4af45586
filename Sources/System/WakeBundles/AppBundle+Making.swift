import Foundation

extension AppBundle {
    /// Makes the bundle of a program: `Name.app`, with the program and an Info.plist, where Name is its CFBundleName, else
    /// the program's name without an extension. An older bundle of the same identifier is replaced, in one step.
    ///
    /// - Parameters:
    ///   - program: an executable file of the name that CFBundleExecutable gives.
    ///   - plist: the Info.plist, XML or binary; it may be one of an Xcode project: see ``ProjectPlist``.
    ///   - folder: where the bundle goes; made when it is not there.
    ///   - identifier: the bundle identifier, in place of that in the Info.plist.
    /// - Returns: the bundle, with a warning for each thing that was assumed.
    /// - Throws: ``BundleError``; what was in the folder is then as it was.
    package static func make(
        program: String,
        plist: String,
        in folder: String,
        identifier: String? = nil
    ) throws(BundleError) -> AppBundle {
        let file = try executableFile(program)
        let executable = program.split(separator: "/").last.map(String.init) ?? program
        let given = try InfoPlist.read(plist, of: plist)
        let project = ProjectPlist(given, of: plist, program: executable, identifier: identifier)
        let values = InfoPlist(bundle: plist, values: project.values)
        try values.refuseSettings("CFBundleIdentifier", expected: "no setting of a project: give it with --identifier")
        try values.refuseSettings("CFBundleName", expected: "no setting of a project: write the name there")
        let named = try values.required("CFBundleExecutable")
        guard named == executable else {
            throw BundleError(
                bundle: plist,
                key: "CFBundleExecutable",
                found: "'\(printable(named))'",
                expected: "'\(printable(executable))', the name of the program"
            )
        }
        let name = try folderName(values, executable)
        let text = try project.newText(of: plist)
        let temporary = folder + "/.new-\(name)-\(getpid())"
        defer { if kind(of: temporary) != nil { try? FileManager.default.removeItem(atPath: temporary) } }
        do {
            try FileManager.default.createDirectory(atPath: "\(temporary)/\(name)", withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: file, toPath: "\(temporary)/\(name)/\(executable)")
            let place = "\(temporary)/\(name)/Info.plist"
            if let text {
                try text.write(to: URL(fileURLWithPath: place))
            } else {
                try FileManager.default.copyItem(atPath: resolved(plist) ?? plist, toPath: place)
            }
        } catch {
            let code = (error as? CocoaError)?.code
            let isFull = code == .fileWriteOutOfSpace
            throw BundleError(
                bundle: folder,
                found: "\(name) cannot be made there\(isFull ? ": no space left" : "")",
                expected: "a folder with room, and the right to write in it",
                isOfSystem: isFull || code == .fileWriteNoPermission || code == .fileWriteVolumeReadOnly
            )
        }
        let made: AppBundle
        do { made = try read("\(temporary)/\(name)") } catch {
            throw BundleError(bundle: plist, key: error.key, found: error.found, expected: error.expected)
        }
        let place = folder == "." ? name : "\(folder)/\(name)"
        try put("\(temporary)/\(name)", at: place, identifier: made.identifier, aside: temporary + "/older")
        var bundle = try read(place)
        bundle.warnings = project.notes + bundle.warnings
        return bundle
    }

    private static func executableFile(_ program: String) throws(BundleError) -> String {
        guard let file = resolved(program), let kind = kind(of: file) else {
            throw BundleError(bundle: program, found: "no such file", expected: "the app's program")
        }
        guard kind == .typeRegular else {
            throw BundleError(bundle: program, found: "no file", expected: "the app's program")
        }
        guard FileManager.default.isExecutableFile(atPath: file) else {
            throw BundleError(
                bundle: program,
                found: "a file that is not executable",
                expected: "a program; chmod +x makes a script one"
            )
        }
        return file
    }

    private static func folderName(_ values: InfoPlist, _ executable: String) throws(BundleError) -> String {
        let plain = executable.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init) ?? ""
        let name = try values.text("CFBundleName") ?? plain
        guard !name.isEmpty, !name.hasPrefix("."), name.utf8.count <= 200,
            name.unicodeScalars.allSatisfy({ $0 != "/" && $0.value >= 0x20 && $0.value != 0x7f })
        else {
            throw BundleError(
                bundle: values.bundle,
                key: "CFBundleName",
                found: "'\(printable(name))'",
                expected: "a name for the bundle's folder: at most 200 bytes, no slash, no dot at its beginning"
            )
        }
        return name + ".app"
    }

    /// Puts a bundle in its place. What is there goes only when it is an older bundle of the same app.
    private static func put(
        _ bundle: String,
        at place: String,
        identifier: String,
        aside: String
    ) throws(BundleError) {
        if kind(of: place) != nil {
            let older = try? InfoPlist.read(place + "/Info.plist", of: place)
            guard older?["CFBundleIdentifier"] as? String == identifier else {
                throw BundleError(
                    bundle: place,
                    found: "something else of that name",
                    expected: "nothing there, or an older bundle of \(identifier): move it away, or give another --out"
                )
            }
            _ = unsafe rename(place, aside)
        }
        guard unsafe rename(bundle, place) == 0 else {
            let reason = errno
            if kind(of: aside) != nil { _ = unsafe rename(aside, place) }
            throw BundleError(
                bundle: place,
                found: "it cannot be put there (\(unsafe String(cString: strerror(reason))))",
                expected: "the right to",
                isOfSystem: true
            )
        }
    }
}
