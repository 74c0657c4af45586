import WakeBus

extension BlueZServer {
    /// The advertisement that is wanted, and what bluetoothd has of it.
    struct Advertising {
        var wanted: BlueZLocalAdvertisement?
        /// The object that is registered or was asked for; each registration has one of its own.
        var object: String?
        /// An object that bluetoothd may still have.
        var leaving: String?
        var isRegistered = false
        var isAsking = false
        var isRefused = false
        /// Whether the owner heard what became of the present wish.
        var isTold = false
        /// The name is left out because bluetoothd had no room for it.
        var withoutName = false
        var count = 0
    }

    /// Advertises this from now on; nil ends it. There is one advertisement for all apps, as a phone has one.
    package func advertise(_ advertisement: BlueZLocalAdvertisement?) {
        if advertisement == advertising.wanted, advertising.isRegistered {
            if advertisement != nil { heard?(.advertising(refusal: nil)) }
            return
        }
        retireAdvertisement()
        advertising.wanted = advertisement
        advertising.isRefused = false
        advertising.isTold = false
        advertising.withoutName = false
        if heard == nil, let object = advertising.leaving, let path = adapter.path {
            adapter.tell(path, BlueZName.advertisingManager, "UnregisterAdvertisement", [.objectPath(object)])
            advertising.leaving = nil
        }
        proceed()
    }

    /// Whether bluetoothd has the advertisement.
    package var isAdvertising: Bool { advertising.isRegistered }

    private func retireAdvertisement() {
        if let object = advertising.object, advertising.isRegistered || advertising.isAsking {
            advertising.leaving = object
        }
        advertising.object = nil
        advertising.isRegistered = false
    }

    /// The adapter is off, or gone, or bluetoothd took the advertisement back.
    func advertisementLost() {
        retireAdvertisement()
        advertising.isAsking = false
    }

    /// bluetoothd takes the advertisement back, as it may at any time; it is offered again.
    func advertisementReleased(_ object: String) {
        guard advertising.object == object else { return }
        advertising.object = nil
        advertising.isRegistered = false
        pause()
    }

    func proceedAdvertising(_ path: String) {
        guard !advertising.isAsking else { return }
        if let object = advertising.leaving {
            advertising.isAsking = true
            let call = BusCall(
                BlueZName.daemon,
                path,
                BlueZName.advertisingManager,
                "UnregisterAdvertisement",
                [.objectPath(object)]
            )
            adapter.ask(call) { [weak self] _ in
                guard let self else { return }
                advertising.isAsking = false
                if advertising.leaving == object { advertising.leaving = nil }
                proceed()
            }
        } else if advertising.wanted != nil, !advertising.isRegistered, !advertising.isRefused {
            registerAdvertisement(path)
        }
    }

    private func registerAdvertisement(_ path: String) {
        advertising.count += 1
        let object = "\(Self.root)/advertisement\(advertising.count)"
        advertising.object = object
        advertising.isAsking = true
        let arguments: [BusValue] = [.objectPath(object), .properties([])]
        let call = BusCall(BlueZName.daemon, path, BlueZName.advertisingManager, "RegisterAdvertisement", arguments)
        adapter.ask(call) { [weak self] answer in
            guard let self else { return }
            advertising.isAsking = false
            if advertising.object == object { advertisementAnswered(answer) }
            proceed()
        }
    }

    private func advertisementAnswered(_ answer: Bus.Answer) {
        switch answer {
        case .success:
            advertising.isRegistered = true
            tellAdvertising(nil)
        case .failure(let error) where error.isTimeout || error.isAboutNobody || error.isAboutSomethingGone:
            advertising.object = nil
            pause()
        // Every place is taken, or an advertisement that is going still holds one.
        case .failure(let error) where advertising.isTold || error.kind == "NotReady" || error.kind == "InProgress":
            advertising.object = nil
            pause()
        case .failure where advertising.wanted?.localName != nil && !advertising.withoutName:
            // An advertisement has 31 bytes, and so has the answer to a scan, which the name goes into.
            advertising.withoutName = true
            advertising.object = nil
        case .failure(let error):
            advertising.isRefused = true
            advertising.object = nil
            tellAdvertising(error)
        }
    }

    private func tellAdvertising(_ refusal: BusError?) {
        guard !advertising.isTold else { return }
        advertising.isTold = true
        heard?(.advertising(refusal: refusal))
    }

    /// What the object of the advertisement says; nil when there is no such object.
    func advertisementProperties(_ object: String) -> [(String, BusValue)]? {
        guard object == advertising.object, var wanted = advertising.wanted else { return nil }
        if advertising.withoutName { wanted.localName = nil }
        return wanted.properties
    }
}
