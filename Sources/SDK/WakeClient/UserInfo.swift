import Foundation
import WakeWire

/// The app's own values of a notification, as the wire has them: a JSON object, or empty for none.
package enum UserInfo {
    /// The members that JSON has a form for; nil for more than a packet holds.
    package static func json(_ values: [AnyHashable: Any]) -> String? {
        var members: [String: Any] = [:]
        for (key, value) in values {
            guard let key = key as? String, JSONSerialization.isValidJSONObject([value]) else { continue }
            members[key] = value
        }
        guard !members.isEmpty else { return "" }
        guard
            let data = try? JSONSerialization.data(
                withJSONObject: members,
                options: [.sortedKeys, .withoutEscapingSlashes]
            ),
            data.count <= WireLimits.userInfoBytes
        else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The members of an object; nil for none.
    package static func values(_ json: String) -> [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    }
}
