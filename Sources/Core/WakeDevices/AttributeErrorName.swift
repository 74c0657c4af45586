/// The names of ATT's error codes: Bluetooth Core Specification, Vol 3 Part F, 3.4.1.1, and its Supplement, Part B.
package struct AttributeErrorName: Sendable {
    package var code: UInt8
    package var word: String
    /// What Core Bluetooth says of it.
    package var message: String

    init(_ code: UInt8, _ word: String, _ message: String) {
        (self.code, self.word, self.message) = (code, word, message)
    }

    /// What is said of a code, which may be the device's own.
    package static func message(of code: UInt8) -> String {
        all.first { $0.code == code }?.message ?? "Unknown ATT error."
    }

    package static let all = [
        AttributeErrorName(0x01, "invalid-handle", "The handle is invalid."),
        AttributeErrorName(0x02, "read-not-permitted", "Reading is not permitted."),
        AttributeErrorName(0x03, "write-not-permitted", "Writing is not permitted."),
        AttributeErrorName(0x04, "invalid-pdu", "The command is invalid."),
        AttributeErrorName(0x05, "insufficient-authentication", "Authentication is insufficient."),
        AttributeErrorName(0x06, "request-not-supported", "The request is not supported."),
        AttributeErrorName(0x07, "invalid-offset", "The offset is invalid."),
        AttributeErrorName(0x08, "insufficient-authorization", "Authorization is insufficient."),
        AttributeErrorName(0x09, "prepare-queue-full", "The prepare queue is full."),
        AttributeErrorName(0x0a, "attribute-not-found", "The attribute could not be found."),
        AttributeErrorName(0x0b, "attribute-not-long", "The attribute is not long."),
        AttributeErrorName(0x0c, "insufficient-encryption-key-size", "The encryption key size is insufficient."),
        AttributeErrorName(0x0d, "invalid-attribute-value-length", "The value's length is invalid."),
        AttributeErrorName(0x0e, "unlikely-error", "Unlikely error."),
        AttributeErrorName(0x0f, "insufficient-encryption", "Encryption is insufficient."),
        AttributeErrorName(0x10, "unsupported-group-type", "The group type is unsupported."),
        AttributeErrorName(0x11, "insufficient-resources", "Resources are insufficient."),
        AttributeErrorName(0x12, "database-out-of-sync", "Unknown ATT error."),
        AttributeErrorName(0x13, "value-not-allowed", "Unknown ATT error."),
        AttributeErrorName(0xfc, "write-request-rejected", "Unknown ATT error."),
        AttributeErrorName(0xfd, "cccd-improperly-configured", "Unknown ATT error."),
        AttributeErrorName(0xfe, "procedure-already-in-progress", "Unknown ATT error."),
        AttributeErrorName(0xff, "out-of-range", "Unknown ATT error."),
    ]
}
