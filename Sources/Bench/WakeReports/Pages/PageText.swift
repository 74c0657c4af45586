import Foundation

/// How pages for programs are written.
package enum PageText {
    /// A page as one JSON object: keys in small letters with underscores, in the order of the alphabet.
    package static func json(_ page: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return Array(try encoder.encode(page))
    }
}
