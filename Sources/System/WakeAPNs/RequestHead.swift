/// What stands before the body of a request, as HTTP/2 has it: names of fields in lower case.
package struct RequestHead: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var method = ""
    package var path = ""
    /// The other fields, in the order in which they came.
    package var fields: [Field] = []

    package init(method: String = "", path: String = "", fields: [Field] = []) {
        self.method = method
        self.path = path
        self.fields = fields
    }

    /// The value of a field; the first where it is repeated.
    func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The fields that the provider API has. Others, such as user-agent, are of no interest and may be repeated.
    static let known = [
        "apns-collapse-id", "apns-expiration", "apns-id", "apns-priority", "apns-push-type", "apns-topic",
        "authorization",
    ]

    /// Whether a field of the provider API stands there twice.
    var hasDuplicates: Bool { Self.known.contains { name in fields.count { $0.name == name } > 1 } }
}
