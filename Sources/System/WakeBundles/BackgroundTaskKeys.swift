import WakeModel

/// What an Info.plist says of background tasks.
struct BackgroundTaskKeys: Hashable, Sendable {
    /// BGTaskSchedulerPermittedIdentifiers; nil without the key, which is not the same as an empty list (BGT-1, FETCH-6).
    let permitted: [String]?

    init(_ plist: InfoPlist) throws(BundleError) {
        let key = "BGTaskSchedulerPermittedIdentifiers"
        permitted = plist.values[key] == nil ? nil : try plist.texts(key, atMost: 1_000)
    }

    func declare(in manifest: inout AppManifest, _ names: NameTable) {
        manifest.taskIdentifiers = permitted?.map(names.intern)
    }
}
