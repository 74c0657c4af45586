/// Which of the adapters that one program opens hold the links to devices: an org.bluez ends a link for all of its clients when one asks
/// for it, so one that several hold is closed by the last of them. Adapters on another bus are none of theirs.
package final class BlueZLinkHolders {
    private struct Holder {
        weak var adapter: BlueZAdapter?
        /// Objects of devices.
        var paths: Set<String>
    }

    private var holders: [Holder] = []

    package init() {}

    /// An adapter holds these links, and no others; every other one knows when this returns.
    func set(_ paths: Set<String>, of adapter: BlueZAdapter) {
        holders.removeAll { $0.adapter == nil || $0.adapter === adapter }
        holders.append(Holder(adapter: adapter, paths: paths))
        for holder in holders where holder.adapter !== adapter {
            holder.adapter?.setHeldByOthers(heldPaths(besides: holder))
        }
    }

    /// An adapter takes part, and knows what the others hold.
    func join(_ adapter: BlueZAdapter) {
        set([], of: adapter)
        if let own = holders.last { adapter.setHeldByOthers(heldPaths(besides: own)) }
    }

    private func heldPaths(besides other: Holder) -> Set<String> {
        holders.reduce(into: []) { all, holder in
            guard holder.adapter !== other.adapter, holder.adapter?.address == other.adapter?.address else { return }
            all.formUnion(holder.paths)
        }
    }
}
