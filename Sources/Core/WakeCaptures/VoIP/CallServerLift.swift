import WakeDevices
import WakeModel

/// Makes a device file's call server of one end of a captured dialogue.
package struct CallServerLift {
    package private(set) var server = CallServer()
    /// Which end it is.
    package let side: CapturedCall.Side
    /// Why it is that end.
    package let reason: String
    /// What could not be put into the file, or is another there, a line each.
    package private(set) var notes: [String] = []

    private let call: CapturedCall
    private let start: Int64
    /// What the plan has awaited last: that is what `${...}` of a message speaks of.
    private var latest: SIPMessage?
    /// Requests that a phone makes at any time, answered beside the plan: the last of each dialogue and number.
    private var asked: [Question: SIPMessage] = [:]
    private var isRegistered = false
    private var room = YAMLReader.byteLimit - (1 << 20)
    private var counts = Counts()

    /// What an answer names its request by (RFC 3261, section 8.1.3.3).
    private struct Question: Hashable {
        var number: String
        var dialogue: String?

        init?(_ message: SIPMessage) {
            guard let number = message.value("cseq") else { return nil }
            (self.number, dialogue) = (number, message.value("call-id"))
        }
    }

    /// How many pings of the phone were not answered yet.
    private var pings = 0

    private struct Counts {
        var keepAlives = 0
        var bodies = 0
        var strangers = 0
        var beyond = 0
    }

    /// A server answers within this time of itself; such pauses are left out.
    private static let ownTime = Instant.Span.milliseconds(10)
    /// A plan's steps, as its reader takes them.
    private static let mostSteps = 1_024
    /// Of a message's text.
    private static let mostBytes = 65_536
    private static let anytime: Set<String> = ["MESSAGE", "OPTIONS", "PUBLISH", "REGISTER", "SUBSCRIBE"]

    /// - Parameters:
    ///   - start: when the capture began, in nanoseconds since 1970.
    ///   - place: where the server is, as somebody says; found by what was said when nil.
    package init(_ call: CapturedCall, start: Int64, pace: Pace = Pace(), server place: NetworkPlace? = nil) {
        (self.call, self.start) = (call, start)
        (side, reason) = Self.side(call, place)
        let end = pace.to.map { start &+ $0.nanoseconds } ?? .max
        let begin = start &+ pace.from.nanoseconds
        var pauses = PacedPauses(pace)
        var before: Int64?
        let range = begin...max(begin, end)
        var alive = call.keepAlives.filter { range.contains($0.time) }[...]
        for message in call.messages where range.contains(message.time) {
            while let first = alive.first, (first.time, first.offset) <= (message.time, message.offset) {
                keepOpen(alive.removeFirst(), after: &before, &pauses)
            }
            if message.side == side {
                say(message, after: &before, &pauses)
            } else {
                hear(message.message)
                if server.plan.last == .await(message.message.beginning) { before = message.time }
            }
        }
        for each in alive { keepOpen(each, after: &before, &pauses) }
        if let ended = call.end, ended.side == side, range.contains(ended.time) {
            wait(ended.time, after: &before, &pauses)
            add(ended.isReset ? .reset : .close)
        }
        tell()
    }

    // MARK: Which end

    private static func side(_ call: CapturedCall, _ place: NetworkPlace?) -> (CapturedCall.Side, String) {
        if let place, place.holds(call.endpoint(.one)) != place.holds(call.endpoint(.other)) {
            return (place.holds(call.endpoint(.one)) ? .one : .other, "as --address says")
        }
        if let register = call.messages.first(where: { $0.message.method == "REGISTER" }) {
            let isRequest = register.message.isRequest
            return (isRequest ? register.side.opposite : register.side, "it was registered with")
        }
        if let opener = call.opener { return (opener.opposite, "it was connected to, and nobody registered") }
        for side in CapturedCall.Side.allCases
        where call.endpoint(side).port == 5060 && call.endpoint(side.opposite).port != 5060 {
            return (side, "its port is SIP's, and nobody registered")
        }
        let first = call.messages.first { $0.message.isRequest }
        return (first?.side.opposite ?? .other, "it was asked first, and nobody registered")
    }

    // MARK: The plan

    private mutating func hear(_ message: SIPMessage) {
        if message.isRequest && Self.anytime.contains(message.method)
            && (message.method != "REGISTER" || isRegistered)
        {
            if let question = Question(message) { asked[question] = message }
            return
        }
        latest = message
        add(.await(message.beginning))
    }

    private mutating func say(_ captured: CapturedCall.Message, after before: inout Int64?, _ pauses: inout PacedPauses)
    {
        let message = captured.message
        if !message.isRequest, let request = Question(message).flatMap({ asked[$0] }) {
            if let text = text(message, to: request) { answer(message, text) }
            return
        }
        guard let text = text(message, to: latest) else { return }
        wait(captured.time, after: &before, &pauses)
        add(.send(text))
        if let latest, message.answers(latest), latest.method == "REGISTER" {
            answer(message, text)
            isRegistered = isRegistered || (200..<300).contains(message.status ?? 0)
        }
    }

    /// Empty lines: those of the phone ask the server to answer with one, which it does of itself; what else the server sends is its own.
    private mutating func keepOpen(
        _ alive: CapturedCall.KeepAlive,
        after before: inout Int64?,
        _ pauses: inout PacedPauses
    ) {
        guard alive.side == side else {
            counts.keepAlives += 1
            pings += alive.lines / 2
            return
        }
        if alive.lines <= pings {
            pings -= alive.lines
            return
        }
        // One line before a message belongs to no ping, and means nothing (RFC 3261, section 7.5).
        if alive.isBeforeMessage && alive.lines == 1 { return }
        wait(alive.time, after: &before, &pauses)
        add(.send(String(repeating: "\n", count: min(alive.lines, Self.mostBytes / 2))))
    }

    /// What the server answers at any time: the first that it agreed with.
    private mutating func answer(_ message: SIPMessage, _ text: String) {
        guard (200..<300).contains(message.status ?? 0), room > 0 else { return }
        if server.answers.contains(where: { $0.prefix == message.method }) { return }
        room -= Self.size(text)
        server.answers.append(CallServer.Answer(to: message.method, text))
    }

    /// The pause before a moment.
    private mutating func wait(_ time: Int64, after before: inout Int64?, _ pauses: inout PacedPauses) {
        let pause = pauses.next(max(0, time - (before ?? time)))
        before = time
        if pause >= Self.ownTime { add(.pause(.milliseconds((pause.nanoseconds + 500_000) / 1_000_000))) }
    }

    private mutating func add(_ step: CallServer.Step) {
        if case .send(let text) = step { room -= Self.size(text) }
        guard room > 0, server.plan.count < Self.mostSteps else {
            counts.beyond += 1
            return
        }
        server.plan.append(step)
    }

    // MARK: Messages

    /// What the server sends, with the headers of the dialogue as those of what it heard; nil for what is no text.
    private mutating func text(_ message: SIPMessage, to heard: SIPMessage?) -> String? {
        guard let body = String(validating: message.body, as: UTF8.self) else {
            counts.bodies += 1
            return nil
        }
        let isAnswer = heard.map { message.answers($0) } ?? false
        if !message.isRequest && !isAnswer { counts.strangers += 1 }
        let content = body.replacing("\r\n", with: "\n")
        let length = "Content-Length: \(Self.length(content))"
        var text = message.lines[0] + "\n"
        var hasLength = false
        for line in message.lines.dropFirst() {
            let header = SIPMessage.header(line)
            if header?.canonical == "content-length" {
                if !hasLength { text += length + "\n" }
                hasLength = true
            } else {
                text += (header.map { field($0.name, $0.canonical, $0.value, heard, isAnswer) } ?? line) + "\n"
            }
        }
        if !hasLength { text += length + "\n" }
        text += "\n" + content
        guard text.utf8.count <= Self.mostBytes else {
            counts.bodies += 1
            return nil
        }
        return text
    }

    /// The bytes of a file that a message takes at most, with its margins and escapes.
    private static func size(_ text: String) -> Int { 6 * text.utf8.count + 128 }

    /// The bytes of lines when they end in CR and LF.
    private static func length(_ content: String) -> Int {
        var (count, last): (Int, UInt8) = (0, 0)
        for byte in content.utf8 {
            count += byte == UInt8(ascii: "\n") && last != UInt8(ascii: "\r") ? 2 : 1
            last = byte
        }
        return count
    }

    /// A header as the file has it.
    private mutating func field(
        _ name: String,
        _ canonical: String,
        _ value: String,
        _ heard: SIPMessage?,
        _ isAnswer: Bool
    ) -> String {
        func same(_ other: String) -> String? {
            heard?.header(other).flatMap { $0.value == value ? "\(name): ${\($0.name)}" : nil }
        }
        let its = heard?.header(canonical)
        switch canonical {
        case "via":
            if isAnswer, let its { return "\(name): ${\(its.name)}" }
            guard value.hasPrefix("SIP/2.0/UDP") else { break }
            return "\(name): SIP/2.0/TCP\(value.dropFirst(11))"
        case "cseq": if isAnswer, let its { return "\(name): ${\(its.name)}" }
        case "call-id": return same("call-id") ?? "\(name): \(value)"
        case "from":
            if isAnswer, let its { return "\(name): ${\(its.name)}" }
            return same("from") ?? same("to") ?? "\(name): \(value)"
        case "to":
            guard isAnswer, let its else { return same("to") ?? same("from") ?? "\(name): \(value)" }
            let hasTag = its.value.contains(";tag=")
            let tag = hasTag ? nil : value.firstRange(of: ";tag=").map { value[$0.lowerBound...] }
            return "\(name): ${\(its.name)}\(tag ?? "")"
        default: break
        }
        return "\(name): \(value)"
    }

    // MARK: Notes

    private mutating func tell() {
        let counted = [
            (counts.keepAlives, "keep-alives of the phone are not awaited: the server answers them at any time"),
            (counts.bodies, "messages of the server that are no text, or too long, are left out"),
            (counts.strangers, "answers to what was not heard last have the headers of the recording"),
            (counts.beyond, "steps beyond what a file holds are left out"),
        ]
        notes += counted.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if !call.isTCP { notes.append("it was recorded over UDP; the server of a file speaks TCP") }
    }
}

extension CapturedCall.Side {
    package var opposite: Self { self == .one ? .other : .one }
}
