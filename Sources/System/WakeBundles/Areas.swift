import WakeModel

/// What the areas read of an Info.plist, a row each.
struct AreaKeys: Hashable, Sendable {
    let accessory: AccessoryKeys
    let push: PushKeys
    let backgroundTask: BackgroundTaskKeys

    /// - Parameter folder: the bundle's, whose other files may say more.
    init(_ plist: InfoPlist, in folder: String) throws(BundleError) {
        accessory = try AccessoryKeys(plist)
        push = try PushKeys(plist, in: folder)
        backgroundTask = try BackgroundTaskKeys(plist)
    }

    func declare(in manifest: inout AppManifest, _ names: NameTable) {
        accessory.declare(in: &manifest, names)
        push.declare(in: &manifest)
        backgroundTask.declare(in: &manifest, names)
    }
}
