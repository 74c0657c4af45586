import WakeModel

extension Router {
    /// What the scans of an app make of a sighting (BTC-3, BTC-4).
    struct Sighting {
        /// How many services the scan names.
        var services: Int
        var first: Bool

        static let none = Sighting(services: 0, first: true)
    }

    /// Looks which scans of the app count the sighting, and leaves those in the interest; when none does, the first
    /// scan stands for all. A sighting that was lost with the bench counts as the first again.
    mutating func sight(_ peripheral: NameID, by interest: inout Interest, again: Bool) -> Sighting {
        let app = interest.app
        let foreground = apps[app].state == .active || apps[app].state == .inactive
        var counting = SlotSet()
        var sighting = Sighting.none
        for slot in interest.slots {
            guard let scan = areas.bluetooth.apps[app].managers[slot].scan else { continue }
            let names = !scan.services.isEmpty
            let first = again || !scan.seen.contains(peripheral) || scan.allowDuplicates && foreground
            if first, names || foreground {
                counting.insert(UInt16(slot))
            } else if slot == Int(interest.slot) {
                sighting = Sighting(services: scan.services.count, first: first)
            }
        }
        guard !counting.isEmpty else { return sighting }
        if !counting.contains(Int(interest.slot)) {
            interest.slot = counting.lowest
        }
        interest.slots = counting
        return Sighting(
            services: areas.bluetooth.apps[app].managers[Int(interest.slot)].scan?.services.count ?? 0,
            first: true
        )
    }

    /// A sighting that the app hears of counts for the scans it went to; one that was denied is to be made again.
    mutating func noteSighting(of peripheral: NameID, by interest: Interest, _ verdict: Verdict) {
        let app = interest.app
        for slot in interest.slots where areas.bluetooth.apps[app].managers[slot].scan != nil {
            if verdict.delivers || verdict == .defer {
                areas.bluetooth.apps[app].managers[slot].scan!.seen.insert(peripheral)
            } else if verdict == .deny {
                areas.bluetooth.apps[app].managers[slot].scan!.missed = true
            }
        }
    }
}
