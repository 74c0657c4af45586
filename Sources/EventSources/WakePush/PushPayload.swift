import WakeJSON
import WakeModel

/// What the payload of a push says to the phone: its `aps`.
enum PushPayload {
    /// Reads a payload.
    ///
    /// - Returns: what the router needs of it; nil for what is no JSON object, or an empty one.
    static func read(_ bytes: [UInt8]) -> Push? {
        guard let payload = JSONValue(parsing: bytes), !payload.members.isEmpty else { return nil }
        var push = Push()
        push.size = UInt32(clamping: bytes.count)
        let aps = payload["aps"]
        push.isContentAvailable = isSet(aps?["content-available"])
        push.isMutable = isSet(aps?["mutable-content"])
        if let badge = aps?["badge"]?.integer { push.content.badge = UInt32(clamping: min(badge, Int64(Int32.max))) }
        push.isNotification = readAlert(aps?["alert"], into: &push.content)
        if let sound = aps?["sound"], sound != .null {
            push.isNotification = true
            let name = sound.string ?? sound["name"]?.string ?? "default"
            push.content.sound = name == "default" ? .standard : .file(name, nil)
        }
        push.content.category = aps?["category"]?.string ?? ""
        push.content.thread = aps?["thread-id"]?.string ?? ""
        push.content.userInfo = String(decoding: bytes, as: UTF8.self)
        push.content.isRemote = true
        return push
    }

    /// Whether there is an alert.
    private static func readAlert(_ alert: JSONValue?, into content: inout NotificationContent) -> Bool {
        switch alert {
        case .string(let text)?: content.body = text
        case .object?:
            content.title = alert?["title"]?.string ?? ""
            content.subtitle = alert?["subtitle"]?.string ?? ""
            content.body = alert?["body"]?.string ?? ""
        default: return false
        }
        return true
    }

    private static func isSet(_ value: JSONValue?) -> Bool { value?.integer == 1 || value?.bool == true }
}
