import WakeModel

/// What a maker of Bluetooth accessories is advised to do: the rows of Tables/guidelines.tsv.
package enum PeripheralGuideline: String, CaseIterable, Sendable {
    case advertisingData = "ADG-1"
    case localName = "ADG-2"
    case advertisingInterval = "ADG-3"
    case connectionInterval = "ADG-4"
    case supervisionTimeout = "ADG-5"
    case effectiveInterval = "ADG-6"
    case dataLength = "ADG-7"
    case deviceInformation = "ADG-8"
    case deviceInformationAdvertised = "ADG-9"
    case deviceInformationCharacteristics = "ADG-10"
    case deviceInformationLength = "ADG-11"
    case latency = "ADG-12"
    case intervalRange = "ADG-13"
    case timeoutRatio = "ADG-14"
    case openDiscovery = "ADG-15"
    case pairingRequest = "ADG-16"
    case serviceChanged = "ADG-17"
    case serviceOrder = "GATT-1"
    case serviceChangedProperties = "GATT-2"
    case exchangedMTU = "ATT-1"

    /// A row of the table.
    package struct Row: Sendable {
        /// The document that says so, with its edition.
        package let edition: String
        package let section: String
        /// One sentence without a full stop.
        package let says: String
        /// What to do about a device that does otherwise.
        package let remedy: String
    }

    private static let rows: [Row] = {
        do throws(TableError) {
            return try rows(PackageResources.guidelines_tsv)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    /// Reads guidelines.tsv, in the order of the cases.
    ///
    /// - Throws: with the line, where a cell says nothing, a word is none, or a guideline has no row.
    static func rows(_ bytes: [UInt8]) throws(TableError) -> [Row] {
        let columns = ["guideline", "edition", "section", "says", "remedy"]
        let table = try Table("guidelines.tsv", bytes, columns: columns)
        var rows: [Row] = []
        for row in try table.rows(of: PeripheralGuideline.self, by: "guideline", name: \.rawValue) {
            rows.append(
                Row(
                    edition: try row.filled("edition"),
                    section: try row.filled("section"),
                    says: try row.filled("says"),
                    remedy: try row.filled("remedy")
                )
            )
        }
        return rows
    }

    package var row: Row { Self.rows[Self.allCases.firstIndex(of: self)!] }
}

/// What a device does that a guideline advises against.
package struct PeripheralFinding: Hashable, Sendable {
    /// Where it shows.
    package enum Place: Hashable, Sendable {
        /// A line of a device file, counted from 1.
        case line(Int)
        /// A frame of a capture, counted from 1 in its file as Wireshark does, and when it came, counted from the first frame.
        case frame(Int, at: Instant.Span, file: String)
        /// What of a live device, such as `advertising` or `handle 0x000c`.
        case part(String)
    }

    package var guideline: PeripheralGuideline
    package var place: Place
    /// What was found, without a full stop.
    package var found: String

    package init(_ guideline: PeripheralGuideline, at place: Place, _ found: String) {
        (self.guideline, self.place, self.found) = (guideline, place, found)
    }
}
