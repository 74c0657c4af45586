import WakeModel

/// What a peripheral answers to writes and reads, beside keeping the values as every server does.
///
/// There are no loops: a rule is a list of actions, each done once, and only a report goes through a list.
package struct BluetoothAnswers: Hashable, Sendable {
    /// The bytes that a value can have; what is longer is cut.
    static let longestValue = 512

    /// The named states; a link begins in the first.
    package var states: [String] = []
    /// In the order of the file.
    package var variables: [Variable] = []
    /// In the order of the file.
    package var records: [RecordList] = []
    /// By the position of a characteristic in the table; the first rule that fits is the one that counts. Empty where none has any.
    package var rules: [[Rule]] = []

    package var isEmpty: Bool { rules.allSatisfy(\.isEmpty) }

    /// A number that outlives links; it wraps at 32 bits.
    package struct Variable: Hashable, Sendable {
        package var name: String
        package var start: UInt32
    }

    /// Values that a device has stored.
    package struct RecordList: Hashable, Sendable {
        package var name: String
        package var values: [[UInt8]]
        /// The number that each is chosen by.
        package var numbers: [UInt32]
    }

    /// What is done about a request.
    package struct Rule: Hashable, Sendable {
        package var trigger: Trigger
        package var conditions: [Condition]
        package var actions: [Action]
        package var line: Int
    }

    /// What a rule is about.
    package enum Trigger: Hashable, Sendable {
        case read
        case write(Pattern)
    }

    /// Bytes of which some bits count.
    package struct Pattern: Hashable, Sendable {
        /// What the bits that count are.
        package var bytes: [UInt8]
        /// Which bits count; as many bytes.
        package var mask: [UInt8]
        /// Whether any bytes may follow.
        package var isOpen: Bool

        func fits(_ value: [UInt8]) -> Bool {
            guard isOpen ? value.count >= bytes.count : value.count == bytes.count else { return false }
            return bytes.indices.allSatisfy { value[$0] & mask[$0] == bytes[$0] }
        }
    }

    /// What must hold for a rule, or for one action.
    package enum Condition: Hashable, Sendable {
        case state([Int])
        case variable(Int, ClosedRange<UInt32>)
        case same([Part], [Part])
        case differ([Part], [Part])
        /// Whether the first number is less than the second.
        case less(Number, Number)
        /// Whether somebody is subscribed to a characteristic.
        case subscribed(Int, Bool)
    }

    /// One thing to do.
    package struct Action: Hashable, Sendable {
        /// The pause before it.
        package var after: Instant.Span
        package var conditions: [Condition]
        package var deed: Deed
    }

    /// What an action does.
    package enum Deed: Hashable, Sendable {
        case send(Sending, [Part])
        /// Gives a characteristic a value.
        case set(Int, [Part])
        /// The request fails with a code of ATT, and nothing follows.
        case fail(UInt8)
        case state(Int)
        case assign(Int, Number)
        /// Wraps at 32 bits.
        case add(Int, Number)
        /// Sends records one by one.
        case report(Selection, Sending)
        /// Counts records into a variable.
        case count(Selection, into: Int)
        case delete(Selection)
        /// Whatever else is still to be done is given up.
        case cancel
        /// The device drops its link.
        case disconnect
    }

    /// How values are sent.
    package struct Sending: Hashable, Sendable {
        package var characteristic: Int
        package var isIndication: Bool
        /// Whether a value too long for the MTU is sent in pieces, instead of being cut.
        package var inFragments: Bool
        /// The pause from one value or piece to the next.
        package var every: Instant.Span
    }

    /// Some of a list's records.
    package struct Selection: Hashable, Sendable {
        package var list: Int
        /// The least and the greatest number, where there are bounds.
        package var from: Number?
        package var to: Number?
        package var pick: Pick
    }

    /// Which of the records within the bounds.
    package enum Pick: UInt8, CaseIterable, Sendable {
        case all
        case first
        case last
    }

    /// A part of a value.
    package indirect enum Part: Hashable, Sendable {
        case bytes([UInt8])
        /// Bytes of the request, as far as it has them.
        case request(from: Int, count: Int?)
        case number(Number, width: Int, order: Order)
    }

    /// The order of a number's bytes.
    package enum Order: UInt8, CaseIterable, Sendable {
        case little
        case big
    }

    /// A number of 32 bits.
    package indirect enum Number: Hashable, Sendable {
        case literal(UInt32)
        case variable(Int)
        /// The first bytes of the request from a place, at most 4, as a number.
        case request(from: Int, count: Int, order: Order)
        case length(Extent)
        /// A checksum of bytes; it goes on from a variable's value where one is given.
        case checksum(Checksum, Extent, continues: Int?)
    }

    /// Which bytes a length or a checksum is about.
    package enum Extent: Hashable, Sendable {
        /// The parts before it in the same value.
        case before
        /// The parts after it in the same value.
        case after
        case value([Part])
    }
}
