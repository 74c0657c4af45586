import Foundation
import WakeDevices

extension InfoPlist {
    /// The values of an Info.plist file, XML or binary.
    static func read(_ file: String, of bundle: String) throws(BundleError) -> [String: Any] {
        let bytes: [UInt8]
        do {
            bytes = try InputFile.read(file, limit: byteLimit)
        } catch {
            throw malformed(bundle, error.found)
        }
        return try parse(bytes, of: bundle)
    }

    /// The values of a property list.
    ///
    /// - Throws: ``BundleError`` for bytes that are no property list, too many or too deeply nested.
    package static func parse(_ bytes: [UInt8], of bundle: String) throws(BundleError) -> [String: Any] {
        if bytes.isEmpty { throw malformed(bundle, "an empty file") }
        if bytes.count > byteLimit { throw malformed(bundle, "more than \(byteLimit) bytes") }
        guard let values = try value(bytes, of: bundle) as? [String: Any] else {
            throw malformed(bundle, "no dictionary")
        }
        return values
    }

    private static func value(_ bytes: [UInt8], of bundle: String) throws(BundleError) -> Any {
        if bytes.starts(with: Array("bplist00".utf8)) {
            do { return try BinaryPropertyList.parse(bytes) } catch { throw malformed(bundle, error.found) }
        }
        guard isPlainXML(bytes) else { throw malformed(bundle, "neither XML nor a binary list") }
        let parsed = unsafe try? PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        guard let parsed else { throw malformed(bundle, BinaryPropertyList.Fault.damaged.found) }
        return parsed
    }

    private static func malformed(_ bundle: String, _ found: String) -> BundleError {
        BundleError(bundle: bundle, key: "Info.plist", found: found, expected: "a property list, XML or binary")
    }

    /// The parser calls itself for each level, so the number of containers is checked before it runs.
    private static func isPlainXML(_ bytes: [UInt8]) -> Bool {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        var text = bytes[...]
        if text.starts(with: mark) { text = text.dropFirst(3) }
        text = text.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
        let beginnings = ["<?xml", "<!DOCTYPE", "<!--", "<plist"]
        guard beginnings.contains(where: { text.starts(with: Array($0.utf8)) }), !text.contains(0) else { return false }
        return occurrences(of: "<dict", in: text) + occurrences(of: "<array", in: text) <= containerLimit
    }

    private static func occurrences(of word: String, in text: ArraySlice<UInt8>) -> Int {
        let word = Array(word.utf8)
        var count = 0
        var place = text.startIndex
        while let found = text[place...].firstIndex(of: word[0]) {
            if text[found...].starts(with: word) { count += 1 }
            place = found + 1
        }
        return count
    }
}
