import WakeDevices
import WakeModel

/// Compares a device of a capture with what makers of accessories are advised to do.
package struct CaptureCheck {
    /// In the order of the capture.
    package private(set) var findings: [PeripheralFinding] = []
    /// What could not be judged, since the capture does not show it.
    package private(set) var unjudged: [String] = []

    private let device: CapturedDevice
    private let conduct: CapturedConduct
    private let files: [String]
    private let start: Int64
    private var found: [(place: CapturePlace, guideline: PeripheralGuideline, text: String)] = []

    /// - Parameters:
    ///   - start: when the captures begin, in nanoseconds since 1970.
    ///   - files: their names, in the order in which they were read.
    package init(_ device: CapturedDevice, start: Int64, files: [String]) {
        (self.device, self.start, self.files) = (device, start, files)
        conduct = device.conduct
        checkAdvertising()
        checkInterval()
        checkLinks()
        checkDeviceInformation()
        checkServices()
        findings = found.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
            .map { finding($0.element.place, $0.element.guideline, $0.element.text) }
    }

    private func finding(
        _ place: CapturePlace,
        _ guideline: PeripheralGuideline,
        _ text: String
    ) -> PeripheralFinding {
        let time = Instant.Span.milliseconds(max(0, place.time - start) / 1_000_000)
        let file = files.indices.contains(place.file) ? files[place.file] : ""
        return PeripheralFinding(guideline, at: .frame(place.frame, at: time, file: file), text)
    }

    private mutating func find(_ guideline: PeripheralGuideline, _ text: String, _ place: CapturePlace) {
        found.append((place, guideline, text))
    }

    // MARK: Advertising

    private mutating func checkAdvertising() {
        guard let advertised = conduct.advertised else {
            unjudged.append("advertising data")
            return
        }
        let said = device.advertising
        if said.isConnectable {
            let missing = PeripheralRules.missing(
                txPower: said.txPower != nil,
                name: said.name != nil,
                services: !said.services.isEmpty
            )
            // The rest may stand in an answer that nobody asked for.
            if missing.isEmpty || conduct.answersScans || conduct.setInterval != nil {
                for text in missing { find(.advertisingData, text, advertised) }
            } else {
                unjudged.append("what the answer to a scan says")
            }
        }
        if let name = conduct.name, let text = PeripheralRules.badName(String(decoding: name.value, as: UTF8.self)) {
            find(.localName, text, name.place)
        }
        if let place = conduct.informationAdvertised { find(.deviceInformationAdvertised, "180A is advertised", place) }
    }

    /// Fewer pauses say nothing sure.
    private static let fewestPauses = 8

    private mutating func checkInterval() {
        if let set = conduct.setInterval {
            let interval = Instant.Span(nanoseconds: Int64(set.value) * 625_000)
            if !PeripheralRules.advertisingIntervals.contains(interval) {
                find(.advertisingInterval, "an advertising interval of \(DurationText.text(interval))", set.place)
            }
            return
        }
        guard conduct.pauses.count >= Self.fewestPauses, let place = conduct.firstPause else {
            unjudged.append("advertising interval")
            return
        }
        // Some are missed, and their pauses are twice as long or more: the mean is that of the shorter ones.
        let sorted = conduct.pauses.sorted()
        let base = sorted[sorted.count / 4]
        let near = sorted.filter { abs($0 - base) <= base / 4 }
        let mean = Instant.Span(nanoseconds: near.reduce(0, +) / Int64(near.count))
        if PeripheralRules.mayBeAdvised(heard: mean) { return }
        let rounded = DurationText.text(Instant.Span(nanoseconds: (mean.nanoseconds + 50_000) / 100_000 * 100_000))
        find(.advertisingInterval, "an advertisement every \(rounded), the mean of \(near.count)", place)
    }

    // MARK: Links

    private mutating func checkLinks() {
        if conduct.timings.isEmpty { unjudged.append("connection parameters") }
        for timing in conduct.timings {
            let how = timing.value.isAsked ? "asked for" : "agreed on"
            for (guideline, text) in timing.value.against { find(guideline, "\(text) \(how)", timing.place) }
        }
        if let packets = conduct.packets {
            if !packets.value { find(.dataLength, "no Data Packet Length Extension", packets.place) }
        } else {
            unjudged.append("data length")
        }
        if let mtu = conduct.mtu {
            if let text = PeripheralRules.badMTU(mtu.value) { find(.exchangedMTU, text, mtu.place) }
        } else {
            unjudged.append("exchange of the MTU")
        }
        for place in conduct.pairingRequests {
            find(.pairingRequest, "a Security Request before any request was refused", place)
        }
        if !device.connections.contains(where: { $0.opened != nil }) { unjudged.append("requests to pair") }
    }

    // MARK: Attributes

    private mutating func checkDeviceInformation() {
        guard device.connectionCount > 0 || device.operations > 0 else { return }
        let table = device.table
        let wanted = AttributeType.short(0x180a)
        let services = table.services.filter { $0.value.isPrimary && $0.value.uuid == wanted }
        guard let (first, service) = services.min(by: { $0.key < $1.key }), let place = conduct.servicePlaces[first]
        else {
            let last = conduct.servicePlaces.values.max()
            if conduct.showsAllServices, let last {
                find(.deviceInformation, PeripheralRules.noDeviceInformation, last)
            } else {
                unjudged.append("Device Information")
            }
            return
        }
        let end = max(first, service.end)
        let own = table.characteristics.filter { (first...end).contains($0.key) }.map(\.value)
        let isWhole = conduct.showsCharacteristics(from: first, to: end) || own.contains { $0.value == end }
        var unread: [String] = []
        for informing in PeripheralRules.informing {
            guard let characteristic = own.first(where: { $0.uuid.text == informing.uuid }) else {
                if isWhole { find(.deviceInformationCharacteristics, informing.missing, place) }
                continue
            }
            guard let value = table.values[characteristic.value], let read = conduct.valuePlaces[characteristic.value]
            else {
                unread.append(informing.uuid)
                continue
            }
            if let text = informing.tooLong(value) { find(.deviceInformationLength, text, read) }
        }
        if !isWhole { unjudged.append("characteristics of Device Information") }
        if !unread.isEmpty { unjudged.append("values of \(unread.joined(separator: ", "))") }
    }

    private mutating func checkServices() {
        let services = device.table.services.sorted { $0.key < $1.key }
        if let place = conduct.refusedDiscovery { find(.openDiscovery, "a discovery is refused", place) }
        if services.isEmpty {
            unjudged.append("order of services")
            unjudged.append("Service Changed")
            return
        }
        for index in PeripheralRules.apart(services.map(\.value.uuid.text)) {
            guard let place = conduct.servicePlaces[services[index].key] else { continue }
            find(.serviceOrder, PeripheralRules.standsApart(services[index].value.uuid.text), place)
        }
        let changed = device.table.characteristics.first { $0.value.uuid == .short(0x2a05) }
        if let (handle, characteristic) = changed, let place = conduct.declarationPlaces[handle] {
            if let text = PeripheralRules.badServiceChanged(properties: characteristic.properties) {
                find(.serviceChangedProperties, text, place)
            }
        } else if let place = conduct.changedServices {
            find(.serviceChanged, "other services than before, and no Service Changed", place)
        }
    }
}
