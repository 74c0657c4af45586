import WakeDevices
import WakeModel

/// What a device said on the air, as a capture shows it.
package struct SeenAdvertising: Sendable {
    /// Reports, answers to scans among them.
    package private(set) var reports = 0
    /// Grows with each thing said that was not said before.
    private(set) var news = 0
    /// What it was called, whole where it said that, else the beginning.
    private(set) var name: [UInt8]?
    private var isNameWhole = false
    private(set) var services: [AttributeType] = [] { didSet { news += 1 } }
    private(set) var manufacturerData: [UInt8]?
    private(set) var serviceData: [(service: AttributeType, data: [UInt8])] = []
    private(set) var txPower: Int8?
    private(set) var isConnectable = false
    /// The interval that its host set; nil when only its reports are known.
    var interval: Instant.Span?
    private var strengths = 0
    private var strengthSum = 0
    private var latest: Int64?
    private var gaps: [Int64] = []

    private static let gapLimit = 2_000
    private static let listLimit = 64

    /// The mean of what was measured, in dBm; nil when nothing was.
    var signalStrength: Int? {
        strengths == 0 ? nil : Int((Double(strengthSum) / Double(strengths)).rounded())
    }

    /// Takes an advertisement, or the answer to a scan.
    ///
    /// - Parameter strength: in dBm; nil when the capture does not say it.
    mutating func take(
        _ data: Span<UInt8>,
        at time: Int64,
        isAnswer: Bool,
        isConnectable: Bool,
        strength: Int8?
    ) {
        reports += 1
        if isConnectable { self.isConnectable = true }
        // 127 is no measurement.
        if let strength, (-127...20).contains(strength) {
            strengths += 1
            strengthSum += Int(strength)
        }
        if !isAnswer {
            if let latest, gaps.count < Self.gapLimit { gaps.append(time - latest) }
            latest = time
        }
        take(data)
    }

    /// What its host set.
    mutating func setConnectable(_ isConnectable: Bool) { self.isConnectable = isConnectable }

    /// Takes advertising data: lengths, types and bodies.
    mutating func take(_ data: Span<UInt8>) {
        var position = 0
        while position + 1 < data.count {
            let length = Int(data[position])
            if length == 0 || position + length >= data.count { return }
            take(data[position + 1], data.extracting(position + 2..<position + 1 + length))
            position += 1 + length
        }
    }

    private mutating func take(_ type: UInt8, _ body: Span<UInt8>) {
        switch type {
        case 0x02, 0x03: addServices(body, 2)
        case 0x04, 0x05: addServices(body, 4)
        case 0x06, 0x07: addServices(body, 16)
        case 0x08 where !isNameWhole && name == nil:
            name = body.copied(limit: 248)
            news += 1
        case 0x09 where !isNameWhole:
            (name, isNameWhole) = (body.copied(limit: 248), true)
            news += 1
        case 0x0a where body.count == 1: txPower = Int8(bitPattern: body[0])
        case 0x16: setServiceData(body, 2)
        case 0x20: setServiceData(body, 4)
        case 0x21: setServiceData(body, 16)
        case 0xff: if manufacturerData == nil { manufacturerData = body.copied(limit: 512) }
        default: break
        }
    }

    private mutating func addServices(_ body: Span<UInt8>, _ size: Int) {
        for start in stride(from: 0, to: body.count - size + 1, by: size) {
            guard services.count < Self.listLimit, let uuid = AttributeType(body.extracting(start..<start + size))
            else { return }
            if !services.contains(uuid) { services.append(uuid) }
        }
    }

    private mutating func setServiceData(_ body: Span<UInt8>, _ size: Int) {
        guard body.count >= size, serviceData.count < Self.listLimit,
            let uuid = AttributeType(body.extracting(0..<size)),
            !serviceData.contains(where: { $0.service == uuid })
        else { return }
        serviceData.append((uuid, body.extracting(size...).copied(limit: 512)))
    }

    /// The interval that the reports suggest; nil when there are too few.
    ///
    /// Reports are lost and a device adds up to 10 ms by chance (Bluetooth Core, volume 6, part B, 4.4.2.2), so the gaps are a
    /// multiple of the interval and a little: of the shorter ones, the mean without half of the chance.
    var measuredInterval: Instant.Span? {
        // Three channels of one event, as a sniffer hears them, are no interval, and more than an hour is a pause.
        let sorted = gaps.filter { (15_000_000...3_600_000_000_000).contains($0) }.sorted()
        guard sorted.count >= 8 else { return nil }
        let base = sorted[sorted.count / 4]
        let near = sorted.filter { abs($0 - base) <= base / 4 }
        let mean = near.reduce(0, +) / Int64(near.count)
        return .milliseconds(max(20, min((mean - 5_000_000 + 500_000) / 1_000_000, 3_600_000)))
    }
}
