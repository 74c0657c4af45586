import WakeModel

/// What an Info.plist says of accessories.
struct AccessoryKeys: Hashable, Sendable {
    /// UISupportedExternalAccessoryProtocols (EA-3).
    let protocols: [String]
    /// Whether NSAccessorySetupKitSupports or NSAccessorySetupSupports, which Apple documents both, names Bluetooth (BTC-8).
    let setup: Bool

    init(_ plist: InfoPlist) throws(BundleError) {
        protocols = try plist.texts("UISupportedExternalAccessoryProtocols", atMost: 1_000)
        let kinds =
            try plist.texts("NSAccessorySetupKitSupports", atMost: 1_000)
            + plist.texts("NSAccessorySetupSupports", atMost: 1_000)
        setup = kinds.contains("Bluetooth")
    }

    func declare(in manifest: inout AppManifest, _ names: NameTable) {
        manifest.accessoryProtocols = protocols.map(names.intern)
        manifest.accessorySetup = setup
    }
}

extension AppBundle {
    /// Whether the app may be given accessories that the user sets up (BTC-8).
    package var accessorySetup: Bool { keys.accessory.setup }
}
