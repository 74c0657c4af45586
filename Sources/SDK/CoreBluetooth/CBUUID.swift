import Foundation

/// The UUID of a service, characteristic or descriptor, of 16, 32 or 128 bits.
///
/// Two are equal when they stand for the same 128 bits, whatever their form.
open class CBUUID: NSObject, NSCopying, @unchecked Sendable {
    private static let baseSuffix: [UInt8] = [
        0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0x80, 0x5F, 0x9B, 0x34, 0xFB,
    ]

    private let bytes: [UInt8]

    /// A UUID of no bits, equal to its like alone: NSObject's own initializer, which Apple's class has too.
    public override init() {
        bytes = []
        super.init()
    }

    /// A UUID from 4 or 8 hexadecimal digits, or from the form with dashes; anything else is a programming error.
    public init(string theString: String) {
        guard let bytes = CBUUID.bytes(of: theString) else {
            preconditionFailure("String \(theString) does not represent a valid UUID")
        }
        self.bytes = bytes
    }

    /// A UUID from 2, 4 or 16 bytes, the most significant first; any other count is a programming error.
    public init(data theData: Data) {
        precondition([2, 4, 16].contains(theData.count), "Data \(theData) does not represent a valid UUID")
        self.bytes = Array(theData)
    }

    /// A UUID of 128 bits.
    public init(nsuuid theUUID: UUID) {
        let uuid = theUUID.uuid
        self.bytes = [
            uuid.0, uuid.1, uuid.2, uuid.3, uuid.4, uuid.5, uuid.6, uuid.7,
            uuid.8, uuid.9, uuid.10, uuid.11, uuid.12, uuid.13, uuid.14, uuid.15,
        ]
    }

    /// The bytes, the most significant first: 2, 4 or 16 of them.
    open var data: Data {
        Data(bytes)
    }

    /// The UUID as text in capitals, in its own form.
    open var uuidString: String {
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return text.count == 1 ? "0" + text : text
        }
        guard bytes.count == 16 else {
            return digits.joined()
        }
        let groups = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
        return groups.map { $0.joined() }.joined(separator: "-")
    }

    /// The text that ``uuidString`` gives.
    open override var description: String {
        uuidString
    }

    /// Whether the other is a UUID of the same 128 bits.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CBUUID else {
            return false
        }
        return fullBytes == other.fullBytes
    }

    /// The same for equal UUIDs.
    open override var hash: Int {
        fullBytes.hashValue
    }

    /// The UUID itself; it never changes.
    open func copy(with zone: NSZone? = nil) -> Any {
        self
    }

    private var fullBytes: [UInt8] {
        switch bytes.count {
        case 2: [0, 0] + bytes + CBUUID.baseSuffix
        case 4: bytes + CBUUID.baseSuffix
        default: bytes
        }
    }

    private static func bytes(of text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        let dashes = [8, 13, 18, 23]
        guard [4, 8, 36].contains(characters.count) else {
            return nil
        }
        if characters.count == 36, !dashes.allSatisfy({ characters[$0] == UInt8(ascii: "-") }) {
            return nil
        }
        let digits = characters.enumerated().filter { characters.count != 36 || !dashes.contains($0.offset) }
        let values = digits.compactMap { Character(Unicode.Scalar($0.element)).hexDigitValue }
        guard values.count == digits.count else {
            return nil
        }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}

/// The UUID of the Characteristic Extended Properties descriptor.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"
/// The UUID of the Characteristic User Description descriptor.
public let CBUUIDCharacteristicUserDescriptionString = "2901"
/// The UUID of the Client Characteristic Configuration descriptor.
public let CBUUIDClientCharacteristicConfigurationString = "2902"
/// The UUID of the Server Characteristic Configuration descriptor.
public let CBUUIDServerCharacteristicConfigurationString = "2903"
/// The UUID of the Characteristic Presentation Format descriptor.
public let CBUUIDCharacteristicFormatString = "2904"
/// The UUID of the Characteristic Aggregate Format descriptor.
public let CBUUIDCharacteristicAggregateFormatString = "2905"
