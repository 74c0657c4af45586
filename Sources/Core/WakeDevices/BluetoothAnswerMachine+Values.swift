/// Values and conditions of answers.
extension BluetoothAnswerMachine {
    func holds(
        _ conditions: [BluetoothAnswers.Condition],
        _ request: [UInt8],
        _ subscribed: (Int) -> Bool
    ) -> Bool {
        conditions.allSatisfy { condition in
            switch condition {
            case .state(let states): states.contains(memory.state)
            case .variable(let variable, let range): range.contains(memory.variables[variable])
            case .same(let left, let right): value(of: left, request) == value(of: right, request)
            case .differ(let left, let right): value(of: left, request) != value(of: right, request)
            case .less(let left, let right): number(left, request) < number(right, request)
            case .subscribed(let characteristic, let wanted): subscribed(characteristic) == wanted
            }
        }
    }

    /// The bytes of a value.
    func value(of parts: [BluetoothAnswers.Part], _ request: [UInt8]) -> [UInt8] {
        var value: [UInt8] = []
        for (place, part) in parts.enumerated() {
            switch part {
            case .bytes(let bytes): value += bytes
            case .request(let from, let count): value += piece(of: request, from: from, count: count)
            case .number(let number, let width, let order):
                let rest = parts[(place + 1)...].reduce(0) { $0 + size(of: $1, request) }
                let number = self.number(number, request, before: value, after: rest)
                let bytes = (0..<width).map { UInt8(truncatingIfNeeded: number >> (UInt32($0) * 8)) }
                value += order == .little ? bytes : bytes.reversed()
            }
        }
        return Array(value.prefix(BluetoothAnswers.longestValue))
    }

    /// How many bytes a part has.
    private func size(of part: BluetoothAnswers.Part, _ request: [UInt8]) -> Int {
        switch part {
        case .bytes(let bytes): bytes.count
        case .request(let from, let count): piece(of: request, from: from, count: count).count
        case .number(_, let width, _): width
        }
    }

    private func piece(of request: [UInt8], from: Int, count: Int?) -> [UInt8] {
        Array(request.dropFirst(from).prefix(count ?? .max))
    }

    /// - Parameters:
    ///   - before: the bytes before it in the value that it is part of.
    ///   - after: how many bytes follow it there.
    func number(
        _ number: BluetoothAnswers.Number,
        _ request: [UInt8],
        before: [UInt8] = [],
        after: Int = 0
    ) -> UInt32 {
        switch number {
        case .literal(let number): return number
        case .variable(let variable): return memory.variables[variable]
        case .request(let from, let count, let order):
            return Self.number(piece(of: request, from: from, count: count), order)
        case .length(let extent):
            switch extent {
            case .before: return UInt32(before.count)
            case .after: return UInt32(after)
            case .value(let parts): return UInt32(value(of: parts, request).count)
            }
        case .checksum(let kind, let extent, let variable):
            var bytes = before
            if case .value(let parts) = extent { bytes = value(of: parts, request) }
            return kind.value(of: bytes, after: variable.map { memory.variables[$0] })
        }
    }

    /// At most 4 bytes as a number.
    static func number(_ bytes: [UInt8], _ order: BluetoothAnswers.Order) -> UInt32 {
        let ordered = order == .big ? bytes : bytes.reversed()
        return ordered.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
