import Foundation
import WakeModel

@testable import WakeDevices

/// Devices, what is asked of them and what comes of it: the Swift and the Python player of device files must agree on each.
struct AnswerVectors {
    /// A device and some hundred steps of a life.
    struct Life {
        var name: String
        var device: YAMLNode
        var steps: [Step] = []
    }

    /// One thing that happens, and what the device does.
    struct Step {
        var at: Instant
        var word: String
        var characteristic: Int?
        var value: [UInt8]?
        var subscribed: [Int]
        var reply: BluetoothAnswerMachine.Reply
        var next: Instant?
    }

    static func life(of name: String, _ bytes: [UInt8], steps: Int) throws -> Life {
        let root = try YAMLReader.read(bytes, file: name)
        let peripheral = try BluetoothPeripheral(root)
        var machine = BluetoothAnswerMachine(peripheral.answers, mtu: peripheral.mtu)
        var life = Life(name: name, device: root)
        var random = Dice(state: name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
        let answering = peripheral.answers.rules.indices.filter { !peripheral.answers.rules[$0].isEmpty }
        let notifying = peripheral.services.flatMap(\.characteristics).indices.filter {
            peripheral.services.flatMap(\.characteristics)[$0].properties.canNotify
        }
        var now = Instant.zero
        for _ in 0..<steps {
            let subscribed = notifying.filter { _ in random.below(12) > 0 }
            var step = Step(at: now, word: "advance", subscribed: subscribed, reply: .init())
            let choice = random.below(40)
            if choice == 0 {
                step.word = "gone"
                machine.linkGone()
            } else if choice < 15, let due = machine.nextDue {
                now = due.advanced(by: .milliseconds(Int64(random.below(3)) * 20))
                step.at = now
                step.reply.effects = machine.advance(to: now, subscribed: subscribed.contains)
            } else {
                let place = answering[random.below(answering.count)]
                let rules = peripheral.answers.rules[place]
                let request = random.request(for: rules[random.below(rules.count)])
                step.characteristic = place
                step.word = request == .read ? "read" : "write"
                if case .write(let value) = request { step.value = value }
                step.reply = machine.answer(request, of: place, at: now, subscribed: subscribed.contains)
            }
            step.next = machine.nextDue
            life.steps.append(step)
        }
        return life
    }

    /// All of it as JSON, a step a line.
    static func text(_ lives: [Life]) -> String {
        let devices = lives.map { life in
            let steps = life.steps.map(text).joined(separator: ",\n")
            return "{\"name\": \"\(life.name)\", \"device\": \(life.device.json), \"steps\": [\n\(steps)\n]}"
        }
        return "[\(devices.joined(separator: ",\n"))]\n"
    }

    private static func text(_ step: Step) -> String {
        var fields = ["\"at\": \(step.at.nanoseconds)", "\"do\": \"\(step.word)\""]
        if let place = step.characteristic { fields.append("\"on\": \(place)") }
        if let value = step.value { fields.append("\"value\": \"\(value.hexadecimal)\"") }
        fields.append("\"subscribed\": \(step.subscribed)")
        if let error = step.reply.error { fields.append("\"error\": \(error)") }
        let effects = step.reply.effects.map { "\"\($0.text)\"" }.joined(separator: ", ")
        fields.append("\"effects\": [\(effects)]")
        if let next = step.next { fields.append("\"next\": \(next.nanoseconds)") }
        return "{\(fields.joined(separator: ", "))}"
    }
}

/// Numbers that come again in each run.
private struct Dice {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    /// A request that fits a rule, or nearly does.
    mutating func request(for rule: BluetoothAnswers.Rule) -> BluetoothAnswerMachine.Request {
        guard case .write(let pattern) = rule.trigger else { return .read }
        var value = zip(pattern.bytes, pattern.mask).map { byte, mask in
            byte | UInt8(truncatingIfNeeded: below(below(4) == 0 ? 256 : 8)) & ~mask
        }
        if pattern.isOpen { value += (0..<below(below(9) == 0 ? 60 : 8)).map { _ in UInt8(below(256)) } }
        if below(20) == 0, !value.isEmpty { value.removeLast() }
        return .write(value)
    }
}

extension BluetoothAnswerMachine.Effect {
    /// As the vectors have it.
    var text: String {
        switch self {
        case .set(let place, let value): "set \(place) \(value.hexadecimal)"
        case .send(let place, let value, let isIndication, _):
            "\(isIndication ? "indicate" : "notify") \(place) \(value.hexadecimal)"
        case .disconnect: "disconnect"
        }
    }
}

extension YAMLNode {
    /// The tree as another reader of YAML gives it whose scalars are all text.
    fileprivate var json: String {
        switch content {
        case .scalar(let text, _): Self.quoted(text)
        case .sequence(let nodes): "[\(nodes.map(\.json).joined(separator: ", "))]"
        case .mapping(let entries):
            "{\(entries.map { "\(Self.quoted($0.key)): \($0.value.json)" }.joined(separator: ", "))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}
