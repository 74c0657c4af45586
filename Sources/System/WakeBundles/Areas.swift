import WakeModel

/// What the areas read of an Info.plist, a row each.
struct AreaKeys: Hashable, Sendable {
    let accessory: AccessoryKeys

    init(_ plist: InfoPlist) throws(BundleError) {
        accessory = try AccessoryKeys(plist)
    }

    func declare(in manifest: inout AppManifest, _ names: NameTable) {
        accessory.declare(in: &manifest, names)
    }
}
