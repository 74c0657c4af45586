import Foundation
import WakeModel

/// A plug-in of an app's bundle that the system starts beside the app.
package struct ExtensionBundle: Hashable, Sendable {
    /// CFBundleIdentifier, which begins with that of the app.
    package var identifier: String
    /// The program, absolute and without symbolic links, inside the plug-in's folder.
    package var executable: String
}

/// What a bundle has of pushes: its notification service extension (PUSH-9), `PlugIns/Name.appex` with an Info.plist whose
/// NSExtension names the point of such extensions.
struct PushKeys: Hashable, Sendable {
    let serviceExtension: ExtensionBundle?

    private static let point = "com.apple.usernotifications.service"
    private static let ending = ".appex"

    init(_ plist: InfoPlist, in folder: String) throws(BundleError) {
        let plugIns = folder + "/PlugIns"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: plugIns)) ?? []
        var found: ExtensionBundle?
        for name in names.sorted() where name.hasSuffix(Self.ending) && name.utf8.count > Self.ending.utf8.count {
            let place = "\(plist.bundle)/PlugIns/\(name)"
            guard let inside = resolved("\(plugIns)/\(name)"), inside.hasPrefix(folder + "/"),
                kind(of: inside) == .typeDirectory
            else {
                throw BundleError(bundle: place, found: "no folder of the app's bundle", expected: "an extension")
            }
            let own = InfoPlist(bundle: place, values: try InfoPlist.read(inside + "/Info.plist", of: place))
            guard try own.extensionPoint() == Self.point else { continue }
            if found != nil {
                throw BundleError(
                    bundle: place,
                    key: "NSExtensionPointIdentifier",
                    found: "a second notification service extension",
                    expected: "one"
                )
            }
            found = try Self.read(own, in: inside, of: plist)
        }
        serviceExtension = found
    }

    private static func read(
        _ own: InfoPlist,
        in folder: String,
        of app: InfoPlist
    ) throws(BundleError) -> ExtensionBundle {
        let (identifier, above) = (try own.identifier(), try app.identifier())
        guard identifier.hasPrefix(above + ".") else {
            throw BundleError(
                bundle: own.bundle,
                key: "CFBundleIdentifier",
                found: "'\(printable(identifier))'",
                expected: "one that begins with '\(printable(above)).', the app's"
            )
        }
        let program = try own.required("CFBundleExecutable")
        return ExtensionBundle(
            identifier: identifier,
            executable: try AppBundle.executable(named: program, in: folder, of: own.bundle)
        )
    }

    func declare(in manifest: inout AppManifest) { manifest.serviceExtension = serviceExtension != nil }
}

extension AppBundle {
    /// The app's notification service extension (PUSH-9); nil when it has none.
    package var serviceExtension: ExtensionBundle? { keys.push.serviceExtension }
}

extension InfoPlist {
    /// The point that an extension extends; nil when it names none.
    fileprivate func extensionPoint() throws(BundleError) -> String? {
        guard let members = values["NSExtension"] as? [String: Any] else { return nil }
        return try InfoPlist(bundle: bundle, values: members).text("NSExtensionPointIdentifier")
    }
}
