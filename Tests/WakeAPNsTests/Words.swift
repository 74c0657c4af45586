import WakeSystem

@testable import WakeAPNs

/// A moment, in seconds since 1970.
let noon: Int64 = 1_700_000_000

let deviceToken = String(repeating: "a1", count: 32)

private let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

/// Base64 as a token of a provider has it.
func encoded(_ bytes: [UInt8]) -> String {
    var text = ""
    for place in stride(from: 0, to: bytes.count, by: 3) {
        let part = bytes[place..<min(place + 3, bytes.count)]
        let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
        for index in 0...part.count { text.append(letters[bits >> (18 - 6 * index) & 63]) }
    }
    return text
}

/// A provider's token, signed with nothing but zeros.
func token(
    alg: String = "ES256",
    kid: String = "ABC123DEFG",
    iss: String = "DEF123GHIJ",
    iat: String = "\(noon)",
    signature: [UInt8] = [UInt8](repeating: 0, count: 64)
) -> String {
    let head = "{\"alg\":\"\(alg)\",\"kid\":\"\(kid)\"}"
    let claims = "{\"iss\":\"\(iss)\",\"iat\":\(iat)}"
    return [Array(head.utf8), Array(claims.utf8), signature].map(encoded).joined(separator: ".")
}

/// A request that is correct, but for what is given: a field without a value is left out.
func request(
    method: String = "POST",
    path: String = "/3/device/" + deviceToken,
    _ changed: [String: String?] = [:],
    adding: [RequestHead.Field] = []
) -> RequestHead {
    var fields: [String: String] = [
        "apns-topic": "com.example.app", "apns-push-type": "alert", "authorization": "bearer " + token(),
    ]
    for (name, value) in changed { fields[name] = value }
    let sorted = fields.sorted { $0.key < $1.key }.map { RequestHead.Field($0.key, $0.value) }
    return RequestHead(method: method, path: path, fields: sorted + adding)
}

/// The fields as HTTP/2 sends them.
func lines(_ head: RequestHead) -> [RequestHead.Field] {
    [
        RequestHead.Field(":method", head.method), RequestHead.Field(":scheme", "https"),
        RequestHead.Field(":path", head.path), RequestHead.Field(":authority", "localhost"),
    ] + head.fields
}

/// A desk that accepts all but what a test says, at noon, and remembers what it was asked.
final class Owner {
    private(set) var pushes: [PushNotification] = []
    private var made = 0
    var clock = noon
    /// Whose connections are, where that is not what the kernel says.
    var user: ((Int32) -> UInt32?)?
    private(set) var strangers: [Stranger] = []
    /// How many pushes were taken by a token whose date is text.
    private(set) var textDates = 0
    var answer: (PushNotification) -> APNsAnswer = { _ in .accepted }
    /// Whether answers are held back until ``answerHeld()``.
    var holds = false
    private var held: [() -> Void] = []

    func desk(_ limits: APNsLimits = APNsLimits(), key: ProviderKey? = nil) -> APNsDesk {
        let desk = APNsDesk(
            limits: limits,
            key: key,
            user: user,
            clock: { self.clock },
            makeID: makeID
        ) { push, reply in
            self.pushes.append(push)
            self.held.append { reply(self.answer(push)) }
            if !self.holds { self.answerHeld() }
        }
        desk.strangerRefused = { self.strangers.append($0) }
        desk.textDateTaken = { self.textDates += 1 }
        return desk
    }

    /// Answers what was held back.
    func answerHeld() {
        let all = held
        held = []
        for answer in all { answer() }
    }

    private func makeID() -> String {
        made += 1
        return id(made)
    }

    /// The new identifier of that number.
    func id(_ number: Int) -> String {
        let digits = String(number)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }
}
