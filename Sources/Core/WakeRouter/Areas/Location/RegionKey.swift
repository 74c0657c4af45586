import WakeModel

/// The name of a monitored region in the index: its app, and which of the app's regions it is.
package struct RegionKey: Hashable, Comparable, Sendable {
    package var app: AppID
    package var slot: UInt16

    package init(app: AppID, slot: UInt16) {
        self.app = app
        self.slot = slot
    }

    package static func < (left: RegionKey, right: RegionKey) -> Bool {
        left.app != right.app ? left.app < right.app : left.slot < right.slot
    }
}
