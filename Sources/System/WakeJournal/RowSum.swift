import WakeModel
import WakePorts

/// The check sum of one row of a journal: what was altered afterwards does not fit it.
///
/// Each step turns different states into different states, so one altered number or eight altered bytes never go
/// unnoticed. It guards against damage, not against somebody who computes it anew.
struct RowSum {
    private var state: UInt64 = 0x9e37_79b9_7f4a_7c15

    mutating func add(_ number: UInt64) {
        state = (state ^ number) &* 0x9fb2_1c65_1e98_df25
        state ^= state >> 29
    }

    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

    mutating func add(_ bytes: [UInt8]) {
        add(UInt64(bytes.count))
        unsafe bytes.withUnsafeBytes { bytes in
            var place = 0
            while place + 8 <= bytes.count {
                add(unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                place += 8
            }
            var rest: UInt64 = 0
            while place < bytes.count {
                rest = unsafe rest << 8 | UInt64(bytes[place])
                place += 1
            }
            add(rest)
        }
    }

    /// As a column holds it.
    var value: Int64 { Int64(bitPattern: state) }
}

extension RowSum {
    /// Of an input; `bytes` holds the input and after its first `split` bytes the payload.
    static func input(sequence: UInt64, at: Int64, origin: Int64, event: UInt64, bytes: [UInt8], split: Int) -> Int64 {
        var sum = RowSum()
        sum.add(sequence)
        sum.add(at)
        sum.add(origin)
        sum.add(event)
        sum.add(UInt64(split))
        sum.add(bytes)
        return sum.value
    }

    /// Of a delivery; when it is acknowledged the row holds the complement.
    static func delivery(event: UInt64, app: Int64, manager: Int64, generation: Int64, decision: UInt64) -> Int64 {
        var sum = RowSum()
        sum.add(event)
        sum.add(app)
        sum.add(manager)
        sum.add(generation)
        sum.add(decision)
        return sum.value
    }

    /// Of a command.
    static func command(_ command: JournaledCommand) -> Int64 {
        var sum = RowSum()
        sum.add(command.number)
        sum.add(command.after)
        sum.add(command.at.nanoseconds)
        sum.add(Array(command.id.utf8))
        sum.add(Array(command.line.utf8))
        return sum.value
    }

    /// Of a name.
    static func name(_ number: Int64, text: [UInt8]) -> Int64 {
        var sum = RowSum()
        sum.add(number)
        sum.add(text)
        return sum.value
    }

    /// Of a snapshot.
    static func snapshot(sequence: UInt64, at: Int64, bytes: [UInt8]) -> Int64 {
        var sum = RowSum()
        sum.add(sequence)
        sum.add(at)
        sum.add(bytes)
        return sum.value
    }

    /// Of what a run is, by key; its state, which changes, is not among the values.
    static func meta(_ values: [(key: String, value: [UInt8])]) -> Int64 {
        var sum = RowSum()
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            sum.add(Array(key.utf8))
            sum.add(value)
        }
        return sum.value
    }
}
