import Glibc

/// A call that failed: with a name the other side chose, or one that this side or the bus gave.
package struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Such as `org.bluez.Error.InProgress`.
    package var name: String
    /// In the words of whoever failed.
    package var message: String

    package init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    /// The libsystemd call that failed, with the negative errno it returned.
    init(call: String, code: Int32) {
        name = "org.freedesktop.DBus.Error.Failed"
        message = unsafe "\(call): \(String(cString: strerror(-code)))"
    }

    package var description: String { "\(name): \(message)" }

    /// The last part of the name, such as `InProgress`.
    package var kind: Substring { name.split(separator: ".").last ?? name[...] }

    /// The object, or what it was asked for, is not there.
    package var isAboutSomethingGone: Bool {
        ["UnknownObject", "UnknownMethod", "UnknownInterface", "DoesNotExist"].contains(kind)
    }

    /// Nobody answered in time.
    package var isTimeout: Bool { kind == "NoReply" || kind == "TimedOut" || kind == "Timeout" }

    /// Nobody owns the name that was called, or its owner went before it answered.
    package var isAboutNobody: Bool { kind == "ServiceUnknown" || kind == "NameHasNoOwner" || kind == "Disconnected" }

    /// A message of one's own that goes beyond what is accepted here.
    static func tooLarge(_ what: String) -> BusError {
        BusError(name: "org.freedesktop.DBus.Error.LimitsExceeded", message: what)
    }

    static func malformed(_ what: String) -> BusError {
        BusError(name: "org.freedesktop.DBus.Error.InvalidArgs", message: what)
    }
}
